"""The most common results as JSON text: those of pushes to streams without ``emit``.

`written` gives the same text as ``encode(unstructure(PushResult(...)))``, but without
the objects in between: it fills the few values into ``{"streamId":..,"events":[{"type":
"text-delta",..}],"lastSeq":..,"pushes":..}``. If a push gives a single delta, this
delta is the stream's last event, so the text has its number twice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stream_sidecar.events import ReasoningDelta, TextDelta, ToolCallDelta
from stream_sidecar.protocol.converter import unstructure
from stream_sidecar.values.jsontext import encode

if TYPE_CHECKING:
    from collections.abc import Callable

    from stream_sidecar.events import Event
    from stream_sidecar.protocol.open_stream import OpenStream


def written(
    entry: OpenStream, events: list[Event], last_seqs: list[int] | None = None
) -> bytes:
    """The result of a push to a stream without ``emit`` as JSON text."""
    if len(events) == 1 and last_seqs is None:
        event = events[0]
        write = _WRITERS.get(type(event))
        text = None if write is None else write(entry.spelled, event, entry.pushes)
        if text is not None:
            return text
    event_list = encode([unstructure(each) for each in events]) if events else b"[]"
    last_seq_list = b"" if last_seqs is None else b',"lastSeqs":' + encode(last_seqs)
    numbers = entry.stream.last_seq, entry.pushes
    return _EVENTS % (entry.spelled, event_list, *numbers, last_seq_list)


_EVENTS = b'{"streamId":%b,"events":%b,"lastSeq":%d,"pushes":%d%b}'
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
    if event.span is not None or event.refusal:
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
"""Each returns None for a delta with fields that most deltas do not have."""
