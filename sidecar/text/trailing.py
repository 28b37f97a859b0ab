"""Text that is protocol at the answer's very end, and text everywhere else.

That are stop tokens (contract 7.8), and what is left of a candidate that was torn
(``torn``). `Trailing` keeps them, with the blanks behind them, until visible
text follows (then all of it is text, but for a torn candidate that goes on) or the
answer ends (then they go). What is removed in between does not decide.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, TypeAlias

from attrs import define, evolve

from sidecar.text.shown_text import SPACE

if TYPE_CHECKING:
    from sidecar.forms.kinds import PieceKind
    from sidecar.text.code import CodeState
    from sidecar.text.torn import Torn

Placed: TypeAlias = tuple[str, int]
"""Text, and its absolute position."""

_MOST = 8
"""So many may be torn at a time (time is linear)."""


class Is(Enum):
    TOKEN = 1  #: goes at the answer's end
    BLANKS = 2
    REMOVAL = 3  #: the place where something was taken out
    TEXT = 4  #: part of what was torn


@define
class Item:
    what: Is
    text: str = ""
    start: int = 0


@define
class _State:
    """What is known of all that waits; ``code`` only while something torn is in it.

    ``solid``: code points up to the end of the last text.
    """

    held: int = 0
    solid: int = 0
    tail: str = ""
    breaks: bool = False
    line_shown: bool = False
    code: CodeState | None = None


class Trailing:
    """``held``: code points; ``tail``: the end of what waits, at least ``size`` of it;
    ``breaks``: it has several lines; ``line_shown``: the last one is not blank.

    ``torn`` is what was torn and is read now. Others stand behind it, which count if it
    is text, and before it, which were ended by it, and go on if it is taken out. While
    there is any, ``code`` is the state of code at the end. Mostly nothing waits: then
    it is ``fresh``.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._clear()

    def _clear(self) -> None:
        self._state = _State()
        self._items: list[Item] = []
        self._torn: list[Torn] = []
        self._before: list[_State] = []  # what was known where each of them begins
        self._now = 0  # which of them is read
        self.fresh = True

    def __bool__(self) -> bool:
        return bool(self._items) or bool(self._torn)

    @property
    def torn(self) -> Torn | None:
        return self._torn[self._now] if self._torn else None

    @property
    def code(self) -> CodeState | None:
        return self._state.code

    @property
    def held(self) -> int:
        return self._state.held

    @property
    def loose(self) -> int:
        """Code points behind what was torn, of all where nothing was."""
        return self._state.held - (self._state.solid if self._torn else 0)

    @property
    def tail(self) -> str:
        return self._state.tail

    @property
    def breaks(self) -> bool:
        return self._state.breaks

    @property
    def line_shown(self) -> bool:
        return self._state.line_shown

    def token(self, text: str, start: int) -> None:
        self._wait(Item(Is.TOKEN, text, start))

    def blanks(self, text: str, start: int) -> None:
        self._wait(Item(Is.BLANKS, text, start))

    def _wait(self, item: Item) -> None:
        self._add(item)
        if self._torn:
            self._torn[self._now].wait(item.text, blank=item.what is Is.BLANKS)

    def more(self, text: str, start: int) -> None:
        """More of what was torn, which knows it; it ends with no blank."""
        self._add(Item(Is.TEXT, text, start))

    def _add(self, item: Item) -> None:
        text, state = item.text, self._state
        self.fresh = False
        self._items.append(item)
        state.held += len(text)
        if item.what is Is.TEXT:
            state.solid = state.held
        state.tail = (state.tail + text)[-self._size :]
        _, line, last = text.rpartition("\n")
        state.breaks = state.breaks or bool(line)
        state.line_shown = bool(last.strip(SPACE)) or (state.line_shown and not line)
        if state.code is not None:
            state.code.feed(text)

    def removal(self) -> None:
        if self._items and self._items[-1].what is not Is.REMOVAL:
            self._items.append(Item(Is.REMOVAL))
        for torn in self._torn:
            torn.gap()

    def tear(self, torn: Torn, code: CodeState) -> list[Item]:
        """``torn`` begins here, its text comes; ``code``: the state before all this.
        Gives what is text now, since the oldest one was too many."""
        shown: list[Item] = []
        if len(self._torn) == _MOST:
            if not self._now:
                return []
            self._now -= 1
            self._forget(0)
            shown = self._cut_first()
        state = self._state
        if state.code is None:
            state.code = code
            for item in self._items:
                state.code.feed(item.text)
        self.fresh = False
        torn.first = len(self._items)
        self._torn.append(torn)
        self._before.append(evolve(state, code=state.code.copy()))
        return shown

    def last(self) -> PieceKind | None:
        """What that would be at the answer's end which is read (see `Torn`)."""
        return self._last(self._now, len(self._items))

    def _last(self, number: int, until: int) -> PieceKind | None:
        torn = self._torn[number]
        if not torn.asked:
            end, blanks = self._texts(until), ""
            for item in self._items[end:until]:
                blanks = "" if item.what is Is.TOKEN else blanks + item.text
            text = "".join(item.text for item in self._items[torn.first : end])
            torn.ask(text, blanks)
        return torn.last

    def settle_before(self) -> list[Item]:
        """Gives what waits before what is read, as far as it would not go by itself."""
        goes = self._now
        for number in reversed(range(goes)):
            if self._last(number, self._torn[goes].first) is not None:
                goes = number
        self._now -= goes
        del self._torn[:goes], self._before[:goes]
        return self._cut_first() if goes else []

    def _texts(self, end: int) -> int:
        """Behind the last text among the first ``end`` items."""
        while end and self._items[end - 1].what is not Is.TEXT:
            end -= 1
        return end

    def give_up(self, restart: int) -> list[Item]:
        """What is read is text, from ``restart`` of it on perhaps something else: the
        next that begins there or behind is read. Gives what is text now, whatever may
        be taken out."""
        now = self._now
        while len(self._torn) > now + 1 and self._offset(now, now + 1) < restart:
            self._forget(now + 1)
        if len(self._torn) == now + 1:  # all of it is
            self._torn, self._before, self._now = [], [], 0
            return []
        self._now = now + 1
        while self._now and self._is_text(self._now - 1):
            self._now -= 1
            self._forget(self._now)
        shown = self._cut_first()
        self._read_again()
        return shown

    def _is_text(self, number: int) -> bool:
        """Whether it failed before the next one began."""
        size = self._before[number + 1].solid - self._before[number].held
        return self._torn[number].failed <= size

    def _forget(self, number: int) -> None:
        del self._torn[number], self._before[number]

    def _offset(self, one: int, other: int) -> int:
        """How much text of ``one`` stands before ``other``."""
        return self._before[other].held - self._before[one].held

    def _cut_first(self) -> list[Item]:
        """The text before what may still go."""
        first = self._texts(self._torn[0].first)
        items, self._items = self._items[:first], self._items[first:]
        shown = sum(len(item.text) for item in items)
        for torn, state in zip(self._torn, self._before, strict=True):
            torn.first -= first
            state.held -= shown
            state.solid -= shown
        self._state.held -= shown
        self._state.solid -= shown
        return items

    def _read_again(self) -> None:
        torn = self._torn[self._now]
        torn.reset()
        for item in self._items[torn.first :]:
            if item.what is Is.TEXT:
                torn.add(item.text)
            else:
                torn.wait(item.text, blank=item.what is Is.BLANKS)

    def take_out(self, size: int) -> list[Placed]:
        """What is read goes, as far as its first ``size`` code points: gives that. What
        it ended is read again."""
        now, first = self._now, self._torn[self._now].first
        gone: list[Placed] = []
        items, self._items = self._items[first:], self._items[:first]
        self._state = self._before[now]
        del self._torn[now:], self._before[now:]
        self.removal()
        for item in items:
            cut, rest = item.text[:size], item.text[size:]
            size -= len(cut)
            if cut:
                _join(gone, cut, item.start)
            if rest:
                self._add(Item(item.what, rest, item.start + len(cut)))
        while self._torn and self._torn[-1].is_tired:
            self._forget(-1)
        self._now = max(len(self._torn) - 1, 0)
        if self._torn:
            self._read_again()
        else:
            self._state.code = None
        return gone

    def text(self) -> list[Item]:
        """Nothing is torn any more: gives what is text then, only tokens behind it
        wait."""
        items, end = self._items, self._texts(len(self._items))
        while 0 < end < len(items) and items[end].what is not Is.TOKEN:
            end += 1
        if end:
            self._clear()
            for item in items[end:]:
                self._add(item)
        return items[:end]

    def take(self) -> list[Item]:
        """All that waits."""
        items = self._items
        self._clear()
        return items


def _join(gone: list[Placed], text: str, start: int) -> None:
    """One piece is what stands together, however it came."""
    if gone and gone[-1][1] + len(gone[-1][0]) == start:
        before, start = gone.pop()
        text = before + text
    gone.append((text, start))
