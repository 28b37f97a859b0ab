"""Reads the answer twice, because a removal may put a new form together.

`Rereading` connects two splitters in series and has the methods of a `Splitter`. The
second splitter (the second reading) gets the text that the first one shows, and does
not know what the first one took out. So the visible text is what a later repair of the
message would leave. Example: of ``<tool<think>x</think>_call>``, the first reading
shows ``<tool_call>``, and the second takes it out. Positions stay those of the raw
channel.

Asleep: while the first reading takes nothing out, both would decide the same. So the
second gets no text (`_Asleep`). Text that the first reading held and then showed counts
as held by the second, which would still hold it.

Awake: the second reading continues from a state of the first: the state before the
first began to hold text. It gets the shown text from there on, until both are in the
same state again.

Flush: before reasoning, a call or a new answer begins, the second reading decides all
the text it holds, so that events stay in order.
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
from stream_sidecar.text.pieces import FORM_KINDS, Pieces, merged

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from stream_sidecar.forms.candidate import Failed
    from stream_sidecar.text.fast_path import Passage
    from stream_sidecar.text.lexicon import Share
    from stream_sidecar.text.pieces import Piece
    from stream_sidecar.text.splitter import Splitter, State

_FIRST_READING_KINDS = (PieceKind.SEEN, PieceKind.FAILED)
"""Kinds of pieces that only the first reading may report."""

_REASONING_KINDS = frozenset((PieceKind.DELIMITER, PieceKind.ENTER))
"""Kinds of pieces with which reasoning begins."""


@define(eq=False)
class _Asleep:
    """The second reading sleeps: it gets no text from position ``asleep_from`` on.

    ``pieces``: text that the first reading has shown and the second would still hold.
    ``share``: how much of the limits these pieces use. ``state``: the first reading's
    state before ``pieces``; if there are no pieces, before the text that the first
    reading holds now.
    """

    asleep_from: int
    state: State | None = None
    pieces: Sequence[Piece] = ()
    share: Share = (0, 0)

    def release_pieces(self) -> Sequence[Piece]:
        """Returns ``pieces`` and forgets them, so that they no longer count as held."""
        pieces, self.pieces = self.pieces, ()
        self.state, self.share = None, (0, 0)
        return pieces


class Rereading:
    """Two splitters in series (text rule 5.2). ``first`` reads the channel.
    ``make_second`` returns the second splitter; it is called when the second splitter
    is first used. ``verdicts``: as in `Splitter`, for the pieces of both."""

    def __init__(self, first: Splitter, make_second: Callable[[], Splitter]) -> None:
        self.first = first
        self.verdicts: deque[Taken | Failed] = deque()
        self._make_second = make_second
        self._full_marks = 0  # FULL marks that only the first reading has sent
        #: None: the second reading is awake
        self._asleep: _Asleep | None = _Asleep(0)

    @property
    def passage(self) -> Passage | None:
        """The `Passage` for the next text; None if it must be read."""
        first = self.first
        alone = self._asleep or first.reasoning.depth
        return first.passage if alone or self.second.passage == first.passage else None

    @cached_property
    def second(self) -> Splitter:
        """The second splitter. While it sleeps, its state is out of date."""
        return self._make_second()

    @cached_property
    def _raw_positions(self) -> _RawPositions:
        return _RawPositions()

    @property
    def held(self) -> int:
        """The number of characters that the two readings hold in total."""
        first, asleep = self.first.held, self._asleep
        if asleep is None:
            return first + self.second.held
        return first + sum([end - start for _, _, start, end in asleep.pieces])

    def share(self) -> Share:
        """The `Share` of the second reading, as if it were awake."""
        return self.second.share() if self._asleep is None else self._asleep.share

    def take_decided(self) -> Pieces:
        """The pieces decided so far, after the second reading woke."""
        return self._read_pieces([*self._wake(), *self.first.take_decided()])

    def shown(self) -> tuple[Any, ...]:
        """The state of the visible text. Call this only while nothing is held."""
        return (self.first if self._asleep else self.second).shown.state()

    def push(self, text: str) -> Pieces:
        """The pieces that ``text`` decides."""
        first, asleep = self.first, self._asleep
        if asleep is None:
            return self._read_both(first.push(text))
        if first.passes(text):
            asleep.release_pieces()  # neither reading holds any text
            return first.show_passed(text)
        saved = self._state_before_held(asleep)
        pieces = first.read_slice(text)
        if self._asleep is None:  # it was woken by `take_decided`
            return self._read_both(pieces)
        if not pieces or (
            first.held == len(text) and self._can_lag(asleep, pieces, *saved)
        ):
            return pieces
        return self._stay_asleep(asleep, pieces)

    def show_passed(self, text: str) -> Pieces:
        """Shows ``text`` unread: nothing in it matters, and nothing is held."""
        pieces = self.first.show_passed(text)
        if pieces and self._asleep is None and not self.first.reasoning.depth:
            self._raw_positions.add_shown(*pieces[0][2:])
            self.second.show_passed(text)
            self._fall_asleep()
        return pieces

    def flush(self, *, followed: bool = False) -> Pieces:
        """Decides all held text as if the text ended here (see `Splitter`)."""
        if self._asleep and self.first.holds:
            self._state_before_held(self._asleep)
        pieces = self.first.flush(followed=followed)
        if self._asleep and not pieces:
            self._asleep.release_pieces()
            return pieces
        pieces = self._read_pieces([*self._wake(), *pieces])
        self._add_second(self.second.flush(followed=followed), pieces)
        return pieces

    def read_again(self) -> Pieces:
        """Reads the open reasoning again as the answer (see `Splitter`)."""
        pieces = self._read_pieces([*self._wake(), *self.first.read_again()])
        self._add_second(self.second.flush(), pieces)
        return pieces

    def note_call(self) -> None:
        """Notes a structured call: no orphan turns text before it."""
        self.first.shown.note_call()
        if self._asleep is None:
            self.second.shown.note_call()

    # Awake or asleep

    def _state_before_held(self, asleep: _Asleep) -> tuple[State | None, Share]:
        """The first reading's state before the text that it holds now (None: see
        `Splitter.settled_state`), and its share. The second reading may need them if it
        has to hold this text later."""
        first = self.first
        asleep.state = asleep.state or first.state()
        return first.settled_state() if asleep.pieces else asleep.state, first.share()

    def _stay_asleep(self, asleep: _Asleep, pieces: Pieces) -> Pieces:
        """Returns the pieces of both readings after the first one, while the second
        sleeps, has decided ``pieces``.

        If all of them are text and the first reading holds nothing, the second stays
        asleep. Otherwise it wakes, because it may have to hold some of the text.
        """
        if not self.first.held and all(piece[0] is PieceKind.TEXT for piece in pieces):
            return [*asleep.release_pieces(), *pieces]
        return self._read_both([*self._wake(), *pieces])

    def _can_lag(
        self, asleep: _Asleep, pieces: Pieces, state: State | None, share: Share
    ) -> bool:
        """Whether the second reading can stay asleep because it would hold exactly the
        text that the first has just shown. This is so if the first has shown all that
        it held, and holds all new text.

        If so, stores ``pieces`` in ``asleep``, and replaces them in the list by those
        that were stored there before. ``state`` and ``share``: results of
        `_state_before_held`.
        """
        has_failure = pieces[0][0] is PieceKind.FAILED
        shown_pieces = pieces[has_failure:]
        if not state or any(piece[0] is not PieceKind.TEXT for piece in shown_pieces):
            return False
        if has_failure:
            self.verdicts.append(self.first.verdicts.popleft())
        pieces[has_failure:] = asleep.pieces
        asleep.state, asleep.pieces, asleep.share = state, shown_pieces, share
        return True

    def _read_both(self, pieces: Pieces) -> Pieces:
        """`_read_pieces` while the second is awake, which then may sleep."""
        output = self._read_pieces(pieces)
        self._fall_asleep()
        return output

    def _fall_asleep(self) -> None:
        """Puts the second reading to sleep if both readings are in the same state."""
        if self.second.held:
            self.first.passage = None  # blanks that pass might exceed the hold limit
            return
        self._raw_positions.drop_earlier()
        if not (self.first.reasoning.depth or self.first.held):
            state = self.first.state()
            if state[1:] == self.second.state()[1:]:
                self._asleep = _Asleep(state[0])

    def _wake(self) -> Sequence[Piece]:
        """Wakes the second reading; returns the pieces that it reads first."""
        asleep, self._asleep = self._asleep, None
        if asleep is None:
            return ()
        state = asleep.state or self.first.state()
        self._raw_positions.add_shown(asleep.asleep_from, state[0])
        self._raw_positions.drop_earlier()
        self.second.resume(state, state[0] - asleep.asleep_from)
        return asleep.pieces

    # The pieces of both readings

    def _read_pieces(self, pieces: Pieces) -> Pieces:
        """Lets the second reading read ``pieces``; returns both's."""
        output: Pieces = []
        for piece in pieces if len(pieces) < 2 else merged(pieces):
            kind = piece[0]
            if kind is PieceKind.TEXT:
                self._raw_positions.add_shown(piece[2], piece[3])
                self._add_second(self.second.push(piece[1]), output)
                continue
            if kind in FORM_KINDS or kind in _FIRST_READING_KINDS:
                verdict = self.first.verdicts.popleft()
                if isinstance(verdict, Taken) and verdict.calls:
                    self._add_second(self.second.flush(called=True), output)
                self.verdicts.append(verdict)
            elif kind in _REASONING_KINDS:
                self._add_second(self.second.flush(), output)
            elif kind is PieceKind.EXIT_CALL:
                self.second.shown.note_call()
            elif kind is PieceKind.REOPEN:
                self._add_second([*self.second.flush(), *self.second.reopen()], output)
                continue
            elif kind is PieceKind.FULL:
                self._full_marks += 1
            output.append(piece)
        return output

    def _add_second(self, pieces: Pieces, output: Pieces) -> None:
        """Adds the second's ``pieces``, with raw positions, to ``output``."""
        for piece in pieces:
            kind, text, _, _ = piece
            if kind is PieceKind.FULL and self._full_marks:
                self._full_marks -= 1
            elif kind in _FIRST_READING_KINDS:
                self.second.verdicts.popleft()
            elif not text:
                output.append(piece)
            else:
                if kind in FORM_KINDS:
                    self.verdicts.append(self.second.verdicts.popleft())
                output += self._raw_positions.map_piece(piece)


