"""Writes events and bodies of the Responses API: the reverse of ``reader``.

A block of text becomes a message, a block of reasoning an item with a summary. Blocks
that came from one item of the provider (``Origin.item``) become one item again. An item
ends only when another begins: citations must be in the item of their text, and often
come late. Tools of other providers become ``mcp_call`` items. For what is not written
see wires/README.md, "Writers".
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from stream_sidecar.parts import Chunk
from stream_sidecar.records import define, field
from stream_sidecar.values.jsontext import dumps, portable
from stream_sidecar.wires.openai_responses.content import GONE
from stream_sidecar.wires.shared.item_ids import made_item_id
from stream_sidecar.wires.shared.open_items import OpenItems, arguments_of
from stream_sidecar.wires.shared.usage import with_counts
from stream_sidecar.wires.shared.writing import ChunkWriter

if TYPE_CHECKING:
    from stream_sidecar import events
    from stream_sidecar.message.outlet import Origin
    from stream_sidecar.parts import Json, JsonObject

_ENDS = {
    "stop": "completed",
    "tool-calls": "completed",
    "refusal": "completed",
    "unknown": "completed",
    "malformed": "failed",
    "error": "failed",
    "cancelled": "cancelled",
}
"""Finish reason -> status of the response; for other reasons it is ``incomplete``."""

_LONGEST_ID = 1024
"""A longer id of an item, in code points, is replaced. Copilot's have some hundred."""

_MESSAGE, _REASONING, _SERVED = "message", "reasoning", "mcp_call"
_WITHOUT_STATUS = (_REASONING, "mcp_list_tools", "mcp_approval_request", "program")
"""Types of items that have no status when they are done."""

_CALLING = "calling"
"""The status of a server's call whose result comes in another turn."""

_CONTINUED = ("stop", "tool-calls", "length")
"""Finish reasons of a response that continued after an error."""

_RESULT_MEMBERS = ("output", "outputs", "result", "results", "tools", "error")
"""Members of a server's item with its result, which are written when it is done."""


@define
class _Item:
    """An item of the output that began. ``state``: the provider's members of it."""

    index: int
    body: JsonObject
    state: JsonObject = field(factory=dict)
    is_cut: bool = False

    @property
    def type(self) -> str:
        type: str = self.body["type"]
        return type

    @cached_property
    def place(self) -> JsonObject:
        return {"item_id": self.body["id"], "output_index": self.index}


@define
class _Message:
    """An open message. ``source_id``: the provider's item that it continues. ``start``:
    where its text begins in the answer. ``refuses``: it is a refusal."""

    item: _Item
    source_id: str
    start: int
    refuses: bool
    texts: list[str] = field(factory=list)
    annotations: list[JsonObject] = field(factory=list)

    @cached_property
    def place(self) -> JsonObject:
        """The members with the place of its only part."""
        return {**self.item.place, "content_index": 0}

    def part(self) -> JsonObject:
        """Its only part, with the text so far."""
        text = "".join(self.texts)
        if self.refuses:
            return {"type": "refusal", "refusal": text}
        part = {"type": "output_text", "text": text}
        return {**part, "annotations": self.annotations, "logprobs": []}


@define
class _Thought:
    """An open reasoning item: its finished parts, and the texts of the last one.
    ``source_id``: the provider's item that it continues."""

    item: _Item
    source_id: str
    summary: list[JsonObject] = field(factory=list)
    texts: list[str] = field(factory=list)

    @property
    def place(self) -> JsonObject:
        """The members with the place of its last part."""
        return {**self.item.place, "summary_index": len(self.summary)}


@define
class _Call:
    """An open call for the client, with its arguments so far."""

    item: _Item
    texts: list[str] = field(factory=list)


