"""A stream that goes out on the wire it came on: as it came, while nothing leaked.

A document waits, beside what the writer made of its events, until its text is decided.
While nothing was taken out or moved, documents go out as they came, with all that no
event carries: log probabilities, pings, fields that nobody knows. One of which the
writer made nothing waits for the next: a block that begins may turn out to be another.
From the first removal on the writer's go out, also in place of those that wait then,
with what no event carries around them. Example: of ``{"service_tier": "x", "choices":
[{"delta": {"content": "<think>"}}]}`` the next document that is written has the tier.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

from stream_sidecar.parts import Chunk
from stream_sidecar.records import define, field, frozen

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stream_sidecar.parts import Json, JsonObject

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
    now on it is these that go out. ``told``: members that events tell, so that only
    the writer may write them."""

    told: frozenset[str]
    written: bool = False
    _waiting: list[tuple[list[Chunk], list[Chunk]]] = field(factory=list)
    _lags: bool = False  # the writer made nothing of the last one
    #: the latest document of each type around which nothing is written yet
    _bare: dict[Json, Chunk] = field(factory=dict)

    def push(self, own: list[Chunk], ours: list[Chunk]) -> None:
        """A document comes, ``own`` as it came, and what is written in its place."""
        self._waiting.append((own, ours))
        self._lags = not ours

    def behind(self, passed: ReadDocument) -> list[Chunk]:
        """What goes out when the document has been read."""
        is_full = len(self._waiting) > MOST_WAITING and not passed.over
        undecided = is_full and not passed.settled
        touched = passed.touched or not passed.chunks or undecided
        ready = passed.settled and (is_full or not self._lags)
        goes = touched or ready or self.written
        return self.take(touched=touched) if goes else []

    def take(self, *, touched: bool) -> list[Chunk]:
        """All that waits."""
        self.written = self.written or touched
        waiting, self._waiting = self._waiting, []
        if self.written:
            return [*chain.from_iterable(self._dressed(*each) for each in waiting)]
        return [*chain.from_iterable(own for own, _ in waiting)]

    def _dressed(self, own: list[Chunk], ours: list[Chunk]) -> Iterator[Chunk]:
        """``ours``, of each type the first with what ``own`` has beside it."""
        for came in own:
            self._bare[came.get("type")] = came
        for chunk in ours:
            bare = self._bare.pop(chunk.get("type"), None)
            yield chunk if bare is None else Chunk(around(chunk, bare, self.told))


_COUNTS = ("usage", "usageMetadata")
"""They are written with what the provider's own object says (`write_usage`)."""


def around(ours: JsonObject, own: JsonObject, told: frozenset[str]) -> JsonObject:
    """``ours`` with the members of ``own`` that it lacks and no event tells."""
    dressed = dict(ours)
    for name, value in own.items():
        known = ours.get(name)
        if known is None:
            if name not in told:
                dressed[name] = value
        elif type(known) is type(value) is dict and name not in _COUNTS:
            if value.get("type") in (None, known.get("type")):
                dressed[name] = around(known, value, told)
        elif type(known) is type(value) is list:
            dressed[name] = _around_each(known, value, told)
    return dressed


def _around_each(ours: list[Any], own: list[Any], told: frozenset[str]) -> list[Any]:
    """The items with the ``index`` of one that came."""
    places = {_index(each, place): each for place, each in enumerate(own)}
    found = [(each, places.get(_index(each, -1))) for each in ours]
    return [each if came is None else around(each, came, told) for each, came in found]


def _index(item: Any, place: int) -> int:
    index = item.get("index", place) if isinstance(item, dict) else -2
    return index if type(index) is int else -2
