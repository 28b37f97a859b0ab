"""What is removed from one field of a message: readings of it in rounds.

A removal may uncover something, so what is left of a field is read again, until a
reading removes nothing. Knows nothing of messages and of their documents; ``reading``
asks the engine.
"""

from __future__ import annotations

from enum import Enum, auto
from typing import TYPE_CHECKING, TypeAlias

from stream_sidecar.history.messages import Text
from stream_sidecar.history.paths import part_number
from stream_sidecar.history.reading import has_to_be_read, read_text, texts_of
from stream_sidecar.history.results import SURROGATE, counts
from stream_sidecar.history.spans import (
    halves_in,
    kept_texts,
    moved,
    pieces_of,
    unlocked,
    without,
)
from stream_sidecar.records import evolve, frozen
from stream_sidecar.values.surrogates import has_half

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from stream_sidecar.channel.sieve import Sieve
    from stream_sidecar.history.messages import StoredItem
    from stream_sidecar.history.reading import Mark, TextReading
    from stream_sidecar.history.spans import PlacedText, RemovedSpan
    from stream_sidecar.options import StreamOptions

_ROUNDS = 8
"""At most so many readings of a field. Nearly always the second finds nothing."""

Wants: TypeAlias = "Callable[[RemovedSpan], bool]"


class Decision(Enum):
    """What becomes of something that was found: it is removed, it stays because it was
    not chosen, or it stays because a seal is bound to it."""

    REMOVED = auto()
    NOT_CHOSEN = auto()
    BOUND = auto()


@frozen
class Judge:
    """Decides what becomes of each removal. ``kinds``: the kinds that count, None for
    all. ``wants``: whether a removal is chosen, None if all are. ``bound_until``:
    returns the order below which the texts of the message are bound, and is called only
    if something has to be removed; None if none is bound."""

    kinds: Collection[str] | None = None
    wants: Wants | None = None
    bound_until: Callable[[], float] | None = None

    def decision(self, piece: RemovedSpan) -> Decision:
        if not any(
            counts(piece.kind, self.kinds, is_bound=bound) for bound in (False, True)
        ):
            return Decision.NOT_CHOSEN
        # A provider cannot have sealed halves of characters, or blank text alone.
        is_sealable = piece.kind != SURROGATE and bool(piece.text.text.strip())
        number = part_number(piece.text.path)
        is_bound = bool(
            is_sealable and self.bound_until and number < self.bound_until()
        )
        if not counts(piece.kind, self.kinds, is_bound=is_bound):
            return Decision.NOT_CHOSEN
        if is_bound:
            return Decision.BOUND
        is_wanted = self.wants is None or self.wants(piece)
        return Decision.REMOVED if is_wanted else Decision.NOT_CHOSEN


_EVERYTHING_GOES = Judge()


@frozen
class FieldRemovals:
    """What was found in a field, in its order: what is ``removed`` (halves of
    characters are replaced), and what a ``bound`` text keeps."""

    items: tuple[StoredItem, ...]
    found: list[RemovedSpan]
    removed: list[RemovedSpan]
    bound: list[RemovedSpan]
    readings: list[TextReading]


def removals_in(
    items: tuple[StoredItem, ...],
    options: StreamOptions,
    sieve: Sieve,
    judge: Judge,
) -> FieldRemovals | None:
    """What is removed from a field; None if its texts pass the ``sieve`` and have no
    halves of characters, as most do."""
    if not (has_to_be_read(items, sieve) or _has_halves(items)):
        return None
    texts = texts_of(items)
    judged = _Judged(texts, judge)
    readings: list[TextReading] = []
    kept = [(start, end) for start, end, _ in texts]
    removed: list[Mark] = []
    shortened = items
    while len(readings) < _ROUNDS:
        reading = read_text(shortened, options)
        cut = judged.removed(unlocked(moved(reading.removals, kept), texts))
        if not cut:
            break
        readings.append(reading)
        removed += cut
        kept = without(kept, cut)
        shorter = iter(kept_texts(texts, kept))
        shortened = tuple(
            evolve(item, text=next(shorter)) if isinstance(item, Text) else item
            for item in items
        )
        if not has_to_be_read(shortened, sieve):
            break
    removed += judged.removed(halves_in(texts, kept))
    marks, bound = sorted([*removed, *judged.bound]), frozenset(judged.bound)
    pieces = [*pieces_of(marks, texts)]
    by_mark = [*zip(marks, pieces, strict=True)]
    return FieldRemovals(
        items=items,
        found=pieces,
        removed=[piece for mark, piece in by_mark if mark not in bound],
        bound=[piece for mark, piece in by_mark if mark in bound],
        readings=readings,
    )


class _Judged:
    """What is decided about the finds. What stays once stays in later readings."""

    def __init__(self, texts: list[PlacedText], judge: Judge) -> None:
        self._texts, self._judge = texts, judge
        self._staying: list[Mark] = []
        self.bound: list[Mark] = []

    def removed(self, marks: list[Mark]) -> list[Mark]:
        """Returns those of the sorted ``marks`` that are removed."""
        if self._judge == _EVERYTHING_GOES:
            return marks
        undecided, number, staying = [], 0, self._staying
        for mark in marks:
            while number < len(staying) and staying[number][1] <= mark[0]:
                number += 1
            if number == len(staying) or staying[number][0] >= mark[1]:
                undecided.append(mark)
        removed: list[Mark] = []
        pieces = pieces_of(undecided, self._texts)
        for mark, piece in zip(undecided, pieces, strict=True):
            decision = self._judge.decision(piece)
            (removed if decision is Decision.REMOVED else staying).append(mark)
            if decision is Decision.BOUND:
                self.bound.append(mark)
        staying.sort()
        return removed


def _has_halves(items: tuple[StoredItem, ...]) -> bool:
    """Whether a text that may change has halves of characters."""
    texts = (item for item in items if isinstance(item, Text) and not item.locked)
    return any(not text.text.isascii() and has_half(text.text) for text in texts)