class OpenAIResponsesWriter(ChunkWriter):
    """Writes the events of a response (see the module's docstring)."""

    words: ClassVar = {
        "stop": "completed",
        "tool-calls": "completed",
        "length": "max_output_tokens",
        "context-length": "max_output_tokens",
        "content-filter": "content_filter",
        "refusal": "content_filter",
        "pause": "max_output_tokens",
        "cancelled": "cancelled",
        "unknown": "completed",
        "error": "failed",
    }
    is_single = True

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._number = 0
        self._has_begun = False
        self._identity: JsonObject = {}  # the response's identity, as it began
        self._ids: set[str] = set()
        self._output: dict[int, JsonObject] = {}
        self._items: OpenItems[_Message | _Thought | _Call, _Item] = OpenItems()
        self._error: JsonObject | None = None
        self._has_refused = False

    def end(self, finishes: list[events.Finish]) -> None:
        self._close_open_item()
        for item in self._items.served.values():
            self._close_item(item, _CALLING)
        finish = finishes[0]
        status = self._status(finish)
        if not status:
            return
        response = self._response(status)
        response["output"] = [self._output[index] for index in sorted(self._output)]
        if status == "incomplete":
            response["incomplete_details"] = {"reason": self.finish_word(finish)}
        elif status == "failed":
            reason = {"code": "server_error", "message": finish.raw or finish.reason}
            response["error"] = self._error or reason
        self._begin()
        # The API has no event for a cancelled response, only the status.
        kind = "incomplete" if status == "cancelled" else status
        self._write(f"response.{kind}", response=response)

    @classmethod
    def fold(cls, chunks: list[Chunk]) -> Chunk:
        """The response of the last event; of a torn stream, with the finished items."""
        response: JsonObject = {}
        output = []
        for chunk in chunks:
            response = chunk.get("response", response)
            if chunk["type"] == "response.output_item.done":
                output.append(chunk["item"])
        if output and not response.get("output"):
            response = {**response, "output": output}
        return Chunk(response)

    # Events

    def text(self, event: events.TextDelta) -> None:
        self.places.push(event)
        message = self._items.current_of(event.block)
        if not isinstance(message, _Message):
            message = self._message(event.block, refuses=bool(event.refusal))
        self._say(message, event.text)

    def _say(self, message: _Message, text: str) -> None:
        message.texts.append(text)
        place: JsonObject = message.place | {"delta": text}
        if message.refuses:
            self._write("response.refusal.delta", **place)
        else:
            self._write("response.output_text.delta", **place, logprobs=[])

    def reasoning(self, event: events.ReasoningDelta) -> None:
        thought = self._items.current_of(event.block)
        if not isinstance(thought, _Thought):
            thought = self._thought(event.block)
        if not thought.texts:
            self._summary_part(thought, "added", "")
        thought.texts.append(event.text)
        kind = "response.reasoning_summary_text.delta"
        self._write(kind, **thought.place, delta=event.text)

    def block_end(self, event: events.BlockEnd) -> None:
        state = event.opaque if self.is_own else None
        if not isinstance(state, dict):
            return
        if current := self._items.current_of(event.block):
            current.item.state = state
        elif (item := self._own_item(state)) and item != GONE:
            self._write_whole(item)  # nothing of it was written before

    def call_delta(self, event: events.ToolCallDelta) -> None:
        origin = self.origin(event.block)
        if origin.server:
            return  # it is written once it is complete
        text, call = self._items.fragment(event), self._items.calls.get(event.block)
        if not isinstance(call, _Call):
            call = self._begin_call(origin, event.tool_call_id or "", event.name or "")
            self._items.calls[event.block] = call
        self._write_arguments(call, text)

    def call(self, event: events.ToolCall) -> None:
        origin, (call, text) = self.origin_of(event), self._items.end_call(event)
        if call is None and origin.server and not self._is_shaped(event):
            self._serve(event)
            return
        if not isinstance(call, _Call):
            call = self._begin_call(origin, event.tool_call_id, event.name)
        self._write_arguments(call, text)
        item, arguments = call.item, "".join(call.texts)
        member, event_name = _ARGUMENTS[item.type]
        item.body[member] = arguments
        self._write(f"response.{event_name}.done", **item.place, **{member: arguments})
        if self.is_own and isinstance(event.opaque, dict):
            item.state = event.opaque
        item.is_cut = event.state == "truncated"
        self._close_item(item)

    def result(self, event: events.ToolResult) -> None:
        """Writes a result, which ends the item of its server's call, or is an item."""
        id, body = event.tool_call_id or "", self._own_item(event.raw)
        item, kind = self._items.served.get(id), body.get("type")
        if kind in _ARGUMENTS:
            return
        if item is None and not body:
            self._items.keep_early(event)
        elif item is not None and kind in (None, item.type):
            item.state = body or _result_members(event)
            self._close_served(id)
        else:
            if item is not None:
                self._close_served(id)
            self._write_whole(body)

    def cite(self, event: events.Citation) -> None:
        """Writes a citation into the item of its text; one that comes later is lost."""
        message = self._items.current
        if not isinstance(message, _Message):
            return
        if event.blocks and self._items.block not in event.blocks:
            return
        source = self.cited_once(event)
        if source is None:
            return
        annotation = self._annotation(event, message.start, *source)
        place = {**message.place, "annotation_index": len(message.annotations)}
        message.annotations.append(annotation)
        kind = "response.output_text.annotation.added"
        self._write(kind, **place, annotation=annotation)

    def fail(self, event: events.ProviderError) -> None:
        if event.provider_type == "refusal":
            self._say(self._message(-1, refuses=True), event.message)
            self._close_open_item()
            return
        code = event.code if isinstance(event.code, str) else None
        code_and_message = {
            "code": event.provider_type or code or event.kind,
            "message": event.message,
        }
        self._begin()
        self._error = code_and_message
        error = {"type": event.kind, **code_and_message, "param": None}
        self._write("error", **code_and_message, param=None, error=error)

    # Items

    def _message(self, block: int, *, refuses: bool) -> _Message:
        """The open message for a block of text. It continues the message before if both
        came from one item of the provider."""
        current, id = self._items.current, self._item_of(block, _MESSAGE)
        if (
            isinstance(current, _Message)
            and current.source_id == id != ""
            and current.refuses == refuses
        ):
            self._items.open_current(block, current)
            return current
        self._close_open_item()
        free_id = self._free_id(id, _MESSAGE)
        item = self._add(
            {"id": free_id, "type": _MESSAGE, "role": "assistant"}, content=[]
        )
        message = _Message(item, id, self.places.starts.get(block, 0), refuses)
        self._has_refused = self._has_refused or refuses
        self._items.open_current(block, message)
        self._content_part(message, "added")
        return message

    def _thought(self, block: int) -> _Thought:
        """The open item for a block of reasoning. The block is a further part of the
        open item if both came from one item of the provider."""
        current, id = self._items.current, self._item_of(block, _REASONING)
        if isinstance(current, _Thought) and current.source_id == id != "":
            self._end_summary(current)
            self._items.open_current(block, current)
            return current
        self._close_open_item()
        free_id = self._free_id(id, _REASONING)
        item = self._add({"id": free_id, "type": _REASONING}, summary=[])
        thought = _Thought(item, id)
        self._items.open_current(block, thought)
        return thought

    def _begin_call(self, origin: Origin, id: str, name: str) -> _Call:
        self._close_open_item()
        kind = "custom_tool_call" if origin.free else "function_call"
        item_id = origin.item if origin.kind == kind else ""
        body = {"id": self._free_id(item_id, kind), "type": kind, "call_id": id}
        return _Call(self._add({**body, "name": name}, **{_ARGUMENTS[kind][0]: ""}))

    def _write_arguments(self, call: _Call, text: str) -> None:
        if text:
            call.texts.append(text)
            kind = f"response.{_ARGUMENTS[call.item.type][1]}.delta"
            self._write(kind, **call.item.place, delta=text)

    def _serve(self, event: events.ToolCall) -> None:
        """Writes a server's call, whose item is open until its result comes."""
        self._close_open_item()
        state, id = self._own_item(event.raw), event.tool_call_id
        if state:
            later_members = (*_RESULT_MEMBERS, "status")
            body = {name: state[name] for name in state if name not in later_members}
            free_id = self._free_id(str(state.get("id") or ""), str(state["type"]))
            item = self._add(body | {"id": free_id})
            item.state = state
        else:
            free_id = self._free_id(id, _SERVED)
            body = {"id": free_id, "type": _SERVED, "server_label": self.source}
            body |= {"name": event.name, "arguments": arguments_of(event)}
            item = self._add(body)
        item.is_cut = event.state != "complete"
        early = self._items.serve(id, item)
        if early is not None:
            self.result(early)

    def _is_shaped(self, event: events.ToolCall) -> bool:
        """Whether a server's call has the shape of the client's, as xAI's have."""
        return self.is_own and event.raw is None

    def _own_item(self, raw: Json) -> JsonObject:
        """``raw`` if it is an item of this wire, else an empty object."""
        is_item = self.is_own and isinstance(raw, dict)
        item: JsonObject = portable(raw) if is_item else {}
        return item if isinstance(item.get("type"), str) else {}

    def _write_whole(self, body: JsonObject) -> None:
        """Writes an item that is complete at once."""
        self._close_open_item()
        id = self._free_id(str(body.get("id") or ""), str(body["type"]))
        self._close_item(self._add(body | {"id": id}))

    def _item_of(self, block: int, kind: str) -> str:
        """The id of the provider's item of this ``kind`` that a block came from."""
        origin = self.origin(block)
        return origin.item if origin.kind == kind else ""

    def _free_id(self, id: str, kind: str) -> str:
        """``id``; a made up one if it is empty, taken, or too long for every event."""
        number = self._items.count
        while not 0 < len(id) <= _LONGEST_ID or id in self._ids:
            id = made_item_id(kind, self.id, self.stream, str(number))
            number += 1
        self._ids.add(id)
        return id

    def _add(self, body: JsonObject, **empty: Json) -> _Item:
        """Begins an item. ``empty``: its members that are filled later."""
        self._begin()
        item = _Item(self._items.next_index(), body)
        new_item = {**body, "status": "in_progress", **empty}
        self._write(
            "response.output_item.added", output_index=item.index, item=new_item
        )
        return item

    def _close_item(self, item: _Item, status: str = "completed") -> None:
        """Ends an item, with the members of its state that were not written yet."""
        state: JsonObject = portable(item.state)
        if item.is_cut:
            status, state = "incomplete", {**state, "status": "incomplete"}
        status_member = {} if item.type in _WITHOUT_STATUS else {"status": status}
        body = self._output[item.index] = {**status_member, **state, **item.body}
        self._write("response.output_item.done", output_index=item.index, item=body)

    def _close_served(self, id: str) -> None:
        self._close_item(self._items.served.pop(id))

    def _close_open_item(self) -> None:
        """Ends the open item of text or reasoning."""
        current = self._items.take_current()
        if isinstance(current, _Thought):
            self._end_summary(current)
            item = current.item
            item.body["summary"] = current.summary
            item.state = {k: v for k, v in item.state.items() if k != "content"}
            self._close_item(item)
        elif isinstance(current, _Message):
            text, place = "".join(current.texts), current.place
            if current.refuses:
                self._write("response.refusal.done", **place, refusal=text)
            else:
                members = place | {"text": text, "logprobs": []}
                self._write("response.output_text.done", **members)
            current.item.body["content"] = [self._content_part(current, "done")]
            self._close_item(current.item)

    def _end_summary(self, thought: _Thought) -> None:
        text, place = "".join(thought.texts), thought.place
        self._write("response.reasoning_summary_text.done", **place, text=text)
        self._summary_part(thought, "done", text)
        thought.summary.append({"type": "summary_text", "text": text})
        thought.texts.clear()

    def _summary_part(self, thought: _Thought, step: str, text: str) -> None:
        part = {"type": "summary_text", "text": text}
        kind = f"response.reasoning_summary_part.{step}"
        self._write(kind, **thought.place, part=part)

    def _content_part(self, message: _Message, step: str) -> JsonObject:
        part = message.part()
        self._write(f"response.content_part.{step}", **message.place, part=part)
        return part

    def _annotation(
        self, event: events.Citation, base: int, url: str | None, title: str | None
    ) -> JsonObject:
        place = self.places.find(event)
        start, end = (max(0, edge - base) for edge in place or (0, 0))
        annotation: JsonObject = {
            "type": "url_citation",
            "url": url,
            "title": title or "",
        }
        if not url:
            kind = "container_file_citation" if start < end else "file_citation"
            annotation = {"type": kind, "file_id": "", "filename": title or ""}
        if url or start < end:  # a link must have a place, even an empty one
            annotation |= {"start_index": start, "end_index": end}
        if start == end and place is not None:
            annotation |= {"index": end}
        return annotation

    # Documents

    def _write(self, type: str, **fields: Any) -> None:
        event = {"type": type, "sequence_number": self._number, **fields}
        self._number += 1
        self.chunks.append(Chunk(event))

    def _begin(self) -> None:
        """Writes the beginning of the response, before anything else."""
        if not self._has_begun:
            self._has_begun = True
            self._identity = {"id": self.id, "created_at": self.created}
            response = self._response("in_progress")
            self._write("response.created", response=response)
            self._write("response.in_progress", response=response)

    def _response(self, status: str) -> JsonObject:
        return {
            "id": self.id,
            "object": "response",
            "created_at": self.created,
            **self._identity,
            "status": status,
            "completed_at": self.created if status == "completed" else None,
            "error": None,
            "incomplete_details": None,
            "model": self.model,
            "output": [],
            **_ASKED,
            "usage": self.usage_object() or None,
        }

    def usage_object(self) -> JsonObject:
        """The usage object with all members that Open Responses requires: Codex drops a
        response whose counts lack one (bitrouter/bitrouter#453)."""
        usage = super().usage_object()
        if self.is_own or not usage:
            return usage
        details = {name: _detail(usage.get(name), name) for name in _DETAILS}
        return {**with_counts(usage, self.row.usage), **details}

    def _status(self, finish: events.Finish) -> str:
        """The response's status at its end; "" if the stream broke off."""
        if self._error is not None and finish.reason not in _CONTINUED:
            return "failed"
        if not self.is_end_known(finish):
            return ""
        if finish.reason == "refusal" and not self._has_refused:
            return "incomplete"
        return _ENDS.get(finish.reason, "incomplete")


