"""What waits for what follows it: stop tokens, blanks, and what was torn.

`WaitingScanner` keeps them in ``trailing`` and decides them (``trailing``): as
text when visible text follows, as protocol when the answer ends or a torn candidate is
whole. It is told of everything that would be visible.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sidecar.forms.candidate import Failed, Taken
from sidecar.forms.kinds import PieceKind
from sidecar.text.in_reasoning import FORMED, ReasoningScanner
from sidecar.text.shown_text import SPACE, Orphan, VisibleText
from sidecar.text.torn import goes, is_leading
from sidecar.text.trailing import Is, Trailing

if TYPE_CHECKING:
    from sidecar.text.code import CodeState
    from sidecar.text.in_reasoning import Rules
    from sidecar.text.torn import Torn
    from sidecar.text.trailing import Item, Placed

_SPACE = re.compile(f"[{SPACE}]*+")
_SPACES = re.compile(f"[{SPACE}]++")

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

        def _show_waited(self, items: list[Item]) -> None: ...

        def _lead(self, parts: list[Placed], taken: Taken) -> None: ...

        @property
        def _held_before(self) -> int: ...

    @property
    def _room(self) -> int:
        """How much more may wait (contract 7.9)."""
        loose = self.trailing.loose
        return self._room_behind(self.trailing.held - loose) - loose

    def _room_behind(self, torn: int) -> int:
        """How much may wait behind so many characters of what was torn: that has the
        room of a call for itself, what it has beyond counts."""
        return self.max_held - self._held_before - max(torn - self.max_call, 0)

    def _blanks(self) -> int:
        match = _SPACE.match(self.buffer, self.at)
        return match.end() - self.at if match else 0

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
                if self.trailing.torn is None:  # text follows, behind any blanks
                    return False
            start, full = self.at, self._wait_blanks(end)
            if full or self.at in (start, end) or torn is None:
                return self.at == end

    def _wait_blanks(self, end: int) -> bool:
        """True: there is no room for more."""
        blanks = min(self._blanks(), end - self.at)
        room = min(blanks, max(self._room, 0))
        if room:
            waits = self.buffer[self.at : self.at + room]
            self.trailing.blanks(waits, self.base + self.at)
            self.at += room
        if room < blanks:
            self.out.append((PieceKind.FULL, "", 0, 0))
        return room < blanks

    def _goes_on(self, torn: Torn, end: int) -> bool | None:
        """Text up to ``end`` follows a torn candidate; False: it is over, None: those
        are blanks."""
        text = self.buffer[self.at : end].rstrip(SPACE)
        if not torn.has_gap:
            left = torn.until - self.base - self.at
            if left <= 0 and self._without_long_blanks(text):
                torn.failed = torn.until - torn.start
                self._give_up_torn(torn, None)
                return False
            text = text[: max(left, 0)].rstrip(SPACE)
        text = self._without_long_blanks(text)
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

    def _without_long_blanks(self, text: str) -> str:
        """As much of ``text`` as stands before more blanks than may wait."""
        blanks = len(text) - len(text.lstrip(SPACE))
        if blanks and blanks > self._room:
            return ""
        if len(text) > self._room_behind(self.trailing.held + len(text)):
            held = self.trailing.held
            for match in _SPACES.finditer(text, blanks):
                size = match.end() - match.start()
                if size > self._room_behind(held + match.start()):
                    return text[: match.start()]
        return text

    def _give_up_torn(self, torn: Torn, verdict: Taken | Failed | None) -> None:
        restart = 0
        if isinstance(verdict, Failed):
            torn.failed = verdict.position
            restart = self.lexicon.restart(torn.raw, verdict.position)
        self._show_waited(self.trailing.give_up(restart))

    def _write_waited(self, items: list[Item]) -> None:
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
        kind = taken.kind if taken.kind in FORMED else PieceKind.MARK
        gone = self.trailing.take_out(taken.end)
        if is_leading(taken):
            self._lead(gone, taken)
            gone = []
        for text, start in gone:
            self.out.append((kind, text, start, start + len(text)))
            if kind in FORMED:
                self.taken.append(taken)
                kind = PieceKind.REBUILT
        self.border = True
        if not self.trailing.held:
            self._end_trailing(followed=True)
        if taken.kind is PieceKind.ENTER:
            self._begin(middle=False)

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
        trailing = self.trailing
        return (not trailing.fresh and trailing.code) or self.visible.code_ahead

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
        if self.trailing.fresh:
            return
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
                kind = PieceKind.BLANK if item.what is Is.BLANKS else PieceKind.MARK
                end = item.start + len(item.text)
                self.out.append((kind, item.text, item.start, end))
            self.visible.removed()
