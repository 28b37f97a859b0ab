"""Events with a span, put back into the texts that the engine counts in.

`place` gives for each counted text its `Owned` stretches, sorted, which cover it. An
event says where its characters stood, but of a removal, a call or a result not in which
of a choice's two texts. Deltas say it, so it stands in the other one, or where the
characters are its own, and have come; two events that fit both texts alike are alike
themselves.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, Any

from attrs import frozen

from sidecar.events import (
    Diagnostic,
    ReasoningDelta,
    Reclassify,
    Retract,
    TextDelta,
)
from sidecar.explain.explanation import Fate
from sidecar.explain.reasons import (
    FROM_START,
    UNTOLD,
    reclassified,
    retracted,
    verdict,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sidecar.events import Event, Span
    from sidecar.explain.hearing import Counted, HeardText
    from sidecar.options import ReasoningPolicy


@frozen
class Owned:
    """Code points ``start`` to ``end`` of a counted text, with their fates."""

    start: int
    end: int
    fates: tuple[Fate, ...]


@frozen
class Happened:
    """An event, and the step that it came in."""

    step: int
    event: Event


def place(
    happened: list[Happened], texts: dict[Counted, HeardText], policy: ReasoningPolicy
) -> dict[Counted, list[Owned]]:
    """The owners of all ``texts``, by what has ``happened``."""
    later = _later_fates(happened, policy)
    placed: dict[Counted, list[Owned]] = {counted: [] for counted in texts}
    from_start: set[int] = set()
    for each, counted in _counted(happened, texts):
        event: Any = each.event
        block = getattr(event, "block", None)
        if event.span[0] == 0 and isinstance(event, ReasoningDelta) and not counted[1]:
            from_start.add(event.block)
        of = FROM_START if block in from_start else verdict(event, native=counted[1])
        fates = (Fate(each.step, *of, event.seq), *later.get(block, ()))
        placed[counted].append(Owned(event.span[0], event.span[1], fates))
    last = happened[-1].step if happened else 0
    return {
        counted: list(_covering(owned, len(texts[counted].text), last))
        for counted, owned in placed.items()
    }


def _covering(owned: list[Owned], length: int, last: int) -> Iterator[Owned]:
    """``owned`` in its order, and what nobody spoke of, until ``last``, between."""
    untold, at = (Fate(last, *UNTOLD),), 0
    for each in sorted(owned, key=lambda each: each.start):
        if each.start > at:
            yield Owned(at, each.start, untold)
        if each.end > at:
            yield Owned(max(at, each.start), each.end, each.fates)
            at = each.end
    if length > at:
        yield Owned(at, length, untold)


def _later_fates(
    happened: list[Happened], policy: ReasoningPolicy
) -> dict[int | None, tuple[Fate, ...]]:
    """What became of blocks after they were sent."""
    unclosed = {
        each.event.choice
        for each in happened
        if isinstance(each.event, Diagnostic)
        and each.event.code == "unclosed-reasoning"
    }
    fates: dict[int | None, tuple[Fate, ...]] = {}
    for each in happened:
        event = each.event
        if isinstance(event, Reclassify):
            closed = event.choice not in unclosed
            owner, reason = reclassified(event, policy, closed)
        elif isinstance(event, Retract):
            owner, reason = retracted(event)
        else:
            continue
        fate = Fate(each.step, owner, reason, event.seq)
        for block in event.blocks:
            fates[block] = (*fates.get(block, ()), fate)
    return fates


def _counted(
    happened: list[Happened], texts: dict[Counted, HeardText]
) -> Iterator[tuple[Happened, Counted]]:
    """The events with a span, each with the text that it stands in."""
    spoken = [each for each in happened if _has_place(each.event)]
    sure = [each for each in spoken if isinstance(each.event, _DELTAS)]
    deltas = [(each, _text_of(each.event)) for each in sure]
    yield from deltas
    rooms = {counted: _Room(text) for counted, text in texts.items()}
    for counted in rooms:
        spans = [_span(each.event) for each, own in deltas if own == counted]
        rooms[counted].taken = sorted(spans)
    for each in spoken:
        if not isinstance(each.event, _DELTAS):
            event: Any = each.event
            own, native = (event.choice, False), (event.choice, True)
            fits = own in rooms and rooms[own].take(each.step, event.span, event.raw)
            yield each, own if fits or native not in rooms else native


_DELTAS = (TextDelta, ReasoningDelta)


def _has_place(event: Event) -> bool:
    span = _span(event)
    return span is not None and span[0] < span[1]


def _span(event: Any) -> Span | None:
    return getattr(event, "span", None)


def _text_of(event: Any) -> Counted:
    is_native = isinstance(event, ReasoningDelta) and event.source == "native"
    return event.choice, is_native


class _Room:
    """What is left of a text when the deltas have theirs: ``take`` says whether a span
    with these characters is free, and has come by a step, and takes it."""

    def __init__(self, text: HeardText) -> None:
        self.taken: list[Any] = []
        self._text = text
        self._also: set[int] = set()

    def take(self, step: int, span: Span, raw: str) -> bool:
        start, end = span
        at = bisect_right(self.taken, (start, start))
        before, behind = self.taken[max(at - 1, 0) : at], self.taken[at : at + 1]
        is_free = (
            start not in self._also
            and not any(last > start for _, last in before)
            and not any(first < end for first, _ in behind)
        )
        heard = self._text
        fits = is_free and heard.text.startswith(raw, start)
        fits = fits and heard.came(end - 1) <= step
        if fits:
            self._also.add(start)
        return fits
