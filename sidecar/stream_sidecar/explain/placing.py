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
from operator import attrgetter
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
    """Code points of a counted text, with their fates."""

    start: int
    end: int
    fates: tuple[Fate, ...]


@frozen
class StepEvent:
    """An event, and the step that caused it."""

    step: int
    event: events.Event


def place(
    step_events: list[StepEvent],
    texts: dict[Counted, CountedText],
    policy: ReasoningPolicy,
    *,
    opens: bool,
) -> dict[Counted, list[Owned]]:
    """The owners of all ``texts``; ``opens``: the model's template opens reasoning."""
    step_events = list(_lasting_events(step_events))
    ends = [
        item
        for item in step_events
        if isinstance(item.event, events.Diagnostic)
        and item.event.code == "unclosed-reasoning"
    ]
    setting = Setting(policy, opens, frozenset(end.event.choice for end in ends))
    spanned = list(_spanned_events(step_events, texts))
    later_fates = _unclosed_fates(spanned, ends, setting)
    _add_later_fates(later_fates, step_events, setting)
    stretches: dict[Counted, list[Owned]] = {counted: [] for counted in texts}
    from_start: set[int] = set()
    for item, counted in spanned:
        event: Any = item.event
        block = getattr(event, "block", None)
        is_tagged = isinstance(event, events.ReasoningDelta) and not counted[1]
        if is_tagged and event.span[0] == 0:
            from_start.add(event.block)
        verdict = reasons.verdict(event, setting, native=counted[1])
        if block in from_start:
            verdict = reasons.FROM_START
        fates = (Fate(item.step, *verdict, event.seq), *later_fates.get(block, ()))
        stretches[counted].append(Owned(event.span[0], event.span[1], fates))
    last_step = step_events[-1].step if step_events else 0
    return {
        counted: list(_cover_text(owned, len(texts[counted].text), last_step))
        for counted, owned in stretches.items()
    }


def _lasting_events(step_events: list[StepEvent]) -> Iterator[StepEvent]:
    """The events that count in the end: without those for text that a later `Retract`
    took back, to read it again as the answer."""
    retracts = [e.event for e in step_events if isinstance(e.event, events.Retract)]
    for item in step_events:
        event: Any = item.event
        span = None if _is_native(event) or event in retracts else _span(event)
        is_retracted = span is not None and any(
            retract.choice == event.choice
            and retract.seq > event.seq
            and retract.span[0] <= span[0] < retract.span[1]
            for retract in retracts
            if retract.span
        )
        if not is_retracted:
            yield item


def _is_native(event: events.Event) -> bool:
    return isinstance(event, events.ReasoningDelta) and event.source == "native"


def _cover_text(owned: list[Owned], length: int, last_step: int) -> Iterator[Owned]:
    """Sorted stretches that cover a text of ``length`` code points: ``owned``, and for
    each gap a stretch that no event has reported by the ``last_step``."""
    unreported, position = (Fate(last_step, *reasons.UNREPORTED),), 0
    for stretch in sorted(owned, key=attrgetter("start")):
        if stretch.start > position:
            yield Owned(position, stretch.start, unreported)
        if stretch.end > position:
            yield Owned(max(position, stretch.start), stretch.end, stretch.fates)
            position = stretch.end
    if length > position:
        yield Owned(position, length, unreported)


def _unclosed_fates(
    spanned: list[tuple[StepEvent, Counted]], ends: list[StepEvent], setting: Setting
) -> dict[int | None, tuple[Fate, ...]]:
    """Block -> its fates, for the blocks of reasoning that were never closed: no
    delimiter follows them."""
    fates: dict[int | None, tuple[Fate, ...]] = {}
    for end in ends:
        answer = (end.event.choice, False)
        deltas = [item.event for item, counted in spanned if counted == answer]
        closers = filter(reasons.is_delimiter, deltas)
        last_closer = max(map(_start, closers), default=-1)
        for event in deltas:
            if isinstance(event, events.ReasoningDelta) and _start(event) > last_closer:
                fate = Fate(end.step, *reasons.left_open(setting), end.event.seq)
                fates[event.block] = (fate,)
    return fates


def _add_later_fates(
    fates: dict[int | None, tuple[Fate, ...]],
    step_events: list[StepEvent],
    setting: Setting,
) -> None:
    """Adds the fates of blocks that were reclassified or retracted later. The first of
    these replaces the fate of a block that was never closed."""
    changed = set()
    for item in step_events:
        event = item.event
        if isinstance(event, events.Reclassify):
            owner, reason = reasons.reclassified(event, setting)
        elif isinstance(event, events.Retract):
            owner, reason = reasons.retracted(event)
        else:
            continue
        fate = Fate(item.step, owner, reason, event.seq)
        for block in event.blocks:
            earlier_fates = fates.get(block, ()) if block in changed else ()
            fates[block] = (*earlier_fates, fate)
            changed.add(block)


_DELTAS = (events.TextDelta, events.ReasoningDelta)


def _spanned_events(
    step_events: list[StepEvent], texts: dict[Counted, CountedText]
) -> Iterator[tuple[StepEvent, Counted]]:
    """The events with a span, each with the text that the span counts in."""
    spanned = [item for item in step_events if _has_span(item.event)]
    delta_spans: dict[Counted, list[events.Span]] = {counted: [] for counted in texts}
    for item in spanned:
        if isinstance(item.event, _DELTAS) and item.event.span:
            counted = (item.event.choice, _is_native(item.event))
            delta_spans[counted].append(item.event.span)
            yield item, counted
    uncovered = {
        counted: _Uncovered(text, sorted(delta_spans[counted]))
        for counted, text in texts.items()
    }
    for item in spanned:
        event: Any = item.event
        if not isinstance(event, _DELTAS):
            answer, native = (event.choice, False), (event.choice, True)
            is_answer = answer in uncovered and uncovered[answer].reserve(
                item.step, event.span, event.raw
            )
            yield item, answer if is_answer or native not in uncovered else native


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
        index = bisect_right(self._covered, (start, start))
        is_free = (
            start not in self._reserved
            and not any(
                stop > start for _, stop in self._covered[max(index - 1, 0) : index]
            )
            and not any(begin < end for begin, _ in self._covered[index : index + 1])
            and self._text.text.startswith(raw, start)
            and self._text.step_of(end - 1) <= step
        )
        if is_free:
            self._reserved.add(start)
        return is_free
