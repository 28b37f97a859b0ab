"""The wire ``mistral-conversations``: Mistral's conversations and agents.

A response consists of entries: messages, calls of the client's functions, tools that
the server ran, and handoffs between agents. A stream sends them in pieces; a body has
them in ``outputs`` (wires/README.md, "Mistral conversations"). Never raises.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from stream_sidecar.parts import (
    BlockEndPart,
    CallPart,
    DonePart,
    FinishPart,
    ReasoningPart,
    ResultPart,
    TextPart,
)
from stream_sidecar.wires.shared.citations import reference
from stream_sidecar.wires.shared.document_wire import DocumentWire, seconds
from stream_sidecar.wires.shared.fields import ChoiceState, first_object, type_of
from stream_sidecar.wires.shared.row import WireRow
from stream_sidecar.wires.shared.usage import UsageShape

if TYPE_CHECKING:
    from collections.abc import Callable

    from stream_sidecar.parts import Document, JsonObject

    _Reader: TypeAlias = "Callable[[ConversationWire, JsonObject], None]"

_BODY = "conversation.response"
_REFERENCES = ("tool_reference", "reference")


class ConversationWire(DocumentWire):
    """Reads events and whole responses (see the module's docstring)."""

    _entry = ""  # the message that talks

    def read(self, value: JsonObject, event: str | None) -> None:
        kind = type_of(value) or event or ""
        if value.get("object") == _BODY:
            self._whole(value)
        elif kind in _EVENTS:
            _EVENTS[kind](self, value)
        else:
            self.unread(value, event)

    def _whole(self, value: JsonObject) -> None:
        self.identify(id=self.text(value, "conversation_id"))
        for entry in self.objects(value, "outputs"):
            read = _ENTRIES.get(type_of(entry))
            if read is None:
                self.ignored("outputs", entry)
            else:
                read(self, entry)
        self._done(value)

    # Events

    def _started(self, value: JsonObject) -> None:
        created = seconds(value.get("created_at"))
        self.identify(id=self.text(value, "conversation_id"), created=created)

    def _done(self, value: JsonObject) -> None:
        """Reads the end of a response. It gives no finish reason."""
        self.parts.append(FinishPart(None, "stop"))
        self.count(self.body(value, "usage"))
        self.parts.append(DonePart())

    def _message(self, value: JsonObject) -> None:
        entry = self.text(value, "id")
        if self._entry and entry != self._entry:
            self.parts.append(BlockEndPart())
        self._entry = entry
        self.identify(model=self.text(value, "model"))
        content = value.get("content")
        for chunk in content if isinstance(content, list) else [content]:
            if isinstance(chunk, str):
                self._say(chunk)
            elif isinstance(chunk, dict):
                self._chunk(chunk)
            elif chunk is not None:
                self.malformed("content", chunk)

    def _chunk(self, chunk: JsonObject) -> None:
        kind = type_of(chunk)
        if kind == "text":
            self._say(self.text(chunk, "text"))
        elif kind == "thinking":
            for thought in self.objects(chunk, "thinking"):
                if text := self.text(thought, "text"):
                    self.parts.append(ReasoningPart(text, "thinking"))
        elif kind in _REFERENCES:
            holder = ChoiceState(0)
            reference(holder, chunk, kind)
            self.parts += holder.parts
        else:
            self.ignored("content", chunk)

    def _say(self, text: str) -> None:
        if text:
            self.parts.append(TextPart(text))

    def _function(self, value: JsonObject, *, whole: bool = False) -> None:
        """Reads a ``whole`` call, or a fragment, which repeats the id and the name."""
        id = self.text(value, "tool_call_id")
        self.parts.append(
            CallPart(
                key=self.text(value, "id") or id,
                id=id or self.text(value, "id"),
                name=self.text(value, "name"),
                arguments=value.get("arguments"),
                whole=whole,
            )
        )

    def _called(self, value: JsonObject) -> None:
        self._function(value, whole=True)

    def _tool(self, value: JsonObject) -> None:
        """Reads a tool that the server runs. Its arguments may come in pieces."""
        id = self.text(value, "id")
        self.parts.append(
            CallPart(
                key=id,
                id=id,
                name=self.text(value, "name"),
                arguments=value.get("arguments"),
                type=type_of(value),
                executor="server",
            )
        )

    def _tool_done(self, value: JsonObject) -> None:
        id, name = self.text(value, "id"), self.text(value, "name")
        part = CallPart(key=id, id=id, name=name, executor="server", whole=True)
        self.parts.append(part)
        self.parts.append(ResultPart(value.get("info"), value, 0, id, name, key=id))

    def _tool_ran(self, value: JsonObject) -> None:
        self._tool(value)
        self._tool_done(value)

    def _handoff(self, value: JsonObject) -> None:
        """Reads a handoff: another agent answers."""
        self.report_details(value, ("previous_agent_name", "next_agent_name"))


_EVENTS: dict[str, _Reader] = {
    "conversation.response.started": ConversationWire._started,
    "conversation.response.done": ConversationWire._done,
    "conversation.response.error": ConversationWire.fail,
    "message.output.delta": ConversationWire._message,
    "function.call.delta": ConversationWire._function,
    "tool.execution.started": ConversationWire._tool,
    "tool.execution.delta": ConversationWire._tool,
    "tool.execution.done": ConversationWire._tool_done,
    "agent.handoff.started": ConversationWire._handoff,
    "agent.handoff.done": ConversationWire._handoff,
}

_ENTRIES: dict[str, _Reader] = {
    "message.output": ConversationWire._message,
    "function.call": ConversationWire._called,
    "tool.execution": ConversationWire._tool_ran,
    "agent.handoff": ConversationWire._handoff,
}


def fits(document: Document) -> bool:
    """Whether a document can only be of this wire."""
    value = first_object(document.value)
    return value.get("object") == _BODY or type_of(value) in _EVENTS


ROW = WireRow(
    name="mistral-conversations",
    title="Mistral conversations",
    reader=ConversationWire,
    fits=fits,
    usage=UsageShape(
        input=("prompt_tokens",),
        output=("completion_tokens",),
        total=("total_tokens",),
        more_input=(("connector_tokens",),),
    ),
)
