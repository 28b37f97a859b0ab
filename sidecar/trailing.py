"""Text that is protocol at the answer's very end, and text everywhere else.

That are stop tokens (contract 7.8), and forms that would be whole or cut off if the
answer ended with them. `Trailing` keeps them, with the blanks behind them, until
visible text follows (then all of it is text) or the answer ends (then they go). What is
removed in between does not decide.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from attrs import define

from sidecar.pieces import Kind

if TYPE_CHECKING:
    from sidecar.candidate import Taken
    from sidecar.pieces import Pieces
    from sidecar.visible import VisibleText


class _Is(Enum):
    TOKEN = 1
    BLANKS = 2
    #: the place where something was taken out
    REMOVAL = 3


@define
class _Item:
    what: _Is
    text: str = ""
    start: int = 0
    taken: Taken | None = None

    @property
    def is_token(self) -> bool:
        return self.what is _Is.TOKEN

    @property
    def kind(self) -> Kind:
        """The piece's, if it goes."""
        if self.what is _Is.BLANKS:
            return Kind.BLANK
        is_call = self.taken is not None and self.taken.kind is Kind.CALL
        return Kind.CALL if is_call else Kind.MARK


class Trailing:
    """``held``: code points; ``text``: all that waits; ``breaks``: in several lines."""

    def __init__(self) -> None:
        self.text = ""
        self._items: list[_Item] = []
        self._more = ""

    def __bool__(self) -> bool:
        return bool(self._items)

    @property
    def held(self) -> int:
        return len(self.text)

    @property
    def breaks(self) -> bool:
        return "\n" in self.text

    def token(self, text: str, start: int, taken: Taken | None, more: str) -> None:
        """``taken`` is what it is at the end; ``more`` is part of it if it follows."""
        self._add(_Item(_Is.TOKEN, text, start, taken))
        self._more = more

    def extend(self, text: str) -> int:
        """How many code points of ``text`` are part of the last token."""
        more, self._more = self._more, ""
        if not more or not text.startswith(more):
            return 0
        self._items[-1].text += more
        self.text += more
        return len(more)

    def blanks(self, text: str, start: int) -> None:
        self._add(_Item(_Is.BLANKS, text, start))

    def removal(self) -> None:
        self._add(_Item(_Is.REMOVAL))

    def _add(self, item: _Item) -> None:
        self._items.append(item)
        self.text += item.text

    def show(self, visible: VisibleText, out: Pieces) -> None:
        """Visible text follows: it was text, too."""
        for item in self._take():
            if item.text:
                visible.write(item.text, item.start, out)
            else:
                visible.removed()

    def drop(self, visible: VisibleText, out: Pieces) -> list[Taken]:
        """The answer ends: the tokens go, with what stands between them; blanks behind
        them stay. Gives what their pieces are."""
        items, calls = self._take(), []
        last = max((n for n, each in enumerate(items) if each.is_token), default=0)
        for number, item in enumerate(items):
            if item.what is _Is.BLANKS and number > last:
                visible.write(item.text, item.start, out)
                continue
            if item.text:
                end = item.start + len(item.text)
                out.append((item.kind, item.text, item.start, end))
            if item.taken is not None and item.kind is Kind.CALL:
                calls.append(item.taken)
            visible.removed()
        return calls

    def _take(self) -> list[_Item]:
        items, self._items, self.text, self._more = self._items, [], "", ""
        return items
