"""How a case of the folder beside the project is fed: its wire, options and cuts.

What a case's fields mean is said in the README beside the cases (see `corpus`).
Example: ``{"wire": "text", "options": {"reasoning_tags": ["think"]}}`` opens a stream
with ``{"wire": "text", "policy": {"reasoning": {"tags": ["think"]}}}``.
"""

from __future__ import annotations

import base64
from typing import Any

from cutting import LONG, at_random

SEEDS = range(20) if LONG else range(3)

WIRES = {
    "text": {"wire": "text"},
    "openai-chat": {"wire": "openai-chat"},
    "openai-chat-body": {"wire": "openai-chat"},
    "openai-responses": {"wire": "openai-responses"},
    "anthropic": {"wire": "anthropic"},
    "gemini": {"wire": "gemini"},
    "ollama": {"wire": "ollama"},
    "bedrock-converse": {"wire": "bedrock-converse"},
    "sse": {"wire": "openai-chat", "framing": "sse"},
    "sse-bytes": {"wire": "openai-chat", "framing": "sse", "encoding": "base64"},
}
"""What a case calls its wire: the parameters that say so."""

OPTIONS: dict[str, tuple[str, str]] = {
    "reasoning_tags": ("reasoning", "tags"),
    "recent_tool_results": ("toolResults", "known"),
    "echo_markers": ("echo", "markers"),
    "echo_prefixes": ("echo", "prefixes"),
}
"""An option of a case: the key of the policy."""


def text_cuts(chunks: list[str]) -> list[list[str]]:
    """Ways to cut a text: as given, whole, by character and at random places."""
    whole = "".join(chunks)
    return [
        chunks,
        [whole],
        list(whole),
        *(at_random(whole, seed, 4) for seed in SEEDS),
    ]


def policy_of(options: dict[str, Any]) -> dict[str, Any]:
    """The policy that a case's options stand for."""
    policy: dict[str, Any] = {}
    for name, (group, key) in OPTIONS.items():
        if name in options:
            policy.setdefault(group, {})[key] = options[name]
    reasoning = policy.setdefault("reasoning", {})
    if "reasoning_starts_open" in options:
        starts_open = options["reasoning_starts_open"]
        reasoning["startsOpen"] = "open" if starts_open else "closed"
    if "unclosed_reasoning" in options:
        unclosed = options["unclosed_reasoning"]
        reasoning["unclosed"] = {"visible": "text"}.get(unclosed, unclosed)
    if options.get("reasoning_merge"):
        reasoning["precedence"] = "merge"
    return policy


def params_of(case: dict[str, Any]) -> dict[str, Any]:
    """The parameters of `stream/open` for a case."""
    params = {**WIRES[case["wire"]], "policy": policy_of(case["options"])}
    if "model" in case["options"]:
        params["model"] = case["options"]["model"]
    if case["declared_tools"] is not None:
        params["tools"] = [
            {"name": tool["name"], "inputSchema": tool.get("parameters")}
            for tool in case["declared_tools"]
        ]
    return params


def case_cuts(case: dict[str, Any]) -> list[list[Any]]:
    """The ways in which a case's chunks are fed: strings are cut, documents are not."""
    if case["wire"] in ("text", "sse"):
        return text_cuts(case["chunks"])
    if case["wire"] == "sse-bytes":
        raw = b"".join(map(base64.b64decode, case["chunks"]))
        single = [base64.b64encode(raw[n : n + 1]).decode() for n in range(len(raw))]
        return [case["chunks"], single]
    return [case["chunks"]]
