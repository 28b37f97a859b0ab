"""The wire ``openai-chat``: chat.completions of every dialect, chunks and whole bodies.

All servers, and legacy completions, share one code path: a message is read as a delta
with everything in it (wires/README.md, "Chat Completions"). Never raises for any JSON
value: see `shared.document_wire`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import evolve

from stream_sidecar.parts import (
    DiagnosticPart,
    FinishPart,
    ReasoningStatePart,
    TextPart,
)
from stream_sidecar.provider_errors.normalize import find_error, normalize_error
from stream_sidecar.wires.openai_chat.delta import FIELDS, read_delta
from stream_sidecar.wires.openai_chat.reasoning import PROVIDER
from stream_sidecar.wires.openai_chat.sources import SOURCE_KEYS, read_sources
from stream_sidecar.wires.shared.document_wire import DocumentWire
from stream_sidecar.wires.shared.fields import ChoiceState, Identity, first_object

if TYPE_CHECKING:
    from stream_sidecar.parts import Document, Json, JsonObject, Part
    from stream_sidecar.wires.shared.row import WireRow

_ANSWERS = frozenset(("delta", "message", "text"))
_CALLS = "tool_calls"
_CHUNK = "chat.completion.chunk"
_OBJECTS = (_CHUNK, "chat.completion", "text_completion")

_KNOWN = ("choices", "usage", "x_groq", "prompt_filter_results", *SOURCE_KEYS)
_ALIVE = ("ping", "keepalive", "keep-alive")

# A document with only these keys is read by the short path, without a search for other
# members. Among them are keys of many servers that have no meaning for us.
_PLAIN_DOCUMENT = {
    "id",
    "object",
    "created",
    "model",
    "provider",
    "choices",
    "usage",
    "system_fingerprint",
    "service_tier",
    "obfuscation",
    "p",
    "prompt_filter_results",
}
_PLAIN_CHOICE = {
    "index",
    "delta",
    "finish_reason",
    "native_finish_reason",
    "logprobs",
    "stop_reason",
    "matched_stop",
    "token_ids",
    "content_filter_results",
}
_FAILURES = ("error", "malformed", "content-filter")
"""Finish reasons of a provider that a router's ``stop`` must not hide."""

_PLAIN_DELTA = frozenset(("content", "role", "channel", "phase"))
_EXTRA = ("type", "name", "provider_metadata")
_DELTA = _PLAIN_DELTA | frozenset((*FIELDS, PROVIDER, *_EXTRA))
_CHOICE = _PLAIN_CHOICE | {"message", "text", "error", "usage"}

_DOCUMENT = _PLAIN_DOCUMENT | frozenset((*_KNOWN, "type"))

CHAT_WRITTEN = (
    frozenset(("choices", "usage", "finish_reason", "delta", "message", "text"))
    | frozenset((*FIELDS, PROVIDER, *SOURCE_KEYS))
    | frozenset(("id", "object", "created", "model", "role", "type"))
    | frozenset(("error", "errors", "detail", "base_resp", "event_type"))
)
"""Members of a document whose content is in events, and members that repeat it."""

_ERROR_KEYS = {
    "error",
    "errors",
    "detail",
    "base_resp",
    "x_groq",
    "type",
    "event_type",
    "message",
    "human_readable_message",
    "code",
    "success",
    "error_message",
}
"""Keys under which a document with choices may have an error."""


