"""The commonest results as JSON text at once: pushes that bring one delta, or nothing.

`written` spells them as ``encode(unstructure(result))`` does, without the objects in
between: the few values are put into ``{"streamId":..,"events":[{"type":"text-delta",..
}],"lastSeq":..,"pushes":..}``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sidecar.events import ReasoningDelta, TextDelta, ToolCallDelta
from sidecar.values.jsontext import encode

if TYPE_CHECKING:
    from collections.abc import Callable

    from sidecar.protocol.params import PushResult


def written(result: PushResult) -> bytes | None:
    """The JSON text of ``result``; None where it has more than one delta."""
    events, delta = result.events, b""
    if len(events) > 1 or result.chunks is not None:
        return None
    for event in events:
        write = _WRITERS.get(type(event))
        if write is None or not (delta := write(event)):
            return None
    stream_id = encode(result.stream_id)
    return _RESULT % (stream_id, delta, result.last_seq, result.pushes)


_RESULT = b'{"streamId":%b,"events":[%b],"lastSeq":%d,"pushes":%d}'
_TEXT = b'{"type":"text-delta","seq":%d,%b"block":%d,"text":%b}'
_REASONING = b'{"type":"reasoning-delta","seq":%d,%b"block":%d,"text":%b,"source":"%b"}'
_CALL = b'{"type":"tool-call-delta","seq":%d,%b"block":%d,"argumentsDelta":%b}'


def _text(event: TextDelta) -> bytes:
    if event.span is not None:
        return b""
    return _TEXT % (event.seq, _choice(event), event.block, encode(event.text))


def _reasoning(event: ReasoningDelta) -> bytes:
    if event.span is not None:
        return b""
    text, source = encode(event.text), event.source.encode()
    return _REASONING % (event.seq, _choice(event), event.block, text, source)


def _call(event: ToolCallDelta) -> bytes:
    if event.tool_call_id is not None or event.name is not None:
        return b""
    text = encode(event.arguments_delta)
    return _CALL % (event.seq, _choice(event), event.block, text)


def _choice(event: TextDelta | ReasoningDelta | ToolCallDelta) -> bytes:
    return b'"choice":%d,' % event.choice if event.choice else b""


_WRITERS: dict[type, Callable[[Any], bytes]] = {
    TextDelta: _text,
    ReasoningDelta: _reasoning,
    ToolCallDelta: _call,
}
"""Each gives nothing for a delta that says more than most."""
