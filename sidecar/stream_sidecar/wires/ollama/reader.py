"""The wire ``ollama``: /api/chat and /api/generate, as lines or as whole bodies.

A line is a document. Chat has the answer in ``message`` (``content``, ``thinking``,
``tool_calls``), generate at the top (``response``, ``thinking``). A call comes whole,
with its arguments as an object and mostly without an id. ``done_reason`` is ``stop``
even with calls. The last line has the counts (wires/README.md, "Ollama" and "Usage").
Never raises.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stream_sidecar.parts import CallPart, FinishPart, ReasoningPart, TextPart
from stream_sidecar.wires.shared.document_wire import DocumentWire, seconds
from stream_sidecar.wires.shared.fields import first_object

if TYPE_CHECKING:
    from stream_sidecar.parts import Document, JsonObject
    from stream_sidecar.wires.shared.row import WireRow

_ANSWERS = frozenset(("message", "response", "thinking"))
_KNOWN = _ANSWERS | {"done"}
_QUIET = _KNOWN | {"model", "created_at", "done_reason", "remote_model", "remote_host"}
_MESSAGE = frozenset(("role", "content", "thinking", "images", "tool_calls"))
_COUNTS = ("_count", "_duration")
"""The ends of the names of counts and times, which stand in the last line."""


class OllamaWire(DocumentWire):
    """Reads documents of chat and generate (see the module's docstring)."""

    def __init__(self, row: WireRow, provider: str | None) -> None:
        super().__init__(row, provider)
        self._model = ""

    def read(self, value: JsonObject, event: str | None) -> None:
        if _KNOWN.isdisjoint(value):
            self.unread(value, event)
            return
        model = self.text(value, "model")
        if model != self._model:
            self._model = model
            self.identify(model=model, created=seconds(value.get("created_at")))
        self._answer(value, "response")
        self._message(self.body(value, "message"))
        if value.get("done"):
            self._finish(value)
        self.fail_if(value, event)
        if not self.parts or type(self.parts[-1]) is not TextPart:
            self.unused("document", value, _QUIET, 0)

    def _answer(self, holder: JsonObject, name: str) -> None:
        if thinking := self.text(holder, "thinking"):
            self.parts.append(ReasoningPart(thinking, "thinking"))
        if text := self.text(holder, name):
            self.parts.append(TextPart(text))

    def _message(self, message: JsonObject) -> None:
        start = len(self.parts)
        self._answer(message, "content")
        if message.get("images"):
            self.ignored("images", message["images"])
        for call in self.objects(message, "tool_calls"):
            function = self.body(call, "function")
            self.parts.append(
                CallPart(
                    id=self.text(call, "id"),
                    name=self.text(function, "name"),
                    arguments=function.get("arguments"),
                    whole=True,
                )
            )
        if len(self.parts) == start:
            self.unused("message", message, _MESSAGE, start)

    def _finish(self, value: JsonObject) -> None:
        """Reads the end. Servers older than ``done_reason`` can only have stopped."""
        raw = self.text(value, "done_reason") or None
        self.parts.append(FinishPart(raw, self.row.reason_of(raw or "stop")))
        self.count({name: value[name] for name in value if name.endswith(_COUNTS)})


def fits(document: Document) -> bool:
    """Whether a document can only be of this wire: each line has ``done``."""
    value = first_object(document.value)
    if not isinstance(value.get("done"), bool):
        return False
    return "done_reason" in value or not _ANSWERS.isdisjoint(value)
