"""Runs of plain text: deltas in which nothing matters, where nothing is held back.

Most of a stream is that. Such a delta is an event at once and is only remembered; the
bookkeeping of all of them (positions, the block's text, what stands before the next
character) is done together when anything else happens, or somebody asks. So the same
text leaves the same state, whether or not it went as a run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from sidecar.events import ReasoningDelta, TextDelta

if TYPE_CHECKING:
    from collections.abc import Callable

    from sidecar.gates import Gates

_MOST = 64
"""Deltas that are remembered at most: each is a string of its own."""


class Numbers(Protocol):
    """What a run needs of the outlet: the last ``seq``, and to be its ``run``."""

    seq: int
    run: PlainRun | None


class PlainRun:
    """The run of ``choice``; between ``begin`` and ``end`` it is the outlet's ``run``.

    ``matters(text)`` is true when ``text`` must go the long way. ``account`` takes the
    text of all deltas since it was last called.
    """

    __slots__ = (
        "_account",
        "_begins",
        "_block",
        "_inside",
        "_outlet",
        "_texts",
        "_thinks",
        "choice",
        "matters",
    )

    def __init__(
        self, choice: int, outlet: Numbers, account: Callable[[str], None]
    ) -> None:
        self.matters: Callable[[str], object] = len
        self._begins: Callable[[str], object] = len
        self._inside: Callable[[str], object] = len
        self.choice = choice
        self._outlet = outlet
        self._account = account
        self._texts: list[str] = []
        self._block = -1
        self._thinks = False

    def begin(
        self,
        block: int,
        gates: Gates,
        matters: Callable[[str], object],
        *,
        thinks: bool,
    ) -> None:
        """What comes next, unless it ``matters``, belongs to ``block``, which is one
        of reasoning if it ``thinks``."""
        if self._outlet.run is not None:
            self._outlet.run.end()
        self._begins, self._inside = gates.begins, gates.inside
        self.matters, self._block, self._thinks = matters, block, thinks
        self._outlet.run = self

    def give(self, text: str) -> TextDelta | ReasoningDelta:
        """The event of a delta, under the next number."""
        outlet, texts = self._outlet, self._texts
        self.matters = self._begins if text[-1] == "\n" else self._inside
        texts.append(text)
        if len(texts) == _MOST:
            self.settle()
        outlet.seq = seq = outlet.seq + 1
        if self._thinks:
            return ReasoningDelta(seq, self.choice, self._block, text, "tag", None)
        return TextDelta(seq, self.choice, self._block, text, None)

    def settle(self) -> None:
        """Does the bookkeeping; the run goes on."""
        if self._texts:
            text = "".join(self._texts)
            self._texts.clear()
            self._account(text)

    def end(self) -> None:
        """Does the bookkeeping, and is over."""
        self._outlet.run = None
        self.settle()
