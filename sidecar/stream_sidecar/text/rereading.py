"""The answer, read twice: what a removal brought together may be a form of its own.

`Rereading` puts two splitters in series and has the verbs of one. The second reads what
the first shows and knows nothing of what was taken out: so the visible text is what
repair would leave of it. Example: of ``<tool<think>x</think>_call>`` the first reading
shows ``<tool_call>``, and the second takes that out. Positions stay those of the raw
channel.

Asleep: while the first reading takes nothing out, both would know the same, so the
second is not fed (`_Asleep`). What the first held and then shows whole, the second
counts as holding as long.
Awake: it was set to the state that the first had before it began to hold, and is fed
from there, until both read on alike.
Flush: it shows all before reasoning, a call or a new answer, to keep events in order.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from functools import cached_property
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from stream_sidecar.forms.candidate import Taken
from stream_sidecar.forms.kinds import PieceKind
from stream_sidecar.records import define
from stream_sidecar.text.pieces import FORMED, Pieces, merged

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from stream_sidecar.forms.candidate import Failed
    from stream_sidecar.text.fast_path import Passage
    from stream_sidecar.text.lexicon import Share
    from stream_sidecar.text.pieces import Piece
    from stream_sidecar.text.splitter import Splitter, State

_REPORTED = (PieceKind.SEEN, PieceKind.FAILED)
"""Kinds of text that the first reading has reported."""

_REASONS = frozenset((PieceKind.DELIMITER, PieceKind.ENTER))
"""What stands where reasoning begins."""


@define(eq=False)
class _Asleep:
    """The second reading is not fed what the raw channel shows from ``since`` on.

    It would hold ``pieces``, which the first held and then showed, with their ``share``
    of the limits. ``state``: that of the first before these, or before what it holds.
    """

    since: int
    state: State | None = None
    pieces: Sequence[Piece] = ()
    share: Share = (0, 0)

    def let_go(self) -> Sequence[Piece]:
        """Nothing is held any more; gives what was."""
        pieces, self.pieces = self.pieces, ()
        self.state, self.share = None, (0, 0)
        return pieces


class Rereading:
    """``first`` reads the channel; ``make`` gives what reads what that shows, once it
    is needed. ``taken`` belongs to the pieces of both (text rule 5.2)."""

    def __init__(self, first: Splitter, make: Callable[[], Splitter]) -> None:
        self.first = first
        self.taken: deque[Taken | Failed] = deque()
        self._make = make
        self._full = 0  # holds of the first reading that the second has not met
        #: None: the second is awake
        self._asleep: _Asleep | None = _Asleep(0)

    @property
    def passage(self) -> Passage | None:
        """Plain text passes where it would in both readings."""
        first = self.first
        alone = self._asleep or first.reasoning.depth
        return first.passage if alone or self.second.passage == first.passage else None

    @cached_property
    def second(self) -> Splitter:
        """The second reading; it knows nothing while it sleeps."""
        return self._make()

    @cached_property
    def _places(self) -> _Places:
        return _Places()

    @property
    def held(self) -> int:
        """How many characters are held back."""
        first, asleep = self.first.held, self._asleep
        if asleep is None:
            return first + self.second.held
        return first + sum([end - start for _, _, start, end in asleep.pieces])

    def share(self) -> Share:
        """What the second reading holds, and the first may not hold as well."""
        return self.second.share() if self._asleep is None else self._asleep.share

    def given(self) -> Pieces:
        """The pieces so far of a text that is being pushed; there are some."""
        return self._read([*self._wake(), *self.first.given()])

    def shown(self) -> tuple[Any, ...]:
        """What is known of what was shown; nothing may be held."""
        return (self.first if self._asleep else self.second).shown.state()

    def push(self, text: str) -> Pieces:
        """The pieces that ``text`` decides."""
        first, asleep = self.first, self._asleep
        if asleep is None:
            return self._read_both(first.push(text))
        if first.passes(text):
            asleep.let_go()  # nothing was held before it
            return first.passed(text)
        known = self._known(asleep)
        out = first.read(text)
        if self._asleep is None:  # somebody asked for what was `given`
            return self._read_both(out)
        if not out or (first.held == len(text) and self._lag(asleep, out, *known)):
            return out
        return self._go_on(asleep, out)

    def passed(self, text: str) -> Pieces:
        """Nothing in ``text`` matters and nothing is held: it goes as it came."""
        pieces = self.first.passed(text)
        if pieces and self._asleep is None and not self.first.reasoning.depth:
            self._places.add(*pieces[0][2:])
            self.second.passed(text)
            self._fall_asleep()
        return pieces

    def flush(self, *, followed: bool = False) -> Pieces:
        """Decides what is held as at the end of the text (see `Splitter`)."""
        if self._asleep and self.first.waits:
            self._known(self._asleep)
        out = self.first.flush(followed=followed)
        if self._asleep and not out:
            self._asleep.let_go()
            return out
        out = self._read([*self._wake(), *out])
        self._read_again(self.second.flush(followed=followed), out)
        return out

    def read_again(self) -> Pieces:
        """The open reasoning is text after all (see `Splitter`)."""
        out = self._read([*self._wake(), *self.first.read_again()])
        self._read_again(self.second.flush(), out)
        return out

    def call(self) -> None:
        """A structured call stands here; text before it is never reclassified."""
        self.first.shown.call()
        if self._asleep is None:
            self.second.shown.call()

    # Awake or asleep

    def _known(self, asleep: _Asleep) -> tuple[State | None, Share]:
        """Where the first is now, in case the second gets there while it sleeps."""
        first = self.first
        asleep.state = asleep.state or first.state()
        return first.standing() if asleep.pieces else asleep.state, first.share()

    def _go_on(self, asleep: _Asleep, pieces: Pieces) -> Pieces:
        """Pieces come while the second reading sleeps, which it may where all is text.
        If more is held, it has to look whether it would hold some of that text."""
        if not self.first.held and all(each[0] is PieceKind.TEXT for each in pieces):
            return [*asleep.let_go(), *pieces]
        return self._read_both([*self._wake(), *pieces])

    def _lag(
        self, asleep: _Asleep, pieces: Pieces, state: State | None, share: Share
    ) -> bool:
        """Where all that the first held is text, and all that came now is held, the
        second goes where the first was before: it shows no more than that had shown."""
        fails = pieces[0][0] is PieceKind.FAILED
        shown = pieces[fails:]
        if not state or any(each[0] is not PieceKind.TEXT for each in shown):
            return False
        if fails:
            self.taken.append(self.first.taken.popleft())
        pieces[fails:] = asleep.pieces
        asleep.state, asleep.pieces, asleep.share = state, shown, share
        return True

    def _read_both(self, pieces: Pieces) -> Pieces:
        """What the second reading, which is awake, makes of the first."""
        out = self._read(pieces)
        self._fall_asleep()
        return out

    def _fall_asleep(self) -> None:
        """The second reading sleeps where it would read on as the first does."""
        if self.second.held:
            self.first.passage = None  # there may be no room for blanks that pass
            return
        self._places.forget()
        if not (self.first.reasoning.depth or self.first.held):
            state = self.first.state()
            if state[1:] == self.second.state()[1:]:
                self._asleep = _Asleep(state[0])

    def _wake(self) -> Sequence[Piece]:
        """The second reading knows what the first did, before that held anything; gives
        what it has to read."""
        asleep, self._asleep = self._asleep, None
        if asleep is None:
            return ()
        state = asleep.state or self.first.state()
        self._places.add(asleep.since, state[0])
        self._places.forget()
        self.second.resume(state, state[0] - asleep.since)
        return asleep.pieces

    # What both say

    def _read(self, pieces: Pieces) -> Pieces:
        out: Pieces = []
        for piece in pieces if len(pieces) < 2 else merged(pieces):
            kind = piece[0]
            if kind is PieceKind.TEXT:
                self._places.add(piece[2], piece[3])
                self._read_again(self.second.push(piece[1]), out)
                continue
            if kind in FORMED or kind in _REPORTED:
                taken = self.first.taken.popleft()
                if isinstance(taken, Taken) and taken.calls:
                    self._read_again(self.second.flush(called=True), out)
                self.taken.append(taken)
            elif kind in _REASONS:
                self._read_again(self.second.flush(), out)
            elif kind is PieceKind.EXIT_CALL:
                self.second.shown.call()
            elif kind is PieceKind.REOPEN:
                self._read_again([*self.second.flush(), *self.second.reopen()], out)
                continue
            elif kind is PieceKind.FULL:
                self._full += 1
            out.append(piece)
        return out

    def _read_again(self, pieces: Pieces, out: Pieces) -> None:
        """What the second reading says, at the places of the raw channel."""
        for piece in pieces:
            kind, text, _, _ = piece
            if kind is PieceKind.FULL and self._full:
                self._full -= 1
            elif kind in _REPORTED:
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
