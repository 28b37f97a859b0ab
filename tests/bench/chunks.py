"""The chunks and streams that are measured: made up, and the same in every run."""

from __future__ import annotations

import json
from typing import Any

_WORDS = (
    *("The", "list", "is", "sorted", "once,", "before", "the", "first", "request"),
    *("comes", "in,", "so", "each", "look-up", "is", "a", "bisection", "and"),
    *("costs", "about", "ten", "comparisons.\n"),
)

PROSE = " ".join(_WORDS) + "\n"
CODE = (
    "    for (std::size_t i = 0; i < rows.size() && rows[i] <= limit; ++i) {\n"
    "        out << std::setw(4) << std::vector<std::pair<int, T>>(i) << '<' << i;\n"
    "    }\n"
)
MARKDOWN = (
    "Call `push(text)`, then ``close()``; `a` and `b` are `str | None`.\n\n\n"
    "- `x` is ``a`b``\n- `y`: see `z`\n\n"
    "```python\nx = `1`\n\n\ny = 2\n```\n\n  \n\n"
)
ARGUMENTS = (
    '{"path": "src/main.py", "lines": [1, 22, 333], "text": "a \\"b\\" {c}\\n"},'
)


def repeated(text: str, size: int) -> str:
    """``text`` over and over, ``size`` characters of it."""
    return (text * (size // len(text) + 1))[:size]


def slices(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


def chunk(delta: dict[str, Any]) -> dict[str, Any]:
    """A chat.completions chunk as OpenAI sends it, with one delta."""
    return {
        "id": "chatcmpl-CGqKxk3JY0Qm1v8yqNn0fQ2cTzR5a",
        "object": "chat.completion.chunk",
        "created": 1758300000,
        "model": "gpt-5-mini",
        "service_tier": "default",
        "system_fingerprint": "fp_44added55e",
        "choices": [
            {"index": 0, "delta": delta, "logprobs": None, "finish_reason": None}
        ],
    }


def text_chunk(text: str) -> dict[str, Any]:
    return chunk({"content": text})


def event(document: dict[str, Any]) -> str:
    """``document`` as a server-sent event."""
    return f"data: {json.dumps(document)}\n\n"


def call_chunk(arguments: str, name: str | None = None) -> dict[str, Any]:
    """A fragment of a call's arguments; the first one has id and ``name``."""
    call: dict[str, Any] = {"index": 0, "function": {"arguments": arguments}}
    if name is not None:
        call |= {"id": "call_Zx81", "type": "function"}
        call["function"]["name"] = name
    return chunk({"tool_calls": [call]})


def mirrored_chunk(text: str) -> dict[str, Any]:
    """Native reasoning said twice, as vLLM and gateways before it do."""
    return chunk({"content": None, "reasoning_content": text, "reasoning": text})
