"""The base of all writers, which turn events into documents of their wire.

A writer gets events in order, and only those that are final: ``stream.emission`` has
decided before about calls found in the text, so nothing written is ever retracted. It
has a method for each event that its wire has a place for (`_METHODS`), which appends to
``chunks``. A whole body is the sum of its stream: a writer ``fold``s its own documents.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar

from stream_sidecar.events import (
    BlockEnd,
    Citation,
    Metadata,
    ProviderError,
    ReasoningDelta,
    TextDelta,
    ToolCall,
    ToolCallDelta,
    ToolResult,
    Usage,
)
from stream_sidecar.message.outlet import Origin
from stream_sidecar.records import define, field
from stream_sidecar.values.abridge import LONG
from stream_sidecar.values.jsontext import portable
from stream_sidecar.wires.shared.usage import write_usage

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from stream_sidecar.events import Event, Finish
    from stream_sidecar.parts import Chunk, Json, JsonObject
    from stream_sidecar.wires.shared.row import WireRow

LONGEST_REPEATED = 256
"""An id or name is repeated in every document if it has at most this many code points.
A longer one is only in the first, so that the output stays linear in the input."""

_MOST_PLACES = 8192
"""Places of at least this many of the latest blocks are known."""

_MOST_KEPT = 1 << 20
"""The most code points of a `KeptText`."""

_METHODS: dict[type, str] = {
    Metadata: "describe",
    TextDelta: "text",
    ReasoningDelta: "reasoning",
    BlockEnd: "block_end",
    ToolCallDelta: "call_delta",
    ToolCall: "call",
    ToolResult: "result",
    Citation: "cite",
    ProviderError: "fail",
    Usage: "count",
}
"""Event -> the name of a writer's method for it."""

_NOTHING = Origin()


@define
class TextPlaces:
    """Where the text of each of the latest blocks begins in its choice's answer, in
    code points."""

    lengths: dict[int, int] = field(factory=dict)
    starts: dict[int, int] = field(factory=dict)
    sizes: dict[int, int] = field(factory=dict)

    def push(self, event: TextDelta) -> None:
        choice, block, size = event.choice, event.block, len(event.text)
        length = self.lengths.get(choice, 0)
        if block in self.sizes:
            self.sizes[block] += size
        else:
            self.starts[block], self.sizes[block] = length, size
            if len(self.sizes) > 2 * _MOST_PLACES:
                for old in sorted(self.sizes)[:_MOST_PLACES]:
                    del self.starts[old], self.sizes[old]
        self.lengths[choice] = length + size

    def find(self, citation: Citation) -> tuple[int, int] | None:
        """Start and end of the claim; None if it has no place in what was written."""
        start, end = citation.start, citation.end
        if start is None or end is None:
            return None
        begin = self._place(citation.blocks or (), start)
        final = self._place(citation.blocks or (), max(start, end - 1))
        if begin is None or final is None:
            return None
        return begin, final + (end > start)

    def _place(self, blocks: tuple[int, ...], position: int) -> int | None:
        place = None
        for block in blocks:
            size, start = self.sizes.get(block), self.starts.get(block, 0)
            if size is None:
                return None
            place = start + min(position, size)
            if position < size:
                break
            position -= size
        return place


@define
class KeptText:
    """Text that the end of a block or an answer may need again. A text of more than
    `_MOST_KEPT` code points is forgotten: ``join`` returns None."""

    _parts: list[str] = field(factory=list)
    _size: int = 0

    def add(self, text: str) -> None:
        self._size += len(text)
        if self._size <= _MOST_KEPT:
            self._parts.append(text)
        else:
            self._parts.clear()

    def join(self) -> str | None:
        return "".join(self._parts) if self._size <= _MOST_KEPT else None

    def clear(self) -> None:
        self._parts.clear()
        self._size = 0


