"""The row of a wire: everything that the rest of the project knows about it.

``ROW = WireRow("toy", "Toy", ToyWire, fits)`` is a wire that can only be read
(wires/README.md, "Adding a wire").
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol

from stream_sidecar.records import field, frozen
from stream_sidecar.wires.shared.item_cleaning import ItemCleaner
from stream_sidecar.wires.shared.request_rules import ANYBODY, any_case
from stream_sidecar.wires.shared.request_shapes import RequestShape
from stream_sidecar.wires.shared.usage import UsageShape, finish_reason

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterable, Mapping

    from stream_sidecar.events import Event, Finish
    from stream_sidecar.message.outlet import Origin
    from stream_sidecar.parts import Chunk, Document, Json, JsonObject, Wire
    from stream_sidecar.wires.shared.item_cleaning import Cleaning
    from stream_sidecar.wires.shared.rendering import LostPart, RequestWriter
    from stream_sidecar.wires.shared.request_rules import Rule


class EventWriter(Protocol):
    """Writes the events of one stream as documents of a wire (`shared.writing`)."""

    row: WireRow

    def push(self, events: Iterable[Event]) -> list[Chunk]: ...

    def close(self, finishes: list[Finish]) -> list[Chunk]: ...

    def fold(self, chunks: list[Chunk]) -> Chunk: ...


class SdkRules(Protocol):
    """Looks at all documents of one stream, in their order. ``allows``: whether the
    wire's official SDKs read from a document what it says. ``finished``: a document
    that was written instead, with what the SDKs need of members that no event carries.
    """

    __slots__ = ()  # so that a class with slots can inherit from it

    def allows(self, document: JsonObject) -> bool: ...

    def finished(self, document: JsonObject) -> JsonObject:
        return document


@frozen
class PassedStates:
    """Lists of provider state, the members ``names`` of a turn, that pass with the
    documents in which they came. ``add`` gets such a document, those written in its
    place, and whether a removal before it broke what is bound to earlier text.
    ``cut``: a whole body without thinking that may have come after its text."""

    names: tuple[str, ...]
    add: Callable[[Chunk, list[Chunk], bool], list[Chunk]]
    cut: Callable[[Chunk], Chunk]


@frozen
class HostMend:
    """What a provider refuses, and only the host can mend. ``is_due``: whether a body
    with these items has it; ``path``: the place in the request where it is mended;
    ``what``: the kind of loss."""

    is_due: Callable[[JsonObject, list[Json]], bool]
    path: str
    what: str
    why: str


@frozen
class SealDropper:
    """Servers, found by any of their names, that can be asked to drop thinking that no
    longer fits, and where the beta is named
    (docs.aws.amazon.com/bedrock/latest/userguide/claude-messages-thinking-block-binding.html)."""

    provider: re.Pattern[str] = field(converter=any_case)
    beta: Literal["header", "body"]


@frozen
class WireRow:
    """A wire: its ``name``, and the ``title`` of its section in wires/README.md.

    - ``reader``: makes a new `Wire` from this row and a provider's name or None.
    - ``fits``: whether a document can only be of this wire. ``auto`` asks this, so it
      must be cheap and never raise.
    - ``usage``: where the counts stand.
    - ``reasons``: finish words in lower case that have a meaning only on this wire.
    - ``writer``: writes events as documents of the wire, if ``is_written`` is true for
      them.
    - ``sdk_rules``: says which documents the wire's official SDKs cannot read. They are
      written, if the host asks for this (`Emit.rewrite`).
    - ``writer_members``: members that only ``writer`` may write.
    - ``defaults``: ``object`` of a document -> members that ``writer`` gives a default
      value, so that the value of the provider's own document counts.
    - ``states``: the lists of state that ``writer`` leaves to the provider's documents.
    - ``stands_alone``: a document means the same whatever came before it.
    - ``is_extra``: whether a document is of a kind that no writer writes.
    - ``request``: writes a turn as messages of the next request, by the first of
      ``rules`` that fits. None: the wire can only be read.
    - ``unsigned_field``: the field for reasoning without provider state. Where there is
      none, such reasoning would be an item that the provider never made.
    - ``is_of_many``: the wire has many providers. One without a row in ``rules`` is not
      known to refuse anything.
    - ``shape``: where a request has turns, calls and their results.
    - ``cleaner``: removes from each item of a request what only this wire refuses.
    - ``mended_settings``: the settings of a body with these items that have to change.
    - ``host_mends``: what only the host can mend.
    - ``drops_seals``: servers that drop thinking that no longer fits.
    """

    name: str
    title: str
    reader: Callable[[WireRow, str | None], Wire]
    fits: Callable[[Document], bool] = field(default=lambda _document: False)
    usage: UsageShape = UsageShape()
    reasons: Mapping[str, str] = field(factory=dict)
    writer: Callable[[WireRow, str, Mapping[int, Origin], str], EventWriter] | None = (
        None
    )
    sdk_rules: Callable[[], SdkRules] | None = None
    is_written: Callable[[JsonObject], bool] = field(default=lambda _value: True)
    writer_members: frozenset[str] = frozenset()
    defaults: Mapping[str, frozenset[str]] = field(factory=dict)
    states: PassedStates | None = None
    stands_alone: bool = False
    is_extra: Callable[[JsonObject], bool] = field(default=lambda _value: False)
    request: RequestWriter | None = None
    rules: tuple[Rule, ...] = ANYBODY
    unsigned_field: str = ""
    is_of_many: bool = False
    shape: RequestShape = RequestShape()
    cleaner: Callable[[Cleaning], ItemCleaner] = ItemCleaner
    mended_settings: Callable[
        [Rule, JsonObject, list[Json], list[LostPart]], JsonObject
    ] = field(default=lambda _rule, _body, _items, _lost: {})
    host_mends: tuple[HostMend, ...] = ()
    drops_seals: tuple[SealDropper, ...] = ()

    def make(self, provider: str | None) -> Wire:
        return self.reader(self, provider)

    def make_writer(
        self, source: str, origins: Mapping[int, Origin], stream: str = ""
    ) -> EventWriter:
        """A new writer for the host's ``stream``, which was read from ``source``."""
        assert self.writer is not None
        return self.writer(self, source, origins, stream)

    def reason_of(self, raw: str | None) -> str:
        """Our word for a provider's finish reason."""
        return finish_reason(raw, self.reasons)
