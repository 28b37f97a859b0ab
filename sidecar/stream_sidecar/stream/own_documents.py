"""A stream that goes out on the wire it came on: as it came, while nothing leaked.

A document waits, beside what the writer made of its events, until its text is decided.
While nothing was taken out or moved, documents go out as they came, with all that no
event carries: log probabilities, pings, fields that nobody knows. One of which the
writer made nothing waits for the next: a block that begins may turn out to be another.
From the first removal on the writer's go out, also in place of those that wait then.
Example: a stream that begins with ``<think>`` is the writer's from its first document.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stream_sidecar.records import define, field, frozen

if TYPE_CHECKING:
    from stream_sidecar.parts import Chunk

MOST_WAITING = 256
"""Documents that wait for a decision; a finished stream waits for its end."""


@frozen
class ReadDocument:
    """A document that was read, as ``chunks`` that may go out, and the stream behind
    it: ``last`` is the ``seq`` of its last event, ``touched`` says that something was
    taken out or moved, ``settled`` that nothing is held back, and ``over`` that every
    choice has its finish. Without a chunk it cannot go out as it came."""

    chunks: list[Chunk]
    last: int
    touched: bool
    settled: bool
    over: bool


@define(eq=False)
class OwnDocuments:
    """What waits: documents as they came, and as they are written. ``written``: from
    now on it is these that go out."""

    written: bool = False
    _own: list[Chunk] = field(factory=list)
    _ours: list[Chunk] = field(factory=list)
    _count: int = 0
    _lags: bool = False  # the writer made nothing of the last one

    def push(self, own: list[Chunk], ours: list[Chunk]) -> None:
        """A document comes, ``own`` as it came, and what is written in its place."""
        self._own += own
        self._ours += ours
        self._count += 1
        self._lags = not ours

    def behind(self, passed: ReadDocument) -> list[Chunk]:
        """What goes out when the document has been read."""
        is_full = self._count > MOST_WAITING and not passed.over
        undecided = is_full and not passed.settled
        touched = passed.touched or not passed.chunks or undecided
        ready = passed.settled and (is_full or not self._lags)
        return self.take(touched=touched) if touched or ready else []

    def take(self, *, touched: bool) -> list[Chunk]:
        """All that waits."""
        self.written = self.written or touched
        own, ours, self._own, self._ours = self._own, self._ours, [], []
        self._count = 0
        return ours if self.written else own
