"""Stop tokens that are protocol at the answer's very end, and text everywhere else.

`Trailing` keeps them, with the blanks behind them, until visible text follows (then all
of it is text) or the answer ends (then they go). What is removed in between does not
decide. Example: ``Done.<|im_end|> `` waits behind ``Done.``.
"""

from __future__ import annotations

from typing import TypeAlias

from attrs import define, field

from sidecar.text.shown_text import SPACE

Waiting: TypeAlias = tuple[str, int, bool]
"""Text, its position, and whether it is a token; no text stands for a removal."""


@define(eq=False)
class Trailing:
    """``held``: code points; ``tail``: the end of what waits, at least ``size`` of it;
    ``breaks``: it has several lines; ``line_shown``: the last one is not blank."""

    _size: int
    items: list[Waiting] = field(factory=list)
    held: int = 0
    tail: str = ""
    breaks: bool = False
    line_shown: bool = False

    def push(self, text: str, start: int, *, token: bool) -> None:
        """A token waits, or blanks behind one."""
        self.items.append((text, start, token))
        self.held += len(text)
        self.tail = (self.tail + text)[-self._size :]
        _, line, last = text.rpartition("\n")
        self.breaks = self.breaks or bool(line)
        self.line_shown = bool(last.strip(SPACE)) or (self.line_shown and not line)

    def removed(self) -> None:
        """Something was taken out behind what waits."""
        if self.items[-1][0]:
            self.items.append(("", 0, False))

    def last_token(self) -> int:
        """The number of the last token: blanks behind it are the answer's."""
        return max(number for number, each in enumerate(self.items) if each[2])
