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
    """The open ``candidate``, and what earlier candidates decided. ``free``: no
    candidate may begin before this position (text rule 13.5).

    ``pending``: for each closer, how many of the next ones are text; key False for the
    answer, True for reasoning. ``known``: the text and the verdict of the last failed
    candidate. ``meant``: a call in code that begins before this position is not quoted.
    ``halvings``: how many more cut-off candidates may be given up in favour of a
    candidate inside them.
    """

    _rules: Rules
    _buffer: Buffer
    _tail: Tail
    candidate: Candidate | Quotation | None = None
    free: int = 0
    pending: dict[bool, Counter[str]] = field(factory=partial(defaultdict, Counter))
    known: Tried | None = None
    meant: int = 0
    halvings: int = MOST_HALVINGS

    def begin(self, openings: tuple[Opening, ...], *, inside: bool) -> None:
        """Opens a candidate at the next character. ``openings``: the forms that may
        begin there. ``inside``: the candidate is in reasoning."""
        given = self._buffer.place, openings, self._rules.context, self.known
        self.candidate = Candidate(*given, inside=inside)

    def fails(self, text: str) -> bool:
        """Whether ``text``, which begins a line of the answer, certainly begins no
        form, and no diagnostic has to say so. Raises `UndecidedError` if more text is
        needed."""
        openings = self._rules.lexicon.at_line(text, 0, start=False, final=False)
        if not openings:
            return True
        candidate = Candidate(0, tuple(openings), self._rules.context, self.known)
        verdict = candidate.push(text, self._tail.room, final=False)
        if verdict is None and len(text) <= INDENT:
            raise UndecidedError
        self.known = candidate.known
        return isinstance(verdict, Failed) and verdict.quiet

    def read(self, *, final: bool) -> Taken | Failed:
        """Passes all text of the buffer to the candidate, puts the candidate's text
        back into the buffer, and returns the verdict. Raises `UndecidedError` if the
        candidate stays open."""
        candidate, buffer = self.candidate, self._buffer
        assert candidate is not None  # the caller looked
        text = buffer.take(len(buffer))[0]
        candidate.halves = self.halvings > 0
        verdict = candidate.push(text, self._tail.room, final=final)
        if verdict is None:
            raise UndecidedError
        self.candidate, self.known = None, candidate.known
        buffer.put_back(candidate.raw, candidate.start)
        self.halvings -= candidate.halved
        if isinstance(candidate, Quotation):
            self.meant = candidate.start + candidate.seen
            if candidate.full:
                buffer.mark(PieceKind.FULL)
        return verdict

    def fail(self, failed: Failed, *, inside: bool) -> None:
        """Makes the failed candidate's text ordinary text again (text rule 2.2).
        ``inside``: the candidate was in reasoning."""
        buffer = self._buffer
        restart = self._rules.lexicon.restart(buffer.text, failed.position)
        self.free = buffer.base + restart
        if failed.full:
            buffer.mark(PieceKind.FULL)
        seen = buffer.ahead(failed.position)
        if failed.code:
            buffer.taken.append(failed)
            start, end = buffer.base, buffer.base + failed.position
            buffer.pieces.append((PieceKind.FAILED, "", start, end))
        pending = self.pending[inside]
        for closer in failed.closers:
            if closer not in seen:
                pending[closer] += 1

    def is_pending(self, closer: str, *, inside: bool) -> bool:
        """Whether ``closer`` is text because its opener was left as text. If so, counts
        it off the pending closers. Where a new answer begins, closers pending from
        before do not count."""
        self.renew()
        pending = self.pending[inside]
        if self._tail.is_armed or not pending[closer]:
            return False
        pending[closer] -= 1
        self.pending[inside] = +pending  # without those that have all come
        return True

    def renew(self) -> None:
        """If a new answer has begun since the last call of this method, forgets what
        failed candidates have decided."""
        if self._tail.shown.reopened:
            self._tail.shown.reopened, self.free = False, 0
            self.pending[False].clear()
