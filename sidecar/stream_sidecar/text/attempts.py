"""Candidates for forms: which one is open, and where none may begin again.

An open candidate has all the text from its opener on. When it fails, its text goes back
into the buffer and the same steps read it again, but no character begins the same
candidate twice. That keeps the work linear. Example: ``[TOOL_CALLS]f(x`` fails at
``(``. No candidate begins before that place, ``[TOOL_CALLS]`` is shown, and a closer
that the call would have had is text as well: it is pending.
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
"""How many candidates that the text's end cuts off may be given up, at one end, for
other candidates inside them. Each of the others may have to be read up to that end."""


@define(eq=False)
class Attempts:
    """``candidate``: the open one. ``free``: no candidate may begin before this
    position (text rule 13.5).

    ``pending``: how many closers to come are text, in the answer (key False) and in
    reasoning (True). ``known``: how the last candidate failed. ``meant``: no call in
    code before this position is quoted. ``halvings``: how many more candidates may be
    given up for others inside them.
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
        """Opens a candidate here. ``inside``: here is reasoning."""
        given = self._buffer.place, openings, self._rules.context, self.known
        self.candidate = Candidate(*given, inside=inside)

    def fails(self, text: str) -> bool:
        """Whether ``text`` at a line's start of the answer begins no form, and its
        failure needs no diagnostic. Raises `UndecidedError` if more text is needed."""
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
        """Gives the candidate all the text and returns its verdict, with the text back
        in the buffer. Raises `UndecidedError` if the candidate stays open."""
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
        """The candidate was no form: its text is ordinary text again (text rule
        2.2)."""
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
        """Whether ``closer`` is text because its opener was left as text. Each call
        that returns True uses up one pending closer. False where a new answer begins:
        closers pending from before do not count there."""
        self.renew()
        pending = self.pending[inside]
        if self._tail.is_armed or not pending[closer]:
            return False
        pending[closer] -= 1
        self.pending[inside] = +pending  # without those that have all come
        return True

    def renew(self) -> None:
        """Forgets all failed candidates, once, after a new answer has begun."""
        if self._tail.shown.reopened:
            self._tail.shown.reopened, self.free = False, 0
            self.pending[False].clear()
