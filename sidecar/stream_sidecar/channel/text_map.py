"""The text map: where the raw answer text of one choice is in its visible blocks.

Tags, echoes and calls written as text are taken out of the answer, so a position in the
text as the provider sent it must be converted to a position in the visible text. The
map remembers which raw text was shown where. For text that is not ASCII it also keeps
what is needed to count UTF-8 bytes and UTF-16 units; of ASCII text it keeps nothing.
`raw` and `visible` cost a few comparisons for the usual delta; a lookup costs a
bisection.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from contextlib import suppress
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from stream_sidecar.records import define
from stream_sidecar.values.units import Unit, width

if TYPE_CHECKING:
    from collections.abc import Callable

_STRETCH = 256
"""A stretch of kept text has this many code points or somewhat more, and begins with a
piece that is not ASCII."""

_MOST_BLOCKS = 256
"""A span may touch at most this many blocks. A longer span has no use, and to name all
its blocks for each citation would take quadratic memory."""

RECENT = 8192
"""If a map may forget, it keeps at least this many segments and stretches."""

_start_of = attrgetter("start")


class ForgottenError(Exception):
    """The position is further back than the map remembers."""


@define
class _Segment:
    """Raw code points ``start`` to ``end``, shown at ``position`` of ``block``.

    ``position_utf16``: the same in UTF-16 units. ``utf16``: the raw UTF-16 units before
    ``start``; None if they are not known.
    """

    start: int
    end: int
    block: int
    position: int = 0
    position_utf16: int = 0
    utf16: int | None = None


_NO_SEGMENT = _Segment(0, 0, -1)
"""What is before the first segment. No block has its number, so it never grows."""


class TextMap:
    """Maps the raw answer text of one choice to its visible text blocks.

    ``raw`` gets every piece of the answer channel as the wire sent it. ``visible`` gets
    the parts that were shown, in ascending order. All positions are raw code points
    unless a unit says otherwise; ends are exclusive. With ``most`` the map keeps only
    about that many segments and stretches, so its memory is bounded. Then `place`
    returns None for older text.
    """

    def __init__(self, most: int | None = None) -> None:
        self._most = most
        #: how many raw code points came so far
        self.length = 0
        #: where the wire's own text block began
        self.border = 0
        # Stretches of kept text, and where each begins, in code points and other units.
        self._texts: list[str] = []
        self._starts: list[int] = []
        self._offsets: dict[Unit, list[int]] = defaultdict(list)
        self._kept_to = 0
        self._segments: list[_Segment] = []
        self._known_from = 0
        self._last_segment = _NO_SEGMENT
        self._order: list[int] = []
        self._ranks: dict[int, int] = {}
        self._tails: dict[int, _Segment] = {}

    def raw(self, text: str) -> None:
        """Adds a piece of the raw answer, from which nothing is taken out yet."""
        if self.length < self._kept_to or not text.isascii():
            self._keep(text)
        self.length += len(text)

    def visible(self, start: int, end: int, block: int) -> None:
        """Notes that these raw code points are shown next in ``block``."""
        segment = self._last_segment
        if segment.end == start and segment.block == block:
            segment.end = end
        elif start < end:
            self._open(start, end, block)

    def end_block(self) -> None:
        """Notes that the wire's own text block has ended here."""
        self.border = self.length

    @property
    def shown(self) -> int:
        """The position before which all raw text has been decided."""
        return self._last_segment.end

    @property
    def blocks(self) -> list[int]:
        """The numbers of the text blocks so far, in their order."""
        return self._order

    def units(self, position: int, unit: Unit) -> int:
        """Converts a raw position: the number of units (code points, bytes of UTF-8
        or UTF-16 units) before the code point ``position``."""
        if unit == "code-point" or not self._starts:
            return position
        index = bisect_right(self._starts, position) - 1
        if index < 0:
            return self._ascii(position, unit)
        kept = self._texts[index][: position - self._starts[index]]
        beyond = position - self._starts[index] - len(kept)
        return self._begins(unit)[index] + width(kept, unit) + beyond

    def _ascii(self, position: int, unit: Unit) -> int:
        """Converts a position before the first stretch, where all text is ASCII. Raises
        `ForgottenError` if an earlier stretch was forgotten."""
        if self._begins(unit)[0] != self._starts[0]:
            raise ForgottenError
        return position

    def position(self, offset: int, unit: Unit) -> tuple[int, bool]:
        """Converts ``offset`` in ``unit``: returns the raw code point there, and
        whether ``offset`` is exactly where this code point begins."""
        starts, texts = self._starts, self._texts
        if unit == "code-point" or not starts:
            return offset, True
        offsets = self._begins(unit)
        index = bisect_right(offsets, offset) - 1
        if index < 0:
            return self._ascii(offset, unit), True
        start, text = starts[index], texts[index]
        units, size = offset - offsets[index], width(text, unit)
        if units >= size:
            return start + len(text) + units - size, True

        def units_of(count: int) -> int:
            return width(text[:count], unit)

        count = bisect_right(range(len(text)), units, key=units_of) - 1
        return start + count, units_of(count) == units

    def place(
        self, start: int, end: int, is_live: Callable[[int], bool]
    ) -> dict[str, Any] | None:
        """The place of the raw span in the visible blocks, as fields of an event; None
        if the span has no place, or it was forgotten. ``is_live``: whether a block is
        not retracted."""
        ends = self._point(start) if start == end else self._span(start, end)
        if ends is None or start < self._known_from:
            return None
        head, tail = ends
        low, high = self._ranks[head.block], self._ranks[tail.block]
        if high - low >= _MOST_BLOCKS:
            return None
        blocks = [block for block in self._order[low : high + 1] if is_live(block)]
        if not blocks:
            return None
        # In a block that was retracted, the span begins and ends at 0.
        begin = finish = 0, 0
        try:
            if head.block == blocks[0]:
                begin = self._position(head, max(start, head.start))
            if tail.block == blocks[-1]:
                finish = self._position(tail, min(end, tail.end))
            sizes = [self._size(block) for block in blocks if block != tail.block]
        except ForgottenError:
            return None
        return {
            "blocks": tuple(blocks),
            "start": begin[0],
            "end": finish[0] + sum(size for size, _ in sizes),
            "start_utf16": begin[1],
            "end_utf16": finish[1] + sum(size for _, size in sizes),
        }

    def _keep(self, text: str) -> None:
        for offset in range(0, len(text), _STRETCH):
            piece, start = text[offset : offset + _STRETCH], self.length + offset
            if start < self._kept_to:
                self._texts[-1] += piece
            elif not piece.isascii():
                self._starts.append(start)
                self._texts.append(piece)
                self._kept_to = start + _STRETCH
        if self._most is not None and len(self._starts) > 2 * self._most:
            count = len(self._starts) - self._most
            for unit in self._offsets:
                del self._begins(unit)[:count]
            del self._texts[:count], self._starts[:count]

    def _begins(self, unit: Unit) -> list[int]:
        """For each stretch, the number of units before it, counted on demand."""
        starts, offsets = self._starts, self._offsets[unit]
        for index in range(len(offsets) - 1, len(starts) - 1):
            if index < 0:
                offsets.append(starts[0])
                continue
            text = self._texts[index]
            beyond = starts[index + 1] - starts[index] - len(text)
            offsets.append(offsets[index] + width(text, unit) + beyond)
        return offsets

    def _open(self, start: int, end: int, block: int) -> None:
        segment = _Segment(start, end, block)
        with suppress(ForgottenError):
            if block in self._ranks:
                segment.position, segment.position_utf16 = self._size(block)
            segment.utf16 = self.units(start, "utf16")
        if block not in self._ranks:
            self._ranks[block] = len(self._order)
            self._order.append(block)
        self._segments.append(segment)
        self._tails[block] = self._last_segment = segment
        if self._most is not None and len(self._segments) > 2 * self._most:
            self._forget(len(self._segments) - self._most)

    def _forget(self, count: int) -> None:
        """Drops the first ``count`` segments, and the blocks that end with them."""
        del self._segments[:count]
        self._known_from = self._segments[0].start
        rank = self._ranks[self._segments[0].block]
        for block in self._order[:rank]:
            del self._tails[block]
        del self._order[:rank]
        self._ranks = {block: rank for rank, block in enumerate(self._order)}

    def _size(self, block: int) -> tuple[int, int]:
        """The length of what was shown in ``block``: code points and UTF-16 units."""
        return self._position(self._tails[block], self._tails[block].end)

    def _position(self, segment: _Segment, raw: int) -> tuple[int, int]:
        """Converts the position ``raw``, which is in ``segment``, to a position in the
        block's text: code points and UTF-16 units."""
        if segment.utf16 is None:
            raise ForgottenError
        utf16 = self.units(raw, "utf16") - segment.utf16
        return segment.position + raw - segment.start, segment.position_utf16 + utf16

    def _span(self, start: int, end: int) -> tuple[_Segment, _Segment] | None:
        """The first and the last segment that the raw span touches, if any."""
        head = bisect_right(self._segments, start, key=_start_of) - 1
        if head < 0 or self._segments[head].end <= start:
            head += 1
        tail = bisect_left(self._segments, end, key=_start_of) - 1
        if head > tail:
            return None
        return self._segments[head], self._segments[tail]

    def _point(self, position: int) -> tuple[_Segment, _Segment] | None:
        """The segment that contains ``position`` or ends there, else the segment that
        begins there, as first and last segment; None if there is none."""
        index = bisect_left(self._segments, position, key=_start_of)
        for segment in self._segments[max(index - 1, 0) : index + 1]:
            if segment.start <= position <= segment.end:
                return segment, segment
        return None
