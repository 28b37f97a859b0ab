"""Writes chunks and bodies of chat.completions: the reverse of ``reader``.

Reasoning is in ``reasoning_content``. Content for which OpenAI has no field is written
into the fields of other servers of this API, where the reader finds it: signatures in
LiteLLM's ``thinking_blocks``, tools that the provider ran in Groq's ``executed_tools``,
Gemini's signatures in ``extra_content`` of their call. For what is not written see
wires/README.md, "Writers".
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, ClassVar

from stream_sidecar.parts import Chunk
from stream_sidecar.records import define, field, frozen
from stream_sidecar.values.jsontext import portable
from stream_sidecar.wires.openai_chat.reasoning import MESSAGE_STATES, PROVIDER, TEXTS
from stream_sidecar.wires.openai_chat.tools import CALL_STATE
from stream_sidecar.wires.requests.issuers import BLOCKS
from stream_sidecar.wires.requests.seals import is_thought, redacted_in
from stream_sidecar.wires.shared.open_items import OpenItems, arguments_of
from stream_sidecar.wires.shared.usage import with_counts
from stream_sidecar.wires.shared.writing import (
    ChunkWriter,
    KeptText,
    error_object,
    repeated_head,
)

if TYPE_CHECKING:
    from stream_sidecar import events
    from stream_sidecar.message.outlet import Origin
    from stream_sidecar.parts import Json, JsonObject

_DETAILS = "reasoning_details"
_STATE = (BLOCKS, *MESSAGE_STATES)
"""Members of provider state that are fields of a delta."""

_LISTS = (_DETAILS, BLOCKS)
PASSED = (*_LISTS, f"{PROVIDER}.{BLOCKS}")
"""Lists of state, which pass with the documents in which they came."""

_HEAD = ("id", "object", "created", "model")
_REFUSED = "refusal"
_DETAIL = "reasoning.server_tool_call"


@frozen
class _Call:
    """A call's index among the calls, and whether its input is free text."""

    index: int
    is_free: bool

    @property
    def kind(self) -> str:
        return "custom" if self.is_free else "function"

    @property
    def field(self) -> str:
        return "input" if self.is_free else "arguments"


@define
class _Choice:
    """What was written for one choice so far."""

    items: OpenItems[_Call, JsonObject] = field(factory=OpenItems)
    #: the reasoning since the last signature
    thought: KeptText = field(factory=KeptText)
    is_signed: bool = False
    #: how many blocks of thinking and how many annotations are complete: their index
    blocks: int = 0
    annotations: int = 0
    has_begun: bool = False
    is_refused: bool = False
    has_failed: bool = False


