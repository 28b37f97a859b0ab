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
    """The explanation of a provider's response, or of a stored session if nothing in
    ``data`` was understood as a response."""
    response = explain(body(name, data, options))
    stored = explain_stored(name, data, options) if response.is_unknown else None
    return response if stored is None else stored


def explain_stored(
    name: str, data: bytes, options: StreamOptions
) -> Explanation | None:
    """The explanation of a session's texts; None if ``data`` has none."""
    documents = _documents(data)
    messages = [message for value in documents for message in messages_in(value)]
    explanations = [
        explain(_source(text, evolve(options, model=options.model or message.model)))
        for message in messages
        if (text := text_of(message))
    ]
    if not explanations:
        return None
    seals = sentences_of(sealed_in_stored(messages, options.model))
    return evolve(_join(name, explanations), seals=seals)


def _source(text: str, options: StreamOptions) -> StreamSource:
    options = evolve(options, wire="text", framing="text", encoding="utf-8")
    return StreamSource("", options, lambda _stream: [PushedChunk(text, text)])


def _documents(data: bytes) -> Iterator[object]:
    """``data`` as one JSON document, else each line that is a JSON document."""
    for text in (data, *data.splitlines()):
        try:
            yield decode(text)
        except (ValueError, RecursionError):
            continue
        if text is data:
            return


def _join(name: str, explanations: list[Explanation]) -> Explanation:
    """One explanation with all lanes, a step for each, and new event numbers."""
    lanes: list[Lane] = []
    steps: list[Step] = []
    events = 0
    for number, part in enumerate(explanations):
        lanes += (_renumber(lane, number, events) for lane in part.lanes)
        part_events = [
            evolve(event, seq=event.seq + events)
            for step in part.steps
            for event in step.events
        ]
        steps.append(Step(part.steps[0].chunk, tuple(part_events)))
        events += len(part_events)
    messages = (evolve(part.message, choice=n) for n, part in enumerate(explanations))
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


def _renumber(lane: Lane, step: int, events: int) -> Lane:
    """``lane`` of the text with the number ``step``, and its numbers of events
    increased by ``events``. Only the last owner of each piece counts."""

    pieces: list[InputPiece] = []
    for piece in lane.pieces:
        fate = piece.fates[-1]
        fate = evolve(fate, step=step, seq=fate.seq and fate.seq + events)
        pieces.append(evolve(piece, step=step, fates=(fate,)))
    title = f"message {step + 1}"
    title = f"{title}: {lane.title}" if lane.is_part else title
    return evolve(lane, title=title, pieces=tuple(pieces))
