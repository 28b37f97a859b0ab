"""The wire ``bedrock-converse``: ConverseStream's events and whole Converse bodies.

A whole body is read as its events in order. An event is a member of a union
(``{"contentBlockDelta": {...}}``, from AWS's libraries), or its bare payload. The name
of a bare payload is in the frame's header, under ``":event-type"``, or follows from its
keys. One table reads the members of a block at its start, in a delta and in a whole
message (wires/README.md, "Bedrock Converse"). Never raises for any JSON value: see
`shared.document_wire`.
"""

from __future__ import annotations

from binascii import a2b_base64, b2a_base64
from typing import TYPE_CHECKING, TypeAlias

from stream_sidecar.parts import (
    CitationKind,
    CitationPart,
    DonePart,
    MetadataPart,
    ReasoningPart,
    ReasoningStatePart,
    ResultPart,
    TextPart,
)
from stream_sidecar.wires.shared.content_blocks import BlockWire
from stream_sidecar.wires.shared.fields import first_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from stream_sidecar.parts import Document, Json, JsonObject, Part
    from stream_sidecar.wires.shared.content_blocks import ContentBlock


_DELTA = "contentBlockDelta"
_INDEX = "contentBlockIndex"
REASONING = "reasoningContent"
"""The member of a block with reasoning."""

_NAMES = (":event-type", ":exception-type")
"""A frame's headers, which a host may have put into the decoded object."""

_BY_KEY = {
    "delta": _DELTA,
    "start": "contentBlockStart",
    _INDEX: "contentBlockStop",
    "stopReason": "messageStop",
    "role": "messageStart",
    "usage": "metadata",
}
"""Key of a bare payload -> its event; the first key that exists counts."""

_LOCATIONS: dict[str, CitationKind] = {
    "web": "url",
    "documentChar": "document",
    "documentPage": "document",
    "documentChunk": "document",
    "searchResultLocation": "search-result",
}


class BedrockConverseWire(BlockWire):
    """Reads Converse events (see the module's docstring)."""

    def read(self, value: JsonObject, event: str | None) -> None:
        kind = event or first_text(value, _NAMES)
        events = _events_of(value, kind)
        for name, body in events:
            if isinstance(body, dict):
                _EVENTS[name](self, body)
            elif body is not None:
                self.malformed(name, body)
        if not events:
            self.unread(value, kind)

    def last(self, block: ContentBlock) -> list[Part]:
        """The part for a block with a result or redacted reasoning, complete now."""
        item = block.item
        if REASONING in item:
            return [ReasoningStatePart(0, None, item, block.key)]
        if not item:
            return []
        id, status = self.text(item, "toolUseId"), item.get("status")
        is_error = None if status is None else status == "error"
        name = self.tools.get(id)
        return [ResultPart(item["content"], item, 0, id or None, name, is_error)]

    # Events

    def _message_start(self, _body: JsonObject) -> None:
        self.end()

    def _block_start(self, body: JsonObject) -> None:
        self._members(self.start(self.index(body, _INDEX)), self.body(body, "start"))

    def _block_delta(self, body: JsonObject) -> None:
        """Reads a delta. A block of text begins with its first delta."""
        self._members(self.block(self.index(body, _INDEX)), self.body(body, "delta"))

    def _block_stop(self, body: JsonObject) -> None:
        self.stop(self.index(body, _INDEX))

    def _message_stop(self, body: JsonObject) -> None:
        self.finish(body, "stopReason")
        self.report_details(body, ("additionalModelResponseFields",))
        self.parts.append(DonePart())

    def _metadata(self, body: JsonObject) -> None:
        """Reads the metadata after the end. A prompt router names its model here."""
        trace = self.body(body, "trace")
        router = self.body(trace, "promptRouter")
        if model := self.text(router, "invokedModelId"):
            self.parts.append(MetadataPart(model=model))
        self.report_details(trace, ("guardrail",))
        self.count(self.body(body, "usage"))

    def _whole(self, body: JsonObject) -> None:
        message = self.body(self.body(body, "output"), "message")
        self._message_start(message)
        for index, item in enumerate(self.objects(message, "content")):
            self._members(self.start(index), item)
            self.stop(index)
        self._message_stop(body)
        self._metadata(body)

    # Members of a block

    def _members(self, block: ContentBlock, members: JsonObject) -> None:
        for name, item in members.items():
            if name in _MEMBERS and item is not None:
                _MEMBERS[name](self, block, members)
            elif item is not None:
                self.ignored(name, {name: item})

    def _text(self, _block: ContentBlock, members: JsonObject) -> None:
        if text := self.text(members, "text"):
            self.parts.append(TextPart(text))

    def _tool_use(self, block: ContentBlock, members: JsonObject) -> None:
        """Reads a call's start, a fragment of its input, or a whole call."""
        item = self.body(members, "toolUse")
        call_fields = {}
        if "toolUseId" in item or "name" in item:
            # Only tools that the server runs have a ``type``.
            kind = self.text(item, "type") or "tool_use"
            call_fields = {"type": kind, "name": self.text(item, "name")}
            call_fields["id"] = self.text(item, "toolUseId")
        self.call(block, item.get("input"), **call_fields)

    def _tool_result(self, block: ContentBlock, members: JsonObject) -> None:
        """Reads a result: its start or all of it, or as a list more of its content."""
        item, content = members["toolResult"], block.item.get("content", [])
        if isinstance(item, list):
            item = {"content": item}
        elif not isinstance(item, dict):
            self.malformed("toolResult", item)
            return
        content += self.objects(item, "content")
        block.item |= item | {"content": content}

    def _reasoning(self, block: ContentBlock, members: JsonObject) -> None:
        """Reads reasoning. Whole blocks have text and signature in an inner object."""
        item = self.body(members, REASONING)
        item = item | self.body(item, "reasoningText")
        if text := self.text(item, "text"):
            self.parts.append(ReasoningPart(text, REASONING, 0, block.key))
        if signature := self.text(item, "signature"):
            part = ReasoningStatePart(0, signature, None, block.key, REASONING)
            self.parts.append(part)
        if redacted := self.text(item, "redactedContent"):
            known = self.body(block.item, REASONING).get("redactedContent")
            redacted = _bytes_of(known, redacted) if known else redacted
            block.item[REASONING] = {"redactedContent": redacted}

    def _citation(self, _block: ContentBlock, members: JsonObject) -> None:
        for item in self.each_object(members, "citation"):
            self._cite(item)

    def _cited(self, block: ContentBlock, members: JsonObject) -> None:
        """Reads a whole block of text with citations."""
        item = self.body(members, "citationsContent")
        for citation in self.objects(item, "citations"):
            self._cite(citation)
        for content in self.objects(item, "content"):
            self._text(block, content)

    def _cite(self, item: JsonObject) -> None:
        """Adds a citation, which belongs to its whole block."""
        location = self.body(item, "location")
        place = next((name for name in _LOCATIONS if name in location), "")
        sources = self.objects(item, "sourceContent")
        quote = "".join(self.text(source, "text") for source in sources)
        web = self.body(location, "web")
        self.parts.append(
            CitationPart(
                kind=_LOCATIONS.get(place, "other"),
                raw=item,
                role="block",
                anchor="block",
                url=first_text(web, ("url",)) or first_text(item, ("source",)),
                title=first_text(item, ("title",)),
                cited_text=quote or None,
                document=_document_of(location.get(place)),
            )
        )


