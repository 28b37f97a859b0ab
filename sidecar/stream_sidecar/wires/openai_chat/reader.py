"""The wire ``openai-chat``: chat.completions of every dialect, chunks and whole bodies.

Read are OpenAI, Azure, OpenRouter, DeepSeek, Groq, Mistral, xAI, vLLM, Cerebras,
Perplexity, Ollama and llama.cpp compatible servers, Snowflake, Copilot, Vercel's
gateway, Moonshot, MiniMax, LiteLLM's proxy and legacy completions, in one code path: a
message is a delta that holds everything. ``READERS`` says what is read of a delta, and
in which order parts are given; shapes: wires/README.md, "Chat Completions".

Never raises for any JSON value. A field of the wrong type is a ``malformed-chunk``
diagnostic, a document of no known shape an ``unknown-chunk`` one, each with what was
left out in ``raw``; everything else in the document is used.
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
from stream_sidecar.values.equality import equal
from stream_sidecar.wires.openai_chat.delta import read_delta
from stream_sidecar.wires.openai_chat.sources import SOURCE_KEYS, read_sources
from stream_sidecar.wires.shared.fields import ChoiceState, Identity, malformed
from stream_sidecar.wires.shared.usage import read_usage

if TYPE_CHECKING:
    from stream_sidecar.parts import Document, ErrorPart, Json, JsonObject, Part
    from stream_sidecar.wires.shared.row import WireRow

_ANSWERS = frozenset(("delta", "message", "text"))
_CALLS = "tool_calls"
_CHUNK = "chat.completion.chunk"
_OBJECTS = (_CHUNK, "chat.completion", "text_completion")

_KNOWN = ("choices", "usage", "x_groq", "prompt_filter_results", *SOURCE_KEYS)
_ALIVE = ("ping", "keepalive", "keep-alive")

# Where a document has no other keys than these, nothing else is looked for. Keys of the
# many servers that say nothing to us stand here, too.
_PLAIN_DOCUMENT = frozenset(
    (
        *("id", "object", "created", "model", "provider", "choices", "usage"),
        *("system_fingerprint", "service_tier", "obfuscation", "p"),
        "prompt_filter_results",
    )
)
_PLAIN_CHOICE = frozenset(
    (
        *("index", "delta", "finish_reason", "native_finish_reason", "logprobs"),
        *("stop_reason", "matched_stop", "token_ids", "content_filter_results"),
    )
)
_PLAIN_DELTA = frozenset(("content", "role", "channel", "phase"))

_ERROR_KEYS = frozenset(
    (
        *("error", "errors", "detail", "base_resp", "x_groq", "type", "event_type"),
        *("message", "human_readable_message", "code", "success", "error_message"),
    )
)
"""Keys of a document with choices that may hold an error."""


class OpenAIChatWire:
    """Reads chat.completions documents, as the module's docstring says."""

    __slots__ = (
        "_choices",
        "_ends",
        "_failed",
        "_heard",
        "_identity",
        "_provider",
        "_row",
        "_usage",
    )

    def __init__(self, row: WireRow, provider: str | None) -> None:
        self._row = row
        self._provider = provider
        self._identity = Identity()
        self._usage: Json = None
        self._choices: dict[int, ChoiceState] = {}
        #: choices that have said something, and whether in deltas
        self._heard: dict[int, bool] = {}
        #: what the choices of the document being read say of their end
        self._ends: list[Part] = []
        self._failed: list[tuple[int, Json]] = []

    def push(self, document: Document) -> list[Part]:
        value = document.value
        if isinstance(value, dict):
            return self._document(value, document.event)
        elements = value if isinstance(value, list) and value else [value]
        parts: list[Part] = []
        for element in elements:
            parts += self._element(element, document.event)
        return parts

    def close(self) -> list[Part]:
        parts: list[Part] = []
        for index, choice in sorted(self._choices.items()):
            choice.refuse(parts)
            self._state(index, parts)
        return parts

    def _element(self, value: Json, event: str | None) -> list[Part]:
        if isinstance(value, dict):
            return self._document(value, event)
        body = find_error(value, event)
        return [self._error(body) if body is not None else _unknown(value)]

    def _document(self, value: JsonObject, event: str | None) -> list[Part]:
        parts: list[Part] = []
        identity = self._identity
        if identity.is_open or value.get("model") != identity.model:
            identity.read(value, parts)
        choices = value.get("choices")
        if choices is None and _holds_choices(value.get("data")):
            return [*parts, *self._document(value["data"], event)]
        is_plain = False
        if isinstance(choices, list):
            is_one = len(choices) > 1 and _is_one(choices)
            for position, choice in enumerate(choices):
                if isinstance(choice, dict):
                    self._choice(choice, 0 if is_one else position, value, parts)
                elif choice is not None:
                    parts.append(malformed("choices", choice))
            is_plain = bool(choices) and value.keys() <= _PLAIN_DOCUMENT
        if is_plain and not (event or self._ends or self._failed or value.get("usage")):
            return parts
        self._sources(value, parts)
        parts += self._ends
        self._ends = []
        self._rest(value, event, parts)
        return parts

    def _choice(
        self, value: JsonObject, position: int, document: JsonObject, parts: list[Part]
    ) -> None:
        index = value.get("index")
        if type(index) is not int or index < 0:
            if index is not None:
                parts.append(malformed("index", index, position))
            index = position
        delta = value.get("delta")
        text = None
        if isinstance(delta, dict) and delta.keys() <= _PLAIN_DELTA:
            text = delta.get("content")
        if not isinstance(text, str):
            self._fields(value, index, document, parts)
        elif text:
            self._heard[index] = True
            parts.append(TextPart(text, index))
        if value.get("finish_reason") or not value.keys() <= _PLAIN_CHOICE:
            self._end(value, index, document, parts)

    def _fields(
        self, value: JsonObject, index: int, document: JsonObject, parts: list[Part]
    ) -> None:
        """Reads the delta, or where there is none the message or the legacy text."""
        for name in ("delta", "message"):
            delta = value.get(name)
            if isinstance(delta, dict):
                is_message = name == "message"
                if is_message and self._heard.get(index):
                    delta = _untold(delta, index, document, parts)
                self._read(delta, index, document, parts, is_message)
                return
            if delta is not None:
                parts.append(malformed(name, delta, index))
        self._read({"content": value.get("text")}, index, document, parts, True)

    def _read(
        self,
        delta: JsonObject,
        index: int,
        document: JsonObject,
        parts: list[Part],
        is_message: bool,
    ) -> None:
        choice = self._open(index, document, parts)
        choice.whole = is_message and document.get("object") != _CHUNK
        before = len(parts)
        read_delta(choice, delta)
        if len(parts) > before:
            self._heard[index] = self._heard.get(index) or not is_message

    def _end(
        self, value: JsonObject, index: int, document: JsonObject, parts: list[Part]
    ) -> None:
        """Everything of a choice but its delta; mostly its end."""
        reason, message = value.get("finish_reason"), value.get("message")
        is_first = isinstance(value.get("delta"), dict) and index not in self._heard
        if reason and isinstance(message, dict) and is_first:
            # Perplexity repeats the whole answer beside each delta, but a body that
            # did not stream has it there alone.
            self._read(message, index, document, parts, True)
        if isinstance(reason, str) and reason:
            self._finish(reason, index, parts)
        elif reason:
            parts.append(malformed("finish_reason", reason, index))
        self._count(value.get("usage"), self._ends)
        if value.get("error"):
            self._failed.append((index, value["error"]))

    def _finish(self, raw: str, index: int, parts: list[Part]) -> None:
        reason = self._row.reason_of(raw)
        choice = self._choices.get(index)
        if choice and not choice.finished:
            choice.finished = True
            self._state(index, parts)
        if choice and choice.refuse(parts) and reason == "stop":
            reason = "refusal"
        self._ends.append(FinishPart(raw, reason, index))

    def _state(self, index: int, parts: list[Part]) -> None:
        """What must go back next turn: at the first finish, and at close if it grew."""
        state = self._choices[index].reasoning
        if opaque := state.opaque():
            parts.append(ReasoningStatePart(index, None, opaque, state.block))

    def _open(self, index: int, document: JsonObject, parts: list[Part]) -> ChoiceState:
        choice = self._choices.get(index)
        if choice is None:
            choice = self._choices[index] = ChoiceState(index)
        choice.document, choice.parts = document, parts
        return choice

    def _sources(self, value: JsonObject, parts: list[Part]) -> None:
        if not SOURCE_KEYS.isdisjoint(value):
            named = f"{self._provider} {self._identity.model}"
            read_sources(self._open(0, value, parts), value, named)

    def _rest(self, value: JsonObject, event: str | None, parts: list[Part]) -> None:
        choices = value.get("choices")
        if choices is not None and not isinstance(choices, list):
            parts.append(malformed("choices", choices))
        self._count(value.get("usage"), parts)
        groq = value.get("x_groq")
        if isinstance(groq, dict):
            self._count(groq.get("usage"), parts)
        elif groq is not None:
            parts.append(malformed("x_groq", groq))
        errors = self._errors(value, event)
        parts += errors
        if not errors and not _is_known(value, event):
            parts.append(_unknown(value))

    def _errors(self, value: JsonObject, event: str | None) -> list[ErrorPart]:
        """Errors of choices, else of the document; with choices it must have a key."""
        failed, self._failed = self._failed, []
        if failed:
            return [
                evolve(self._error({"error": error}), choice=index)
                for index, error in failed
            ]
        if event or not value.get("choices") or not _ERROR_KEYS.isdisjoint(value):
            body = find_error(value, event)
            return [] if body is None else [self._error(body)]
        return []

    def _error(self, body: Json) -> ErrorPart:
        return normalize_error(body, provider=self._provider)

    def _count(self, raw: Json, parts: list[Part]) -> None:
        if raw is not None and not isinstance(raw, dict):
            parts.append(malformed("usage", raw))
        elif raw is not None and not equal(raw, self._usage):
            self._usage = raw
            usage = read_usage(raw, self._row.usage)
            parts += [usage] if usage else []


