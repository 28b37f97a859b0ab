"""The wire ``anthropic``: Messages, as a stream of events or a whole message.

A whole message is read as its events in order. Variants of Bedrock's InvokeModel, of
Vertex and of compatible servers are read as well: several messages in one stream
(indices start again while blocks are open), data without ``type`` under an event name,
blocks that were never started or ended (wires/README.md, "Messages"). Never raises
for any JSON value: see `shared.document_wire`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from stream_sidecar.parts import (
    DiagnosticPart,
    DonePart,
    MetadataPart,
    ReasoningPart,
    ReasoningStatePart,
    TextPart,
)
from stream_sidecar.wires.anthropic.blocks import (
    RESULT,
    STATES,
    THINKING,
    citation,
    result,
)
from stream_sidecar.wires.anthropic.usage import with_late_cache
from stream_sidecar.wires.shared.content_blocks import BlockWire
from stream_sidecar.wires.shared.fields import first_text, refusal, type_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from stream_sidecar.parts import Document, JsonObject, Part
    from stream_sidecar.wires.shared.content_blocks import ContentBlock

_PLAIN_CALL = frozenset(("type", "id", "name", "input", "caller"))
"""A call with other members (``server_name``) must go back unchanged."""

_DETAILS = ("container", "context_management", "input_transformations")
"""Members in which a response says something about itself."""


class AnthropicWire(BlockWire):
    """Reads Messages events (see the module's docstring)."""

    _has_content = False  # some content has come in pieces, in this message or before
    _id = ""  # the id of the latest message

    def read(self, value: JsonObject, event: str | None) -> None:
        read = _EVENTS.get(type_of(value) or event or "")
        if read is None:
            self.unread(value, event)
        else:
            read(self, value)

    def last(self, block: ContentBlock) -> list[Part]:
        if not block.item:
            return []
        return [ReasoningStatePart(opaque=block.item, block=block.key)]

    # Events

    def _message_start(self, value: JsonObject) -> None:
        self._message(self.body(value, "message"))

    def _message(self, message: JsonObject) -> None:
        """Reads the beginning of a message, or a whole message."""
        self.end()
        self._usage = None
        id, model = self.text(message, "id"), self.text(message, "model")
        self._id = id
        if id or model:
            self.parts.append(MetadataPart(id or None, model or None))
        for index, item in enumerate(self.objects(message, "content")):
            self._block(index, item)
            self.stop(index)
        self._stopped(message, message)

    def _whole(self, value: JsonObject) -> None:
        """Reads a whole message: only its end if its deltas came before (MiniMax)."""
        is_other = self.text(value, "id") not in ("", self._id)
        if is_other or not self._has_content:
            self._message(value)
            self.parts.append(DonePart())
            return
        note = "the whole message, whose blocks came in the stream"
        content = value.get("content")
        self.parts.append(DiagnosticPart("response-details", note, "info", content))
        self._stopped(value, value)

    def _block_start(self, value: JsonObject) -> None:
        item = self.body(value, "content_block")
        self._note_content(item)
        self._block(self.index(value), item)

    def _block_delta(self, value: JsonObject) -> None:
        delta = self.body(value, "delta")
        read, block = _DELTAS.get(type_of(delta)), self.block(self.index(value))
        if type_of(block.item) not in STATES:
            block.item = {}
        if read is None:
            self.ignored("delta", delta)
        else:
            self._note_content(delta)
            start = len(self.parts)
            read(self, block, delta)
            if len(self.parts) == start:
                self.unused("delta", delta, _FIELDS, start)

    def _note_content(self, piece: JsonObject) -> None:
        """Notes whether any piece of the message has had content."""
        if not self._has_content:
            self._has_content = any(piece[name] for name in piece if name != "type")

    def _block_stop(self, value: JsonObject) -> None:
        self.stop(self.index(value))

    def _message_delta(self, value: JsonObject) -> None:
        self._stopped(self.body(value, "delta"), value)

    def _message_stop(self, _value: JsonObject) -> None:
        self.parts.append(DonePart())

    def _nothing(self, _value: JsonObject) -> None:
        """Ignores a ping."""

    def _stopped(self, delta: JsonObject, event: JsonObject) -> None:
        self.finish(delta, "stop_reason")
        self.count(with_late_cache(self._usage, self.body(event, "usage")))
        self.report_details(event | delta, _DETAILS)
        if delta.get("stop_reason") == "refusal" and delta.get("stop_details"):
            details = self.body(delta, "stop_details")
            text = first_text(details, ("explanation",)) or "The model refused"
            code = first_text(details, ("category",))
            self.parts.append(refusal(text, details, code=code))

    # Blocks

    def _block(self, index: int, item: JsonObject) -> None:
        """Begins a block, and reads everything of it that does not come in deltas."""
        block, kind = self.start(index), type_of(item)
        if kind.endswith(RESULT):
            self._result(block, item)
        else:
            _BLOCKS.get(kind, AnthropicWire._other)(self, block, item)

    def _text_block(self, block: ContentBlock, item: JsonObject) -> None:
        for cited in self.objects(item, "citations"):
            self.parts.append(citation(cited))
        self._text(block, item)

    def _thinking_block(self, block: ContentBlock, item: JsonObject) -> None:
        self._thinking(block, item)
        self._signature(block, item)

    def _call(self, block: ContentBlock, item: JsonObject) -> None:
        self.call(
            block,
            item.get("input"),
            id=self.text(item, "id"),
            name=self.text(item, "name"),
            type=type_of(item),
            caller=item.get("caller"),
            raw=None if item.keys() <= _PLAIN_CALL else item,
        )

    def _result(self, _block: ContentBlock, item: JsonObject) -> None:
        """Reads the result of a server's call, which may be in an earlier message."""
        self.parts.append(result(item, self.tools))

    def _state(self, block: ContentBlock, item: JsonObject) -> None:
        """Reads a block that shows nothing and must go back unchanged."""
        block.item = dict(item)

    def _fallback(self, block: ContentBlock, item: JsonObject) -> None:
        """Reads a fallback: from here on another model answers."""
        model = self.text(self.body(item, "to"), "model")
        if model:
            self.parts.append(MetadataPart(model=model))
        self._state(block, item)

    def _other(self, block: ContentBlock, item: JsonObject) -> None:
        """Reads a block of unknown type. It goes back unchanged if it came whole."""
        self.ignored("content_block", item)
        self._state(block, item if type_of(item) else {})

    # Deltas

    def _text(self, _block: ContentBlock, delta: JsonObject) -> None:
        if text := self.text(delta, "text"):
            self.parts.append(TextPart(text))

    def _thinking(self, block: ContentBlock, delta: JsonObject) -> None:
        if text := self.text(delta, "thinking"):
            self.parts.append(ReasoningPart(text, THINKING, 0, block.key))

    def _signature(self, block: ContentBlock, delta: JsonObject) -> None:
        if signature := self.text(delta, "signature"):
            part = ReasoningStatePart(0, signature, None, block.key, THINKING)
            self.parts.append(part)

    def _arguments(self, block: ContentBlock, delta: JsonObject) -> None:
        self.call(block, self.text(delta, "partial_json"))

    def _citation(self, _block: ContentBlock, delta: JsonObject) -> None:
        """Reads a citation, which comes before its text in the same block."""
        for cited in self.each_object(delta, "citation"):
            self.parts.append(citation(cited))

    def _compaction(self, block: ContentBlock, delta: JsonObject) -> None:
        members = {name: value for name, value in delta.items() if value is not None}
        block.item |= members | {"type": "compaction"}


_Reader: TypeAlias = "Callable[[AnthropicWire, JsonObject], None]"
_BlockReader: TypeAlias = "Callable[[AnthropicWire, ContentBlock, JsonObject], None]"

_EVENTS: dict[str, _Reader] = {
    "message_start": AnthropicWire._message_start,
    "content_block_start": AnthropicWire._block_start,
    "content_block_delta": AnthropicWire._block_delta,
    "content_block_stop": AnthropicWire._block_stop,
    "message_delta": AnthropicWire._message_delta,
    "message_stop": AnthropicWire._message_stop,
    "message": AnthropicWire._whole,
    "ping": AnthropicWire._nothing,
}

_BLOCKS: dict[str, _BlockReader] = {
    "text": AnthropicWire._text_block,
    "thinking": AnthropicWire._thinking_block,
    "tool_use": AnthropicWire._call,
    "server_tool_use": AnthropicWire._call,
    "mcp_tool_use": AnthropicWire._call,
    **dict.fromkeys(STATES, AnthropicWire._state),
    "fallback": AnthropicWire._fallback,
    "tool_result": AnthropicWire._result,
}
"""Readers by type of block. Types that end in ``_tool_result`` are results as well."""

_DELTAS: dict[str, _BlockReader] = {
    "text_delta": AnthropicWire._text,
    "thinking_delta": AnthropicWire._thinking,
    "signature_delta": AnthropicWire._signature,
    "input_json_delta": AnthropicWire._arguments,
    "citations_delta": AnthropicWire._citation,
    "compaction_delta": AnthropicWire._compaction,
}

_FIELDS = {
    "type",
    "text",
    "thinking",
    "signature",
    "partial_json",
    "citation",
    "content",
    "encrypted_content",
}
"""Members of deltas. Nothing of a compaction is reported before its end."""

_EVENT_NAMES = frozenset(_EVENTS) - {"ping", "message"}
_OWN = frozenset(("model", "stop_reason"))
"""A whole message has one of these members; a message item of Responses has neither."""


def fits(document: Document) -> bool:
    """Whether a document can only be of this wire; others have pings and errors."""
    value = document.value
    if not isinstance(value, dict):
        return False
    kind = type_of(value) or document.event
    if kind == "message":
        has_own = not _OWN.isdisjoint(value)
        return isinstance(value.get("content"), list) and has_own
    return kind in _EVENT_NAMES
