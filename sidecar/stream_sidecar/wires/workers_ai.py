"""The wire ``workers-ai``: Cloudflare Workers AI in its own format, stream and bodies.

A stream is ``{"response": "Hel"}`` and so on, with the counts in its last document. A
body over HTTP is in ``result``, beside ``success``. Calls come whole (wires/README.md,
"Workers AI"). Never raises.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stream_sidecar.parts import CallPart, FinishPart, TextPart
from stream_sidecar.values.jsontext import dumps
from stream_sidecar.wires.shared.document_wire import DocumentWire
from stream_sidecar.wires.shared.fields import first_object
from stream_sidecar.wires.shared.row import WireRow
from stream_sidecar.wires.shared.usage import UsageShape

if TYPE_CHECKING:
    from stream_sidecar.parts import Document, JsonObject

_ANSWERS = frozenset(("response", "tool_calls"))
_KNOWN = _ANSWERS | {"usage", "p", "finish_reason", "result", "success", "messages"}


class WorkersAIWire(DocumentWire):
    """Reads pieces of streams and whole bodies (see the module's docstring)."""

    def read(self, value: JsonObject, event: str | None) -> None:
        inner = value.get("result")
        body = inner if isinstance(inner, dict) else value
        if _ANSWERS.isdisjoint(body) and not body.get("usage"):
            self.unread(value, event)
            return
        self._say(body)
        for call in self.objects(body, "tool_calls"):
            self._call(call)
        raw = self.text(body, "finish_reason") or None
        if raw or body is not value or body.get("usage"):  # the last one, or all
            self.parts.append(FinishPart(raw, self.row.reason_of(raw or "stop")))
        self.count(self.body(body, "usage"))
        self.fail_if(value, event)
        self.unused("document", body, _KNOWN, 0)

    def _say(self, body: JsonObject) -> None:
        """Adds the answer: a text, or in JSON mode a value."""
        answer = body.get("response")
        text = answer if isinstance(answer, str | None) else dumps(answer)
        if text:
            self.parts.append(TextPart(text))

    def _call(self, call: JsonObject) -> None:
        function = self.body(call, "function") or call
        self.parts.append(
            CallPart(
                id=self.text(call, "id"),
                name=self.text(function, "name"),
                arguments=function.get("arguments"),
                whole=True,
            )
        )


def fits(document: Document) -> bool:
    """Whether a document can only be of this wire. Ollama's have more members."""
    value = first_object(document.value)
    inner = value.get("result")
    body = inner if isinstance(inner, dict) and "success" in value else value
    has_text = body is not value or isinstance(body.get("response"), str)
    return has_text and "response" in body and body.keys() <= _KNOWN


ROW = WireRow(
    name="workers-ai",
    title="Workers AI",
    reader=WorkersAIWire,
    fits=fits,
    usage=UsageShape(
        input=("prompt_tokens",),
        output=("completion_tokens",),
        total=("total_tokens",),
        cache_read=("prompt_tokens_details.cached_tokens",),
    ),
)
