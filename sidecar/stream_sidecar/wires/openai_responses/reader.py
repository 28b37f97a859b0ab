"""The wire ``openai-responses``: events of every dialect, and whole responses.

A response is a list of items, which come in deltas. Repetitions in full (``.done``
events, finished items, the finished response) only add what did not come before, so a
whole body gives the same parts as its stream (wires/README.md, "Responses"). The tables
`EVENTS` and `TEXT_EVENTS` have the reader of each event. Never raises for any JSON
value: see `shared.document_wire`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stream_sidecar import patterns
from stream_sidecar.parts import FinishPart, ItemPart
from stream_sidecar.records import frozen
from stream_sidecar.values.equality import equal
from stream_sidecar.wires.openai_responses.content import (
    ARGUMENTS,
    CONTENT_CHANNELS,
    INPUT,
    RAW,
    REFUSAL,
    SUMMARY,
    TEXT,
    WHOLE,
    Content,
    TextField,
)
from stream_sidecar.wires.openai_responses.items import Items, family_of
from stream_sidecar.wires.openai_responses.tools import Tools
from stream_sidecar.wires.shared.document_wire import DocumentWire, seconds
from stream_sidecar.wires.shared.fields import type_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from stream_sidecar.parts import Document, Json, JsonObject
    from stream_sidecar.wires.openai_responses.items import OutputItem
    from stream_sidecar.wires.shared.row import WireRow

    Reader = Callable[[Content, OutputItem, TextField, JsonObject], None]

_PREFIX = "response."
_STATES = ("compaction", "compaction_summary", "context_compaction", *WHOLE)
"""Types of items that show nothing and must go back unchanged."""

_STEP = f"{_PREFIX}reasoning."
"""The prefix of Perplexity's steps of reasoning, whose searches the items repeat."""

_UNFINISHED = ("", "in_progress", "queued")

_SILENT = patterns.compile(
    r"response\.(?:[a-z_]+_call(?:_[a-z_]+)?|mcp_list_tools|compaction|audio|steer"
    r"|inject|skill)\."
    r"|keep-?alive|ping"
)
"""Matches events of progress, whose content comes again in the finished item."""


