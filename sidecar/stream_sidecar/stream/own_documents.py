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
    from stream_sidecar.wires.shared.row import SdkRules, WireRow

MOST_WAITING = 256
"""At most this many documents wait for a decision. A finished stream waits for its
end."""


@hot
class ReadDocument:
    """A document that was read, and the state of the stream after it.

    ``chunks``: the document as it may be emitted unchanged; empty if it may not.
    ``last``: the ``seq`` of its last event. ``removals``: how often something was
    removed or moved so far. ``held``: how many code points are held back. ``is_over``:
    every choice has its finish. ``between``: the document is above the limit and has
    text that was not read, so it is emitted unchanged in any case; the events up to
    this ``seq`` come before it. None: the document was read.
    """

    chunks: list[Chunk]
    last: int
    removals: int
    held: int
    is_over: bool
    between: int | None = None

    @property
    def is_settled(self) -> bool:
        """Whether all text up to this document is decided. False after the last finish,
        because then the stream's end is waited for."""
        return not (self.held or self.is_over)


@define(eq=False)
class OwnDocuments:
    """The documents that wait, as they came and as the writer made them; ``written``:
    these are emitted. ``most_held``: at most so many code points wait undecided.
    ``sdk_rules``: a document that they do not allow is emitted as written."""

    row: WireRow
    most_held: int
    sdk_rules: SdkRules | None = None
    written: bool = False
    _waiting: list[tuple[list[Chunk], list[Chunk]]] = field(factory=list)
    _lags: bool = False  # the writer made no document from the last one
    _removals: int = 0  # as counted when documents were last emitted
    _has_begun: bool = False
    _is_refused: bool = False  # a waiting document is one that the SDKs cannot read
    _has_refused: bool = False  # there was such a document
    _early: list[Chunk] = field(factory=list)  # extra documents before all others
    #: the latest document of each type around which nothing is written yet
    _bare: dict[str | None, Chunk] = field(factory=dict)

    def push(self, originals: list[Chunk], written: list[Chunk]) -> None:
        """Adds a document as it came, and the documents ``written`` from its events."""
        self._waiting.append((originals, written))
        self._lags = not (written or self.row.stands_alone)

    def judge(self, chunks: list[Chunk]) -> None:
        """Asks the ``sdk_rules`` about a document as it came."""
        if self.sdk_rules is not None:
            allowed = [self.sdk_rules.allows(inside_of(chunk)) for chunk in chunks]
            if not all(allowed):
                self._is_refused = self._has_refused = True

    def after(self, document: ReadDocument, *, cites: bool, stays: bool) -> list[Chunk]:
        """The chunks to emit after the document was read. ``cites``: it has positions
        in the text, which are wrong after a removal. ``stays``: later documents may
        have state that a removal broke, so no more of them is emitted as it came."""
        is_many = len(self._waiting) > MOST_WAITING
        is_full = (is_many or document.held > self.most_held) and not document.is_over
        is_undecided = is_full and not document.is_settled
        is_misplaced = cites and document.removals > 0
        self._switch_if(not document.chunks or is_undecided or is_misplaced)
        self._switch_if(self._is_refused and not document.is_over)
        self._switch_if(document.removals > self._removals)
        is_ready = document.is_settled and (is_full or not self._lags)
        if not (is_ready or self.written):
            return []
        chunks = self._take()
        self._removals, self._is_refused = document.removals, False
        if (
            document.is_settled
            and document.chunks
            and self.row.stands_alone
            and not stays
        ):
            self.written = False
        return chunks

    def before(self) -> list[Chunk]:
        """The waiting documents as the writer made them, as all from now on."""
        self.written = True
        return self._take()

    def end(self, removals: int, *, is_other: bool) -> list[Chunk]:
        """The waiting documents. ``is_other``: the end is not the provider's own."""
        self._switch_if(is_other or self._is_refused or removals > self._removals)
        return self._take()

    def _switch_if(self, is_other: bool) -> None:
        """From now on emits the writer's documents, if something ``is_other``."""
        self.written = self.written or is_other

    def _take(self) -> list[Chunk]:
        waiting, self._waiting = self._waiting, []
        if self.written:
            return [*chain.from_iterable(self._dressed(*pair) for pair in waiting)]
        self._has_begun = self._has_begun or bool(waiting)
        return [*chain.from_iterable(originals for originals, _ in waiting)]

    def _dressed(self, originals: list[Chunk], written: list[Chunk]) -> Iterator[Chunk]:
        """``written``, each with the fields around it in an original, perhaps an
        earlier one that was left out. An original with nothing but extra fields, for
        which no writer has a place, is added."""
        if not written and all(self.row.is_extra(inside_of(one)) for one in originals):
            self._early += originals
        else:
            self._bare |= {_type(original): original for original in originals}
        for chunk in written:
            original = self._bare.get(_type(chunk))
            yield chunk if original is None else self._around(chunk, original)
        for chunk in written:
            self._bare.pop(_type(chunk), None)
        self._has_begun = self._has_begun or bool(written)
        if self._has_begun:
            yield from self._early
            self._early = []

    def _around(self, chunk: Chunk, original: Chunk) -> Chunk:
        inside = inside_of(original)
        dressed = Chunk(around(chunk, inside, self.row, whole=self._has_refused))
        if self.sdk_rules is not None:
            dressed = Chunk(self.sdk_rules.finished(dressed))
        return dressed if inside is original else Chunk({**original, "data": dressed})


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


def around(
    written: JsonObject, original: JsonObject, row: WireRow, *, whole: bool = False
) -> JsonObject:
    """``written`` with the members of ``original`` that it lacks, or has by default,
    and no event carries. Unless it is wanted ``whole``, it is without empty members
    that ``original`` lacks, and has the nulls of ``original``."""
    dressed = {
        name: value
        for name, value in written.items()
        if whole or name in original or (value and name not in _CONSTANT)
    }
    defaults = row.defaults.get(str(written.get("object")), frozenset())
    for name, value in original.items():
        member = None if name in defaults else written.get(name)
        if whole and value is None:
            continue
        if member is None:
            if name not in row.writer_members or not value:
                dressed[name] = value
        elif name in _PLACES:
            continue
        elif name in _COUNTS and type(value) is dict:
            dressed[name] = {key: member[key] for key in member if key in value}
        elif _is_alike(member, value):
            dressed[name] = around(member, value, row, whole=whole)
        elif type(member) is type(value) is list:
            dressed[name] = _around_items(member, value, row, whole=whole)
    return dressed


def _around_items(
    written: list[Any], originals: list[Any], row: WireRow, *, whole: bool
) -> list[Any]:
    """The items of ``written``, each `around` the original with its ``index``."""
    by_index = {_index(item, place): item for place, item in enumerate(originals)}
    pairs = [(item, by_index.get(_index(item, -1))) for item in written]
    return [
        around(item, original, row, whole=whole)
        if original and _is_alike(item, original)
        else item
        for item, original in pairs
    ]


def _is_alike(written: Any, original: Any) -> bool:
    """Whether both are objects of one type; a removal may have moved another in."""
    are_objects = type(written) is type(original) is dict
    return are_objects and original.get("type") in (None, written.get("type"))


def _index(item: Any, place: int) -> int:
    index = item.get("index", place) if isinstance(item, dict) else -2
    return index if type(index) is int else -2