class OpenAIChatWriter(ChunkWriter):
    """Writes chat.completion.chunk documents (see the module's docstring)."""

    words: ClassVar = {
        "stop": "stop",
        "tool-calls": "tool_calls",
        "length": "length",
        "context-length": "length",
        "content-filter": "content_filter",
        "refusal": "content_filter",
        "pause": "length",
        "unknown": "stop",
        "error": "error",
    }

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._choices: defaultdict[int, _Choice] = defaultdict(_Choice)
        self._head: JsonObject = {}
        self._renew()

    def describe(self, event: events.Metadata) -> None:
        super().describe(event)
        self._renew()

    def end(self, finishes: list[events.Finish]) -> None:
        """Writes the finish of each choice that has one. The last has the counts."""
        ended = [finish for finish in finishes if self._has_finish(finish)]
        for finish in ended:
            self._write(finish.choice, {}, self._word(finish))
        usage = self.usage_object()
        if usage and ended:
            self.chunks[-1]["usage"] = usage
        elif usage:
            self.chunks.append(Chunk({**self._head, "choices": [], "usage": usage}))

    def usage_object(self) -> JsonObject:
        """The usage object with all counts that clients of this wire expect."""
        usage = super().usage_object()
        is_whole = self.is_own or not usage
        return usage if is_whole else with_counts(usage, self.row.usage)

    @classmethod
    def fold(cls, chunks: list[Chunk]) -> Chunk:
        body: dict[str, Any] = {}
        choices: dict[int, JsonObject] = {}
        for chunk in chunks:
            body |= chunk
            for choice in chunk.get("choices", ()):
                index = choice["index"]
                _add(choices.setdefault(index, _whole(index)), choice)
        if not choices and "error" in body:
            return Chunk({"error": body["error"]})
        body["object"] = "chat.completion"
        body["choices"] = [choices[index] for index in sorted(choices)]
        return Chunk(body)

    # Events

    def text(self, event: events.TextDelta) -> None:
        self.places.push(event)
        if event.refusal:
            self._choices[event.choice].is_refused = True
        field = _REFUSED if event.refusal else "content"
        self._write(event.choice, {field: event.text})

    def reasoning(self, event: events.ReasoningDelta) -> None:
        choice = self._choices[event.choice]
        delta: JsonObject = {TEXTS[0]: event.text}
        choice.thought.add(event.text)
        if choice.is_signed:  # each delta has the index of its block, as LiteLLM's do
            block = {"index": choice.blocks, "type": "thinking", "thinking": event.text}
            delta |= {BLOCKS: [block]}
        self._write(event.choice, delta)

    def block_end(self, event: events.BlockEnd) -> None:
        choice, delta = self._choices[event.choice], _fields(event.opaque)
        text = "" if choice.is_signed else choice.thought.join()
        is_detail = _DETAILS in {*delta, *(event.fields or ())}
        if event.signature and text is not None and not is_detail:
            block = {"type": "thinking", "thinking": text, "signature": event.signature}
            delta[BLOCKS] = [block]
            choice.is_signed = True
        if BLOCKS in delta:
            delta[BLOCKS] = [
                {"index": number, **block}
                for number, block in enumerate(delta[BLOCKS], choice.blocks)
            ]
            choice.blocks += len(delta[BLOCKS])
        if delta:
            self._write(event.choice, delta)
        if event.channel == "reasoning":
            choice.thought.clear()

    def call_delta(self, event: events.ToolCallDelta) -> None:
        items, origin = self._choices[event.choice].items, self.origin(event.block)
        if origin.server:
            return  # it is written once it is complete
        text, call = items.fragment(event), items.calls.get(event.block)
        if call is None:
            items.calls[event.block] = self._begin_call(event, origin, text)
        else:
            self._write_arguments(event.choice, call, text)

    def call(self, event: events.ToolCall) -> None:
        items = self._choices[event.choice].items
        call, text = items.end_call(event)
        if call is not None:
            self._write_arguments(event.choice, call, text)
        elif event.executor == "server":
            self._write_server_call(items, event)
        else:
            self._begin_call(event, self.origin_of(event), text)

    def _begin_call(
        self, event: events.ToolCall | events.ToolCallDelta, origin: Origin, text: str
    ) -> _Call:
        """Writes a call's first fragment: all except further arguments."""
        index = self._choices[event.choice].items.next_index()
        call = _Call(index, origin.free)
        head = {"index": index, "id": event.tool_call_id or "", "type": call.kind}
        body = {call.kind: {"name": event.name or "", call.field: text}}
        fragment = head | body | _state_of_call(origin.opaque)
        self._write(event.choice, {"tool_calls": [fragment]})
        return call

    def _write_arguments(self, choice: int, call: _Call, text: str) -> None:
        if text:
            fragment = {"index": call.index, call.kind: {call.field: text}}
            self._write(choice, {"tool_calls": [fragment]})

    def _write_server_call(
        self, items: OpenItems[_Call, JsonObject], event: events.ToolCall
    ) -> None:
        """Writes a call that the provider ran, which is written again with its result.
        OpenRouter's are in ``reasoning_details``, which are written as they came."""
        if isinstance(event.raw, dict) and event.raw.get("type") == _DETAIL:
            return
        item = {
            "index": len(items.served),
            "id": event.tool_call_id,
            "type": event.name,
            "arguments": arguments_of(event),
        }
        result = items.serve(event.tool_call_id, item)
        self._write(event.choice, {"executed_tools": [item]})
        if result is not None:
            self._write_result(item, result)

    def result(self, event: events.ToolResult) -> None:
        items = self._choices[event.choice].items
        item = items.served.get(event.tool_call_id or "")
        if item is None:
            items.keep_early(event)
        else:
            self._write_result(item, event)

    def _write_result(self, item: JsonObject, event: events.ToolResult) -> None:
        finished_tool = item | {"output": portable(event.content)}
        self._write(event.choice, {"executed_tools": [finished_tool]})

    def cite(self, event: events.Citation) -> None:
        source = self.cited_once(event)
        if source is None:
            return
        url, title = source
        place = self.places.find(event)
        body: JsonObject = {}
        for name, value in (
            ("url", url),
            ("title", title),
            ("start_index", None if place is None else place[0]),
            ("end_index", None if place is None else place[1]),
            ("content", event.cited_text),
        ):
            if value is not None:
                body[name] = value
        kind, choice = "url_citation" if url else "document_citation", event.choice
        number = self._choices[choice].annotations
        self._choices[choice].annotations += 1
        annotation = {"index": number, "type": kind, kind: body}
        self._write(choice, {"annotations": [annotation]})

    def fail(self, event: events.ProviderError) -> None:
        if event.provider_type == _REFUSED:
            self._choices[event.choice].is_refused = True
            self._write(event.choice, {"refusal": event.message})
            return
        self._choices[event.choice].has_failed = True
        error = self.own_error(event) or error_object(event)
        self.chunks.append(Chunk({"error": error}))

    # Documents

    def _write(self, choice: int, delta: JsonObject, finish: str | None = None) -> None:
        state = self._choices[choice]
        if not state.has_begun:
            state.has_begun = True
            delta = {"role": "assistant", **delta}
        body = {"index": choice, "delta": delta, "finish_reason": finish}
        self.chunks.append(Chunk({**self._head, "choices": [body]}))
        self._head = self._short

    def _renew(self) -> None:
        """Sets the members with which every document begins."""
        self._head = {
            "id": self.id,
            "object": "chat.completion.chunk",
            "created": self.created,
            "model": self.model,
        }
        self._short = repeated_head(self._head)

    def _has_finish(self, finish: events.Finish) -> bool:
        """Whether a choice gets a finish: not if an error or a break ended it."""
        is_error = finish.reason == "error" and self._choices[finish.choice].has_failed
        return self.is_end_known(finish) and not is_error

    def _word(self, finish: events.Finish) -> str:
        is_refused = self._choices[finish.choice].is_refused
        is_stop = is_refused and finish.reason == "refusal"
        return "stop" if is_stop else self.finish_word(finish)


