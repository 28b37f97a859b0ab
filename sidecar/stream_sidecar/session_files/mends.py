"""Mends of a session's lines: what takes the place of a line before it is read.

A damaged line, or the lines of one damaged record, become the records that are left of
it (`damage`). Of a line that can be read, some values change (`resume.edits`).
"""

from __future__ import annotations

from io import BytesIO
from itertools import islice
from typing import IO, TYPE_CHECKING

from stream_sidecar.records import frozen
from stream_sidecar.session_files import size_limits

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from stream_sidecar.history.cuts import Change
    from stream_sidecar.session_files.size_limits import LinePart


@frozen
class LineMend:
    """What mends a line. ``changes`` of its text, sorted and apart; or ``new``, which
    takes the place of the line and of those behind it: of ``count`` lines."""

    changes: tuple[Change, ...] = ()
    new: bytes | None = None
    count: int = 1

    def lines(self, data: bytes) -> list[bytes]:
        """The lines to read in place of ``data``."""
        return [data] if self.new is None else [*BytesIO(self.new)]


UNMENDED = LineMend()


def mended_lines(
    file: IO[bytes], mends: Mapping[int, LineMend], first_line: int = 1
) -> Iterator[tuple[int, bytes, LinePart, LineMend]]:
    """The lines of a file as they stand: number, bytes, `LinePart`, and what mends
    them. Lines that are mended together come together."""
    number, lines = first_line - 1, size_limits.lines_of(file)
    for data, part in lines:
        number += part is not size_limits.LinePart.REST
        mend = UNMENDED
        if part is size_limits.LinePart.LINE:
            mend = mends.get(number, UNMENDED)
        further = b"".join(more for more, _ in islice(lines, mend.count - 1))
        yield number, data + further, part, mend
        number += mend.count - 1
