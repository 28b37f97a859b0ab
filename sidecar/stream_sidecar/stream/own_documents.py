"""A stream that is emitted on its own wire: unchanged, as long as nothing leaked.

A document waits, beside the documents that the writer made from its events, until its
text is decided. If nothing was taken out or moved, the original is emitted, with all
that no event carries: log probabilities, pings, unknown fields. On a wire of blocks a
document without events waits for the next document. Example: a block begins as text,
and its first words show that it is reasoning.

If something was removed, the writer's documents are emitted in place of all documents
that wait then, with the members around them that no event carries. Example:
``{"service_tier": "x", "choices": [{"delta": {"content": "<think>"}}]}`` is left out,
and the next document that is written has the tier. The writer's documents are used
until the text is decided again. On a wire that numbers its blocks they are used to the
end of the stream.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

from stream_sidecar.parts import Chunk
from stream_sidecar.records import define, field, hot

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stream_sidecar.parts import JsonObject
    from stream_sidecar.wires.shared.row import WireRow

MOST_WAITING = 256
"""At most this many documents wait for a decision. A finished stream waits for its
end."""


@hot
class ReadDocument:
    """A document that was read, and the state of the stream after it.

    ``chunks``: the document as it may be emitted unchanged; empty if it may not.
    ``last``: the ``seq`` of its last event. ``removals``: how often something was
    removed or moved so far. ``held``: how many code points are held back. ``over``:
    every choice has its finish. ``between``: the document is above the limit and has
    text that was not read, so it is emitted unchanged in any case; the events up to
    this ``seq`` come before it. None: the document was read.
    """

    chunks: list[Chunk]
    last: int
    removals: int
    held: int
    over: bool
    between: int | None = None

    @property
    def settled(self) -> bool:
        """Whether all text up to this document is decided. False after the last finish,
        because then the stream's end is waited for."""
        return not (self.held or self.over)


@define(eq=False)
class OwnDocuments:
    """The documents that wait, as they came and as the writer made them. ``written``:
    the writer's documents are emitted. ``most_held``: at most this many code points
    wait undecided."""

    row: WireRow
    most_held: int
    written: bool = False
    _waiting: list[tuple[list[Chunk], list[Chunk]]] = field(factory=list)
    _lags: bool = False  # the writer made no document from the last one
    _removals: int = 0  # as counted when documents were last emitted
    _begun: bool = False
    _early: list[Chunk] = field(factory=list)  # extra documents before all others
    #: the latest document of each type around which nothing is written yet
    _bare: dict[str | None, Chunk] = field(factory=dict)

    def push(self, own: list[Chunk], ours: list[Chunk]) -> None:
        """Adds a document: ``own`` as it came, and ``ours``, the documents that were
        written from its events."""
        self._waiting.append((own, ours))
        self._lags = not (ours or self.row.stands_alone)

    def after(self, passed: ReadDocument, *, cites: bool, stays: bool) -> list[Chunk]:
        """The chunks to emit after the document was read. ``cites``: it has positions
        in the text, which are wrong after a removal. ``stays``: later documents may
        have state that a removal broke, so no more of them is emitted as it came."""
        is_many = len(self._waiting) > MOST_WAITING
        is_full = (is_many or passed.held > self.most_held) and not passed.over
        undecided = is_full and not passed.settled
        must_write = not passed.chunks or undecided or (cites and passed.removals > 0)
        ready = passed.settled and (is_full or not self._lags)
        self._switch_if(must_write or passed.removals > self._removals)
        if not (ready or self.written):
            return []
        chunks = self._take()
        self._removals = passed.removals
        if passed.settled and passed.chunks and self.row.stands_alone and not stays:
            self.written = False
        return chunks

    def before(self) -> list[Chunk]:
        """Returns the waiting documents as the writer made them. From now on only the
        writer's documents are emitted."""
        self.written = True
        return self._take() if self._waiting else []

    def end(self, removals: int, *, is_other: bool) -> list[Chunk]:
        """The waiting documents at the end. ``is_other``: the end differs from the
        provider's own."""
        self._switch_if(is_other or removals > self._removals)
        return self._take()

    def _switch_if(self, is_other: bool) -> None:
        """From now on emits the writer's documents, if something ``is_other``."""
        self.written = self.written or is_other

    def _take(self) -> list[Chunk]:
        waiting, self._waiting = self._waiting, []
        if self.written:
            return [*chain.from_iterable(self._dressed(*each) for each in waiting)]
        self._begun = self._begun or bool(waiting)
        return [*chain.from_iterable(own for own, _ in waiting)]

    def _dressed(self, own: list[Chunk], ours: list[Chunk]) -> Iterator[Chunk]:
        """``ours``, each with the fields around it in ``own`` or in an earlier document
        that was left out. ``own`` is added if it has only extra fields, for which
        no writer has a place."""
        if not ours and all(self.row.is_extra(inside_of(each)) for each in own):
            self._early += own
        else:
            self._bare |= {_type(came): came for came in own}
        for chunk in ours:
            bare = self._bare.get(_type(chunk))
            yield chunk if bare is None else self._around(chunk, bare)
        for chunk in ours:
            self._bare.pop(_type(chunk), None)
        self._begun = self._begun or bool(ours)
        if self._begun:
            yield from self._early
            self._early = []

    def _around(self, chunk: Chunk, own: Chunk) -> Chunk:
        inside = inside_of(own)
        dressed = Chunk(around(chunk, inside, self.row))
        return dressed if inside is own else Chunk({**own, "data": dressed})


