"""The text of a channel that is not decided yet, and what was said of what was.

`Buffer` alone slices text. Text comes in at its end and leaves at its front, either as
a piece or into the hands of what makes it wait. Example: of ``Hello<thi`` at position
0, ``cut(TEXT, 5)`` makes the piece ``(TEXT, "Hello", 0, 5)``, and ``<thi`` is left.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from attrs import evolve

from stream_sidecar import patterns
from stream_sidecar.forms.kinds import PieceKind
from stream_sidecar.records import define, field
from stream_sidecar.text.shown_text import SPACE

if TYPE_CHECKING:
    from stream_sidecar.forms.candidate import Failed, Taken
    from stream_sidecar.text.pieces import Pieces

_SPACE = patterns.compile(f"[{SPACE}]*+")


@define(eq=False)
class Buffer:
    """``text`` begins at position ``base`` of the channel; ``at`` code points of it are
    decided.

    ``pieces`` says what they are; ``taken`` holds, for each piece of kind CALL, RESULT,
    CITE, SEEN and FAILED, in order, what is known of it. ``border``: something was
    taken out right before the next character.
    """

    text: str = ""
    at: int = 0
    base: int = 0
    pieces: Pieces = field(factory=list)
    taken: deque[Taken | Failed] = field(factory=deque)
    border: bool = False

    def __len__(self) -> int:
        return len(self.text) - self.at

    @property
    def place(self) -> int:
        """The position of the next character in the channel."""
        return self.base + self.at

    def ahead(self, size: int, skip: int = 0) -> str:
        """The next ``size`` characters behind ``skip`` of them, or what there is."""
        start = self.at + skip
        return self.text[start : start + size]

    def blanks(self) -> int:
        """With how many blanks and line breaks the rest begins."""
        match = _SPACE.match(self.text, self.at)
        return match.end() - self.at if match else 0

    def cut(self, kind: PieceKind, size: int) -> None:
        """Makes the next ``size`` characters a piece (text rule 2.1)."""
        text, start = self.take(size)
        self.pieces.append((kind, text, start, start + size))

    def take(self, size: int) -> tuple[str, int]:
        """The next ``size`` characters and their position, for somebody who makes them
        wait or shows them."""
        start, self.at = self.at, self.at + size
        return self.text[start : self.at], self.base + start

    def mark(self, kind: PieceKind, start: int = 0) -> None:
        """Makes a piece without text."""
        self.pieces.append((kind, "", start, start))

    def see(self, taken: Taken, text: str, start: int) -> None:
        """A call stands at ``start``, and its ``text`` stays (policy ``report``)."""
        self.taken.append(evolve(taken, raw=text))
        self.pieces.append((PieceKind.SEEN, "", start, start + len(text)))

    def put_back(self, text: str, start: int) -> None:
        """Everything from the position ``start`` on is ``text``, and undecided."""
        self.text, self.base, self.at = text, start, 0

    def forget(self) -> None:
        """Lets go of what is decided."""
        self.base += self.at
        self.text, self.at = self.text[self.at :], 0

    def give(self) -> Pieces:
        """The pieces since this was last asked; who writes into the list goes on."""
        pieces = self.pieces.copy()
        self.pieces.clear()
        return pieces
