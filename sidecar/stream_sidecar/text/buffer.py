"""The undecided text of a channel, and the pieces decided so far.

Text enters at the end of the `Buffer` and leaves at its front: as a piece, or to the
caller, which lets it wait. Only `Buffer` slices text. Example: with ``Hello<thi`` at
position 0, ``cut_piece(TEXT, 5)`` makes the piece ``(TEXT, "Hello", 0, 5)``, and
``<thi`` is left.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from stream_sidecar import patterns
from stream_sidecar.forms.kinds import PieceKind
from stream_sidecar.records import define, evolve, field
from stream_sidecar.text.shown_text import SPACE

if TYPE_CHECKING:
    from stream_sidecar.forms.candidate import Failed, Taken
    from stream_sidecar.text.pieces import Pieces

_SPACE = patterns.compile(f"[{SPACE}]*+")


@define(eq=False)
class Buffer:
    """A part of the channel's ``text``, from position ``base`` on. The first ``index``
    code points are decided, and ``pieces`` describes them.

    ``verdicts`` has one entry, in order, for each piece of kind CALL, RESULT, CITE,
    SEEN and FAILED. ``has_gap``: something was removed right before the next character.
    """

    text: str = ""
    index: int = 0
    base: int = 0
    pieces: Pieces = field(factory=list)
    verdicts: deque[Taken | Failed] = field(factory=deque)
    has_gap: bool = False

    def __len__(self) -> int:
        return len(self.text) - self.index

    @property
    def place(self) -> int:
        """The position of the next character in the channel."""
        return self.base + self.index

    def peek(self, size: int, skip: int = 0) -> str:
        """The next ``size`` undecided characters, or fewer, after ``skip``."""
        start = self.index + skip
        return self.text[start : start + size]

    def count_blanks(self) -> int:
        """The number of blanks and line breaks with which the undecided text begins."""
        match = _SPACE.match(self.text, self.index)
        return match.end() - self.index if match else 0

    def cut_piece(self, kind: PieceKind, size: int) -> None:
        """Decides the next ``size`` characters as ``kind`` (text rule 2.1)."""
        text, start = self.take(size)
        self.pieces.append((kind, text, start, start + size))

    def take(self, size: int) -> tuple[str, int]:
        """Takes the next ``size`` characters, to show or hold, and their place."""
        start, self.index = self.index, self.index + size
        return self.text[start : self.index], self.base + start

    def add_mark(self, kind: PieceKind, start: int = 0) -> None:
        """Adds a piece without text. ``start``: its position, or the number that it
        stands for (see `pieces`)."""
        self.pieces.append((kind, "", start, start))

    def report_call(self, call_form: Taken, text: str, start: int) -> None:
        """Reports a call whose ``text`` stays visible (``report``)."""
        self.verdicts.append(evolve(call_form, raw=text))
        self.pieces.append((PieceKind.SEEN, "", start, start + len(text)))

    def put_back(self, text: str, start: int) -> None:
        """Replaces the undecided text by ``text``, from ``start`` on."""
        self.text, self.base, self.index = text, start, 0

    def drop_decided(self) -> None:
        """Drops the decided text. Its pieces stay."""
        self.base += self.index
        self.text, self.index = self.text[self.index :], 0

    def take_pieces(self) -> Pieces:
        """Returns the pieces since the last call of this method, as a copy: callers
        may hold the list ``pieces`` itself and add to it."""
        pieces = self.pieces.copy()
        self.pieces.clear()
        return pieces
