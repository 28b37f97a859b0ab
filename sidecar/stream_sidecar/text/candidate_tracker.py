"""Candidates for forms: which candidate is open, and where no more may begin.

A candidate is text that may be a form, from its opener on. When it fails, its text goes
back into the buffer and is read again, but no character begins the same candidate
twice. So the work stays linear. Example: ``[TOOL_CALLS]f(x`` fails at ``(``. No
candidate may begin before that place, and ``[TOOL_CALLS]`` is shown. A closer of this
call that comes later is text as well; until it comes, it is pending.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from functools import partial
from typing import TYPE_CHECKING

from stream_sidecar.forms.candidate import Candidate, Failed
from stream_sidecar.forms.kinds import PieceKind
from stream_sidecar.forms.literals import UndecidedError
from stream_sidecar.markdown.slices import INDENT
from stream_sidecar.records import define, field
from stream_sidecar.text.quotations import Quotation

if TYPE_CHECKING:
    from stream_sidecar.forms.candidate import Opening, Taken, Tried
    from stream_sidecar.text.buffer import Buffer
    from stream_sidecar.text.lexicon import Rules
    from stream_sidecar.text.tail import Tail


MOST_HALVINGS = 8
"""At one end of the text, at most this many cut-off candidates are given up in favour
of a candidate inside them. Each inner candidate may be read up to that end again."""


@define(eq=False)
class CandidateTracker:
    """The open ``candidate``, and what earlier candidates decided. ``free_at``: no
    candidate may begin before this position (text rule 13.5).

    ``due_closers``: for each closer, how many of the next ones are text; key False for
    the answer, True for reasoning. ``last_fail``: the text and the verdict of the last
    failed candidate. ``unquoted_until``: a call in code that begins before this
    position is not quoted. ``halvings_left``: how many more cut-off candidates may be
    given up in favour of a candidate inside them.
    """

    _rules: Rules
    _buffer: Buffer
    _tail: Tail
    candidate: Candidate | Quotation | None = None
    free_at: int = 0
    due_closers: dict[bool, Counter[str]] = field(factory=partial(defaultdict, Counter))
    last_fail: Tried | None = None
    unquoted_until: int = 0
    halvings_left: int = MOST_HALVINGS

    def try_forms(self, openings: tuple[Opening, ...], *, in_reasoning: bool) -> None:
        """Opens a candidate of ``openings`` at the next character."""
        start, context = self._buffer.place, self._rules.context
        self.candidate = Candidate(
            start, openings, context, self.last_fail, inside=in_reasoning
        )

    def begins_no_form(self, text: str) -> bool:
        """Whether ``text``, which begins a line of the answer, certainly begins no
        form, and no diagnostic has to say so. Raises `UndecidedError` if more text is
        needed."""
        openings = self._rules.lexicon.openings_at(text, 0, at_start=False, final=False)
        if not openings:
            return True
        candidate = Candidate(0, tuple(openings), self._rules.context, self.last_fail)
        verdict = candidate.push(text, self._tail.room, final=False)
        if verdict is None and len(text) <= INDENT:
            raise UndecidedError
        self.last_fail = candidate.known
        return isinstance(verdict, Failed) and verdict.quiet

    def read_candidate(self, *, final: bool) -> Taken | Failed:
        """Passes all text of the buffer to the candidate, puts the candidate's text
        back into the buffer, and returns the verdict. Raises `UndecidedError` if the
        candidate stays open."""
        candidate, buffer = self.candidate, self._buffer
        assert candidate is not None  # the caller looked
        text = buffer.take(len(buffer))[0]
        candidate.halves = self.halvings_left > 0
        verdict = candidate.push(text, self._tail.room, final=final)
        if verdict is None:
            raise UndecidedError
        self.candidate, self.last_fail = None, candidate.known
        buffer.put_back(candidate.raw, candidate.start)
        self.halvings_left -= candidate.halved
        if isinstance(candidate, Quotation):
            self.unquoted_until = candidate.start + candidate.read_size
            if candidate.is_full:
                buffer.add_mark(PieceKind.FULL)
        return verdict

    def drop_candidate(self, failure: Failed, *, in_reasoning: bool) -> None:
        """Makes the candidate's text ordinary (text rule 2.2)."""
        buffer = self._buffer
        restart = self._rules.lexicon.restart_index(buffer.text, failure.position)
        self.free_at = buffer.base + restart
        if failure.full:
            buffer.add_mark(PieceKind.FULL)
        failed_text = buffer.peek(failure.position)
        if failure.code:
            buffer.verdicts.append(failure)
            start, end = buffer.base, buffer.base + failure.position
            buffer.pieces.append((PieceKind.FAILED, "", start, end))
        pending_here = self.due_closers[in_reasoning]
        for closer in failure.closers:
            if closer not in failed_text:
                pending_here[closer] += 1

    def is_pending(self, closer: str, *, in_reasoning: bool) -> bool:
        """Whether ``closer`` is text because its opener is, and counts it off. A new
        answer forgets closers from before it."""
        self.forget_if_reopened()
        pending_here = self.due_closers[in_reasoning]
        if self._tail.is_armed or not pending_here[closer]:
            return False
        pending_here[closer] -= 1
        self.due_closers[in_reasoning] = +pending_here
        return True

    def forget_if_reopened(self) -> None:
        """Forgets failed candidates in a new answer."""
        if self._tail.shown.has_reopened:
            self._tail.shown.has_reopened, self.free_at = False, 0
            self.due_closers[False].clear()
