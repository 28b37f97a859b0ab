"""What is shown of a channel, and the results that may stand at the answer's start.

`ShownScanner` writes to the visible text. While leading results wait it is told of
everything that would be visible: that decides what they are (contract 7.6).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sidecar.leading import LeadingResults
from sidecar.markdown import RunIndex
from sidecar.pieces import Kind
from sidecar.scanner import ReasoningScanner
from sidecar.trailing import Trailing
from sidecar.visible import SPACE, VisibleText

if TYPE_CHECKING:
    from sidecar.candidate import Opening, Taken
    from sidecar.grammar import Context
    from sidecar.leading import Item
    from sidecar.lexicon import Lexicon
    from sidecar.scanner import Scope

_SPACE = re.compile(f"[{SPACE}]*+")


class ShownScanner(ReasoningScanner):
    """``chain``: leading results that wait; None where none are looked for."""

    def __init__(
        self,
        lexicon: Lexicon,
        context: Context,
        scope: Scope,
        max_held: int,
        max_call: int,
        *,
        native: bool,
    ) -> None:
        super().__init__(lexicon, context, scope, max_held, max_call, native=native)
        self.runs = RunIndex()
        self.clear = 0  # up to here no literal begins: searched once, not by the line
        longest, passes = lexicon.literals.longest, scope != "everywhere"
        self.visible = VisibleText(max_held, longest, fences_pass=passes)
        self.chain = None if context.echo is None else LeadingResults(context.echo)
        self.trailing = Trailing()

    if TYPE_CHECKING:  # `AnswerScanner` has it

        def _step(self, final: bool) -> bool: ...

    def _limit(self, opening: Opening) -> int:
        """Leading results wait together, so together they have one limit."""
        limit, chain = super()._limit(opening), self.chain
        if chain is None or opening.form.about != "results":
            return limit
        return limit - chain.held

    def _blanks(self) -> int:
        match = _SPACE.match(self.buffer, self.at)
        return match.end() - self.at if match else 0

    def _show(self, end: int) -> bool:
        """Shows the text up to ``end``; False: leading results before it are text, and
        stand in the buffer again."""
        if self.trailing and self._waits(end):
            return True
        if self.chain is not None and self.chain.items:
            return self._follow(end)
        self._end_trailing(followed=True)
        text = self.buffer[self.at : end]
        self.visible.write(text, self.base + self.at, self.out)
        self.at = end
        return True

    def _waits(self, end: int) -> bool:
        """Blanks behind trailing tokens wait with them; False: visible text follows."""
        self.at += self.trailing.extend(self.buffer[self.at : end])
        blanks = min(self._blanks(), end - self.at)
        room = min(blanks, max(self.max_held - self.trailing.held, 0))
        if room:
            waits = self.buffer[self.at : self.at + room]
            self.trailing.blanks(waits, self.base + self.at)
            self.at += room
        if room < blanks:
            self.out.append((Kind.FULL, "", 0, 0))
        return self.at == end

    def _hold_token(
        self, size: int, taken: Taken | None = None, more: str = ""
    ) -> None:
        """What stands here is text only if visible text follows; ``more`` belongs to it
        if it follows."""
        text, start = self.buffer[self.at : self.at + size], self.base + self.at
        if self.trailing.held + size > self.max_held:
            self.out.append((Kind.FULL, "", 0, 0))
            self._end_trailing(followed=True)
            self.free = max(self.free, start + size)  # it is text
            return
        self.trailing.token(text, start, taken, more)
        self.at += size

    @property
    def _line_shown(self) -> bool:
        """Whether something visible stands on this line, or may."""
        waits = self.trailing.text
        if not waits:
            return self.visible.line_shown
        return bool(waits.rpartition("\n")[2].strip(SPACE))

    @property
    def _before(self) -> str:
        """What stands before the next character, or may."""
        return self.trailing.text or self.visible.before

    def _remove(self, kind: Kind, size: int) -> None:
        """Takes the next ``size`` characters out of the answer."""
        self._cut(kind, size)
        if self.trailing:
            self.trailing.removal()
        else:
            self.visible.removed()
        self.border = True

    def _end_trailing(self, *, followed: bool) -> None:
        if followed:
            self.trailing.show(self.visible, self.out)
        else:
            self.taken += self.trailing.drop(self.visible, self.out)

    def _follow(self, end: int) -> bool:
        """Text follows the leading results: blanks wait with them, more decides."""
        chain = self.chain
        assert chain is not None  # the caller looked
        blanks = 0 if self.trailing else min(self._blanks(), end - self.at)
        room = min(blanks, max(self.max_held, 1) - chain.held)
        if room:
            chain.add(self.buffer[self.at : self.at + room], self.base + self.at)
            self.at += room
        if room < blanks:
            self.out.append((Kind.FULL, "", 0, 0))
            return self._decide(False)
        return self.at == end or (self._decide(chain.is_echo()) and self._show(end))

    def _decide(self, echo: bool) -> bool:
        """The leading results are taken out, or are text again (False)."""
        assert self.chain is not None  # the caller looked
        items = self.chain.take()
        for text, start, taken in items if echo else ():
            end = start + len(text)
            if taken is None:
                self.visible.write(text, start, self.out)
            else:
                self.taken.append(taken)
                self.out.append((Kind.RESULT, text, start, end))
                self.visible.removed()
        if not echo:
            self._put_back(items)
        return echo

    def _put_back(self, items: list[Item]) -> None:
        """Scans the leading results again, as text; reasoning may stand between."""
        rest, after = self.buffer[self.at :], self.base + self.at
        trailing, self.trailing = self.trailing, Trailing()  # it stands behind them
        for text, start, _ in items:
            self.buffer, self.base, self.at = text, start, 0
            self.free, self.runs, self.clear = start + len(text), RunIndex(), start
            while self._step(final=True):
                pass
        self._end_trailing(followed=True)
        self.trailing = trailing
        self.buffer, self.base, self.at = rest, after, 0
        self.runs = RunIndex()
