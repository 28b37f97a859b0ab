"""The wire ``openai-responses``: events of every dialect, and whole responses.

Read are OpenAI, Azure, ChatGPT, Copilot, xAI, OpenRouter, DeepSeek, LM Studio, Bedrock
and Perplexity. A response is a list of items. Deltas bring them piece by piece. What
repeats them in full (``.done`` events, finished items, the finished response) only adds
what did not come before, so a whole body gives the same as its stream. The tables say
which event gives what; shapes: wires/README.md, "Responses".

Never raises for any JSON value. A field of the wrong type is a ``malformed-chunk``
diagnostic, an event that is not known an ``unknown-chunk`` one; the rest is used.
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
_STATES = ("compaction", "compaction_summary", "context_compaction", "agent_message")
"""Items that say nothing to a reader and must go back unchanged."""

_STEP = f"{_PREFIX}reasoning."
"""How the steps of Perplexity's reasoning begin: what they searched for, and found, is
told again in the items."""

_GOING_ON = ("", "in_progress", "queued")

_SILENT = patterns.compile(
    r"response\.(?:[a-z_]+_call(?:_[a-z_]+)?|mcp_list_tools|compaction|audio|steer"
    r"|skill)\."
    r"|keep-?alive|ping"
)
"""Events of progress: what they say is reported again in the finished item."""


class OpenAIResponsesWire(DocumentWire):
    """Reads events and response objects, as the module's docstring says."""

    def __init__(self, row: WireRow, provider: str | None) -> None:
        super().__init__(row, provider)
        self._responses = 0
        self._items = Items(0)
        self._tools = Tools(self)
        self._content = Content(self, self._tools)
        self._is_over = False
        #: the error that an ``error`` event told
        self._reported: Json = None
        #: the response has failed, and nothing has said why
        self._failed = False

    def read(self, value: JsonObject, event: str | None) -> None:
        kind = type_of(value) or event or ""
        if kind in SPOKEN:
            self._speak(SPOKEN[kind], value)
        elif kind in EVENTS:
            EVENTS[kind](self, value)
        elif kind == "error":
            self._reported = value.get("error") or value
            self.fail(value)
        elif kind.startswith(_STEP):
            self._step(value)
        elif is_response(value):
            self._finish(value, "completed")
        elif not _SILENT.match(kind):
            self.unread(value, event)

    def end(self) -> None:
        """Items that are still open were cut off."""
        self._end_items(cut=True)
        if self._failed and self._reported is None:
            self.fail({"type": "response.failed"})

    # The response

    def _begin(self, value: JsonObject) -> None:
        """``created`` after other items: another response, with its own places."""
        if len(self._items) or self._is_over:
            self._end_items(cut=True)
            self._responses += 1
            self._items = Items(self._responses)
            self._is_over = False
        self._go_on(value)

    def _go_on(self, value: JsonObject) -> None:
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
        error = response.get("error") or value.get("error")  # Perplexity's is beside it
        self._finish(response | {"error": error} if error else response, kind)

    def _finish(self, response: JsonObject, kind: str) -> None:
        """The finished response fills in what never came, and says how it ended."""
        self._identify(response)
        status = self.text(response, "status") or kind
        if not self._is_over:
            self._is_over = True
            for item, body in self._items.match(self.objects(response, "output")):
                self._end_item(item or self._start({}, body), body)
            self._end_items(cut=status != "completed")
        if status not in _GOING_ON:
            self._stop(response, status)
        self.count(self.body(response, "usage"))
        if status == "failed":
            self._fail(response.get("error"))

    def _stop(self, response: JsonObject, status: str) -> None:
        raw = self.text(self.body(response, "incomplete_details"), "reason") or status
        reason = self.row.reason_of(raw)
        if reason == "error" and self._reported is not None:
            reason = "unknown"  # the error itself says it better
        self.parts.append(FinishPart(raw, reason))

    def _done(self, value: JsonObject) -> None:
        """Behind the event that says how the response ended, or in its place."""
        response = self.body(value, "response")
        if self._is_over and "status" not in response:
            self.count(self.body(response, "usage"))
        else:
            self._finish(response, "completed")

    def _fail(self, error: Json) -> None:
        """An ``error`` event before has mostly said it, or one behind it does."""
        if not error:
            self._failed = True
        elif self._reported is None or not equal(_facts(error), _facts(self._reported)):
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
        if item is not None and item.implied and not item.done:
            item.body, item.implied = body, False
        else:
            item = self._start(value, body)
        self._tools.begin(item)

    def _item_done(self, value: JsonObject) -> None:
        body = self.body(value, "item")
        item = self._items.ended(value, body) or self._start(value, body)
        if self._tools.waits(item, body):
            item.body, item.implied = body, False
        else:
            self._end_item(item, body)

    def _end_items(self, *, cut: bool) -> None:
        for item in self._items.open:
            self._end_item(item, item.body, cut=cut and not item.argued)

    def _end_item(
        self, item: OutputItem, body: JsonObject, *, cut: bool = False
    ) -> None:
        if item.done:
            return
        if item.family != "tool":
            self._content.finish(item, body, cut=cut)
        elif type_of(body) in _STATES:
            self._content.keep(item, body)
        elif item.implied and not item.reported and body is item.body:
            pass  # an event spoke of it, but it said nothing
        elif not self._tools.read(item, body, cut=cut):
            self.ignored("item", body)
            if body.get("id"):
                self._content.keep(item, body)
        self._items.end(item)

    def _step(self, value: JsonObject) -> None:
        """A step of the reasoning has a thought of its own, or none."""
        if thought := self.text(value, "thought"):
            content = [{"type": "reasoning_text", "text": thought}]
            body: JsonObject = {"type": "reasoning", "content": content}
            self._end_item(self._start({}, body), body)

    def _speak(self, event: Spoken, value: JsonObject) -> None:
        """An item says something; some dialects never told that it is there."""
        channel, type = event.channel, event.type
        if not type:  # a part, of an item of either family
            part = self.body(value, "part")
            channel = CONTENT_CHANNELS.get(type_of(part), TEXT)
            type = "message" if channel in (TEXT, REFUSAL) else "reasoning"
        item = self._items.find(value, family_of(type))
        if item is None and channel is TEXT:
            item = self._items.thinking(value)
            channel = TEXT if item is None else RAW
        if item is not None and item.done:
            if event.again:
                return
            item = None
        if item is None:
            item = self._start(value, {"type": type})
            item.implied = True
        event.read(self._content, item, channel, value)


