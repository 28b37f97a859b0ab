"""The commonest results as JSON text at once: pushes that bring one delta, or nothing.

`written` spells them as ``encode(unstructure(PushResult(...)))`` does, without the
objects in between: the few values are put into ``{"streamId":..,"events":[{"type":
"text-delta",..}],"lastSeq":..,"pushes":..}``. The last event so far is that delta, so
its number stands there twice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sidecar.events import ReasoningDelta, TextDelta, ToolCallDelta
from sidecar.values.jsontext import encode

if TYPE_CHECKING:
    from collections.abc import Callable

    from sidecar.events import Event
    from sidecar.protocol.open_stream import OpenStream


def written(entry: OpenStream, events: list[Event]) -> bytes | None:
    """The result of a push as JSON text; None where there is more than one delta, or
    documents of a wire."""
    if entry.emission is not None:
        return None
    if len(events) == 1:
        event = events[0]
        write = _WRITERS.get(type(event))
        return None if write is None else write(entry.spelled, event, entry.pushes)
    if events:
        return None
    return _NOTHING % (entry.spelled, entry.stream.last_seq, entry.pushes)


_NOTHING = b'{"streamId":%b,"events":[],"lastSeq":%d,"pushes":%d}'
_TEXT = (
    b'{"streamId":%b,"events":[{"type":"text-delta","seq":%d,%b"block":%d,'
    b'"text":%b}],"lastSeq":%d,"pushes":%d}'
)
_REASONING = (
    b'{"streamId":%b,"events":[{"type":"reasoning-delta","seq":%d,%b"block":%d,'
    b'"text":%b,"source":"%b"}],"lastSeq":%d,"pushes":%d}'
)
_CALL = (
    b'{"streamId":%b,"events":[{"type":"tool-call-delta","seq":%d,%b"block":%d,'
    b'"argumentsDelta":%b}],"lastSeq":%d,"pushes":%d}'
)


def _text(stream_id: bytes, event: TextDelta, pushes: int) -> bytes | None:
    if event.span is not None:
        return None
    seq, text = event.seq, encode(event.text)
    choice = _choice(event.choice) if event.choice else b""
    return _TEXT % (stream_id, seq, choice, event.block, text, seq, pushes)


def _reasoning(stream_id: bytes, event: ReasoningDelta, pushes: int) -> bytes | None:
    if event.span is not None:
        return None
    seq, text = event.seq, encode(event.text)
    choice = _choice(event.choice) if event.choice else b""
    source = event.source.encode()
    return _REASONING % (stream_id, seq, choice, event.block, text, source, seq, pushes)


def _call(stream_id: bytes, event: ToolCallDelta, pushes: int) -> bytes | None:
    if event.tool_call_id is not None or event.name is not None:
        return None
    seq, text = event.seq, encode(event.arguments_delta)
    choice = _choice(event.choice) if event.choice else b""
    return _CALL % (stream_id, seq, choice, event.block, text, seq, pushes)


def _choice(choice: int) -> bytes:
    return b'"choice":%d,' % choice


_WRITERS: dict[type, Callable[[bytes, Any, int], bytes | None]] = {
    TextDelta: _text,
    ReasoningDelta: _reasoning,
    ToolCallDelta: _call,
}
"""Each gives nothing for a delta that says more than most."""
