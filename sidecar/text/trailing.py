"""Text that is protocol at the answer's very end, and text everywhere else.

That are stop tokens (contract 7.8). `Trailing` keeps them, with the blanks behind them,
until visible text follows (then all of it is text) or the answer ends (then they go).
What is removed in between does not decide.
"""

from __future__ import annotations

from enum import Enum

from attrs import define

from sidecar.text.shown_text import SPACE


class Is(Enum):
    TOKEN = 1  #: goes at the answer's end
    BLANKS = 2
    REMOVAL = 3  #: the place where something was taken out


@define
class Item:
    what: Is
    text: str = ""
    start: int = 0


class Trailing:
    """``held``: code points; ``tail``: the end of what waits, at least ``size`` of it;
    ``breaks``: it has several lines; ``line_shown``: the last one is not blank."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._clear()

    def _clear(self) -> None:
        self._items: list[Item] = []
        self.held = 0
        self.tail = ""
        self.breaks = False
        self.line_shown = False

    def __bool__(self) -> bool:
        return bool(self._items)

    def token(self, text: str, start: int) -> None:
        self._add(Item(Is.TOKEN, text, start))

    def blanks(self, text: str, start: int) -> None:
        self._add(Item(Is.BLANKS, text, start))

    def _add(self, item: Item) -> None:
        text = item.text
        self._items.append(item)
        self.held += len(text)
        self.tail = (self.tail + text)[-self._size :]
        _, line, last = text.rpartition("\n")
        self.breaks = self.breaks or bool(line)
        self.line_shown = bool(last.strip(SPACE)) or (self.line_shown and not line)

    def removal(self) -> None:
        if self._items and self._items[-1].what is not Is.REMOVAL:
            self._items.append(Item(Is.REMOVAL))

    def take(self) -> list[Item]:
        """All that waits."""
        items = self._items
        self._clear()
        return items
