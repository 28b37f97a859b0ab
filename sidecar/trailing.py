"""Tokens that are protocol at the answer's very end, and text everywhere else.

`Trailing` keeps them, with the blanks behind them, until visible text follows (then all
of it is text) or the answer ends (then the tokens go): contract 7.8. What is removed in
between does not decide, so a stop token in front of it goes like any other.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from sidecar.pieces import Kind

if TYPE_CHECKING:
    from sidecar.pieces import Pieces
    from sidecar.visible import VisibleText


class _Item(Enum):
    TOKEN = 1
    BLANKS = 2
    #: the place where something was taken out
    REMOVAL = 3


class Trailing:
    """``held``: code points; ``text``: all that waits; ``breaks``: in several lines."""

    def __init__(self) -> None:
        self.text = ""
        self._items: list[tuple[_Item, str, int]] = []

    def __bool__(self) -> bool:
        return bool(self._items)

    @property
    def held(self) -> int:
        return len(self.text)

    @property
    def breaks(self) -> bool:
        return "\n" in self.text

    def token(self, text: str, start: int) -> None:
        self._add(_Item.TOKEN, text, start)

    def blanks(self, text: str, start: int) -> None:
        self._add(_Item.BLANKS, text, start)

    def removal(self) -> None:
        self._add(_Item.REMOVAL, "", 0)

    def _add(self, item: _Item, text: str, start: int) -> None:
        self._items.append((item, text, start))
        self.text += text

    def show(self, visible: VisibleText, out: Pieces) -> None:
        """Visible text follows: it was text, too."""
        self._decide(visible, out, is_text=True)

    def drop(self, visible: VisibleText, out: Pieces) -> None:
        """The answer ends: the tokens go, blanks stay."""
        self._decide(visible, out, is_text=False)

    def _decide(self, visible: VisibleText, out: Pieces, *, is_text: bool) -> None:
        items, self._items, self.text = self._items, [], ""
        for item, text, start in items:
            if item is _Item.BLANKS or (item is _Item.TOKEN and is_text):
                visible.write(text, start, out)
                continue
            if item is _Item.TOKEN:
                out.append((Kind.MARK, text, start, start + len(text)))
            visible.removed()