class OpenAIResponsesWire(DocumentWire):
    """Reads events and whole responses (see the module's docstring)."""

    def __init__(self, row: WireRow, provider: str | None) -> None:
        super().__init__(row, provider)
        self._responses = 0
        self._items = Items(0)
        self._tools = Tools(self)
        self._content = Content(self, self._tools)
        self._is_over = False
        #: the error that an ``error`` event reported
        self._error: Json = None
        #: the response has failed, and no error has come yet
        self._failed = False

    def read(self, value: JsonObject, event: str | None) -> None:
        kind = type_of(value) or event or ""
        if kind in TEXT_EVENTS:
            self._read_text(TEXT_EVENTS[kind], value)
        elif kind in EVENTS:
            EVENTS[kind](self, value)
        elif kind == "error":
            self._error = value.get("error") or value
            self.fail(value)
        elif kind.startswith(_STEP):
            self._step(value)
        elif is_response(value):
            self._finish(value, "completed")
        elif not _SILENT.match(kind):
            self.unread(value, event)

    def end(self) -> None:
        """Ends the items that are still open, as cut off."""
        self._end_items(cut=True)
        if self._failed and self._error is None:
            self.fail({"type": "response.failed"})

    # The response

    def _begin(self, value: JsonObject) -> None:
        """Reads ``created``. After other items it begins another response."""
        if len(self._items) or self._is_over:
            self._end_items(cut=True)
            self._responses += 1
            self._items = Items(self._responses)
            self._is_over = False
        self._progress(value)

    def _progress(self, value: JsonObject) -> None:
        self._identify(self.body(value, "response"))

    def _identify(self, response: JsonObject) -> None:
        if response.get("store") is False:
            self._content.forget()
        self.identify(
            id=self.text(response, "id"),
            model=self.text(response, "model"),
            created=seconds(response.get("created_at")),
        )

    def _over(self, value: JsonObject) -> None:
        kind = type_of(value).removeprefix(_PREFIX)
        response = self.body(value, "response")
        error = response.get("error") or value.get("error")  # beside it: Perplexity
        self._finish(response | {"error": error} if error else response, kind)

    def _finish(self, response: JsonObject, kind: str) -> None:
        """Reads a finished response: what did not come before, and how it ended."""
        self._identify(response)
        status = self.text(response, "status") or kind
        if not self._is_over:
            self._is_over = True
            for item, body in self._items.match(self.objects(response, "output")):
                self._end_item(item or self._start({}, body), body)
            self._end_items(cut=status != "completed")
        if status not in _UNFINISHED:
            self._stop(response, status)
        self.count(self.body(response, "usage"))
        if status == "failed":
            self._fail(response.get("error"))

    def _stop(self, response: JsonObject, status: str) -> None:
        raw = self.text(self.body(response, "incomplete_details"), "reason") or status
        reason = self.row.reason_of(raw)
        if reason == "error" and self._error is not None:
            reason = "unknown"  # the error says more
        self.parts.append(FinishPart(raw, reason))

    def _done(self, value: JsonObject) -> None:
        """Reads ``response.done``, which comes after the response's end, or as it."""
        response = self.body(value, "response")
        if self._is_over and "status" not in response:
            self.count(self.body(response, "usage"))
        else:
            self._finish(response, "completed")

    def _fail(self, error: Json) -> None:
        """Reads the error of a failed response, unless an ``error`` event has it."""
        if not error:
            self._failed = True
        elif self._error is None or not equal(_facts(error), _facts(self._error)):
            self.fail({"error": error})

    # Items

    def _start(self, value: JsonObject, body: JsonObject) -> OutputItem:
        id = body.get("id") or value.get("item_id")
        if id and isinstance(id, str):
            self.parts.append(ItemPart(id, type_of(body)))
        return self._items.begin(value, body, self._content.length)

    def _item_added(self, value: JsonObject) -> None:
        body = self.body(value, "item")
        item = self._items.ended(value, body)
        if item is not None and item.is_implied and not item.done:
            item.body, item.is_implied = body, False
        else:
            item = self._start(value, body)
        self._tools.begin(item)

    def _item_done(self, value: JsonObject) -> None:
        body = self.body(value, "item")
        item = self._items.ended(value, body) or self._start(value, body)
        if self._tools.waits(item, body):
            item.body, item.is_implied = body, False
        else:
            self._end_item(item, body)

    def _end_items(self, *, cut: bool) -> None:
        for item in self._items.open:
            self._end_item(item, item.body, cut=cut and not item.has_arguments)

    def _end_item(
        self, item: OutputItem, body: JsonObject, *, cut: bool = False
    ) -> None:
        if item.done:
            return
        if item.family != "tool":
            self._content.finish(item, body, cut=cut)
        elif type_of(body) in _STATES:
            self._content.keep(item, body)
        elif item.is_implied and not item.texts and body is item.body:
            pass  # an event named the item, but had no content of it
        elif not self._tools.read(item, body, cut=cut):
            self.ignored("item", body)
            if body.get("id"):
                self._content.keep(item, body)
        self._items.end(item)

    def _step(self, value: JsonObject) -> None:
        """Reads a step of Perplexity's reasoning, which may have a thought."""
        if thought := self.text(value, "thought"):
            content = [{"type": "reasoning_text", "text": thought}]
            body: JsonObject = {"type": "reasoning", "content": content}
            self._end_item(self._start({}, body), body)

    def _read_text(self, event: TextEvent, value: JsonObject) -> None:
        """Reads an event with text of an item, which may begin here."""
        channel, type = event.channel, event.type
        if not type:  # a part: its own type decides the family of its item
            part = self.body(value, "part")
            channel = CONTENT_CHANNELS.get(type_of(part), TEXT)
            type = "message" if channel in (TEXT, REFUSAL) else "reasoning"
        item = self._items.find(value, family_of(type))
        if item is None and channel is TEXT:
            item = self._items.thinking(value)
            channel = TEXT if item is None else RAW
        if item is not None and item.done:
            if event.is_repeated:
                return
            item = None
        if item is None:
            item = self._start(value, {"type": type})
            item.is_implied = True
        event.read(self._content, item, channel, value)


