"""Formats of HTTP bodies in which the documents of a clean response are written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stream_sidecar.records import frozen
from stream_sidecar.values.jsontext import encode

if TYPE_CHECKING:
    from collections.abc import Callable

    from stream_sidecar.api import Framing


@frozen
class BodyFormat:
    """``document(chunk, is_first)`` writes one document. ``end(is_empty)`` writes what
    follows the last document; ``is_empty``: no document was written."""

    framing: Framing
    document: Callable[[Any, bool], bytes]
    end: Callable[[bool], bytes]


def _event(name: str, data: Any) -> bytes:
    """An event. A name with a line break or half a character is left out."""
    line = b"event: " + name.encode() + b"\n" if name.isprintable() else b""
    return line + b"data: " + encode(data) + b"\n\n"


def _data(chunk: Any, _is_first: bool) -> bytes:
    if chunk.keys() == {"event", "data"} and isinstance(chunk["event"], str):
        return _event(chunk["event"], chunk["data"])
    return b"data: " + encode(chunk) + b"\n\n"


def _typed_event(chunk: Any, is_first: bool) -> bytes:
    name = chunk.get("type")
    return _event(name, chunk) if isinstance(name, str) else _data(chunk, is_first)


def _item(chunk: Any, is_first: bool) -> bytes:
    return (b"[" if is_first else b",") + encode(chunk) + b"\n"


def _nothing(_is_first: bool) -> bytes:
    return b""


ARRAY = BodyFormat("json-array", _item, lambda is_first: b"[]" if is_first else b"]")
"""Gemini's format for a request without ``alt=sse``."""

_NAMED = BodyFormat("sse", _typed_event, _nothing)

SSE = {
    "openai-chat": BodyFormat("sse", _data, lambda _is_first: b"data: [DONE]\n\n"),
    "openai-responses": _NAMED,
    "anthropic": _NAMED,
    "gemini": BodyFormat("sse", _data, _nothing),
}
"""Wire -> the format of its server-sent events."""