def _type(chunk: Chunk) -> str | None:
    """The type of a document; a provider's may be any value."""
    kind = chunk.get("type")
    return kind if isinstance(kind, str) else None


def inside_of(chunk: Chunk) -> Chunk:
    """The document in a chunk ``{event, data}``, or the chunk if it is a document."""
    inside: Chunk = chunk["data"] if chunk.keys() == _NAMED else chunk
    return inside


_NAMED = {"event", "data"}

_CONSTANT = ("role", "object")
"""Members with the same value in every document."""

_PLACES = ("annotation", "annotations")
"""Members with positions in the text, which are wrong after a removal."""

_COUNTS = ("usage", "usageMetadata")
"""The writer has all of their values, also those of earlier documents."""


def around(ours: JsonObject, own: JsonObject, row: WireRow) -> JsonObject:
    """``ours`` with the members of ``own`` that it lacks and no event carries, or has
    only by default, and without empty members that ``own`` does not have."""
    dressed = {
        name: value
        for name, value in ours.items()
        if name in own or (value and name not in _CONSTANT)
    }
    defaults = row.defaults.get(str(ours.get("object")), frozenset())
    for name, value in own.items():
        known = None if name in defaults else ours.get(name)
        if known is None:
            if name not in row.writer_members or not value:
                dressed[name] = value
        elif name in _PLACES:
            continue
        elif name in _COUNTS and type(value) is dict:
            dressed[name] = {each: known[each] for each in known if each in value}
        elif type(known) is type(value) is dict:
            if value.get("type") in (None, known.get("type")):
                dressed[name] = around(known, value, row)
        elif type(known) is type(value) is list:
            dressed[name] = _around_each(known, value, row)
    return dressed


def _around_each(ours: list[Any], own: list[Any], row: WireRow) -> list[Any]:
    """The items of ``ours``, each `around` the item of ``own`` with its ``index``."""
    places = {_index(each, place): each for place, each in enumerate(own)}
    found = [(each, places.get(_index(each, -1))) for each in ours]
    return [
        around(each, came, row) if came and _is_alike(each, came) else each
        for each, came in found
    ]


def _is_alike(ours: Any, own: Any) -> bool:
    """Whether ``own`` is an item of the same type: after a removal an item of another
    type may be in the same place."""
    both = type(ours) is type(own) is dict
    return both and own.get("type") in (None, ours.get("type"))


def _index(item: Any, place: int) -> int:
    index = item.get("index", place) if isinstance(item, dict) else -2
    return index if type(index) is int else -2
