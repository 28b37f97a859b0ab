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
    number = position = units = 0
    for start, end, kind in removals:
        while texts[number][1] <= start:
            number, position, units = number + 1, 0, 0
        base, _, text = texts[number]
        start, end = start - base, end - base
        start_utf16 = units + width(text.text[position:start], "utf16")
        units = start_utf16 + width(text.text[start:end], "utf16")
        position = end
        yield RemovedSpan(text, kind, start, end, start_utf16, units)


def kept_texts(texts: list[PlacedText], kept: list[Span]) -> list[str]:
    """The kept pieces of every text, joined; both lists are sorted."""
    joined, number = [], 0
    for start, end, text in texts:
        pieces = []
        while number < len(kept) and kept[number][0] < end:
            low, high = kept[number]
            pieces.append(text.text[low - start : high - start])
            number += 1
        joined.append("".join(pieces))
    return joined


def moved(removals: list[Mark], kept: list[Span]) -> list[Mark]:
    """Removals in the kept text, as spans of the original text."""
    marks, number, skipped = [], 0, 0
    for start, end, kind in removals:
        while start < end:
            low, high = kept[number]
            if start >= skipped + high - low:
                skipped += high - low
                number += 1
                continue
            original = low + start - skipped
            size = min(end - start, high - original)
            marks.append((original, original + size, kind))
            start += size
    return marks


def unlocked(removals: list[Mark], texts: list[PlacedText]) -> list[Mark]:
    """Removals split at the borders of texts, without those in locked texts."""
    marks, number = [], 0
    for start, end, kind in removals:
        while start < end:
            while texts[number][1] <= start:
                number += 1
            stop = min(end, texts[number][1])
            if not texts[number][2].locked:
                marks.append((start, stop, kind))
            start = stop
    return marks


def without(kept: list[Span], cut: list[Mark]) -> list[Span]:
    """``kept`` without the spans of ``cut``; both are sorted."""
    spans, number = [], 0
    for start, end in kept:
        while number < len(cut) and cut[number][0] < end:
            low, high, _ = cut[number]
            if start < low:
                spans.append((start, low))
            start = high
            number += 1
        if start < end:
            spans.append((start, end))
    return spans


_HALF = patterns.compile(
    "[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]"
)
"""Half of a character; two halves that make one are none."""


def halves_in(texts: list[PlacedText], kept: list[Span]) -> list[Mark]:
    """The halves of characters in the kept pieces of texts that are not locked."""
    marks, number = [], 0
    for start, _, text in texts:
        if text.locked or text.text.isascii() or not has_half(text.text):
            continue
        for half in _HALF.finditer(text.text):
            position = start + half.start()
            while number < len(kept) and kept[number][1] <= position:
                number += 1
            if number < len(kept) and kept[number][0] <= position:
                marks.append((position, position + 1, SURROGATE))
    return marks