class ChunkWriter(ABC):
    """Writes the events of one stream on the wire of ``row``. ``source``: the wire from
    which the stream was read. ``stream``: the host's id of the stream.

    ``origins``: block -> what the parts say about it before it is over. ``words``: our
    finish reason -> the wire's word; a reason without a word is written as an error.
    """

    is_single: ClassVar[bool] = False  # a response has one choice
    words: ClassVar[Mapping[str, str]]

    def __init__(
        self, row: WireRow, source: str, origins: Mapping[int, Origin], stream: str
    ) -> None:
        self.row = row
        self.source = source
        self.stream = stream
        self.chunks: list[Chunk] = []
        self.id = self.model = ""
        self.created = 0
        self.usage: Usage | None = None
        self.places = TextPlaces()
        self._origins = origins
        self._sources: dict[tuple[int, int], dict[str, str]] = {}
        self._written_sources: set[tuple[int, int]] = set()  # those with long values

    def push(self, events: Iterable[Event]) -> list[Chunk]:
        """The documents for ``events``."""
        self.chunks = []
        for event in events:
            write = getattr(self, _METHODS.get(type(event), ""), None)
            if write is not None and not (self.is_single and event.choice):
                write(event)
        return self.chunks

    def close(self, finishes: list[Finish]) -> list[Chunk]:
        """The documents of the end. ``finishes``: one for each choice."""
        self.chunks = []
        self.end(finishes)
        return self.chunks

    @abstractmethod
    def end(self, finishes: list[Finish]) -> None:
        """Writes the end: open blocks, how each choice ended, and the counts."""

    @classmethod
    @abstractmethod
    def fold(cls, chunks: list[Chunk]) -> Chunk:
        """The whole body that is the sum of a stream."""

    # For the methods of writers

    @property
    def is_own(self) -> bool:
        """Whether the stream was read from this wire, so that its raw objects fit."""
        return self.source == self.row.name

    def origin(self, block: int | None) -> Origin:
        return self._origins.get(-1 if block is None else block, _NOTHING)

    def origin_of(self, call: ToolCall) -> Origin:
        """What is known about a complete call."""
        origin, is_free = self.origin(call.block), call.arguments_format == "text"
        state = call.opaque, call.caller, call.raw, origin.kind
        return Origin(origin.item, call.executor == "server", is_free, *state)

    def describe(self, event: Metadata) -> None:
        """Notes the response's identity: the first id and the last model count."""
        self.id = self.id or event.id or ""
        self.model = event.model or self.model
        self.created = self.created or event.created or 0
        self.source = event.wire or self.source

    def count(self, event: Usage) -> None:
        """Notes the counts, which are totals; they are written once, at the end."""
        self.usage = event

    def usage_object(self) -> JsonObject:
        """The counts so far under the wire's names; empty if there are none."""
        return {} if self.usage is None else write_usage(self.usage, self.row.usage)

    def is_end_known(self, finish: Finish) -> bool:
        """Whether the provider said how the choice ended."""
        return finish.complete and (finish.reason != "unknown" or bool(finish.raw))

    def finish_word(self, finish: Finish) -> str:
        """The wire's word for how a choice ended; the provider's own word if it means
        the same. A raw ``stop`` beside calls does not."""
        raw = finish.raw or ""
        if raw and self.is_own and self.row.reason_of(raw) == finish.reason:
            return raw
        return self.words.get(finish.reason, self.words["error"])

    def own_error(self, event: ProviderError) -> Json:
        """The ``error`` of the provider's own body if it is of this wire, else None."""
        raw = event.raw if self.is_own else None
        return portable(raw.get("error")) if isinstance(raw, dict) else None

    def cited(self, event: Citation) -> tuple[str | None, str | None]:
        """Url and title of a citation, or those that came with an earlier one."""
        values = self._sources.setdefault((event.choice, event.source), {})
        for name in ("url", "title"):
            value = getattr(event, name)
            if value is not None and len(value) > LONG:
                values.setdefault(name, value)
        return event.url or values.get("url"), event.title or values.get("title")

    def cited_once(self, event: Citation) -> tuple[str | None, str | None] | None:
        """The url and the title to write for ``event``. Long ones are written only with
        the first citation of their source. Later, a long title is None; with a long
        url, the result is None, and the citation is not written."""
        url, title = self.cited(event)
        if max(len(url or ""), len(title or "")) <= LONG:
            return url, title
        source = event.choice, event.source
        if source not in self._written_sources:
            self._written_sources.add(source)
            return url, title
        return None if len(url or "") > LONG else (url, None)


def repeated_head(head: JsonObject) -> JsonObject:
    """The members with which every document begins, without the longest values."""
    return {
        name: value
        for name, value in head.items()
        if not isinstance(value, str) or len(value) <= LONGEST_REPEATED
    }


def error_object(event: ProviderError) -> JsonObject:
    """``message``, ``type`` and ``code`` of an error, as most providers have them."""
    error = {"message": event.message, "type": event.provider_type or event.kind}
    code = event.code if event.code is not None else event.http_status
    return error if code is None else error | {"code": code}


def input_of(call: ToolCall) -> JsonObject:
    """The arguments as an object. Free text is put under ``input``."""
    if isinstance(call.input, dict):
        inputs: JsonObject = portable(call.input)
        return inputs
    return {"input": call.arguments} if call.arguments_format == "text" else {}
