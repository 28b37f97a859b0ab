"""A candidate that what stands in it may tear, and that goes on behind the gap.

Where a candidate fails at something that is taken out (a stray delimiter, a stop token,
another call), what is left of it stands together in the visible text and may be a form
there. `Torn` reads it again, from its opener on, once something was taken out: the
visible text must not need repair (design, invariant 9).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sidecar.forms.candidate import Taken
from sidecar.forms.kinds import PieceKind

if TYPE_CHECKING:
    from collections.abc import Callable

    from sidecar.forms.candidate import Candidate, Failed

_TIMES = 8
_GOES = frozenset(
    (PieceKind.MARK, PieceKind.EXIT, PieceKind.CALL, PieceKind.CITE, PieceKind.RESULT)
)


class Torn:
    """``begin`` makes its candidate anew, of the openings that fit into so many code
    points; ``start`` and ``until``: absolute positions between which its text was read
    when it failed; ``owed``: closers that are text because it failed.

    ``first``: the waiting item with which it begins. ``has_gap``: something was taken
    out behind its opener. ``size``: code points. ``failed``: so many of them show that
    it is none. ``last``: what it would be at the answer's end, None: text. That is
    ``asked`` once only, where it may have to wait for long (time is linear).
    """

    def __init__(
        self,
        begin: Callable[[int], Candidate],
        start: int,
        until: int,
        owed: list[str],
    ) -> None:
        self.start = start
        self.until = until
        self.owed = owed
        self.first = 0
        self.failed = 0
        self.has_gap = False
        self.size = 0
        self._head = 0  # code points before the first gap
        self._begin = begin
        self._times = 0
        self._candidate: Candidate | None = None
        self._unread: list[str] = []
        self._loose: list[str] = []
        self._blanks = ""  # behind the last token
        self.asked = False
        self.last: PieceKind | None = None

    def gap(self) -> None:
        """Something was taken out behind what there is of it."""
        if not self.has_gap:
            self.has_gap, self._head = True, self.size

    def reset(self) -> None:
        """It is read from its beginning."""
        self._times += 1
        self.size = 0
        self._candidate = None
        self._unread, self._loose, self._blanks = [], [], ""

    @property
    def is_tired(self) -> bool:
        """It has been read as often as it may be (time is linear)."""
        return self._times >= _TIMES

    def wait(self, text: str, *, blank: bool) -> None:
        """``text`` is part of it only if more follows; ``blank``: it is no token."""
        self._loose.append(text)
        self._blanks = self._blanks + text if blank else ""
        self.size += len(text)

    def add(self, text: str) -> None:
        self._unread += [*self._loose, text]
        self._loose.clear()
        self._blanks = ""
        self.size += len(text)

    def read(self, *, final: bool = False) -> Taken | Failed | None:
        """What it is with all that was added; ``final``: the answer ends."""
        if self._candidate is None:
            self._candidate = self._opened()
        text = "".join(self._unread)
        self._unread.clear()
        return self._candidate.push(text, final=final)

    def end(self) -> Taken | Failed | None:
        """What it is at the answer's end, where blanks behind it stay if they can."""
        verdict = self.read(final=True)
        if goes(verdict) or not self._blanks:
            return verdict
        return self._opened().push(self.raw + self._blanks, final=True)

    def _opened(self) -> Candidate:
        candidate = self._begin(self._head if self.has_gap else self.size)
        least = max((len(each.opener) for each in candidate.openings), default=0)
        while self._loose and sum(map(len, self._unread)) < least:
            self._unread.append(self._loose.pop(0))  # an opener ends with blanks
        return candidate

    @property
    def raw(self) -> str:
        """All that was read."""
        return "" if self._candidate is None else self._candidate.raw

    def ask(self, text: str, blanks: str) -> None:
        """Sets ``last`` for ``text``, which is all of it, perhaps with ``blanks``."""
        self.asked = True
        for each in (text, text + blanks) if blanks else (text,):
            size = min(self._head if self.has_gap else self.size, len(each))
            verdict = self._begin(size).push(each, final=True)
            if isinstance(verdict, Taken) and goes(verdict):
                self.last = verdict.kind
                break


def goes(verdict: Taken | Failed | None, *, more: bool = False) -> bool:
    """Whether what was torn is taken out; ``more``: text may follow it."""
    if not isinstance(verdict, Taken):
        return False
    if verdict.kind is PieceKind.ENTER or is_leading(verdict):
        return more
    return verdict.kind in _GOES


def is_leading(taken: Taken) -> bool:
    """Whether it is a result that what follows decides (contract 7.6)."""
    return taken.kind is PieceKind.RESULT and taken.opening.form.place == "start"
