"""The wire ``cohere``: Chat v2, as a stream of events or a whole body.

An event carries a piece of the message in ``delta.message``, under the names that a
whole body uses, so one table of fields reads both (wires/README.md, "Cohere"). Never
raises for any JSON value: see `shared.document_wire`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from attrs import evolve

from stream_sidecar.parts import (
    CitationPart,
    DonePart,
    MetadataPart,
    ReasoningPart,
    TextPart,
)
from stream_sidecar.provider_errors.normalize import find_error
from stream_sidecar.values.abridge import light
from stream_sidecar.wires.shared.content_blocks import BlockWire
from stream_sidecar.wires.shared.fields import first_text, type_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from stream_sidecar.parts import Document, JsonObject
    from stream_sidecar.wires.shared.content_blocks import ContentBlock, Index
    from stream_sidecar.wires.shared.row import WireRow

THINKING = "thinking"
"""The field name of thinking, and of a plan: neither repeats the other."""

PLAN = "tool_plan"
_NOT_IN_ANSWER = ("THINKING_CONTENT", "PLAN")
"""Types of citations whose offsets lie in reasoning."""


class CohereWire(BlockWire):
    """Reads Chat v2 events (see the module's docstring)."""

    def __init__(self, row: WireRow, provider: str | None) -> None:
        super().__init__(row, provider)
        #: code points of the answer so far, and where each block began
        self._length = 0
        self._begins: dict[Index, int] = {}

    def start(self, index: Index) -> ContentBlock:
        self._begins[index] = self._length
        return super().start(index)

    def read(self, value: JsonObject, event: str | None) -> None:
        kind = type_of(value) or event or ""
        if kind in _EVENTS:
            _EVENTS[kind](self, value)
        elif isinstance(value.get("message"), dict):
            self._whole(value)
        else:
            self.unread(value, event)

    # Events

    def _message_start(self, value: JsonObject) -> None:
        self._identify(value)
        self._message(self._piece(value))

    def _whole(self, value: JsonObject) -> None:
        self._identify(value)
        self._message(self.body(value, "message"))
        self._end(value, value)

    def _content_start(self, value: JsonObject) -> None:
        index = self.index(value)
        self.start(index)
        self._content(index, value)

    def _content_delta(self, value: JsonObject) -> None:
        self._content(self.index(value), value)

    def _content(self, index: Index, value: JsonObject) -> None:
        for item in self.each_object(self._piece(value), "content"):
            self._say(index, item)

    def _content_end(self, value: JsonObject) -> None:
        self.stop(self.index(value))

    def _plan(self, value: JsonObject) -> None:
        self._think(self.text(self._piece(value), PLAN), PLAN, PLAN)

    def _call_start(self, value: JsonObject) -> None:
        index = _call_index(self.index(value))
        self.start(index)
        self._calls(index, value)

    def _call_delta(self, value: JsonObject) -> None:
        self._calls(_call_index(self.index(value)), value)

    def _calls(self, index: Index, value: JsonObject) -> None:
        for item in self.each_object(self._piece(value), "tool_calls"):
            self._call(index, item)

    def _call_end(self, value: JsonObject) -> None:
        self.stop(_call_index(self.index(value)))

    def _citation(self, value: JsonObject) -> None:
        for item in self.each_object(self._piece(value), "citations"):
            self._cite(item)

    def _message_end(self, value: JsonObject) -> None:
        self._end(self.body(value, "delta"), value)

    def _nothing(self, _value: JsonObject) -> None:
        """Ignores the end of a citation, and a debug event with the prompt."""

    # Pieces of a message

    def _message(self, message: JsonObject) -> None:
        """Reads a message in the order of its events; in a start event mostly empty."""
        self.end()
        self._think(self.text(message, PLAN), PLAN, PLAN)
        for index, item in enumerate(self.objects(message, "content")):
            self.start(index)
            self._say(index, item)
            self.stop(index)
        for index, item in enumerate(self.objects(message, "tool_calls")):
            self.start(_call_index(index))
            self._call(_call_index(index), item)
            self.stop(_call_index(index))
        for item in self.objects(message, "citations"):
            self._cite(item)

    def _say(self, index: Index, item: JsonObject) -> None:
        self._think(self.text(item, THINKING), self.block(index).key, THINKING)
        if text := self.text(item, "text"):
            self._length += len(text)
            self.parts.append(TextPart(text))

    def _think(self, text: str, block: int | str, field: str) -> None:
        if text:
            self.parts.append(ReasoningPart(text, field, 0, block))

    def _call(self, index: Index, item: JsonObject) -> None:
        function = self.body(item, "function")
        call_fields: dict[str, str] = {}
        for name in ("id", "type"):
            if name in item:
                call_fields[name] = self.text(item, name)
        if "name" in function:
            call_fields["name"] = self.text(function, "name")
        self.call(self.block(index), function.get("arguments"), **call_fields)

    def _cite(self, item: JsonObject) -> None:
        """Adds a citation for each source of ``item``."""
        part = self._placed(item)
        sources = [*self.objects(item, "sources")]
        others = {name: item[name] for name in item if name != "sources"}
        for source in sources or [{}]:
            raw = item if len(sources) < 2 else others | {"sources": [source]}
            self.parts.append(_of_source(evolve(part, raw=raw), source))
            others = light(others) or {}  # long values come only with the first source

    def _placed(self, item: JsonObject) -> CitationPart:
        """The citation with its place in a content item, which older models lack."""
        start, end = item.get("start"), item.get("end")
        are_offsets = type(start) is int and type(end) is int
        if not are_offsets or item.get("type") in _NOT_IN_ANSWER:
            return CitationPart("other", item)
        content = item.get("content_index")
        base = self._begins.get(content, 0) if type(content) is int else 0
        return CitationPart(
            "other", item, anchor="offsets", start=start, end=end, base=base
        )

    # Identity and end

    def _piece(self, value: JsonObject) -> JsonObject:
        return self.body(self.body(value, "delta"), "message")

    def _identify(self, value: JsonObject) -> None:
        if id := self.text(value, "id"):
            self.parts.append(MetadataPart(id))

    def _end(self, end: JsonObject, value: JsonObject) -> None:
        self.finish(end, "finish_reason")
        self.count(self.body(end, "usage"))
        body = find_error(value)
        if body is not None:
            self.fail(body)
        self.parts.append(DonePart())


def _call_index(index: int) -> tuple[str, int]:
    """The `Index` of a call: Cohere counts calls and content separately."""
    return "call", index


def _of_source(part: CitationPart, source: JsonObject) -> CitationPart:
    """``part`` with url, title and text of a source: a document or a tool's output."""
    kind = type_of(source)
    body = source.get("document" if kind == "document" else "tool_output")
    fields = body if isinstance(body, dict) else {}
    return evolve(
        part,
        kind="document" if kind == "document" else "other",
        url=first_text(fields, ("url", "uri")),
        title=first_text(fields, ("title", "name")),
        cited_text=first_text(fields, ("snippet",)),
        document=first_text(source, ("id",)),
    )


_Reader: TypeAlias = "Callable[[CohereWire, JsonObject], None]"

_EVENTS: dict[str, _Reader] = {
    "message-start": CohereWire._message_start,
    "content-start": CohereWire._content_start,
    "content-delta": CohereWire._content_delta,
    "content-end": CohereWire._content_end,
    "tool-plan-delta": CohereWire._plan,
    "tool-call-start": CohereWire._call_start,
    "tool-call-delta": CohereWire._call_delta,
    "tool-call-end": CohereWire._call_end,
    "citation-start": CohereWire._citation,
    "citation-end": CohereWire._nothing,
    "message-end": CohereWire._message_end,
    "debug": CohereWire._nothing,
}

_EVENT_NAMES = frozenset(_EVENTS) - {"debug"}


def fits(document: Document) -> bool:
    """Whether a document can only be of this wire."""
    value = document.value
    if not isinstance(value, dict):
        return False
    if (type_of(value) or document.event) in _EVENT_NAMES:
        return True
    is_message = isinstance(value.get("message"), dict)
    return is_message and "finish_reason" in value
