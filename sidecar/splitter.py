"""Who owns the next character of a channel: the answer or the reasoning.

`Splitter` takes a channel's text in any slices and gives pieces (``sidecar.pieces``),
each decided at a position of the text, never at a slice's border: the same text gives
the same pieces however it was cut (contract 7.1). Rules: contract 7.3 and 7.5.

It holds back only what cannot be decided yet: a proper prefix of a delimiter, a
delimiter behind an unmatched backtick run, a closer in reasoning that may be quoted,
and the white space of ``sidecar.visible``. ``flush`` decides what is held as at the
end of the text; the states of reasoning, fence and line go on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from sidecar.markdown import RunIndex
from sidecar.pieces import Kind, Pieces
from sidecar.scanner import ReasoningScanner, Scope
from sidecar.visible import SPACE, Orphan, VisibleText

if TYPE_CHECKING:
    from collections.abc import Callable

    from sidecar.delimiters import Delimiters

CLOSING_PUNCTUATION = frozenset(".!?:;)\"]}'…。！？：；）】」』”’»")
"""After these an opener is not in mid-sentence (contract 7.3, policy ``boundary``)."""


_STEP = 2048
"""Code points that are taken into the buffer at once."""


class Splitter(ReasoningScanner):
    """Splits one channel: ``push(text)``, ``flush()``; both give pieces.

    ``native`` is for a provider's own reasoning field: all of it is reasoning, and
    delimiters are only removed.
    """

    def __init__(
        self,
        delimiters: Delimiters,
        *,
        scope: Scope = "outside-code",
        starts_open: Literal["auto", "open", "closed"] = "auto",
        likely_open: bool = False,
        max_held: int = 65_536,
        native: bool = False,
    ) -> None:
        super().__init__(delimiters, scope, native=native)
        self.max_held = max_held
        self.runs = RunIndex()
        self.visible = VisibleText(max_held, delimiters.longest)
        self.reopens = starts_open == "auto"  # a closer without opener may reclassify
        self.likely_open = likely_open
        self.orphans = 0  # closers without opener since the last structured call
        self.depth = 1 if native or starts_open == "open" else 0
        self.implicit = self.depth == 1
        self._matters: Callable[[str], object] | None = None
        if self.depth and not native:
            self.out.append((Kind.ENTER, "", 0, 0))

    def push(self, text: str) -> Pieces:
        if self._matters is not None and not self._matters(text):
            return self._pass(text)
        # In bounded steps, because each step through the buffer copies its rest.
        for at in range(0, len(text), _STEP):
            self.buffer += text[at : at + _STEP]
            self._take(final=False)
        return self._give()

    def flush(self) -> Pieces:
        """Decides what is held as at the end of the text."""
        self._take(final=True)
        self.visible.flush(self.out)
        self.border, self._matters = True, None
        return self._give()

    def call(self) -> None:
        """A structured call stands here; text before it is never reclassified."""
        self.visible.call()
        self.orphans = 0

    def native_begins(self) -> None:
        """Native reasoning has come: no closer makes visible text reasoning any more,
        and a block that only the template would have opened is not there."""
        self.reopens = False
        if self.implicit and self.out:  # the template's opener, not given yet
            self.depth, self.implicit = 0, False
            self.out.clear()
            self._watch()

    def _watch(self) -> None:
        """Sets what to look for in text that may pass untouched (the fast path)."""
        shown = self.visible
        ready = not self.buffer and not self.border
        if self.depth:
            search = self.delimiters.first.search
            self._matters = search if ready and not self.skip_break else None
            return
        ready = ready and shown.line_shown and shown.orphan is not Orphan.ARMED
        search = self.delimiters.special.search
        self._matters = search if ready and shown.code.ordinary else None

    def _pass(self, text: str) -> Pieces:
        """Nothing in ``text`` matters and nothing is held: it goes as it came."""
        if not text:
            return []
        start = self.base
        self.base = end = start + len(text)
        if self.depth:
            self._note(text)
            return [(Kind.REASONING, text, start, end)]
        self.visible.note(text)
        return [(Kind.TEXT, text, start, end)]

    def _give(self) -> Pieces:
        out, self.out = self.out, []
        return out

    def _take(self, *, final: bool) -> None:
        while self.at < len(self.buffer):
            depth = self.depth
            if not (self._reasoning(final) if depth else self._answer(final)):
                break
            if depth and not self.depth:
                self.visible.removed()
        self.base += self.at
        self.buffer, self.at = self.buffer[self.at :], 0
        self._watch()

    @property
    def held(self) -> int:
        """How many characters are held back."""
        return len(self.buffer) + self.visible.held

    # The answer

    def _answer(self, final: bool) -> bool:
        """One step; False when nothing more can be done with this buffer."""
        if self.border:
            return self._after_border(final)
        end, delimiter = self.delimiters.next(self.buffer, self.at, final=final)
        self._show(end)
        if delimiter is None:
            return False
        code = self._in_code(final)
        if code is None:
            return False
        if code or not self._counts(delimiter):
            self._show(end + len(delimiter))
        elif delimiter in self.delimiters.closers:
            self._orphan(delimiter)
        else:
            self._enter(delimiter)
        return True

    def _after_border(self, final: bool) -> bool:
        blanks = len(self.buffer) - len(self.buffer[self.at :].lstrip(SPACE)) - self.at
        if blanks:
            self._show(self.at + blanks)
            return True
        if (
            self.visible.code.promised
            and self.buffer[self.at] == "`"
            and self.visible.code.closing
        ):
            self._remove(Kind.REBUILT, 1)  # a longer run would close the span no more
            return True
        table = self.delimiters
        size = table.rebuilt(self.visible.before, self._rest, final=final)
        code = self._in_code(final) if size else False
        if size is None or code is None:
            return False
        if size and not code:
            self._remove(Kind.REBUILT, size)
        else:
            self.border = False
        return True

    def _show(self, end: int) -> None:
        if end > self.at:
            text = self.buffer[self.at : end]
            self.visible.write(text, self.base + self.at, self.out)
            self.at = end

    def _in_code(self, final: bool) -> bool | None:
        """Whether the delimiter that begins here is in code; None: wait."""
        if self.scope == "everywhere":
            return False
        if self.visible.code.fenced:
            return True
        if not self.visible.code.open_runs():
            return False
        at = self.base + self.at
        limit = at + self.max_held
        code = self.runs.verdict(
            self.visible.code, self.buffer, self.base, at, limit, final
        )
        if code is False and not final and not self.runs.ended(limit):
            self.out.append((Kind.FULL, "", 0, 0))
        if code:
            self.visible.code.promised = True
        return code

    def _counts(self, delimiter: str) -> bool:
        if self.scope != "boundary" or delimiter in self.delimiters.closers:
            return True
        before = self.visible.before[-1:]
        return not self.visible.line_shown or before in CLOSING_PUNCTUATION

    def _remove(self, kind: Kind, size: int) -> None:
        """Takes the next ``size`` characters out of the answer."""
        self._cut(kind, size)
        self.visible.removed()
        self.border = True

    def _orphan(self, delimiter: str) -> None:
        """A closer without an opener (contract 7.5)."""
        shown = self.visible
        if self._may_reopen():
            own_line = not self.likely_open
            shown.orphan = Orphan.LINE if own_line else Orphan.ARMED
        self.orphans += 1
        self._remove(Kind.STRAY, len(delimiter))

    def _may_reopen(self) -> bool:
        alone = self.likely_open or not self.visible.line_shown
        return self.reopens and alone and not self.orphans

    def _enter(self, delimiter: str) -> None:
        last = self.visible.last if self.visible.line_shown else ""
        middle = bool(last) and last not in CLOSING_PUNCTUATION
        self._remove(Kind.DELIMITER, len(delimiter))
        self.out.append((Kind.ENTER_MID if middle else Kind.ENTER, "", 0, 0))
        self.reopens = False
        self.depth, self.implicit = 1, False
        self.line_blank = self.skip_break = True
        self.tail, self.border = "", False
