"""The text of an open document, and positions in it as the client counts them.

A line ends only with ``\\n``, ``\\r\\n`` or ``\\r``: JSON may contain U+2028, at which
Python's ``splitlines`` would break. Offsets are code points of the text. A `Point` is a
line and a column, counted in the client's position encoding. This module knows no LSP
types.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, TypeAlias

from stream_sidecar import patterns
from stream_sidecar.values.units import Unit, width

if TYPE_CHECKING:
    from collections.abc import Iterable

Point: TypeAlias = tuple[int, int]

UNITS: dict[str, Unit] = {"utf-8": "byte", "utf-16": "utf16", "utf-32": "code-point"}
"""Position encodings of LSP."""

_BREAK = patterns.compile("\r\n|\n|\r")


class DocumentText:
    """``text`` and its lines; columns are counted in ``unit``."""

    def __init__(self, text: str, unit: Unit) -> None:
        self.text = text
        self._unit = unit
        self._starts = [0, *(match.end() for match in _BREAK.finditer(text))]

    @property
    def lines(self) -> int:
        return len(self._starts)

    def line(self, number: int) -> Point:
        """The offsets at which a line begins and ends, its line break included."""
        is_last = number + 1 >= len(self._starts)
        end = len(self.text) if is_last else self._starts[number + 1]
        return self._starts[number], end

    def replaced(self, start: Point, end: Point, new_text: str) -> DocumentText:
        """The text with ``new_text`` between two points."""
        left, right = self.offset(start), self.offset(end)
        text = self.text[:left] + new_text + self.text[max(left, right) :]
        return DocumentText(text, self._unit)

    def offset(self, point: Point) -> int:
        """The offset of ``point``; a column beyond the line's end is the line's end."""
        number, column = point
        if number >= len(self._starts):
            return len(self.text)
        start, end = self.line(number)
        line = self.text[start:end].rstrip("\r\n")
        if self._unit == "code-point" or line.isascii():
            return start + min(column, len(line))
        size = bisect_right(
            range(len(line) + 1),
            column,
            key=lambda count: width(line[:count], self._unit),
        )
        return start + max(size - 1, 0)

    def points(self, offsets: Iterable[int]) -> list[Point]:
        """The points of sorted ``offsets``; goes through each line once."""
        points, number, position, column = [], -1, 0, 0
        for offset in offsets:
            line = bisect_right(self._starts, offset) - 1
            if line != number:
                number, position, column = line, self._starts[line], 0
            text = self.text[position:offset]
            is_narrow = self._unit == "code-point" or text.isascii()
            column += len(text) if is_narrow else width(text, self._unit)
            position = offset
            points.append((number, column))
        return points
