"""Events with a span, assigned to the texts that the spans count in.

A *counted text* is one of the two texts of a choice: the answer, or the native
reasoning. `place` returns, for each counted text, sorted `Owned` stretches that cover
it. A delta says in which of the two its characters were. A removal, a call or a result
does not: it belongs to the text in which (1) no delta covers the span, (2) the same
characters stand there, and (3) they had arrived by then. If both texts fit, the choice
does not matter: the characters are the same.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, Any

from stream_sidecar import events
from stream_sidecar.explain import reasons
from stream_sidecar.explain.explanation import Fate
from stream_sidecar.explain.reasons import Setting
from stream_sidecar.records import frozen

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stream_sidecar.explain.received import Counted, CountedText
    from stream_sidecar.options import ReasoningPolicy


@frozen
class Owned:
    """Code points ``start`` to ``end`` (exclusive) of a counted text, with their
    fates."""

    start: int
    end: int
    fates: tuple[Fate, ...]


@frozen
class Happened:
    """An event, and the step that caused it."""

    step: int
    event: events.Event


def place(
    happened: list[Happened],
    texts: dict[Counted, CountedText],
    policy: ReasoningPolicy,
    *,
    opens: bool,
) -> dict[Counted, list[Owned]]:
    """Return the owners of all ``texts``, from the events that ``happened``; ``opens``:
    the model's template opens reasoning."""
    happened = list(_lasting_events(happened))
    ends = [
        each
        for each in happened
        if isinstance(each.event, events.Diagnostic)
        and each.event.code == "unclosed-reasoning"
    ]
    setting = Setting(policy, opens, frozenset(each.event.choice for each in ends))
    spanned = list(_spanned_events(happened, texts))
    later = _unclosed_fates(spanned, ends, setting)
    _add_later_fates(later, happened, setting)
    placed: dict[Counted, list[Owned]] = {counted: [] for counted in texts}
    from_start: set[int] = set()
    for each, counted in spanned:
        event: Any = each.event
        block = getattr(event, "block", None)
        is_tagged = isinstance(event, events.ReasoningDelta) and not counted[1]
        if is_tagged and event.span[0] == 0:
            from_start.add(event.block)
        of = reasons.verdict(event, setting, native=counted[1])
        if block in from_start:
            of = reasons.FROM_START
        fates = (Fate(each.step, *of, event.seq), *later.get(block, ()))
        placed[counted].append(Owned(event.span[0], event.span[1], fates))
    last = happened[-1].step if happened else 0
    return {
        counted: list(_cover_text(owned, len(texts[counted].text), last))
        for counted, owned in placed.items()
    }


def _lasting_events(happened: list[Happened]) -> Iterator[Happened]:
    """The events that count in the end: without those for text that a later `Retract`
    took back, to read it again as the answer."""
    retracts = [e.event for e in happened if isinstance(e.event, events.Retract)]
    read_again = [(retract, retract.span) for retract in retracts if retract.span]
    for happening in happened:
        event: Any = happening.event
        span = None if _is_native(event) else _span(event)
        if (
            span is None
            or event in retracts
            or not any(
                later.choice == event.choice
                and later.seq > event.seq
                and first <= span[0] < last
                for later, (first, last) in read_again
            )
        ):
            yield happening


def _is_native(event: events.Event) -> bool:
    return isinstance(event, events.ReasoningDelta) and event.source == "native"


def _cover_text(owned: list[Owned], length: int, last: int) -> Iterator[Owned]:
    """Sorted stretches that cover a text of ``length`` code points: ``owned``, and for
    each gap a stretch that no event has reported by step ``last``."""
    unreported, at = (Fate(last, *reasons.UNREPORTED),), 0
    for each in sorted(owned, key=lambda each: each.start):
        if each.start > at:
            yield Owned(at, each.start, unreported)
        if each.end > at:
            yield Owned(max(at, each.start), each.end, each.fates)
            at = each.end
    if length > at:
        yield Owned(at, length, unreported)


