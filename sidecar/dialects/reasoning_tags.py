"""Reasoning between a pair of delimiters: one row a family, opener and closer.

These are written by chat templates and are not among the default ``reasoning.tags``:
a profile or the policy's ``dialects`` switches them on.
"""

from __future__ import annotations

REASONING_TAGS: dict[str, tuple[tuple[str, str], ...]] = {
    "hermes": (("<think>", "</think>"),),
    "qwen3-xml": (("<think>", "</think>"),),
    "deepseek-v31": (("<think>", "</think>"),),
    "glm": (("<think>", "</think>"),),
    "kimi-k2": (("◁think▷", "◁/think▷"), ("<think>", "</think>")),
    "minimax-m2": (("<think>", "</think>"),),
    "minimax-m3": (("<mm:think>", "</mm:think>"),),
    "seed-oss": (("<seed:think>", "</seed:think>"),),
    "mistral": (("[THINK]", "[/THINK]"),),
    "cohere": (("<|START_THINKING|>", "<|END_THINKING|>"),),
    "apertus": (("<|inner_prefix|>", "<|inner_suffix|>"),),
    "olmo3": (("<think>", "</think>"),),
    "nemotron-json": (("<think>", "</think>"),),
}