def _fields(opaque: Json) -> JsonObject:
    """The fields of the message in provider state of this wire; empty for another."""
    if not isinstance(opaque, dict):
        return {}
    if BLOCKS not in opaque and (data := redacted_in(opaque)):
        return {BLOCKS: [{"type": "redacted_thinking", "data": data}]}
    return {name: portable(opaque[name]) for name in _STATE if name in opaque}


def _state_of_call(opaque: Json) -> JsonObject:
    """The members of a call with its state; Gemini's as in its compatible API."""
    if not isinstance(opaque, dict):
        return {}
    signature = opaque.get("thoughtSignature")
    if signature is not None:
        return {"extra_content": {"google": {"thought_signature": signature}}}
    return {name: portable(opaque[name]) for name in CALL_STATE if name in opaque}


def with_states(source: Chunk, chunks: list[Chunk], is_broken: bool) -> list[Chunk]:
    """``chunks`` with the lists of state in ``source``, once each and where they came:
    in the first document of their choice, or before all others."""
    choices = source.get("choices")
    added: list[JsonObject] = []
    for choice in choices if isinstance(choices, list) else ():
        states = _states_of(choice, is_broken=is_broken)
        if not states:
            continue
        index = choice.get("index", 0)
        written = (other for chunk in chunks for other in chunk.get("choices", ()))
        match = next((other for other in written if other["index"] == index), None)
        if match is None:
            added.append({"index": index, "delta": states, "finish_reason": None})
        else:
            match["delta"] |= states
    if not added:
        return chunks
    head = {name: source[name] for name in _HEAD if name in source}
    return [Chunk({**head, "choices": added}), *chunks]


def without_later(body: Chunk) -> Chunk:
    """A whole body with only the first thinking: others may have come after text."""
    for message in (choice["message"] for choice in body.get("choices", ())):
        for name in _LISTS:
            block, *blocks = message.get(name) or [None]
            if any(map(is_thought, blocks)):
                message[name] = [block, *(b for b in blocks if not is_thought(b))]
    return body


def _states_of(choice: Json, *, is_broken: bool) -> JsonObject:
    """The lists of state in a choice, without thinking that a removal broke."""
    holder = choice.get("delta", choice.get("message")) if type(choice) is dict else {}
    states: JsonObject = {}
    if type(holder) is not dict:
        return states
    copies = holder.get(PROVIDER)
    lists = {BLOCKS: copies.get(BLOCKS)} if type(copies) is dict else {}
    lists |= {name: holder[name] for name in _LISTS if name in holder}
    for name, items in lists.items():
        if type(items) is list:
            blocks = [b for b in items if not (is_broken and is_thought(b))]
            states |= {name: blocks} if blocks else {}
    return states


def _whole(index: int) -> JsonObject:
    message = {"role": "assistant", "content": None}
    return {"index": index, "message": message, "finish_reason": None}


def _add(total: JsonObject, chunk: JsonObject) -> None:
    """Adds a chunk's choice to that of the body: texts and lists grow."""
    message = total["message"]
    for name, value in chunk["delta"].items():
        base = message.get(name)
        if name in ("tool_calls", "annotations"):
            value = [_without_index(each) for each in value]
        elif name == BLOCKS:
            base, value = None, _joined(base or [], value)
        elif name == "executed_tools":
            base = [each for each in base or () if each["index"] != value[0]["index"]]
        is_more = isinstance(base, str | list) and isinstance(value, type(base))
        message[name] = base + value if is_more and name != "role" else value
    total["finish_reason"] = chunk["finish_reason"] or total["finish_reason"]


def _joined(blocks: list[JsonObject], news: list[JsonObject]) -> list[JsonObject]:
    """The blocks of thinking, with ``news``. Text before its signature is joined."""
    *blocks, latest = blocks or [{}]
    for new in map(_without_index, news):
        is_thinking = latest.get("type") == new.get("type") == "thinking"
        if is_thinking and not latest.get("signature"):
            latest = {**new, "thinking": latest["thinking"] + new.get("thinking", "")}
        else:
            blocks, latest = ([*blocks, latest] if latest else blocks), new
    return [*blocks, latest]


def _without_index(item: JsonObject) -> JsonObject:
    return {name: value for name, value in item.items() if name != "index"}
