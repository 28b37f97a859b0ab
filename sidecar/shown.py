"""What is shown of a channel, and the results that may stand at the answer's start.

`ShownScanner` writes to the visible text. While leading results wait it is told of
everything that would be visible: that decides what they are (contract 7.6).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sidecar.candidate import Failed, Taken
from sidecar.leading import LeadingResults
from sidecar.markdown import RunIndex
from sidecar.pieces import Kind
from sidecar.scanner import FORMED, ReasoningScanner
from sidecar.torn import goes, is_leading
from sidecar.trailing import Is, Trailing
from sidecar.visible import SPACE, Orphan, VisibleText

if TYPE_CHECKING:
    from sidecar.candidate import Opening
    from sidecar.grammar import Context
    from sidecar.leading import Item
    from sidecar.lexicon import Lexicon
    from sidecar.markdown import CodeState
    from sidecar.scanner import Scope
    from sidecar.torn import Torn
    from sidecar.trailing import Item as Waiting

_SPACE = re.compile(f"[{SPACE}]*+")
_TAIL = 512


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
        self.trailing = Trailing(max(longest, _TAIL))

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
        """Blanks behind trailing tokens wait with them, and so does text as long as a
        torn candidate goes on; False: visible text follows."""
        while True:
            while (torn := self.trailing.torn) is not None:
                goes_on = self._goes_on(torn, end)
                if goes_on:
                    return True
                if goes_on is None:
                    break
            start, full = self.at, self._wait_blanks(end)
            if full or self.at in (start, end) or torn is None:
                return self.at == end

    def _wait_blanks(self, end: int) -> bool:
        """True: there is no room for more."""
        blanks = min(self._blanks(), end - self.at)
        room = min(blanks, max(self.max_held - self.trailing.held, 0))
        if room:
            waits = self.buffer[self.at : self.at + room]
            self.trailing.blanks(waits, self.base + self.at)
            self.at += room
        if room < blanks:
            self.out.append((Kind.FULL, "", 0, 0))
        return room < blanks

    def _goes_on(self, torn: Torn, end: int) -> bool | None:
        """Text up to ``end`` follows a torn candidate; False: it is over, None: those
        are blanks."""
        text = self.buffer[self.at : end].rstrip(SPACE)
        if not torn.has_gap:
            left = torn.until - self.base - self.at
            if text and left <= 0:
                torn.failed = torn.until - torn.start
                self._give_up_torn(torn, None)
                return False
            text = text[: max(left, 0)].rstrip(SPACE)
        if not text:
            return None
        size = torn.size
        torn.add(text)
        verdict = torn.read() if torn.has_gap else None
        if verdict is None:
            self._wait(len(text))
        elif isinstance(verdict, Taken) and goes(verdict, more=True):
            self._wait(max(verdict.end - size, 0))
            self._take_out_torn(torn, verdict)
        else:
            self._give_up_torn(torn, verdict)
            return False
        return True

    def _give_up_torn(self, torn: Torn, verdict: Taken | Failed | None) -> None:
        restart = 0
        if isinstance(verdict, Failed):
            torn.failed = verdict.position
            restart = self.lexicon.restart(torn.raw, verdict.position)
        self._show_waited(self.trailing.give_up(restart))

    def _code_behind_results(self) -> CodeState:
        """The state of code in text that follows the leading results."""
        code, chain = self.visible.code.copy(), self.chain
        if chain is not None and chain.items and not chain.is_echo():
            for text, _, _ in chain.items:
                code.feed(text)
        return code

    def _show_waited(self, items: list[Waiting]) -> None:
        """What waited is text, and so follows the leading results."""
        chain = self.chain
        if items and chain is not None and chain.items:
            self._decide(chain.is_echo())
        self._write_waited(items)

    def _write_waited(self, items: list[Waiting]) -> None:
        for item in items:
            if item.text:
                self.visible.write(item.text, item.start, self.out)
            else:
                self.visible.removed()

    def _wait(self, size: int) -> None:
        if size:
            text = self.buffer[self.at : self.at + size]
            self.trailing.more(text, self.base + self.at)
            self.at += size

    def _take_out_torn(self, torn: Torn, taken: Taken) -> None:
        """What was torn is a form: each of its parts goes."""
        self.owed.subtract(each for each in torn.owed if self.owed[each])
        kind = taken.kind if taken.kind in FORMED else Kind.MARK
        gone = self.trailing.take_out(taken.end)
        if is_leading(taken):
            assert self.chain is not None  # whose form it is
            for number, (text, start) in enumerate(gone):
                self.chain.add(text, start, "rest" if number else taken)
            gone = []
        for text, start in gone:
            self.out.append((kind, text, start, start + len(text)))
            if kind in FORMED:
                self.taken.append(taken)
                kind = Kind.REBUILT
        self.border = True
        if not self.trailing.held:
            self._end_trailing(followed=True)
        if taken.kind is Kind.ENTER:
            self._begin(middle=False)

    def _hold_token(self, size: int) -> None:
        """What stands here is text only if visible text follows."""
        text, start = self.buffer[self.at : self.at + size], self.base + self.at
        if self.trailing.held + size > self.max_held:
            self.out.append((Kind.FULL, "", 0, 0))
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
        return self.trailing.code or self.visible.code

    def _remove(self, kind: Kind, size: int) -> None:
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
        code = self.trailing.code
        if followed:
            self._write_waited(self.trailing.take())
        else:
            self._drop_trailing()
        if code is not None and code.promised:
            self.visible.code.promised = True

    def _end_torn(self) -> None:
        """The answer ends: what was torn is decided."""
        while (torn := self.trailing.torn) is not None:
            verdict = torn.end()
            if isinstance(verdict, Taken) and goes(verdict):
                self._take_out_torn(torn, verdict)
            else:
                self._give_up_torn(torn, verdict)
        self._show_waited(self.trailing.text())

    def _drop_trailing(self) -> None:
        """The answer ends: the tokens go, with what stands between them; blanks behind
        them stay."""
        self._end_torn()
        items = self.trailing.take()
        tokens = [n for n, each in enumerate(items) if each.what is Is.TOKEN]
        last = tokens[-1] if tokens else -1
        for number, item in enumerate(items):
            if item.what is Is.BLANKS and number > last:
                self.visible.write(item.text, item.start, self.out)
                continue
            if item.text:
                kind = Kind.BLANK if item.what is Is.BLANKS else Kind.MARK
                end = item.start + len(item.text)
                self.out.append((kind, item.text, item.start, end))
            self.visible.removed()

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
            elif taken == "rest":
                self.out.append((Kind.REBUILT, text, start, end))
            else:
                self.taken.append(taken)
                self.out.append((Kind.RESULT, text, start, end))
                self.visible.removed()
        if not echo:
            self._put_back(items)
        return echo

    def _put_back(self, items: list[Item]) -> None:
        """Scans the leading results again, as text; reasoning may stand between."""
        before = self.buffer, self.base, self.at
        trailing, self.trailing = self.trailing, Trailing(_TAIL)  # it stands behind
        for text, start, _ in items:
            self.buffer, self.base, self.at = text, start, 0
            self.free, self.runs, self.clear = start + len(text), RunIndex(), start
            while self._step(final=True):
                pass
        self._end_trailing(followed=True)
        self.trailing = trailing
        self.buffer, self.base, self.at = before
        self.runs = RunIndex()