_ASKED: JsonObject = {
    "background": False,
    "frequency_penalty": 0.0,
    "instructions": None,
    "max_output_tokens": None,
    "max_tool_calls": None,
    "metadata": {},
    "parallel_tool_calls": True,
    "presence_penalty": 0.0,
    "previous_response_id": None,
    "prompt_cache_key": None,
    "reasoning": None,
    "safety_identifier": None,
    "service_tier": "default",
    "store": False,
    "temperature": 1.0,
    "text": {"format": {"type": "text"}},
    "tool_choice": "auto",
    "tools": [],
    "top_logprobs": 0,
    "top_p": 1.0,
    "truncation": "disabled",
}
"""Members in which a response repeats its request, as Open Responses requires
(openresponses.org/reference, "ResponseResource"). The request is not known, so they
have the defaults."""

DEFAULTS = frozenset((*_ASKED, "completed_at"))
"""Members of a response for which this writer knows no value of the provider's."""

_ARGUMENTS = {
    "function_call": ("arguments", "function_call_arguments"),
    "custom_tool_call": ("input", "custom_tool_call_input"),
}
"""Type of a call for the client -> the member with its arguments, its events' name."""


def _detail(details: Json, name: str) -> JsonObject:
    return {_DETAILS[name]: 0, **(details if isinstance(details, dict) else {})}


_DETAILS = {
    "input_tokens_details": "cached_tokens",
    "output_tokens_details": "reasoning_tokens",
}
"""Name of an object with details of counts -> the member that it must have."""


def _result_members(event: events.ToolResult) -> JsonObject:
    """The members for the result of another provider's tool, as text."""
    content = event.content
    text = content if isinstance(content, str) else dumps(portable(content))
    return {"error" if event.is_error else "output": text}