def _untold(
    message: JsonObject, index: int, document: JsonObject, parts: list[Part]
) -> JsonObject:
    """A ``message`` without its text, if it is the whole of what deltas have told
    (MiniMax)."""
    text = message.get("content")
    if not text or document.get("object") == _CHUNK:
        return message
    said = "the whole message, of which the stream has told the text"
    parts.append(DiagnosticPart("response-details", said, "info", text, index))
    return {**message, "content": None}


def _is_one(choices: list[Json]) -> bool:
    """Whether they are one message: Copilot has a choice for each of Claude's blocks,
    and tells no index."""
    bodies = [each.get("message") for each in choices if isinstance(each, dict)]
    called = [each for each in bodies if isinstance(each, dict) and _CALLS in each]
    numbered = any(isinstance(each, dict) and "index" in each for each in choices)
    return not numbered and len(called) >= len(choices) - 1


def _is_known(value: JsonObject, event: str | None) -> bool:
    """A document that says nothing to us, but may (keep-alives, filter results)."""
    if event in _ALIVE or value.get("type") in _ALIVE:
        return True
    if value.get("object") in _OBJECTS:
        return True
    return any(value.get(name) is not None for name in _KNOWN)


def _unknown(value: Json) -> DiagnosticPart:
    message = "the document is no chat.completions document"
    return DiagnosticPart("unknown-chunk", message, "warning", value)


def _holds_choices(value: Json) -> bool:
    """The envelope of Cline's gateway: ``{"data": {..}, "success": true}``."""
    return isinstance(value, dict) and isinstance(value.get("choices"), list)


def fits(document: Document) -> bool:
    """A document that can only be of this wire; usage and errors alone fit none."""
    value = document.value[:1] if isinstance(document.value, list) else [document.value]
    body = value[0] if value else None
    if not isinstance(body, dict):
        return False
    if _holds_choices(body.get("data")):
        return True
    choices = body.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    if isinstance(first, dict) and not _ANSWERS.isdisjoint(first):
        return True
    return body.get("object") in _OBJECTS