def _unclosed_fates(
    spanned: list[tuple[Happened, Counted]], ends: list[Happened], setting: Setting
) -> dict[int | None, tuple[Fate, ...]]:
    """Block -> its fates, for the blocks of reasoning that were never closed: no
    delimiter follows them."""
    fates: dict[int | None, tuple[Fate, ...]] = {}
    for end in ends:
        deltas = [each.event for each, of in spanned if of == (end.event.choice, False)]
        closers = filter(reasons.is_delimiter, deltas)
        closed = max(map(_start, closers), default=-1)
        for event in deltas:
            if isinstance(event, events.ReasoningDelta) and _start(event) > closed:
                fate = Fate(end.step, *reasons.left_open(setting), end.event.seq)
                fates[event.block] = (fate,)
    return fates


def _add_later_fates(
    fates: dict[int | None, tuple[Fate, ...]],
    happened: list[Happened],
    setting: Setting,
) -> None:
    """Adds the fates of blocks that were reclassified or retracted after they were
    sent. The first of these fates replaces the fate of a block that was never
    closed."""
    changed = set()
    for each in happened:
        event = each.event
        if isinstance(event, events.Reclassify):
            owner, reason = reasons.reclassified(event, setting)
        elif isinstance(event, events.Retract):
            owner, reason = reasons.retracted(event)
        else:
            continue
        fate = Fate(each.step, owner, reason, event.seq)
        for block in event.blocks:
            earlier_fates = fates.get(block, ()) if block in changed else ()
            fates[block] = (*earlier_fates, fate)
            changed.add(block)


_DELTAS = (events.TextDelta, events.ReasoningDelta)


def _spanned_events(
    happened: list[Happened], texts: dict[Counted, CountedText]
) -> Iterator[tuple[Happened, Counted]]:
    """The events with a span, each with the text that the span counts in."""
    spanned = [each for each in happened if _has_span(each.event)]
    taken: dict[Counted, list[events.Span]] = {counted: [] for counted in texts}
    for each in spanned:
        if isinstance(each.event, _DELTAS) and each.event.span:
            of = (each.event.choice, _is_native(each.event))
            taken[of].append(each.event.span)
            yield each, of
    uncovered = {of: _Uncovered(text, sorted(taken[of])) for of, text in texts.items()}
    for each in spanned:
        if not isinstance(each.event, _DELTAS):
            event: Any = each.event
            own, native = (event.choice, False), (event.choice, True)
            fits = own in uncovered and uncovered[own].reserve(
                each.step, event.span, event.raw
            )
            yield each, own if fits or native not in uncovered else native


def _has_span(event: events.Event) -> bool:
    span = None if isinstance(event, events.Retract) else _span(event)
    return span is not None and span[0] < span[1]


def _start(event: Any) -> int:
    start: int = event.span[0]
    return start


def _span(event: Any) -> events.Span | None:
    return getattr(event, "span", None)


class _Uncovered:
    """The stretches of a text that no delta covers. `reserve` marks a span as used if
    (1) it is free, (2) the text has the characters ``raw`` there and (3) they had
    arrived by ``step``. It returns whether it did so."""

    def __init__(self, text: CountedText, delta_spans: list[events.Span]) -> None:
        self._text = text
        self._covered = delta_spans
        self._reserved: set[int] = set()

    def reserve(self, step: int, span: events.Span, raw: str) -> bool:
        start, end = span
        at = bisect_right(self._covered, (start, start))
        before, after = self._covered[max(at - 1, 0) : at], self._covered[at : at + 1]
        fits = (
            start not in self._reserved
            and not any(last > start for _, last in before)
            and not any(first < end for first, _ in after)
            and self._text.text.startswith(raw, start)
            and self._text.step_of(end - 1) <= step
        )
        if fits:
            self._reserved.add(start)
        return fits
