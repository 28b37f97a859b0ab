"""`explain` runs a stream through the engine and finds the channel of each character.

The stream is the same as for ``stream/push``, with the policy ``trace`` and a listener.
The text that went in (``received``) is then matched with the events that came out
(``placing``), in linear time.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from itertools import groupby, pairwise
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING, Any

from attrs import evolve

from stream_sidecar import patterns
from stream_sidecar.dialects.turns import STOP_TOKENS
from stream_sidecar.events import (
    Citation,
    Diagnostic,
    ProviderError,
    ToolCall,
    ToolCallDelta,
    ToolResult,
)
from stream_sidecar.explain.explanation import Explanation, Fate, InputPiece, Lane, Step
from stream_sidecar.explain.kinds import unused
from stream_sidecar.explain.placing import Owned, StepEvent, place
from stream_sidecar.explain.reasons import (
    KEPT,
    MIRRORED,
    PLAIN,
    REPEATED,
    left_out,
    of_wire,
)
from stream_sidecar.explain.received import ReceivedTexts
from stream_sidecar.explain.seals import sealed_in, sentences_of
from stream_sidecar.stream.stream import Stream
from stream_sidecar.values.jsontext import dumps

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from stream_sidecar.explain.explanation import Owner
    from stream_sidecar.explain.reasons import Verdict
    from stream_sidecar.explain.received import Counted, ReceivedPiece
    from stream_sidecar.explain.source import StreamSource

_MOST_SHOWN = 2000
"""The most characters of a chunk that a step keeps."""

_KEPT = frozenset({"response-details", "duplicate-reasoning"})
"""Diagnostics whose ``raw`` is not input that was left out: other events or dropped
pieces already show it."""


def explain(source: StreamSource) -> Explanation:
    """Which channel each character of ``source`` went to, and why."""
    policy = source.options.policy
    parts = evolve(policy.message, parts=True)
    policy = evolve(policy, trace=True, message=parts)
    received = ReceivedTexts()
    stream = Stream(evolve(source.options, policy=policy, emit=None), received)
    steps = list(_push_all(stream, source, received))
    events = [
        StepEvent(n, event) for n, step in enumerate(steps) for event in step.events
    ]
    opens, texts = stream.profile.starts_open, received.texts()
    owned = place(events, texts, policy.reasoning, opens=opens)
    lanes = [*_text_lanes(received.pieces, owned), *_part_lanes(events, stream.wire)]
    message = stream.message()
    return Explanation(
        name=source.name,
        wire=stream.wire,
        framing=stream.framing,
        profile=stream.profile.name,
        lanes=tuple(lanes),
        steps=tuple(steps),
        message=message,
        seals=sentences_of(sealed_in(message, source.options.model)),
    )


def _push_all(
    stream: Stream, source: StreamSource, received: ReceivedTexts
) -> Iterator[Step]:
    """Pushes all chunks; one without events and text is part of the next step."""
    chunk_text, piece_count = "", 0
    for chunk in source.chunks(stream):
        chunk_text += chunk.text[: _MOST_SHOWN - len(chunk_text)]
        events = stream.push(chunk.value)
        if events or len(received.pieces) > piece_count:
            yield Step(chunk_text, tuple(events))
            received.step += 1
            chunk_text, piece_count = "", len(received.pieces)
    yield Step(chunk_text, tuple(stream.close(**source.close)))


# Texts


def _text_lanes(
    received: list[ReceivedPiece], owned: dict[Counted, list[Owned]]
) -> Iterator[Lane]:
    """The lanes of the fields: in each choice the answer, then the reasoning."""
    cutters = {counted: _Cutter(stretches) for counted, stretches in owned.items()}
    lanes: dict[tuple[Counted, str], list[InputPiece]] = {}
    for piece in received:
        pieces = lanes.setdefault((piece.counted, piece.field), [])
        for text, verdict in ((piece.repeated, REPEATED), (piece.mirrored, MIRRORED)):
            if text:  # it came with the piece, and had been sent before
                pieces.append(_piece(text, piece.step, verdict))
        pieces += cutters[piece.counted].cut(piece)
    for ((choice, is_native), field), pieces in sorted(
        lanes.items(), key=itemgetter(0)
    ):
        title = f"choice {choice}: {field}" if choice else field
        usual: Owner = "reasoning" if is_native else "answer"
        yield Lane(title, choice, tuple(_mark_stops([*_join_pieces(pieces)])), usual)


def _piece(text: str, step: int, verdict: Verdict, seq: int = 0) -> InputPiece:
    return InputPiece(text, step, (Fate(step, *verdict, seq),))


class _Cutter:
    """Cuts the pieces of a text, in their order, where the owner changes."""

    def __init__(self, owned: list[Owned]) -> None:
        self._owned = owned
        self._index = 0

    def cut(self, piece: ReceivedPiece) -> Iterator[InputPiece]:
        start, end = piece.start, piece.start + len(piece.text)
        while start < end:
            while self._owned[self._index].end <= start:
                self._index += 1
            owned = self._owned[self._index]
            stop = min(end, owned.end)
            text = piece.text[start - piece.start : stop - piece.start]
            yield InputPiece(text, piece.step, owned.fates)
            start = stop


def _join_pieces(pieces: list[InputPiece]) -> Iterator[InputPiece]:
    """The pieces, with neighbours joined that have the same step and fates."""
    for (step, fates), group in groupby(pieces, key=attrgetter("step", "fates")):
        yield InputPiece("".join(piece.text for piece in group), step, fates)


_STOP_TOKEN = patterns.compile("|".join(map(re.escape, STOP_TOKENS)))


def _mark_stops(pieces: list[InputPiece]) -> Iterator[InputPiece]:
    """The pieces. A stop token in the answer is a piece with its own reason."""
    stop_tokens = _STOP_TOKEN.finditer("".join(piece.text for piece in pieces))
    borders = [border for match in stop_tokens for border in match.span()]
    start = 0
    for piece in pieces:
        end = start + len(piece.text)
        *earlier_fates, last_fate = piece.fates
        if (last_fate.owner, last_fate.reason) == PLAIN:
            inner = borders[bisect_right(borders, start) : bisect_left(borders, end)]
            kept_fates = (*earlier_fates, Fate(last_fate.step, *KEPT, last_fate.seq))
            for begin, stop in pairwise((start, *inner, end)):
                fates = kept_fates if bisect_right(borders, begin) % 2 else piece.fates
                yield InputPiece(
                    piece.text[begin - start : stop - start], piece.step, fates
                )
        else:
            yield piece
        start = end


# Parts with a structure


def _part_lanes(events: list[StepEvent], wire: str) -> Iterator[Lane]:
    """The lanes of parts with a structure, in the order in which they began."""
    calls: dict[int | None, list[StepEvent]] = {}
    parts: list[list[StepEvent]] = []
    for item in events:
        event = item.event
        if isinstance(event, ToolCallDelta) or (
            isinstance(event, ToolCall) and event.origin != "text"
        ):
            if event.block not in calls:
                parts.append(calls.setdefault(event.block, []))
            calls[event.block].append(item)
        elif isinstance(event, Citation | ProviderError | Diagnostic | ToolResult):
            parts.append([item])
    for part in parts:
        lane = _call_lane(part, wire) if len(part) > 1 else _part_lane(part[0], wire)
        if lane is not None:
            yield lane


def _call_lane(events: list[StepEvent], wire: str) -> Lane:
    """The lane of a call whose arguments came in fragments. Its last event has the
    whole arguments and adds no piece."""
    verdict = of_wire("call", wire)
    pieces = [
        _piece(item.event.arguments_delta, item.step, verdict, item.event.seq)
        for item in events
        if isinstance(item.event, ToolCallDelta) and item.event.arguments_delta
    ]
    first_event: Any = events[0].event
    return Lane(f"call: {first_event.name}", first_event.choice, tuple(pieces))


def _part_lane(item: StepEvent, wire: str) -> Lane | None:
    """The lane of a part that came in one event; None if the part is not in the input,
    or stands in a text."""
    event: Any = item.event
    if getattr(event, "span", None) is not None:
        return None
    if isinstance(event, Diagnostic) and (event.raw is None or event.code in _KEPT):
        return None
    owner, title, text = _PART_OF_EVENT[type(event)](event)
    verdict = left_out(event) if owner == "dropped" else of_wire(owner, wire)
    piece = _piece(text, item.step, verdict, event.seq)
    return Lane(title, event.choice, (piece,))


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else dumps(value)


_PART_OF_EVENT: dict[type, Callable[[Any], tuple[Owner, str, str]]] = {
    ToolCall: lambda e: ("call", f"call: {e.name}", e.arguments),
    ToolResult: lambda e: (
        "result",
        f"result: {e.name or e.tool_call_id or ''}",
        _as_text(e.content),
    ),
    Citation: lambda e: (
        "citation",
        f"citation: {e.title or e.url or e.kind}",
        _as_text(e.raw),
    ),
    ProviderError: lambda e: ("error", f"error: {e.kind}", _as_text(e.raw)),
    Diagnostic: lambda e: ("dropped", f"dropped: {unused(e.code)}", _as_text(e.raw)),
}
"""Type of an event -> owner, title and text of its part."""
