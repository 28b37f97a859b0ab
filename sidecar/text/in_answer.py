"""The answer as it is read: what is shown, and what is taken out of it.

`AnswerScanner` takes one step at a time while no reasoning is open: delimiters and
forms outside code, closers without an opener (contract 7.5).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import evolve

from sidecar.forms.kinds import PieceKind
from sidecar.forms.literals import rebuilt
from sidecar.text.in_reasoning import FORMED
from sidecar.text.leading_results import is_leading
from sidecar.text.shown import ShownScanner
from sidecar.text.shown_text import SPACE, Orphan

if TYPE_CHECKING:
    from sidecar.forms.candidate import Failed, Taken
    from sidecar.text.code import CodeState
    from sidecar.text.in_reasoning import Rules

CLOSING_PUNCTUATION = frozenset(".!?:;)\"]}'…。！？：；）】」』”’»")
"""After these an opener is not in mid-sentence (contract 7.3, policy ``boundary``)."""


class AnswerScanner(ShownScanner):
    """The steps through the answer."""

    def __init__(self, rules: Rules) -> None:
        super().__init__(rules)
        self.reopens = False  # a closer without opener may reclassify
        self.likely_open = False
        self.thinks = True  # an opener begins reasoning, or is just taken out
        self.orphans = 0  # closers without opener since the last structured call
        self.tried = -1  # the last place where a line began with nothing special

    def _step(self, final: bool) -> bool:
        """One step; False when nothing more can be done with what is there."""
        depth = self.depth
        if self.candidate is not None:
            went = self._read_candidate(final)
        elif self.at == len(self.buffer):
            return False
        else:
            went = self._reasoning(final) if depth else self._answer(final)
        if depth and not self.depth:
            self.visible.removed()
        return went

    def _answer(self, final: bool) -> bool:
        if self.border:
            return self._after_border(final)
        code = self._code
        if code.in_fence and self.visible.fences_pass:
            end_of_line = self.buffer.find("\n", self.at) + 1
            return self._show(end_of_line or len(self.buffer)) or True
        if self._may_begin_line(code):
            step = self._at_line(final)
            if step is not None:
                return step
        at = max(self.at, self.clear - self.base)
        end, literal = self.literals.next(self.buffer, at, final=final)
        self.clear = self.base + end
        line = self.lexicon.line_start(self.buffer, self.at, end)
        if line is not None:
            self._show(line)
            return True
        if end > self.at:  # a line may begin where the literal stands
            return self._show(end) or True
        return literal is not None and self._at_literal(literal, final)

    def _may_begin_line(self, code: CodeState) -> bool:
        """Whether openers count here that count only where a line begins."""
        here = self.base + self.at
        return not (
            self._line_shown or here < self.free or here == self.tried or code.fenced
        )

    def _at_line(self, final: bool) -> bool | None:
        """Tries what may begin here; None: nothing does."""
        blanks = self._blanks()
        if blanks:
            self._show(self.at + blanks)
            return True
        start = self.visible.start or self.visible.orphan is Orphan.ARMED
        start = start and not self.trailing
        openings = self.lexicon.at_line(self.buffer, self.at, start=start, final=final)
        if openings is None:
            return False
        if openings:
            literal = self.literals.any.match(self.buffer, self.at)
            overlap = self._overlap(literal[0], final) if literal else 0
            if overlap is None:
                return False
            if not overlap:
                self._try(openings)
                return True
        self.tried = self.base + self.at
        return None

    def _at_literal(self, literal: str, final: bool) -> bool:
        """What stands here; False: that depends on code which is not yet decided."""
        tag = literal in self.delimiters.literals
        overlap = 0 if tag else self._overlap(literal, final)
        if overlap != 0:
            return overlap is not None and (self._show(self.at + overlap) or True)
        code = self._in_code(final, tag=tag)
        if code is None:
            return False
        if not tag and (code or not self._is_protocol(literal)):
            size = self.delimiters.size_without(literal)
            if size:
                return self._show(self.at + size) or True
            literal = self._delimiter_at()
            tag, code = True, code and self.scope != "everywhere"
        if tag and (code or not self._counts(literal)):
            return self._show(self.at + len(literal)) or True
        if literal in self.delimiters.closers:
            self._orphan(literal)
        elif tag:
            self._enter(literal)
        return True

    def _is_protocol(self, literal: str) -> bool:
        """Handles a mark, a closer or an opener of calls; False: it is text here."""
        words = self.lexicon.vocabulary
        self._note_reopened()
        free = self.base + self.at < self.free
        if (free and not self.freed_inside) or self._is_owed(literal):
            return False
        if literal in words.ends | words.marks | words.closers:
            self._remove(PieceKind.MARK, len(literal))
            return True
        openings = words.openings_of(literal)
        if free and any(each.form.place != "end" for each in openings):
            return False  # it has been read, and time is linear
        self._try(openings)
        return True

    def _give_up(self, failed: Failed) -> None:
        if failed.full and self._results is not None:
            self._decide(False)  # as at the end
        self._note_reopened()
        super()._give_up(failed)

    def _take_out(self, taken: Taken) -> None:
        if taken.kind is PieceKind.CALL and self.context.calls == "report":
            self.taken.append(evolve(taken, raw=self.buffer[: taken.end]))
            self.out.append((PieceKind.SEEN, "", self.base, self.base + taken.end))
            self.free = self.base + taken.end
        elif self.depth:
            self._take_out_of_reasoning(taken)
        elif is_leading(taken):
            assert self.chain is not None  # whose form it is
            self.chain.add(self.buffer[: taken.end], self.base, taken)
            self.at = taken.end
        else:
            self._take_out_of_answer(taken)

    def _take_out_of_answer(self, taken: Taken) -> None:
        if taken.kind is PieceKind.ENTER:
            self._remove(PieceKind.DELIMITER, taken.end)
            self._begin(middle=False)
            return
        if taken.opening.form.place == "end":
            self._hold_token(taken.end)
            return
        if taken.kind in FORMED:
            self.taken.append(taken)
        self._remove(
            PieceKind.MARK if taken.kind is PieceKind.EXIT else taken.kind, taken.end
        )

    def _after_border(self, final: bool) -> bool:
        blanks = self._blanks()
        if blanks:
            self._show(self.at + blanks)
            return True
        code = self._code
        if code.promised and code.closing and self.buffer[self.at] == "`":
            self._remove(
                PieceKind.REBUILT, 1
            )  # a longer run would close the span no more
            return True
        whole = self.lexicon.vocabulary.whole
        size = rebuilt(whole, self._before, self._rest, final=final)
        inside = bool(size) and self._in_code(final, tag=True)
        if size is None or inside is None:
            return False
        if size and not inside:
            self._remove(PieceKind.REBUILT, size)
        else:
            self.border = False
        return True

    def _in_code(self, final: bool, *, tag: bool) -> bool | None:
        """Whether the literal that begins here is in code; None: wait."""
        if tag and self.scope == "everywhere":
            return False
        state = self._code
        if state.fenced:
            return True
        if self.trailing.breaks:
            return False
        if not state.open_runs():
            return False
        at = self.base + self.at
        waits = self._held_before + self.trailing.held
        limit = at + max(self.max_held - waits, 0)
        code = self.runs.verdict(state, self.buffer, self.base, at, limit, final)
        if code is False and not final and not self.runs.ended(limit):
            self.out.append((PieceKind.FULL, "", 0, 0))
        if code:
            state.promised = True
        return code

    def _counts(self, delimiter: str) -> bool:
        if self.scope != "boundary" or delimiter in self.delimiters.closers:
            return True
        before = self._before[-1:]
        return not self._line_shown or before in CLOSING_PUNCTUATION

    def _orphan(self, delimiter: str) -> None:
        """A closer without an opener (contract 7.5)."""
        shown = self.visible
        if self._may_reopen():
            self._end_trailing(followed=False)  # it stands in what may be reasoning
            own_line = not self.likely_open
            shown.orphan = Orphan.LINE if own_line else Orphan.ARMED
        self.orphans += 1
        self._remove(PieceKind.STRAY, len(delimiter))

    def _may_reopen(self) -> bool:
        alone = self.likely_open or not self._line_shown
        return self.reopens and alone and not self.orphans

    def _enter(self, delimiter: str) -> None:
        last = (self.trailing.tail.rstrip(SPACE) or self.visible.last)[-1:]
        last = last if self._line_shown else ""
        middle = bool(last) and last not in CLOSING_PUNCTUATION
        self._remove(PieceKind.DELIMITER, len(delimiter))
        self._begin(middle=middle)

    def _begin(self, *, middle: bool) -> None:
        self.reopens = False
        if self.thinks:
            super()._begin(middle=middle)