@frozen
class Spoken:
    """An event in which an item of ``type`` says something in ``channel``.

    ``again``: it repeats what fragments have told.
    """

    type: str
    channel: TextField
    read: Reader
    again: bool = False


def _text(name: str, type: str, channel: TextField) -> dict[str, Spoken]:
    return {
        f"{_PREFIX}{name}.delta": Spoken(type, channel, Content.delta),
        f"{_PREFIX}{name}.done": Spoken(type, channel, Content.done, again=True),
    }


def _part(name: str) -> dict[str, Spoken]:
    return {
        f"{_PREFIX}{name}.added": Spoken("", TEXT, Content.part_added),
        f"{_PREFIX}{name}.done": Spoken("", TEXT, Content.part_done, again=True),
    }


_CITED = Spoken("message", TEXT, Content.annotation)

SPOKEN: dict[str, Spoken] = {
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
"""Events in which an item says something."""

EVENTS: dict[str, Callable[[OpenAIResponsesWire, JsonObject], None]] = {
    f"{_PREFIX}created": OpenAIResponsesWire._begin,
    f"{_PREFIX}queued": OpenAIResponsesWire._go_on,
    f"{_PREFIX}in_progress": OpenAIResponsesWire._go_on,
    f"{_PREFIX}output_item.added": OpenAIResponsesWire._item_added,
    f"{_PREFIX}output_item.done": OpenAIResponsesWire._item_done,
    f"{_PREFIX}completed": OpenAIResponsesWire._over,
    f"{_PREFIX}incomplete": OpenAIResponsesWire._over,
    f"{_PREFIX}failed": OpenAIResponsesWire._over,
    f"{_PREFIX}cancelled": OpenAIResponsesWire._over,
    f"{_PREFIX}done": OpenAIResponsesWire._done,
}
"""Events of the response and of its items."""


def _facts(error: Json) -> tuple[Json, Json]:
    """What makes two errors the same."""
    body = error if isinstance(error, dict) else {}
    return body.get("code"), body.get("message")


def is_response(value: JsonObject) -> bool:
    """A whole response object."""
    has_items = isinstance(value.get("output"), list) and "type" not in value
    return value.get("object") == "response" or has_items


def fits(document: Document) -> bool:
    """A document that can only be of this wire; errors alone fit none."""
    value = document.value
    first = value[0] if isinstance(value, list) and value else value
    if not isinstance(first, dict):
        return False
    kind = type_of(first) or document.event or ""
    return kind.startswith(_PREFIX) or first.get("object") == "response"
