"""Writes events and bodies of Anthropic's Messages: the reverse of ``reader``.

A block begins with its first delta. A block of text or thinking ends only when another
begins: citations must be in the block of their text, and often come late. Calls of
another provider's tools become ``server_tool_use``; their results become a block
whose type is the tool's name and ``_tool_result``. For what is not written see
wires/README.md, "Writers".
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, ClassVar

from stream_sidecar import patterns
from stream_sidecar.parts import Chunk
from stream_sidecar.records import frozen
from stream_sidecar.values.jsontext import dumps, loads, portable
from stream_sidecar.wires.anthropic.blocks import REDACTED, RESULT, STATES
from stream_sidecar.wires.requests.seals import redacted_in
from stream_sidecar.wires.shared.open_items import OpenItems, arguments_of
from stream_sidecar.wires.shared.writing import ChunkWriter, input_of

if TYPE_CHECKING:
    from stream_sidecar import events
    from stream_sidecar.message.outlet import Origin
    from stream_sidecar.parts import JsonObject

ERROR_TYPES = {
    "auth": "authentication_error",
    "permission": "permission_error",
    "billing": "billing_error",
    "rate-limit": "rate_limit_error",
    "overloaded": "overloaded_error",
    "context-length": "request_too_large",
    "invalid-request": "invalid_request_error",
    "not-found": "not_found_error",
    "timeout": "timeout_error",
}
"""Kind of an error -> its type; any other kind is ``api_error``."""

_API = "api_error"
_GOOD, _CUT = ("end_turn", "tool_use"), "max_tokens"
"""Finish reasons of a good end, and of an end in mid-call. The SDK completes arguments
that were cut off, so after such a call the end must not look good."""

WRITTEN = (
    "message",
    "message_start",
    "message_delta",
    "message_stop",
    "error",
    "content_block_start",
    "content_block_delta",
    "content_block_stop",
)
"""Types of documents that the writer writes, or whose content it writes otherwise."""

_REFUSAL = "refusal"
_CALLS = ("tool_use", "server_tool_use", "mcp_tool_use")

_WORD = patterns.compile(r"[^a-z0-9]++", re.IGNORECASE)
"""Characters that cannot stand in a type."""

_TEXTS = {
    "text_delta": "text",
    "thinking_delta": "thinking",
    "signature_delta": "signature",
}
"""Type of a delta -> the field of its block that grows."""


@frozen
class _Block:
    """A content block that began."""

    index: int
    is_text: bool


class AnthropicWriter(ChunkWriter):
    """Writes Messages events (see the module's docstring)."""

    words: ClassVar = {
        "stop": "end_turn",
        "tool-calls": "tool_use",
        "length": "max_tokens",
        "context-length": "model_context_window_exceeded",
        "content-filter": "refusal",
        "refusal": "refusal",
        "pause": "pause_turn",
        "unknown": "end_turn",
        "error": "error",
    }
    is_single = True

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._has_begun = False
        self._has_failed = False
        self._refusal: events.ProviderError | None = None
        self._items: OpenItems[_Block, None] = OpenItems()

    def end(self, finishes: list[events.Finish]) -> None:
        self._close_open_block()
        finish = finishes[0]
        if self._has_failed or not (finish.complete or self._has_begun):
            return
        self._begin()
        usage = self.usage_object()
        word = self.finish_word(finish) if self.is_end_known(finish) else None
        if self._items.cut_calls and word in _GOOD:
            word = _CUT
        if word == "error":
            self._write("error", error={"type": _API, "message": finish.raw or word})
            return
        if word or usage:
            delta: JsonObject = {"stop_reason": word, "stop_sequence": None}
            if self._refusal is not None:
                delta["stop_details"] = _details(self._refusal)
            self._write("message_delta", delta=delta, usage=_counted(usage))
        if finish.complete:
            self._write("message_stop")

    @classmethod
    def fold(cls, chunks: list[Chunk]) -> Chunk:
        """The whole body. If the response failed, it is only the last error."""
        errors = [chunk for chunk in chunks if chunk["type"] == "error"]
        body: JsonObject = {}
        for chunk in chunks:
            kind = chunk["type"]
            if kind == "message_start":
                body = {**chunk["message"], "content": []}
            elif kind == "content_block_start":
                body["content"].append({**chunk["content_block"]})
            elif kind == "content_block_delta":
                _grow(body["content"][chunk["index"]], chunk["delta"])
            elif kind == "message_delta":
                body |= {**chunk["delta"], "usage": chunk["usage"]}
        return errors[-1] if errors else Chunk(body)

    # Events

    def text(self, event: events.TextDelta) -> None:
        block = self._items.current_of(event.block)
        if block is None:
            self._close_open_block()
            block = self._start({"type": "text", "text": ""})
            self._items.open_current(event.block, block)
        self._delta(block, type="text_delta", text=event.text)

    def reasoning(self, event: events.ReasoningDelta) -> None:
        block = self._thinking(event.block)
        self._delta(block, type="thinking_delta", thinking=event.text)

    def block_end(self, event: events.BlockEnd) -> None:
        opaque = event.opaque if isinstance(event.opaque, dict) else {}
        if opaque.get("type") not in STATES and (data := redacted_in(opaque)):
            opaque = {"type": REDACTED, "data": data}
        if opaque.get("type") in STATES:
            self._close_open_block()
            self._stop(self._start(portable(opaque)))
        elif event.signature and event.channel == "reasoning":
            block = self._thinking(event.block)
            self._delta(block, type="signature_delta", signature=event.signature)
            self._close_open_block()

    def call_delta(self, event: events.ToolCallDelta) -> None:
        origin = self.origin(event.block)
        if origin.free:
            return  # it is written as an object once it is complete
        text = self._items.fragment(event)
        if event.tool_call_id is not None:
            body = self._call_block(event.tool_call_id, event.name or "", origin)
            self._close_open_block()
            self._items.calls[event.block] = self._start(body)
        if text:
            block = self._items.calls[event.block]
            self._delta(block, type="input_json_delta", partial_json=text)

    def call(self, event: events.ToolCall) -> None:
        block, text = self._items.end_call(event)
        if block is None:
            self._close_open_block()
            origin = self.origin_of(event)
            block = self._start(
                self._call_block(event.tool_call_id, event.name, origin)
            )
            text = dumps(input_of(event)) if origin.free else arguments_of(event)
        if text and text != "{}":
            self._delta(block, type="input_json_delta", partial_json=text)
        self._stop(block)

    def result(self, event: events.ToolResult) -> None:
        item = event.raw if self.is_own else None
        if item is None:
            name = _WORD.sub("_", event.name or "").strip("_") or "mcp"
            item = {
                "type": name + RESULT,
                "tool_use_id": event.tool_call_id or "",
                "content": event.content,
            }
            item |= {"is_error": True} if event.is_error else {}
        self._close_open_block()
        self._stop(self._start(portable(item)))

    def cite(self, event: events.Citation) -> None:
        """Writes a citation into the block of its text. A later one is lost."""
        block = self._items.current
        if block is None or not block.is_text:
            return
        if self._items.block not in (event.blocks or ()):
            return
        source = self.cited_once(event)
        if source is not None:
            citation = self._citation(event, *source)
            self._delta(block, type="citations_delta", citation=citation)

    def fail(self, event: events.ProviderError) -> None:
        if event.provider_type == _REFUSAL:
            self._refusal = event
            return
        self._has_failed = True
        error = self.own_error(event)
        if not isinstance(error, dict):
            kind = ERROR_TYPES.get(event.kind, _API)
            error = {"type": kind, "message": event.message}
        self._write("error", error=error)

    # Documents

    def _write(self, type: str, **fields: Any) -> None:
        self.chunks.append(Chunk({"type": type, **fields}))

    def _begin(self) -> None:
        """Writes ``message_start`` before anything else."""
        if self._has_begun:
            return
        self._has_begun = True
        message: JsonObject = {
            "id": self.id,
            "type": "message",
            "role": "assistant",
            "model": self.model,
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": _counted(self.usage_object()),
        }
        self._write("message_start", message=message)

    def _start(self, body: JsonObject) -> _Block:
        self._begin()
        block = _Block(self._items.next_index(), body.get("type") == "text")
        self._write("content_block_start", index=block.index, content_block=body)
        return block

    def _delta(self, block: _Block, **delta: Any) -> None:
        self._write("content_block_delta", index=block.index, delta=delta)

    def _stop(self, block: _Block) -> None:
        self._write("content_block_stop", index=block.index)

    def _thinking(self, number: int) -> _Block:
        """The open block of thinking, which begins now if it is another one."""
        block = self._items.current_of(number)
        if block is None:
            self._close_open_block()
            block = self._start({"type": "thinking", "thinking": "", "signature": ""})
            self._items.open_current(number, block)
        return block

    def _close_open_block(self) -> None:
        """Ends the open block of text or thinking."""
        if block := self._items.take_current():
            self._stop(block)

    def _call_block(self, id: str, name: str, origin: Origin) -> JsonObject:
        raw = origin.raw if self.is_own and isinstance(origin.raw, dict) else {}
        kind = "server_tool_use" if origin.server else "tool_use"
        item = {"type": kind, "id": id, "name": name, "input": {}}
        if raw.get("type") in _CALLS:
            item = {**portable(raw), "input": {}}
        if self.is_own and origin.caller is not None:
            item["caller"] = portable(origin.caller)
        return item

    def _citation(
        self, event: events.Citation, url: str | None, title: str | None
    ) -> JsonObject:
        if self.is_own and isinstance(event.raw, dict):
            source = {"url": url, "title": title} if event.kind == "url" else {}
            citation: JsonObject = portable(event.raw)
            return {name: value for name, value in source.items() if value} | citation
        text = event.cited_text or ""
        if url:
            place = {"type": "web_search_result_location", "encrypted_index": ""}
            return {**place, "cited_text": text, "url": url, "title": title}
        return {
            "type": "char_location",
            "cited_text": text,
            "document_index": 0,
            "document_title": title,
            "start_char_index": 0,
            "end_char_index": 0,
        }


def _counted(usage: JsonObject) -> JsonObject:
    """``usage`` with input and output, which a message has from its beginning on."""
    return {"input_tokens": 0, "output_tokens": 0, **usage}


def _details(error: events.ProviderError) -> JsonObject:
    return {"type": _REFUSAL, "category": error.code, "explanation": error.message}


def _grow(block: JsonObject, delta: JsonObject) -> None:
    """Adds a delta to its block in a whole message."""
    kind = delta["type"]
    if kind in _TEXTS:
        block[_TEXTS[kind]] += delta[_TEXTS[kind]]
    elif kind == "citations_delta":
        block.setdefault("citations", []).append(delta["citation"])
    else:
        block["input"] = _whole_input(delta["partial_json"])


def _whole_input(text: str) -> Any:
    """The arguments as an object; else as text, so that nobody runs the call."""
    try:
        value = loads(text)
    except ValueError:
        return text
    return value if isinstance(value, dict) else text