def _bytes_of(start: Json, end: str) -> str:
    """The base64 of the joined bytes of two pieces of base64."""
    try:
        content = a2b_base64(str(start)) + a2b_base64(end)
    except ValueError:
        return f"{start}{end}"
    return b2a_base64(content, newline=False).decode()


def _document_of(place: Json) -> str | None:
    """The number, in the request, of the document or search result that was cited."""
    holder = place if isinstance(place, dict) else {}
    for name in ("documentIndex", "searchResultIndex"):
        if type(holder.get(name)) is int:
            return f"{name} {holder[name]}"
    return None


_Reader: TypeAlias = "Callable[[BedrockConverseWire, JsonObject], None]"
_MemberReader: TypeAlias = (
    "Callable[[BedrockConverseWire, ContentBlock, JsonObject], None]"
)

_EVENTS: dict[str, _Reader] = {
    "messageStart": BedrockConverseWire._message_start,
    "contentBlockStart": BedrockConverseWire._block_start,
    _DELTA: BedrockConverseWire._block_delta,
    "contentBlockStop": BedrockConverseWire._block_stop,
    "messageStop": BedrockConverseWire._message_stop,
    "metadata": BedrockConverseWire._metadata,
    "output": BedrockConverseWire._whole,
}

_MEMBERS: dict[str, _MemberReader] = {
    "text": BedrockConverseWire._text,
    "toolUse": BedrockConverseWire._tool_use,
    "toolResult": BedrockConverseWire._tool_result,
    "reasoningContent": BedrockConverseWire._reasoning,
    "citation": BedrockConverseWire._citation,
    "citationsContent": BedrockConverseWire._cited,
}


def _events_of(value: JsonObject, kind: str | None) -> list[tuple[str, Json]]:
    """The events in one object, as (name, body)."""
    if kind in _EVENTS:
        return [(kind, value)]
    if isinstance(value.get("output"), dict):
        return [("output", value)]
    union = [(name, body) for name, body in value.items() if name in _EVENTS]
    if union:
        return union
    return [(name, value) for key, name in _BY_KEY.items() if key in value][:1]


_DECISIVE = frozenset(_EVENTS) - {"metadata", "output"}


def fits(document: Document) -> bool:
    """Whether a document can only be of this wire; counts alone may be of another."""
    value = document.value
    if not isinstance(value, dict):
        return False
    if document.event in _DECISIVE or first_text(value, _NAMES) in _DECISIVE:
        return True
    message = value.get("output")
    message = message.get("message") if isinstance(message, dict) else None
    if isinstance(message, dict):
        return isinstance(message.get("content"), list)
    in_union = any(isinstance(value.get(name), dict) for name in _DECISIVE)
    return in_union or type(value.get(_INDEX)) is int
