"""What waits for what follows it: stop tokens, blanks, and what was torn.

`WaitingScanner` keeps them in ``trailing`` and decides them (``trailing``): as
text when visible text follows, as protocol when the answer ends or a torn candidate is
whole. It is told of everything that would be visible.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sidecar.forms.kinds import PieceKind
from sidecar.text.in_reasoning import ReasoningScanner
from sidecar.text.shown_text import SPACE, Orphan, VisibleText
from sidecar.text.trailing import Is, Trailing

if TYPE_CHECKING:
    from sidecar.text.code import CodeState
    from sidecar.text.in_reasoning import Rules
    from sidecar.text.trailing import Item

_SPACE = re.compile(f"[{SPACE}]*+")

SHOWN = 256
"""So much is known of what was shown, or as much as a literal may have."""

TAIL = 512
"""So much is known of what waits, or as much as a literal may have."""


class WaitingScanner(ReasoningScanner):
    """``visible`` takes what is shown, ``trailing`` what waits."""

    def __init__(self, rules: Rules) -> None:
        super().__init__(rules)
        longest, passes = rules.lexicon.literals.longest, rules.scope != "everywhere"
        self.visible = VisibleText(
            rules.max_held, max(longest, SHOWN), fences_pass=passes
        )
        self.trailing = Trailing(max(longest, TAIL))

    if TYPE_CHECKING:  # `ShownScanner` has it

        @property
        def _held_before(self) -> int: ...

    def _blanks(self) -> int:
        match = _SPACE.match(self.buffer, self.at)
        return match.end() - self.at if match else 0

    def _waits(self, end: int) -> bool:
        """Blanks behind trailing tokens wait with them; False: visible text follows."""
        blanks = min(self._blanks(), end - self.at)
        room = self.max_held - self._held_before - self.trailing.held
        room = min(blanks, max(room, 0))
        if room:
            waits = self.buffer[self.at : self.at + room]
            self.trailing.blanks(waits, self.base + self.at)
            self.at += room
        if room < blanks:
            self.out.append((PieceKind.FULL, "", 0, 0))
        return self.at == end

    def _write_waited(self, items: list[Item]) -> None:
        for item in items:
            if item.text:
                self.visible.write(item.text, item.start, self.out)
            else:
                self.visible.removed()

    def _hold_token(self, size: int) -> None:
        """What stands here is text only if visible text follows."""
        text, start = self.buffer[self.at : self.at + size], self.base + self.at
        if self.trailing.held + self._held_before + size > self.max_held:
            self.out.append((PieceKind.FULL, "", 0, 0))
            self._end_trailing(followed=True)
            self._note_reopened()
            self.free = max(self.free, start + size)  # it is text
            self.freed_inside = False
            return
        self.trailing.token(text, start)
        self.at += size

    @property
    def _line_shown(self) -> bool:
        """Whether something visible stands on this line, or may."""
        return (self.trailing or self.visible).line_shown

    @property
    def _before(self) -> str:
        """What stands before the next character, or may."""
        return self.trailing.tail or self.visible.before

    @property
    def _code(self) -> CodeState:
        """The state of code before the next character."""
        return self.visible.code_ahead

    def _remove(self, kind: PieceKind, size: int) -> None:
        """Takes the next ``size`` characters out of the answer."""
        self._cut(kind, size)
        if self.trailing:
            self.trailing.removal()
        else:
            self.visible.removed()
        self.border = True

    def _is_owed(self, closer: str) -> bool:
        """Not where a new answer begins: what was left as text is none of it."""
        self._note_reopened()
        return self.visible.orphan is not Orphan.ARMED and super()._is_owed(closer)

    def _note_reopened(self) -> None:
        if self.visible.reopened:
            self.visible.reopened = False
            self.free = 0  # read again, but that happens once
            self._owed[0].clear()

    def _end_trailing(self, *, followed: bool) -> None:
        if not self.trailing:
            return
        if followed:
            self._write_waited(self.trailing.take())
        else:
            self._drop_trailing()

    def _drop_trailing(self) -> None:
        """The answer ends: the tokens go, with what stands between them; blanks behind
        them stay."""
        items = self.trailing.take()
        tokens = [n for n, each in enumerate(items) if each.what is Is.TOKEN]
        last = tokens[-1] if tokens else -1
        for number, item in enumerate(items):
            if item.what is Is.BLANKS and number > last:
                self.visible.write(item.text, item.start, self.out)
                continue
            if item.text:
                kind = PieceKind.BLANK if item.what is Is.BLANKS else PieceKind.MARK
                end = item.start + len(item.text)
                self.out.append((kind, item.text, item.start, end))
            self.visible.removed()
