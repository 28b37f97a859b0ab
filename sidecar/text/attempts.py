"""The buffer of a channel, and the candidates in it: what the splitter is built on.

`FormScanner` holds the text that is not decided yet. A candidate takes the text out of
the buffer while it is open; what it was is put back once that is known, so that the
same steps go over it, with no candidate before ``free`` (contract 7.7).
"""

from __future__ import annotations

from collections import Counter, deque
from typing import TYPE_CHECKING

from sidecar.forms.candidate import Candidate, Failed, Taken
from sidecar.forms.kinds import PieceKind

if TYPE_CHECKING:
    from sidecar.forms.candidate import Opening
    from sidecar.forms.grammar import Context
    from sidecar.text.lexicon import Lexicon
    from sidecar.text.pieces import Pieces


class FormScanner:
    """``taken``: for each piece of kind CALL, RESULT, CITE, SEEN and FAILED, in order,
    what is known of it."""

    def __init__(
        self, lexicon: Lexicon, context: Context, max_held: int, max_call: int
    ) -> None:
        self.lexicon = lexicon
        self.delimiters = lexicon.delimiters
        self.literals = lexicon.literals
        self.context = context
        self.max_held = max_held
        self.max_call = max_call
        self.buffer = ""
        self.at = 0  # how much of the buffer is done
        self.base = 0  # position of the buffer in the raw channel
        self.depth = 0  # how many openers of reasoning are open
        self.free = 0  # before this position no candidate may begin
        self.freed_inside = False  # what was read up to there began in reasoning
        self.candidate: Candidate | None = None
        self.cuts = True  # a call that breaks off at the end is one
        #: closers of what was left as text, in the answer and in reasoning
        self._owed: tuple[Counter[str], Counter[str]] = Counter(), Counter()
        self.taken: deque[Taken | Failed] = deque()
        self.out: Pieces = []

    @property
    def _rest(self) -> str:
        """The next characters, as many as a delimiter may have."""
        return self.buffer[self.at : self.at + self.literals.longest]

    def _cut(self, kind: PieceKind, size: int) -> None:
        start, end = self.at, self.at + size
        piece = (kind, self.buffer[start:end], self.base + start, self.base + end)
        self.out.append(piece)
        self.at = end

    def _limit(self, opening: Opening) -> int:
        return self.max_call if opening.form.about == "calls" else self.max_held

    def _try(self, openings: list[Opening]) -> None:
        """A candidate begins here."""
        start = self.base + self.at
        limits = [self._limit(each) for each in openings]
        self.candidate = Candidate(
            start, tuple(openings), self.context, limits, inside=self.depth > 0
        )

    def _read_candidate(self, final: bool) -> bool:
        """Gives the candidate all there is; False when it stays open."""
        candidate = self.candidate
        assert candidate is not None  # the caller looked
        candidate.cuts = self.cuts
        verdict = candidate.push(self.buffer[self.at :], final=final)
        self.at = len(self.buffer)
        if verdict is None:
            return False
        self.candidate = None
        self.buffer, self.base, self.at = candidate.raw, candidate.start, 0
        if isinstance(verdict, Taken):
            self._take_out(verdict)
        else:
            self._give_up(verdict)
        return True

    if TYPE_CHECKING:  # those that are built on this know what is around

        def _take_out(self, taken: Taken) -> None: ...

    def _give_up(self, failed: Failed) -> None:
        """It was no form: its text is text again."""
        restart = self.lexicon.restart(self.buffer, failed.position)
        self.free, self.freed_inside = self.base + restart, self.depth > 0
        if failed.full:
            self.out.append((PieceKind.FULL, "", 0, 0))
        if failed.code:
            self.taken.append(failed)
            self.out.append(
                (PieceKind.FAILED, "", self.base, self.base + failed.position)
            )
        seen = self.buffer[: failed.position]
        closers = {each for opening in failed.openings for each in _owed(opening)}
        for closer in closers:
            if closer not in seen:
                self.owed[closer] += 1

    def _is_owed(self, closer: str) -> bool:
        """``closer`` belongs to an opener that was left as text, and so is text."""
        owed = self.owed
        if not owed[closer]:
            return False
        owed[closer] -= 1
        return True

    @property
    def owed(self) -> Counter[str]:
        return self._owed[self.depth > 0]


def _owed(opening: Opening) -> tuple[str, ...]:
    return (*opening.form.closers, *opening.form.owes)
