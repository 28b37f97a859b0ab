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
from stream_sidecar.wires.shared.usage import with_counts
from stream_sidecar.wires.shared.writing import ChunkWriter, arguments_of

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
    """An item of the output while it is open, with its text so far."""

    index: int
    body: JsonObject
    texts: list[str] = field(factory=list)
    #: the finished parts of a reasoning item
    summary: list[JsonObject] = field(factory=list)
    annotations: list[JsonObject] = field(factory=list)
    state: JsonObject = field(factory=dict)
    block: int = -1
    start: int = 0  # where its text begins in the answer
    is_cut: bool = False
    served: str = ""  # the id of the server's call
    came: str = ""  # the id of the provider's item that it continues
    refuses: bool = False

    @property
    def id(self) -> str:
        id: str = self.body["id"]
        return id

    @property
    def type(self) -> str:
        type: str = self.body["type"]
        return type

    @cached_property
    def place(self) -> JsonObject:
        return {"item_id": self.id, "output_index": self.index}

    @cached_property
    def content_place(self) -> JsonObject:
        """The members with the place of its only part."""
        return {**self.place, "content_index": 0}

    def part(self, text: str) -> JsonObject:
        """The part of a message, with ``text``."""
        if self.refuses:
            return {"type": "refusal", "refusal": text}
        return _output_text(text, self.annotations)


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
        self._begun = False
        self._identity: JsonObject = {}  # the response's identity, as it began
        self._ids: set[str] = set()
        self._output: dict[int, JsonObject] = {}
        self._count = 0
        self._open_item: _Item | None = None
        self._calls: dict[int, _Item] = {}  # block -> open call
        self._served: dict[str, _Item] = {}  # id -> open call of the server
        self._early: dict[
            str, events.ToolResult
        ] = {}  # results of calls that are not complete yet
        self._error: JsonObject | None = None
        self._refused = False

    def end(self, finishes: list[events.Finish]) -> None:
        self._close_open_item()
        for item in [*self._served.values()]:
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
        """The response of the last event. If the stream broke off, it has the items
        that were done."""
        response: JsonObject = {}
        output = []
        for chunk in chunks:
            response = chunk.get("response", response)
            if chunk["type"] == "response.output_item.done":
                output.append(chunk["item"])
        return Chunk(response if response.get("output") else response | _output(output))

    # Events

    def text(self, event: events.TextDelta) -> None:
        self.places.push(event)
        item = self._open_item
        if item is None or item.block != event.block:
            item = self._message(event.block, refuses=bool(event.refusal))
        self._say(item, event.text)

    def _say(self, item: _Item, text: str) -> None:
        item.texts.append(text)
        place: JsonObject = item.content_place | {"delta": text}
        if item.refuses:
            self._write("response.refusal.delta", **place)
        else:
            self._write("response.output_text.delta", **place, logprobs=[])

    def reasoning(self, event: events.ReasoningDelta) -> None:
        item = self._open_item
        if item is None or item.block != event.block:
            item = self._thought(event.block)
        if not item.texts:
            self._summary_part(item, "added", "")
        item.texts.append(event.text)
        place = {**item.place, "summary_index": len(item.summary)}
        self._write("response.reasoning_summary_text.delta", **place, delta=event.text)

    def block_end(self, event: events.BlockEnd) -> None:
        state, item = event.opaque if self.is_own else None, self._open_item
        if not isinstance(state, dict):
            return
        if item is not None and item.block == event.block:
            item.state = state
        elif (own := self._own_item(state)) and own != GONE:
            self._write_whole(own)  # nothing of it was written before

    def call_delta(self, event: events.ToolCallDelta) -> None:
        origin = self.origin(event.block)
        if origin.server:
            return  # it is written once it is complete
        text = self.fragment(event)
        item = self._calls.get(event.block)
        if item is None:
            id, name = event.tool_call_id or "", event.name or ""
            item = self._open_call(event.block, origin, id, name)
        self._write_arguments(item, text)

    def call(self, event: events.ToolCall) -> None:
        block, origin = event.block, self.origin_of(event)
        assert block is not None  # every call of a stream has one
        item, text = self._calls.pop(block, None), self.rest(event)
        if item is None and origin.server and not self._is_shaped(event):
            self._serve(event)
            return
        if item is None:
            item = self._open_call(block, origin, event.tool_call_id, event.name)
            del self._calls[block]
        self._write_arguments(item, text)
        whole, (member, event_name) = "".join(item.texts), _ARGUMENTS[item.type]
        item.body[member] = whole
        self._write(f"response.{event_name}.done", **item.place, **{member: whole})
        if self.is_own and isinstance(event.opaque, dict):
            item.state = event.opaque
        item.is_cut = event.state == "truncated"
        self._close_item(item)

    def result(self, event: events.ToolResult) -> None:
        """Writes a result: it ends the item of its server's call, or is an item of its
        own."""
        id, own = event.tool_call_id or "", self._own_item(event.raw)
        item, kind = self._served.get(id), own.get("type")
        if kind in _ARGUMENTS:
            return
        if item is None and not own:
            self._early[id] = event
        elif item is not None and kind in (None, item.type):
            item.state = own or _result_members(event)
            self._close_item(item)
        else:
            if item is not None:
                self._close_item(item)
            self._write_whole(own)

    def cite(self, event: events.Citation) -> None:
        """Writes a citation into the item of its text. A citation that comes after the
        item is lost."""
        item = self._open_item
        if item is None or item.type != _MESSAGE:
            return
        if event.blocks and item.block not in event.blocks:
            return
        source = self.cited_once(event)
        if source is None:
            return
        annotation = self._annotation(event, item.start, *source)
        number = len(item.annotations)
        item.annotations.append(annotation)
        place = {**item.content_place, "annotation_index": number}
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

    def _message(self, block: int, *, refuses: bool) -> _Item:
        """The open item for a block of text. It continues the message before if both
        came from one item of the provider."""
        open, id = self._open_item, self._item_of(block, _MESSAGE)
        is_same = open is not None and open.came == id != "" and open.refuses == refuses
        if open is not None and open.type == _MESSAGE and is_same:
            open.block = block
            return open
        self._close_open_item()
        item = self._add(
            {"id": self._free_id(id, _MESSAGE), "type": _MESSAGE, "role": "assistant"},
            content=[],
        )
        item.came = id
        item.block, item.start = block, self.places.starts.get(block, 0)
        item.refuses = refuses
        self._refused = self._refused or refuses
        self._open_item = item
        self._content_part(item, "added", item.part(""))
        return item

    def _thought(self, block: int) -> _Item:
        """The open item for a block of reasoning. The block is a further part of the
        open item if both came from one item of the provider."""
        open, id = self._open_item, self._item_of(block, _REASONING)
        if open is not None and open.type == _REASONING and open.came == id != "":
            self._end_summary(open)
            open.block = block
            return open
        self._close_open_item()
        free = self._free_id(id, _REASONING)
        item = self._add({"id": free, "type": _REASONING}, summary=[])
        item.block, item.came = block, id
        self._open_item = item
        return item

    def _open_call(self, block: int, origin: Origin, id: str, name: str) -> _Item:
        self._close_open_item()
        kind = "custom_tool_call" if origin.free else "function_call"
        known = origin.item if origin.kind == kind else ""
        body = {"id": self._free_id(known, kind), "type": kind, "call_id": id}
        item = self._add({**body, "name": name}, **{_ARGUMENTS[kind][0]: ""})
        self._calls[block] = item
        return item

    def _write_arguments(self, item: _Item, text: str) -> None:
        if text:
            item.texts.append(text)
            kind = f"response.{_ARGUMENTS[item.type][1]}.delta"
            self._write(kind, **item.place, delta=text)

    def _serve(self, event: events.ToolCall) -> None:
        """Writes a server's call, whose item is open until its result comes."""
        self._close_open_item()
        own, id = self._own_item(event.raw), event.tool_call_id
        if own:
            later = (*_RESULT_MEMBERS, "status")
            first_members = {name: own[name] for name in own if name not in later}
            free = self._free_id(str(own.get("id") or ""), str(own["type"]))
            item = self._add(first_members | {"id": free})
            item.state = own
        else:
            free = self._free_id(id, _SERVED)
            body = {"id": free, "type": _SERVED, "server_label": self.source}
            body |= {"name": event.name, "arguments": arguments_of(event)}
            item = self._add(body)
        item.is_cut, item.served = event.state != "complete", id
        self._served[id] = item
        if id in self._early:
            self.result(self._early.pop(id))

    def _is_shaped(self, event: events.ToolCall) -> bool:
        """Whether a server's call has the shape of a call for the client, as xAI's
        have."""
        return self.is_own and event.raw is None

    def _own_item(self, raw: Json) -> JsonObject:
        """``raw`` if it is an item of this wire, else an empty object."""
        is_item = self.is_own and isinstance(raw, dict)
        own: JsonObject = portable(raw) if is_item else {}
        return own if isinstance(own.get("type"), str) else {}

    def _write_whole(self, body: JsonObject) -> None:
        """Writes an item that is complete at once."""
        self._close_open_item()
        id = self._free_id(str(body.get("id") or ""), str(body["type"]))
        self._close_item(self._add(body | {"id": id}))

    def _item_of(self, block: int, kind: str) -> str:
        """The id of the provider's item that a block came from, if it is of
        ``kind``."""
        origin = self.origin(block)
        return origin.item if origin.kind == kind else ""

    def _free_id(self, id: str, kind: str) -> str:
        """``id``; a made up one if it is empty, taken, or too long for every event."""
        number = self._count
        while not 0 < len(id) <= _LONGEST_ID or id in self._ids:
            id = made_item_id(kind, self.id, self.stream, str(number))
            number += 1
        self._ids.add(id)
        return id

    def _add(self, body: JsonObject, **empty: Json) -> _Item:
        """Begins an item. ``empty``: its members that are filled later."""
        self._begin()
        item = _Item(self._count, body)
        self._count += 1
        begun_item = {**body, "status": "in_progress", **empty}
        self._write(
            "response.output_item.added", output_index=item.index, item=begun_item
        )
        return item

    def _close_item(self, item: _Item, status: str = "completed") -> None:
        """Ends an item, with the members of its state that were not written yet."""
        self._served.pop(item.served, None)
        state: JsonObject = portable(item.state)
        if item.is_cut:
            status, state = "incomplete", {**state, "status": "incomplete"}
        status_member = {} if item.type in _WITHOUT_STATUS else {"status": status}
        body = self._output[item.index] = {**status_member, **state, **item.body}
        self._write("response.output_item.done", output_index=item.index, item=body)

    def _close_open_item(self) -> None:
        """Ends the open item of text or reasoning."""
        item, self._open_item = self._open_item, None
        if item is None:
            return
        if item.type == _REASONING:
            self._end_summary(item)
            item.body["summary"] = item.summary
            item.state = {k: v for k, v in item.state.items() if k != "content"}
        else:
            text = "".join(item.texts)
            part, place = item.part(text), item.content_place
            if item.refuses:
                self._write("response.refusal.done", **place, refusal=text)
            else:
                done = place | {"text": text, "logprobs": []}
                self._write("response.output_text.done", **done)
            self._content_part(item, "done", part)
            item.body["content"] = [part]
        self._close_item(item)

    def _end_summary(self, item: _Item) -> None:
        text = "".join(item.texts)
        place = {**item.place, "summary_index": len(item.summary)}
        self._write("response.reasoning_summary_text.done", **place, text=text)
        self._summary_part(item, "done", text)
        item.summary.append({"type": "summary_text", "text": text})
        item.texts.clear()

    def _summary_part(self, item: _Item, what: str, text: str) -> None:
        place = {**item.place, "summary_index": len(item.summary)}
        part = {"type": "summary_text", "text": text}
        self._write(f"response.reasoning_summary_part.{what}", **place, part=part)

    def _content_part(self, item: _Item, what: str, part: JsonObject) -> None:
        place = item.content_place
        self._write(f"response.content_part.{what}", **place, part=part)

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
        if not self._begun:
            self._begun = True
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
        if finish.reason == "refusal" and not self._refused:
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
"""Type of a call for the client -> the member with its arguments, and the name of their
events."""


def _detail(details: Json, name: str) -> JsonObject:
    return {_DETAILS[name]: 0, **(details if isinstance(details, dict) else {})}


_DETAILS = {
    "input_tokens_details": "cached_tokens",
    "output_tokens_details": "reasoning_tokens",
}
"""Name of an object with details of counts -> the member that it must have."""


def _output_text(text: str, annotations: list[JsonObject]) -> JsonObject:
    part = {"type": "output_text", "text": text}
    return {**part, "annotations": annotations, "logprobs": []}


def _result_members(event: events.ToolResult) -> JsonObject:
    """The members for the result of another provider's tool, as text."""
    content = event.content
    text = content if isinstance(content, str) else dumps(portable(content))
    return {"error" if event.is_error else "output": text}


def _output(output: list[JsonObject]) -> JsonObject:
    return {"output": output} if output else {}