class _RawPositions:
    """Maps positions in the shown text to positions in the raw channel."""

    def __init__(self) -> None:
        self._shown_size = 0
        #: for each run of adjacent text: its position in the shown text, and what to
        #: add to get its position in the raw channel
        self._runs: list[tuple[int, int]] = [(0, 0)]

    def add_shown(self, start: int, end: int) -> None:
        """Notes that the raw channel's text from ``start`` to ``end`` is shown next."""
        if start - self._shown_size != self._runs[-1][1]:
            self._runs.append((self._shown_size, start - self._shown_size))
        self._shown_size += end - start

    def drop_earlier(self) -> None:
        """Drops the positions of the text shown so far."""
        del self._runs[:-1]

    def map_piece(self, piece: Piece) -> Iterator[Piece]:
        """``piece`` with positions of the raw channel, one part for each run of
        adjacent raw text. If the piece is a form, the first part keeps its kind, and
        the others are REBUILT."""
        kind, text, start, end = piece
        number = bisect_right(self._runs, start, key=itemgetter(0))
        while start < end:
            offset = self._runs[number - 1][1]
            stop = end if number == len(self._runs) else min(self._runs[number][0], end)
            part_text, text = text[: stop - start], text[stop - start :]
            yield kind, part_text, start + offset, stop + offset
            kind = PieceKind.REBUILT if kind in FORM_KINDS else kind
            start, number = stop, number + 1
