"""Spans of the texts of one field: what is kept, what is removed, and where that is.

Spans are in code points of all texts of the field, joined. Lists of spans are sorted
and do not overlap, unless a function says otherwise. All functions are linear. Pure
arithmetic: knows nothing of messages or of the engine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from stream_sidecar import patterns
from stream_sidecar.history.results import SURROGATE
from stream_sidecar.records import frozen
from stream_sidecar.values.surrogates import has_half
from stream_sidecar.values.units import width

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from stream_sidecar.events import Span
    from stream_sidecar.history.messages import Text
    from stream_sidecar.history.reading import Mark

PlacedText: TypeAlias = tuple[int, int, "Text"]
"""``(start, end, text)``."""


@frozen
class RemovedSpan:
    """A removal within one text, in code points of that text and in UTF-16 units."""

    text: Text
    kind: str
    start: int
    end: int
    start_utf16: int
    end_utf16: int

    @property
    def removed(self) -> str:
        return self.text.text[self.start : self.end]


def pieces_of(
    removals: Iterable[Mark], texts: list[PlacedText]
) -> Iterator[RemovedSpan]:
    """The removals, each within one text, as `RemovedSpan`s."""
    number = at = units = 0
    for start, end, kind in removals:
        while texts[number][1] <= start:
            number, at, units = number + 1, 0, 0
        base, _, text = texts[number]
        first, last = start - base, end - base
        start_utf16 = units + width(text.text[at:first], "utf16")
        units = start_utf16 + width(text.text[first:last], "utf16")
        at = last
        yield RemovedSpan(text, kind, first, last, start_utf16, units)


def kept_texts(texts: list[PlacedText], kept: list[Span]) -> list[str]:
    """The kept pieces of every text, joined; both lists are sorted."""
    found, number = [], 0
    for start, end, text in texts:
        pieces = []
        while number < len(kept) and kept[number][0] < end:
            first, last = kept[number]
            pieces.append(text.text[first - start : last - start])
            number += 1
        found.append("".join(pieces))
    return found


def moved(removals: list[Mark], kept: list[Span]) -> list[Mark]:
    """Removals in the kept text, as spans of the original text."""
    moved, number, before = [], 0, 0
    for start, end, kind in removals:
        while start < end:
            first, last = kept[number]
            if start >= before + last - first:
                before += last - first
                number += 1
                continue
            at = first + start - before
            size = min(end - start, last - at)
            moved.append((at, at + size, kind))
            start += size
    return moved


def unlocked(removals: list[Mark], texts: list[PlacedText]) -> list[Mark]:
    """Removals split at the borders of texts, without those in locked texts."""
    found, number = [], 0
    for start, end, kind in removals:
        while start < end:
            while texts[number][1] <= start:
                number += 1
            stop = min(end, texts[number][1])
            if not texts[number][2].locked:
                found.append((start, stop, kind))
            start = stop
    return found


def without(kept: list[Span], cut: list[Mark]) -> list[Span]:
    """``kept`` without the spans of ``cut``; both are sorted."""
    found, number = [], 0
    for start, end in kept:
        while number < len(cut) and cut[number][0] < end:
            first, last, _ = cut[number]
            if start < first:
                found.append((start, first))
            start = last
            number += 1
        if start < end:
            found.append((start, end))
    return found


_HALF = patterns.compile(
    "[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]"
)
"""Half of a character; two halves that make one are none."""


def halves_in(texts: list[PlacedText], kept: list[Span]) -> list[Mark]:
    """The halves of characters in the kept pieces of texts that are not locked."""
    found, number = [], 0
    for start, _, text in texts:
        if text.locked or text.text.isascii() or not has_half(text.text):
            continue
        for half in _HALF.finditer(text.text):
            at = start + half.start()
            while number < len(kept) and kept[number][1] <= at:
                number += 1
            if number < len(kept) and kept[number][0] <= at:
                found.append((at, at + 1, SURROGATE))
    return found
