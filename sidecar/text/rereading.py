"""The answer, read twice: what a removal brought together may be a form of its own.

`TwiceSplitter` has the verbs of `Splitter` and gives the same pieces. What the first
reading shows is read by a second one, which knows nothing of what was taken out: so the
visible text is what repair would leave of it (design, invariant 9). Positions stay
those of the raw channel.

Where nothing is taken out the second reading changes nothing, since what a text is read
as does not depend on how it comes. So while both readings know the same, the second one
waits: it goes on from where the first has been before that held or took something out.

What order needs is decided where reasoning, a call or a new answer stands: the second
reading never holds text back behind them.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from operator import itemgetter
from typing import TYPE_CHECKING

from sidecar.forms.candidate import Taken
from sidecar.forms.kinds import PieceKind
from sidecar.text.in_reasoning import FORMED
from sidecar.text.pieces import Pieces, merged

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sidecar.forms.candidate import Failed
    from sidecar.text.fast_path import Gate, Gates
    from sidecar.text.pieces import Piece
    from sidecar.text.splitter import Splitter, State

_TOLD = (PieceKind.SEEN, PieceKind.FAILED)
"""Of text that stays the first reading has told."""

_REASONS = frozenset((PieceKind.DELIMITER, PieceKind.ENTER, PieceKind.ENTER_MID))
"""What stands where reasoning begins."""


class TwiceSplitter:
    """``first`` reads the channel, ``second`` what that shows; ``taken`` belongs to the
    pieces of both."""

    def __init__(self, first: Splitter, second: Splitter) -> None:
        self.first = first
        self.second = second
        self.taken: deque[Taken | Failed] = deque()
        self.gate: Gate | None = None
        self._places = _Places()
        self._full = 0  # holds of the first reading that the second has not met
        self._alike = False  # the second reading waits, and holds nothing
        self._since = 0  # where it does, in the raw channel
        self._state: State | None = None  # of the first, before what that holds

    @property
    def gates(self) -> Gates:
        return self.first.gates

    @property
    def depth(self) -> int:
        return self.first.depth

    @property
    def holds(self) -> bool:
        """Whether anything is held back."""
        return self.first.holds or self.second.holds

    @property
    def held(self) -> int:
        """How many characters are held back."""
        return self.first.held + self.second.held

    def push(self, text: str) -> Pieces:
        if self._alike:
            self._state = self._state or self.first.state()
            out = self.first.push(text)
            if out:
                out = self._go_on(out)
        else:
            out = self._both(self.first.push(text))
        self._watch()
        return out

    def _go_on(self, pieces: Pieces) -> Pieces:
        """Pieces come while the second reading waits, which it may where all is text.
        If more is held, it has to look whether it would hold some of that text."""
        for piece in pieces:
            if piece[0] is not PieceKind.TEXT:
                self._resume()
                return self._both(pieces)
        if not self.first.holds:
            self._state = None
            return pieces
        self._resume()
        out = self._both(pieces)
        if not self.second.holds:
            self._alike, self._since = True, pieces[-1][3]
            self._state = self._since, *self.second.state()[1:]
        return out

    def _both(self, pieces: Pieces) -> Pieces:
        """What the second reading, which is up to date, makes of the first."""
        out = self._read(pieces)
        self._fall_asleep()
        return out

    def _fall_asleep(self) -> None:
        """The second reading waits again where it would read on as the first does."""
        if not self.second.holds:
            self._places.forget()
            if self.first.reads_like(self.second):
                self._alike, self._since = True, self.first.base

    def _resume(self) -> None:
        """The second reading waits no longer."""
        if self._alike:
            state = self._state or self.first.state()
            self._alike, self._state = False, None
            if state[0] > self._since:
                self._places.add(self._since, state[0])
                self._places.forget()
            self.second.resume(state, state[0] - self._since)

    def passed(self, text: str) -> Pieces:
        """Nothing in ``text`` matters and nothing is held: it goes as it came."""
        pieces = self.first.passed(text)
        if pieces and not (self.first.depth or self._alike):
            self._places.add(*pieces[0][2:])
            self.second.passed(text)
            self._fall_asleep()
        self._watch()
        return pieces

    def flush(self, *, followed: bool = False) -> Pieces:
        """Decides what is held as at the end of the text (see `Splitter`)."""
        self._resume()
        out = self._read(self.first.flush(followed=followed))
        self._again(self.second.flush(followed=followed), out)
        self.gate = None
        return out

    def call(self) -> None:
        """A structured call stands here (see `Splitter`)."""
        self._resume()
        self.first.call()
        self.second.call()

    def native_begins(self) -> None:
        """Native reasoning has come (see `Splitter`)."""
        self.first.native_begins()
        self._watch()

    def _watch(self) -> None:
        """Plain text passes where it would in both readings."""
        first, second = self.first, self.second
        self.gate = first.gate
        if not (first.depth or self._alike) and (
            second.gate is not first.gate or second.gates is not first.gates
        ):
            self.gate = None

    def _read(self, pieces: Pieces) -> Pieces:
        out: Pieces = []
        for piece in pieces if len(pieces) < 2 else merged(pieces):
            kind = piece[0]
            if kind is PieceKind.TEXT:
                self._places.add(piece[2], piece[3])
                self._again(self.second.push(piece[1]), out)
                continue
            if kind in FORMED or kind in _TOLD:
                self._take(self.first.taken.popleft(), out)
            elif kind in _REASONS:
                self._again(self.second.flush(), out)
            elif kind is PieceKind.REOPEN:
                self._again([*self.second.flush(), *self.second.reopen()], out)
                continue
            elif kind is PieceKind.FULL:
                self._full += 1
            out.append(piece)
        return out

    def _take(self, taken: Taken | Failed, out: Pieces) -> None:
        """What breaks off before a call is text (contract 7.7)."""
        if isinstance(taken, Taken) and taken.calls:
            self._again(self.second.flush(cuts=False), out)
        self.taken.append(taken)

    def _again(self, pieces: Pieces, out: Pieces) -> None:
        """What the second reading says, at the places of the raw channel."""
        for piece in pieces:
            kind, text, _, _ = piece
            if kind is PieceKind.FULL and self._full:
                self._full -= 1
            elif kind in _TOLD:
                self.second.taken.popleft()
            elif not text:
                out.append(piece)
            else:
                if kind in FORMED:
                    self.taken.append(self.second.taken.popleft())
                out += self._places.of(piece)


class _Places:
    """Where in the raw channel what was shown stands."""

    def __init__(self) -> None:
        self._size = 0
        #: where text begins that stands together, and how much was taken out before it
        self._runs: list[tuple[int, int]] = [(0, 0)]

    def add(self, start: int, end: int) -> None:
        """More is shown, of the raw channel's ``start`` to ``end``."""
        if start - self._size != self._runs[-1][1]:
            self._runs.append((self._size, start - self._size))
        self._size += end - start

    def forget(self) -> None:
        """No more is asked of what was shown so far."""
        del self._runs[:-1]

    def of(self, piece: Piece) -> Iterator[Piece]:
        """The piece, in as many as it has places: a form is the first of them."""
        kind, text, start, end = piece
        number = bisect_right(self._runs, start, key=itemgetter(0))
        while start < end:
            moved = self._runs[number - 1][1]
            last = end if number == len(self._runs) else min(self._runs[number][0], end)
            part, text = text[: last - start], text[last - start :]
            yield kind, part, start + moved, last + moved
            kind = PieceKind.REBUILT if kind in FORMED else kind
            start, number = last, number + 1