class OpenAIChatWire(DocumentWire):
    """Reads documents of chat.completions (see the module's docstring)."""

    def __init__(self, row: WireRow, provider: str | None) -> None:
        super().__init__(row, provider)
        self._document: JsonObject = {}  # the document being read
        self._identity = Identity()
        self._choices: dict[int, ChoiceState] = {}
        self._finished: set[int] = set()  # choices that had a finish
        #: choice -> whether its content came in deltas; only choices with content
        self._had_deltas: dict[int, bool] = {}
        #: the finish parts of the choices in the document being read
        self._ends: list[Part] = []
        self._failed: list[tuple[int, Json]] = []

    def read(self, value: JsonObject, event: str | None) -> None:
        identity, self._document = self._identity, value
        if identity.is_open or value.get("model") != identity.model:
            identity.read(value, self.parts)
        choices = value.get("choices")
        if choices is None and _holds_choices(value.get("data")):
            self.read(value["data"], event)
            return
        is_plain = False
        if isinstance(choices, list):
            is_one = len(choices) > 1 and _is_one(choices)
            for position, choice in enumerate(choices):
                if isinstance(choice, dict):
                    self._choice(choice, 0 if is_one else position)
                elif choice is not None:
                    self.choice = 0
                    self.malformed("choices", choice)
            is_plain = bool(choices) and value.keys() <= _PLAIN_DOCUMENT
        if is_plain and not (event or self._ends or self._failed or value.get("usage")):
            return
        self.choice = 0
        self._sources(value)
        self.parts += self._ends
        self._ends = []
        self._read_beside(value, event)

    def end(self) -> None:
        for index in sorted(self._choices):
            self._state(index)

    def unknown(self, value: Json) -> None:
        message = "the document is no chat.completions document"
        self.parts.append(DiagnosticPart("unknown-chunk", message, "warning", value))

    def _choice(self, value: JsonObject, position: int) -> None:
        index = value.get("index")
        if type(index) is int and index >= 0:
            self.choice = index
        else:
            self.choice = position
            if index is not None:
                self.malformed("index", index)
        delta = value.get("delta")
        text = None
        if isinstance(delta, dict) and delta.keys() <= _PLAIN_DELTA:
            text = delta.get("content")
            text = "" if text is None else text  # nothing in the delta says anything
        if not isinstance(text, str):
            self._fields(value)
        elif text:
            self._had_deltas[self.choice] = True
            self.parts.append(TextPart(text, self.choice))
        if value.get("finish_reason") or not value.keys() <= _PLAIN_CHOICE:
            self._end(value)

    def _fields(self, value: JsonObject) -> None:
        """Reads the delta of a choice; without one, its message or legacy text."""
        for name in ("delta", "message"):
            delta = value.get(name)
            if isinstance(delta, dict):
                is_message = name == "message"
                if is_message and self._had_deltas.get(self.choice):
                    delta = self._without_repeated_text(delta)
                self._read(delta, is_message)
                return
            if delta is not None:
                self.malformed(name, delta)
        start = len(self.parts)
        self._read({"content": value.get("text")}, True)
        self.unused("choice", value, _CHOICE, start)

    def _read(self, delta: JsonObject, is_message: bool) -> None:
        index, start = self.choice, len(self.parts)
        choice = self._open(index)
        choice.is_whole = is_message and self._document.get("object") != _CHUNK
        read_delta(choice, delta)
        if len(self.parts) > start:
            self._had_deltas[index] = self._had_deltas.get(index) or not is_message
        else:
            self.unused("delta", delta, _DELTA, start)

    def _without_repeated_text(self, message: JsonObject) -> JsonObject:
        """``message`` without its text if the deltas before had it (MiniMax)."""
        text = message.get("content")
        if not text or self._document.get("object") == _CHUNK:
            return message
        note = "the whole message, whose text came in the stream"
        part = DiagnosticPart("response-details", note, "info", text, self.choice)
        self.parts.append(part)
        return {**message, "content": None}

    def _end(self, value: JsonObject) -> None:
        """Reads the members of a choice beside its delta: mostly its end."""
        reason, message = value.get("finish_reason"), value.get("message")
        is_first = isinstance(value.get("delta"), dict)
        is_first = is_first and self.choice not in self._had_deltas
        if reason and isinstance(message, dict) and is_first:
            # Perplexity repeats the whole answer in ``message`` beside each delta. A
            # whole body has the answer only there.
            self._read(message, True)
        if isinstance(reason, str) and reason:
            self._finish(self._native(value, reason))
        elif reason:
            self.malformed("finish_reason", reason)
        if value.get("error"):
            self._failed.append((self.choice, value["error"]))

    def _native(self, value: JsonObject, reason: str) -> str:
        """The finish word. Routers say ``stop`` for failures of their providers, whose
        own word (``native_finish_reason``) then counts."""
        native = value.get("native_finish_reason")
        if not isinstance(native, str) or self.row.reason_of(reason) != "stop":
            return reason
        return native if self.row.reason_of(native) in _FAILURES else reason

    def _finish(self, raw: str) -> None:
        reason = self.row.reason_of(raw)
        if self.choice not in self._finished:
            self._finished.add(self.choice)
            if self.choice in self._choices:
                self._state(self.choice)
        self._ends.append(FinishPart(raw, reason, self.choice))

    def _state(self, index: int) -> None:
        """Adds the state that the next request needs: at the first finish, and at the
        close if it has grown since."""
        state = self._choices[index].reasoning
        if opaque := state.opaque():
            part = ReasoningStatePart(index, None, opaque, state.block)
            self.parts.append(part)

    def _open(self, index: int) -> ChoiceState:
        choice = self._choices.get(index)
        if choice is None:
            choice = self._choices[index] = ChoiceState(index)
        choice.document, choice.parts = self._document, self.parts
        return choice

    def _sources(self, value: JsonObject) -> None:
        if not SOURCE_KEYS.isdisjoint(value):
            names = f"{self.provider} {self._identity.model}"
            read_sources(self._open(0), value, names)

    def _read_beside(self, value: JsonObject, event: str | None) -> None:
        choices = value.get("choices")
        if choices is not None and not isinstance(choices, list):
            self.malformed("choices", choices)
        for choice in choices if isinstance(choices, list) else ():
            if isinstance(choice, dict) and "usage" in choice:
                self.count(self.body(choice, "usage"))
        if "usage" in value:
            self.count(self.body(value, "usage"))
        if "x_groq" in value:
            self.count(self.body(self.body(value, "x_groq"), "usage"))
        start = len(self.parts)
        self._errors(value, event)
        if len(self.parts) == start and not _is_known(value, event):
            self.unknown(value)
        elif choices is None:
            self.unused("document", value, _DOCUMENT, 0)

    def _errors(self, value: JsonObject, event: str | None) -> None:
        """Reads the errors of choices, else of the document. In a document with choices
        only the members `_ERROR_KEYS` count."""
        failed, self._failed = self._failed, []
        for index, error in failed:
            part = normalize_error({"error": error}, provider=self.provider)
            self.parts.append(evolve(part, choice=index))
        is_bare = event or not value.get("choices")
        if not failed and (is_bare or not _ERROR_KEYS.isdisjoint(value)):
            body = find_error(value, event)
            if body is not None:
                self.fail(body)


