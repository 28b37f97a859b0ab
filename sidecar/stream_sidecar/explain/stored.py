"""A stored session, explained: the texts of its model's messages, one after the other.

The documents of a session hold whole messages, which no wire reads. The engine reads
each text as if the model had just written it. Each text has its own lanes, and one
step.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import evolve

from stream_sidecar.explain.explaining import explain
from stream_sidecar.explain.explanation import STORED, Step
from stream_sidecar.explain.seals import sealed_in_stored, sentences_of, text_of
from stream_sidecar.explain.source import PushedChunk, StreamSource, body
from stream_sidecar.history.documents import messages_in
from stream_sidecar.values.jsontext import decode

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stream_sidecar.explain.explanation import Explanation, InputPiece, Lane
    from stream_sidecar.options import StreamOptions


def explain_file(name: str, data: bytes, options: StreamOptions) -> Explanation:
    """Return the explanation of a provider's response, or of a stored session if
    nothing in ``data`` was understood as a response."""
    response = explain(body(name, data, options))
    stored = explain_stored(name, data, options) if response.is_unknown else None
    return response if stored is None else stored


def explain_stored(
    name: str, data: bytes, options: StreamOptions
) -> Explanation | None:
    """Return the explanation of a session's texts; None if ``data`` is no session, or
    has no texts."""
    found = [each for document in _documents(data) for each in messages_in(document)]
    explanations = [
        explain(_source(text, evolve(options, model=options.model or model)))
        for text, model in ((text_of(each), each.model) for each in found)
        if text
    ]
    if not explanations:
        return None
    seals = sentences_of(sealed_in_stored(found, options.model))
    return evolve(_joined(name, explanations), seals=seals)


def _source(text: str, options: StreamOptions) -> StreamSource:
    read = evolve(options, wire="text", framing="text", encoding="utf-8")
    return StreamSource("", read, lambda _stream: [PushedChunk(text, text)])


def _documents(data: bytes) -> Iterator[object]:
    """``data`` as one JSON document, else each line that is a JSON document."""
    for each in (data, *data.splitlines()):
        try:
            yield decode(each)
        except (ValueError, RecursionError):
            continue
        if each is data:
            return


def _joined(name: str, explanations: list[Explanation]) -> Explanation:
    """One explanation with the lanes of all, and one step for each. Events get new
    numbers."""
    lanes: list[Lane] = []
    steps: list[Step] = []
    events = 0
    for number, each in enumerate(explanations):
        lanes += (_moved(lane, number, events) for lane in each.lanes)
        caused = [event for step in each.steps for event in step.events]
        moved = (evolve(event, seq=event.seq + events) for event in caused)
        steps.append(Step(each.steps[0].chunk, tuple(moved)))
        events += len(caused)
    messages = (evolve(each.message, choice=n) for n, each in enumerate(explanations))
    message = evolve(explanations[0].message, choices=tuple(messages))
    return evolve(
        explanations[0],
        name=name,
        wire=STORED,
        framing="json",
        lanes=tuple(lanes),
        steps=tuple(steps),
        message=message,
    )


def _moved(lane: Lane, step: int, events: int) -> Lane:
    """``lane`` of the text with the number ``step``, and its numbers of events
    increased by ``events``. Only the last owner of each piece counts."""

    def piece(each: InputPiece) -> InputPiece:
        last = each.fates[-1]
        fate = evolve(last, step=step, seq=last.seq and last.seq + events)
        return evolve(each, step=step, fates=(fate,))

    title = f"message {step + 1}"
    title = f"{title}: {lane.title}" if lane.is_part else title
    return evolve(lane, title=title, pieces=tuple(map(piece, lane.pieces)))
