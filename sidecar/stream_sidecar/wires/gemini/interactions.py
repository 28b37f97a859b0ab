"""Gemini's Interactions API: events of steps, and whole interactions.

A step begins (``step.start``, which may contain all of it), grows (``step.delta``) and
ends (``step.stop``). It is a thought, output, a call of a client's function, or a
server's call or result (wires/README.md, "generateContent and Interactions"). A whole
interaction is its steps in order. Offsets of annotations are UTF-8 bytes from the start
of the content, end exclusive.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stream_sidecar.parts import (
    BlockEndPart,
    CallEndPart,
    CallPart,
    FinishPart,
    ReasoningPart,
    ReasoningStatePart,
    ResultPart,
    TextPart,
)
from stream_sidecar.records import define
from stream_sidecar.wires.gemini.content import THOUGHT
from stream_sidecar.wires.gemini.sources import annotation
from stream_sidecar.wires.shared.document_wire import seconds
from stream_sidecar.wires.shared.fields import type_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from stream_sidecar.parts import JsonObject
    from stream_sidecar.wires.shared.document_wire import DocumentWire

_EVENTS = ("interaction.", "step.", "content.")
_UNFINISHED = ("", "in_progress", "queued")
_REASONS = {
    "incomplete": "length",
    "budget_exceeded": "length",
    "requires_continuation": "pause",
}
"""Status -> finish reason, for statuses that have another meaning on other wires."""

_OF_SPEECH = ("speech_metadata", "word_info")
"""Annotations that name no source: who speaks, and when a word is said."""

_CALL, _RESULT, _FUNCTION = "_call", "_result", "function_call"

_IMPLIED = {
    "text": "model_output",
    "text_annotation_delta": "model_output",
    "thought_summary": "thought",
    "thought_signature": "thought",
    "arguments_delta": _FUNCTION,
}
"""Type of a delta -> type of its step; for other deltas they are the same."""


def is_interaction(value: JsonObject) -> bool:
    kind = value.get("event_type")
    if isinstance(kind, str):
        return kind.startswith(_EVENTS)
    is_body = "status" in value and any(
        isinstance(value.get(name), list) for name in ("steps", "outputs")
    )
    return is_body or value.get("object") == "interaction"


@define
class _Step:
    """An open step. ``body``: its members so far. ``base``: the code points of the
    answer before it. ``streams``: its arguments come in fragments."""

    key: str
    body: JsonObject
    base: int
    streams: bool = False


def _step_of(body: JsonObject) -> JsonObject:
    """The step for a content of SDK 1: the content itself, but text becomes output."""
    is_text = type_of(body) == "text"
    return {"type": "model_output", "content": [body]} if is_text else body


class Interaction:
    """Turns events and whole interactions into parts of ``wire``."""

    def __init__(self, wire: DocumentWire) -> None:
        self.wire = wire
        self._open: dict[int, _Step] = {}
        self._latest = 0
        self._count = 0
        self._length = 0  # the answer's length so far, in code points

    def read(self, value: JsonObject) -> None:
        kind = value.get("event_type")
        if kind is None:
            self._interaction(value)
        elif kind == "interaction.status_update":
            self._status(value)
        elif kind in ("step.start", "content.start"):
            index, body = self._index(value), self.wire.body(value, kind[:-6])
            self._end(index)
            self._start(index, _step_of(body))
        elif kind in ("step.delta", "content.delta"):
            self._delta(self._index(value), self.wire.body(value, "delta"))
        elif kind in ("step.stop", "content.stop"):
            self._end(self._index(value))
        else:
            self._interaction(self.wire.body(value, "interaction"))

    def close(self) -> None:
        """Ends steps that are still open, as cut off."""
        self._end_all(cut=True)

    def _interaction(self, body: JsonObject) -> None:
        """Reads an interaction. Its steps count only if no step came before."""
        text = self.wire.text
        self.wire.identify(
            id=text(body, "id"),
            model=text(body, "model") or text(body, "agent"),
            created=seconds(body.get("created")),
        )
        name = "steps" if "steps" in body else "outputs"
        steps = [] if self._count else [*self.wire.objects(body, name)]
        for index, step in enumerate(steps):
            self._start(index, _step_of(step))
            self._end(index)
        self._status(body)

    def _status(self, body: JsonObject) -> None:
        status = self.wire.text(body, "status")
        if status not in _UNFINISHED:
            self._end_all(cut=status != "completed")
            reason = _REASONS.get(status) or self.wire.row.reason_of(status)
            self.wire.parts.append(FinishPart(status, reason))
        self.wire.count(self.wire.body(body, "usage"))
        for error in filter(None, self.wire.objects(body, "errors")):
            self.wire.fail({"error": error})

    # Steps

    def _index(self, value: JsonObject) -> int:
        """The step's index; without one, that of the latest step."""
        index = self.wire.number(value, "index")
        return self._latest if index is None else index

    def _start(self, index: int, body: JsonObject) -> _Step:
        self._count += 1
        self._latest = index
        body = dict(body)  # deltas add to it
        step = self._open[index] = _Step(f"step:{self._count}", body, self._length)
        kind = type_of(body)
        if kind == "thought":
            for item in self.wire.objects(body, "summary"):
                self._think(step, item)
        elif kind == "model_output":
            for item in self.wire.objects(body, "content"):
                step.base = self._length
                self._content(step, item)
        elif kind == _FUNCTION:
            id, name = self.wire.text(body, "id"), self.wire.text(body, "name")
            part = CallPart(key=step.key, id=id, name=name, type="functionCall")
            self.wire.parts.append(part)
        return step

    def _delta(self, index: int, delta: JsonObject) -> None:
        kind, step = type_of(delta), self._open.get(index)
        if step is None:
            step = self._start(index, {"type": _IMPLIED.get(kind, kind)})
        _DELTAS.get(kind, Interaction._other)(self, step, delta)

    def _end_all(self, *, cut: bool) -> None:
        steps, self._open = self._open, {}
        for step in steps.values():
            self._finish(step, cut)

    def _end(self, index: int) -> None:
        step = self._open.pop(index, None)
        if step is not None:
            self._finish(step, cut=False)

    def _finish(self, step: _Step, cut: bool) -> None:
        kind = type_of(step.body)
        if kind == "thought":
            self._end_thought(step)
        elif kind == "model_output":
            self.wire.parts.append(BlockEndPart(block=step.key))
            if step.body.get("error"):
                self.wire.fail({"error": step.body["error"]})
        elif kind == _FUNCTION:
            self._end_function(step, cut)
        elif kind.endswith(_CALL):
            self._server_call(step, kind)
        elif kind.endswith(_RESULT):
            self._result(step, kind)
        elif kind != "user_input":
            self.wire.ignored("step", step.body)

    def _end_thought(self, step: _Step) -> None:
        """Ends a thought, which goes back with its signature. It often has no text."""
        if signature := self.wire.text(step.body, "signature"):
            key = step.key
            part = ReasoningStatePart(signature=signature, block=key, field=THOUGHT)
            self.wire.parts.append(part)
        self.wire.parts.append(BlockEndPart(block=step.key))

    def _end_function(self, step: _Step, cut: bool) -> None:
        """Ends a call. Its arguments were whole in its start, or came as fragments."""
        arguments = None if step.streams else step.body.get("arguments")
        self.wire.parts.append(
            CallPart(
                key=step.key,
                id=self.wire.text(step.body, "id"),
                name=self.wire.text(step.body, "name"),
                arguments=arguments,
                opaque=self._opaque(step),
                whole=not cut,
            )
        )
        if cut:
            self.wire.parts.append(CallEndPart(key=step.key, cut=True))

    def _server_call(self, step: _Step, kind: str) -> None:
        body = step.body
        self.wire.parts.append(
            CallPart(
                key=step.key,
                id=self.wire.text(body, "id"),
                name=self.wire.text(body, "name") or kind.removesuffix(_CALL),
                arguments=body.get("arguments"),
                type=kind,
                executor="server",
                opaque=self._opaque(step),
                raw=body,
                whole=True,
            )
        )

    def _result(self, step: _Step, kind: str) -> None:
        body, id = step.body, self.wire.text(step.body, "call_id")
        name = self.wire.text(body, "name") or kind.removesuffix(_RESULT)
        is_error = True if body.get("is_error") is True else None
        content, key = body.get("result"), id or step.key
        part = ResultPart(content, body, 0, id or None, name, is_error, key)
        self.wire.parts.append(part)

    def _opaque(self, step: _Step) -> JsonObject | None:
        signature = self.wire.text(step.body, "signature")
        return {"signature": signature} if signature else None

    # Deltas

    def _text(self, _step: _Step, delta: JsonObject) -> None:
        if text := self.wire.text(delta, "text"):
            self._length += len(text)
            self.wire.parts.append(TextPart(text))

    def _summary(self, step: _Step, delta: JsonObject) -> None:
        self._think(step, self.wire.body(delta, "content"))

    def _think(self, step: _Step, content: JsonObject) -> None:
        if text := self.wire.text(content, "text"):
            part = ReasoningPart(text, THOUGHT, block=step.key)
            self.wire.parts.append(part)

    def _annotations(self, step: _Step, delta: JsonObject) -> None:
        for item in self.wire.objects(delta, "annotations"):
            if type_of(item) in _OF_SPEECH:
                self.wire.ignored("annotations", item)
            else:
                self.wire.parts.append(annotation(self.wire, item, step.base))

    def _arguments(self, step: _Step, delta: JsonObject) -> None:
        if text := self.wire.text(delta, "arguments"):
            step.streams = True
            self.wire.parts.append(CallPart(key=step.key, arguments=text))

    def _other(self, step: _Step, delta: JsonObject) -> None:
        """Keeps a piece of a step that is reported at the step's end."""
        kind = type_of(delta)
        if kind.endswith((_CALL, _RESULT)) or kind == "thought_signature":
            step.body.update(delta, type=type_of(step.body))
        else:
            self.wire.ignored(kind or "delta", delta)

    def _content(self, step: _Step, content: JsonObject) -> None:
        """Reads an item of a finished output."""
        if type_of(content) in ("", "text"):
            self._text(step, content)
            self._annotations(step, content)
        else:
            self.wire.ignored("content", content)


_DELTAS: dict[str, Callable[[Interaction, _Step, JsonObject], None]] = {
    "text": Interaction._text,
    "text_annotation_delta": Interaction._annotations,
    "thought_summary": Interaction._summary,
    "arguments_delta": Interaction._arguments,
}
"""Type of a delta -> its reader."""
