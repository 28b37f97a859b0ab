"""The chunks and streams that are measured: made up, and the same in every run."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, TypeAlias

Streamed: TypeAlias = tuple[
    list[dict[str, Any]],
    Callable[[int, str], dict[str, Any]],
    list[dict[str, Any]],
]

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


# A stream of a wire


def streamed(wire: str, count: int) -> list[str]:
    """An answer in ``count`` server-sent events, deltas of 20 characters mostly."""
    before, delta, after = STREAMED[wire]
    size = count - len(before) - len(after)
    texts = slices(repeated(PROSE, 20 * size), 20)
    documents = [*before, *(delta(at, text) for at, text in enumerate(texts)), *after]
    return [_named(each) for each in documents]


def _named(document: dict[str, Any]) -> str:
    """``document`` as an event, under its name where it has one."""
    name = f"event: {document['type']}\n" if "type" in document else ""
    return name + event(document)


def _block(_number: int, text: str) -> dict[str, Any]:
    delta = {"type": "text_delta", "text": text}
    return {"type": "content_block_delta", "index": 0, "delta": delta}


def _item(number: int, text: str) -> dict[str, Any]:
    at = {"item_id": "msg_68c0a1", "output_index": 0, "content_index": 0}
    members = {"sequence_number": number, **at, "delta": text, "logprobs": []}
    return {"type": "response.output_text.delta", **members}


def _candidate(number: int, text: str, **more: Any) -> dict[str, Any]:
    candidate = {"content": {"parts": [{"text": text}], "role": "model"}, "index": 0}
    counts = {"promptTokenCount": 9, "candidatesTokenCount": number}
    counts["totalTokenCount"] = 9 + number
    who = {"modelVersion": "gemini-2.5-flash", "responseId": "CGqKxk3JY0Qm1v8"}
    return {"candidates": [candidate | more], "usageMetadata": counts, **who}


_BEGUN = {"id": "msg_01", "model": "claude-sonnet-4-5", "content": []}
_DONE = {"id": "resp_68c0", "status": "completed", "output": []}
_STOP = {"index": 0, "delta": {}, "finish_reason": "stop"}

STREAMED: dict[str, Streamed] = {
    "openai-chat": (
        [chunk({"role": "assistant", "content": ""})],
        lambda _number, text: text_chunk(text),
        [chunk({}) | {"choices": [_STOP]}],
    ),
    "anthropic": (
        [
            {"type": "message_start", "message": _BEGUN},
            {
                "type": "content_block_start",
                "index": 0,
                "content_block": {"type": "text", "text": ""},
            },
        ],
        _block,
        [
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": "end_turn"}},
            {"type": "message_stop"},
        ],
    ),
    "openai-responses": (
        [{"type": "response.created", "response": {"id": "resp_68c0", "model": "m"}}],
        _item,
        [{"type": "response.completed", "response": _DONE}],
    ),
    "gemini": ([], _candidate, [_candidate(300, ".", finishReason="STOP")]),
}
"""What a stream of a wire begins with, a delta of it, and what it ends with."""
