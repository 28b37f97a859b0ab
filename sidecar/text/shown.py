"""What is shown of a channel, and the results that may stand at the answer's start.

`ShownScanner` writes to the visible text. While leading results wait it is told of
everything that would be visible: that decides what they are (contract 7.6).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sidecar.forms.kinds import PieceKind
from sidecar.text.code import RunIndex
from sidecar.text.leading_results import LeadingResults
from sidecar.text.tail import TAIL, WaitingScanner
from sidecar.text.trailing import Trailing

if TYPE_CHECKING:
    from sidecar.forms.candidate import Opening
    from sidecar.text.in_reasoning import Rules
    from sidecar.text.leading_results import Item


class ShownScanner(WaitingScanner):
    """``chain``: leading results that wait; None where none are looked for."""

    def __init__(self, rules: Rules) -> None:
        super().__init__(rules)
        self.runs = RunIndex()
        self.clear = 0  # up to here no literal begins: searched once, not by the line
        echo = rules.context.echo
        self.chain = None if echo is None else LeadingResults(echo)

    if TYPE_CHECKING:  # `AnswerScanner` has it

        def _step(self, final: bool) -> bool: ...

    def _limit(self, opening: Opening) -> int:
        """What waits together has one limit, but for calls, which have their own."""
        limit = super()._limit(opening)
        if opening.form.about == "calls":
            return limit
        return limit - self.trailing.held - self._held_before

    def _show(self, end: int) -> bool:
        """Shows the text up to ``end``; False: leading results before it are text, and
        stand in the buffer again."""
        if self.trailing and self._waits(end):
            return True
        if self._results is not None:
            return self._follow(end)
        self._end_trailing(followed=True)
        text = self.buffer[self.at : end]
        self.visible.write(text, self.base + self.at, self.out)
        self.at = end
        return True

    @property
    def _held_before(self) -> int:
        """How much waits before what trails: blanks and leading results."""
        chain = self.chain
        return self.visible.held + (0 if chain is None else chain.held)

    @property
    def _results(self) -> LeadingResults | None:
        """The leading results, if any wait."""
        chain = self.chain
        return chain if chain is not None and chain.items else None

    def _follow(self, end: int) -> bool:
        """Text follows the leading results: blanks wait with them, more decides."""
        chain = self.chain
        assert chain is not None  # the caller looked
        blanks = 0 if self.trailing else min(self._blanks(), end - self.at)
        room = min(blanks, max(self.max_held - self._held_before, 0))
        if room:
            chain.add(self.buffer[self.at : self.at + room], self.base + self.at)
            self.at += room
        if room < blanks:
            self.out.append((PieceKind.FULL, "", 0, 0))
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
                self.out.append((PieceKind.RESULT, text, start, end))
                self.visible.removed()
        if not echo:
            self._put_back(items)
        return echo

    def _put_back(self, items: list[Item]) -> None:
        """Scans the leading results again, as text; reasoning may stand between."""
        before = self.buffer, self.base, self.at
        trailing, self.trailing = self.trailing, Trailing(TAIL)  # it stands behind
        for text, start, _ in items:
            self.buffer, self.base, self.at = text, start, 0
            self.free, self.runs, self.clear = start + len(text), RunIndex(), start
            while self._step(final=True):
                pass
        self._end_trailing(followed=True)
        self.trailing = trailing
        self.buffer, self.base, self.at = before
        self.runs = RunIndex()