@frozen
class TextEvent:
    """How to read an event with text of an item of ``type``. ``channel``: the text.
    ``is_repeated``: it has the fragments in full."""

    type: str
    channel: TextField
    read: Reader
    is_repeated: bool = False


def _text(name: str, type: str, channel: TextField) -> dict[str, TextEvent]:
    whole_text = TextEvent(type, channel, Content.done, is_repeated=True)
    delta = TextEvent(type, channel, Content.delta)
    return {f"{_PREFIX}{name}.delta": delta, f"{_PREFIX}{name}.done": whole_text}


def _part(name: str) -> dict[str, TextEvent]:
    whole_part = TextEvent("", TEXT, Content.part_done, is_repeated=True)
    added = TextEvent("", TEXT, Content.part_added)
    return {f"{_PREFIX}{name}.added": added, f"{_PREFIX}{name}.done": whole_part}


_CITED = TextEvent("message", TEXT, Content.annotation)

TEXT_EVENTS: dict[str, TextEvent] = {
    **_text("output_text", "message", TEXT),
    **_text("audio.transcript", "message", TEXT),
    **_text("refusal", "message", REFUSAL),
    **_text("reasoning_summary_text", "reasoning", SUMMARY),
    **_text("reasoning_text", "reasoning", RAW),
    **_text("reasoning", "reasoning", RAW),
    **_text("function_call_arguments", "function_call", ARGUMENTS),
    **_text("custom_tool_call_input", "custom_tool_call", INPUT),
    **_text("mcp_call_arguments", "mcp_call", ARGUMENTS),
    **_part("content_part"),
    **_part("reasoning_part"),
    **_part("reasoning_summary_part"),
    f"{_PREFIX}output_text.annotation.added": _CITED,
    f"{_PREFIX}output_text_annotation.added": _CITED,
}
"""Name of an event with text of an item -> how to read it."""

EVENTS: dict[str, Callable[[OpenAIResponsesWire, JsonObject], None]] = {
    f"{_PREFIX}created": OpenAIResponsesWire._begin,
    f"{_PREFIX}queued": OpenAIResponsesWire._progress,
    f"{_PREFIX}in_progress": OpenAIResponsesWire._progress,
    f"{_PREFIX}output_item.added": OpenAIResponsesWire._item_added,
    f"{_PREFIX}output_item.done": OpenAIResponsesWire._item_done,
    f"{_PREFIX}completed": OpenAIResponsesWire._over,
    f"{_PREFIX}incomplete": OpenAIResponsesWire._over,
    f"{_PREFIX}failed": OpenAIResponsesWire._over,
    f"{_PREFIX}cancelled": OpenAIResponsesWire._over,
    f"{_PREFIX}done": OpenAIResponsesWire._done,
}
"""Name of an event of the response or of its items -> its reader."""


def _facts(error: Json) -> tuple[Json, Json]:
    """Two values of an error; two errors with the same values are the same error."""
    body = error if isinstance(error, dict) else {}
    return body.get("code"), body.get("message")


def is_response(value: JsonObject) -> bool:
    """Whether ``value`` is a whole response."""
    has_items = isinstance(value.get("output"), list) and "type" not in value
    return value.get("object") == "response" or has_items


def fits(document: Document) -> bool:
    """Whether a document can only be of this wire; an error alone fits no wire."""
    value = document.value
    body = value[0] if isinstance(value, list) and value else value
    if not isinstance(body, dict):
        return False
    kind = type_of(body) or document.event or ""
    return kind.startswith(_PREFIX) or body.get("object") == "response"
