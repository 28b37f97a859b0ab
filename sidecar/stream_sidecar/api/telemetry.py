"""A response in OpenTelemetry's form: attributes and messages of its semantic
conventions for GenAI, and counts of removals, named ``stream_sidecar.*``.

The functions are pure: the host makes the span and reads the clock. clients/README.md,
"OpenTelemetry", documents them for all clients.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stream_sidecar.api.calls import as_json
from stream_sidecar.values.jsontext import dumps

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stream_sidecar.message.message import Message
    from stream_sidecar.protocol.params import CloseResult, NormalizeResult

_USAGE = {
    "inputTokens": "gen_ai.usage.input_tokens",
    "outputTokens": "gen_ai.usage.output_tokens",
    "cacheReadTokens": "gen_ai.usage.cache_read.input_tokens",
    "cacheWriteTokens": "gen_ai.usage.cache_creation.input_tokens",
    "reasoningTokens": "gen_ai.usage.reasoning.output_tokens",
}

_STATS = {
    "delimitersStripped": "stream_sidecar.delimiters_stripped",
    "reasoningExtracted": "stream_sidecar.reasoning_extracted",
    "malformedChunks": "stream_sidecar.malformed_chunks",
}

_REASONS = {
    "tool-calls": "tool_call",
    "context-length": "length",
    "content-filter": "content_filter",
    "refusal": "content_filter",
    "malformed": "error",
    "cancelled": "error",
}
"""Finish reasons with another name in the conventions."""


def telemetry_attributes(
    result: CloseResult | NormalizeResult,
    *,
    time_to_first_chunk: float | None = None,
    content: bool = False,
) -> dict[str, Any]:
    """The attributes of a finished response, for its span.

    ``time_to_first_chunk`` is in seconds since the request. With ``content`` the
    attributes also have the messages as JSON. That is text of the model, which some
    hosts must not store.
    """
    message, stats = as_json(result.message), as_json(result.stats)
    metadata, usage = message.get("metadata", {}), message.get("usage", {})
    choices = message.get("choices", [message])
    attributes = {
        "gen_ai.response.id": metadata.get("id"),
        "gen_ai.response.model": metadata.get("model"),
        "gen_ai.response.finish_reasons": [*filter(None, map(_reason, choices))],
        "gen_ai.response.time_to_first_chunk": time_to_first_chunk,
        **{name: usage.get(field) for field, name in _USAGE.items()},
        **{name: stats[field] for field, name in _STATS.items()},
        "stream_sidecar.tool_results_stripped": _count(
            choices, "toolResults", "source", "echo"
        ),
        "stream_sidecar.tool_calls_from_text": _count(
            choices, "toolCalls", "origin", "text"
        ),
    }
    if content:
        attributes["gen_ai.output.messages"] = dumps(output_messages(result.message))
    return {
        name: value for name, value in attributes.items() if value not in (None, [])
    }


def output_messages(message: Message) -> list[dict[str, Any]]:
    """``gen_ai.output.messages``: a message for each choice."""
    document = as_json(message)
    return [_message(choice) for choice in document.get("choices", [document])]


def _message(choice: dict[str, Any]) -> dict[str, Any]:
    calls = {call.get("block"): call for call in choice["toolCalls"]}
    parts = [
        part for block in choice.get("blocks", ()) for part in _parts(block, calls)
    ]
    reason = _reason(choice)
    return {
        "role": "assistant",
        "parts": parts,
        **({} if reason is None else {"finish_reason": reason}),
    }


def _parts(block: dict[str, Any], calls: dict[Any, Any]) -> Iterator[dict[str, Any]]:
    """The parts of a block; none for what does not belong to the answer."""
    kind = block["type"]
    if kind in ("text", "reasoning") and block["text"]:
        yield {"type": kind, "content": block["text"]}
    elif kind == "tool-call":
        call = calls.get(block.get("block"), block)
        if call["executor"] == "server":
            yield _of_server("server_tool_call", call, {"arguments": _input(call)})
        elif call["executable"]:
            yield {
                "type": "tool_call",
                "id": call["toolCallId"],
                "name": call["name"],
                "arguments": _input(call),
            }
    elif kind == "tool-result" and block["source"] == "server":
        content = {"content": block.get("content")}
        yield _of_server("server_tool_call_response", block, content)


def _of_server(kind: str, item: dict[str, Any], data: dict[str, Any]) -> dict[str, Any]:
    """The part of a call that the provider ran, or of its result."""
    id_and_name = {"id": item.get("toolCallId"), "name": item.get("name")}
    known_members = {
        name: value for name, value in id_and_name.items() if value is not None
    }
    return {
        "type": kind,
        **known_members,
        kind: {"type": item.get("name") or "tool", **data},
    }


def _input(call: dict[str, Any]) -> Any:
    return call["arguments"] if call.get("input") is None else call["input"]


def _reason(choice: dict[str, Any]) -> str | None:
    finish = choice.get("finish")
    return None if finish is None else _REASONS.get(finish["reason"], finish["reason"])


def _count(choices: list[dict[str, Any]], items: str, name: str, value: str) -> int:
    return sum(item[name] == value for choice in choices for item in choice[items])