def _is_one(choices: list[Json]) -> bool:
    """Whether ``choices`` are one message's blocks without an index: Copilot's are."""
    objects = [choice for choice in choices if isinstance(choice, dict)]
    bodies = [choice.get("message") for choice in objects]
    called = [body for body in bodies if isinstance(body, dict) and _CALLS in body]
    has_index = any("index" in choice for choice in objects)
    return not has_index and len(called) >= len(choices) - 1


def _is_known(value: JsonObject, event: str | None) -> bool:
    """Whether a document without content is known: a keep-alive, a filter's results."""
    if event in _ALIVE or value.get("type") in _ALIVE:
        return True
    if value.get("object") in _OBJECTS:
        return True
    return any(value.get(name) is not None for name in _KNOWN)


def _holds_choices(value: Json) -> bool:
    """Whether ``value`` is what Cline's gateway wraps: ``{"data": {..}}``."""
    return isinstance(value, dict) and isinstance(value.get("choices"), list)


def fits(document: Document) -> bool:
    """Whether a document can only be of this wire; usage or an error fits none."""
    body = first_object(document.value)
    if _holds_choices(body.get("data")):
        return True
    choices = body.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    if isinstance(choice, dict) and not _ANSWERS.isdisjoint(choice):
        return True
    return body.get("object") in _OBJECTS
