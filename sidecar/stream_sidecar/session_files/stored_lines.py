"""The lines of a session, read more than once: first as they are, with their damage,
then with what mends them. A whole document is the one line of a log.
"""

from __future__ import annotations

from typing import IO, TYPE_CHECKING

from stream_sidecar.records import frozen
from stream_sidecar.session_files import size_limits
from stream_sidecar.session_files.damage import (
    Damage,
    ReadLine,
    read_document,
    read_lines,
)
from stream_sidecar.session_files.documents import decoded
from stream_sidecar.session_files.mends import UNMENDED, mended_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stream_sidecar.session_files.mends import LineMend

_BOM = b"\xef\xbb\xbf"


@frozen
class StoredLines:
    """The lines of a log."""

    file: IO[bytes]
    by_line = True

    def read(self) -> Iterator[ReadLine]:
        self.file.seek(0)
        return read_lines(_short(self.file))

    def mended(
        self, mends: dict[int, LineMend]
    ) -> Iterator[tuple[int, bytes, LineMend]]:
        """The lines as they stand, with what mends them."""
        self.file.seek(0)
        for number, data, part, mend in mended_lines(self.file, mends):
            if part is size_limits.LinePart.LINE:
                yield number, data, mend


def _short(file: IO[bytes]) -> Iterator[bytes]:
    """The lines of a file; one that is too long is blank."""
    for data, part in size_limits.lines_of(file):
        if part is not size_limits.LinePart.REST:
            yield data if part is size_limits.LinePart.LINE else b"\n"


@frozen
class StoredDocument:
    """A whole document, as the one line of a log."""

    data: bytes
    by_line = False

    def read(self) -> Iterator[ReadLine]:
        text = self.data.rstrip(b"\0")
        try:
            value = decoded(text)
        except (ValueError, RecursionError):
            if (read := read_document(self.data)) is not None:
                yield read
            return
        damage = None
        if len(text) < len(self.data):
            damage = Damage("nul", self.data, 1, len(text), ((0, len(text)),))
        elif text.startswith(_BOM):
            damage = Damage("bom", self.data, 1, 0)
        yield ReadLine(1, self.data, value, damage)

    def mended(
        self, mends: dict[int, LineMend]
    ) -> Iterator[tuple[int, bytes, LineMend]]:
        yield 1, self.data, mends.get(1, UNMENDED)
