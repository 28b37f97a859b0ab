"""The wire ``gemini``: generateContent of all its servers, and the Interactions API.

Chunks and whole bodies are one code path: a chunk is a response that holds less. Read
are AI Studio and Vertex (server-sent events, or one JSON array), Code Assist (wrapped
in ``response``), dumps of the Python SDK (snake case), what the Live API says in text,
and the Interactions API (`gemini.interactions`). Several candidates are choices.
Shapes: wires/README.md, "generateContent and Interactions".

Never raises for any JSON value. A field of the wrong type is a ``malformed-chunk``
diagnostic, a document of no known shape an ``unknown-chunk`` one; the rest is used.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sidecar.parts import (
    Again,
    Aside,
    DiagnosticPart,
    DonePart,
    FinishPart,
    ReasoningPart,
    TextPart,
    WireRow,
)
from sidecar.wires.gemini.content import GeminiCandidate
from sidecar.wires.gemini.interactions import Interaction, is_interaction
from sidecar.wires.shared.document_wire import DocumentWire, seconds
from sidecar.wires.shared.usage import finish_reason

if TYPE_CHECKING:
    from sidecar.parts import Document, DocumentPlace, Json, JsonObject, Part

_NAME = "gemini"

_OWN = frozenset(
    (
        *("candidates", "promptFeedback", "usageMetadata", "modelVersion"),
        *("serverContent", "setupComplete", "sessionResumptionUpdate"),
    )
)
"""Keys of documents that can only be of this wire."""

_KNOWN = _OWN | {"toolCall", "toolCallCancellation", "goAway", "responseId"}
_LIVE = frozenset(("serverContent", "toolCall"))
_SNAKE = frozenset(("usage_metadata", "model_version", "prompt_feedback"))
_SOURCES = frozenset(("groundingMetadata", "citationMetadata", "urlContextMetadata"))
_TEXT = ("candidates", 0, "content", "parts", 0, "text")
_TEXTUAL = frozenset(("text", "thought"))
_UNREAD = (("createTime",), ("candidates", 0, "safetyRatings"))
"""Places of which nothing is read once it is known who answers."""

_REASONS = (
    *("FINISH_REASON_UNSPECIFIED", "STOP", "MAX_TOKENS", "SAFETY", "RECITATION"),
    *("OTHER", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII"),
    "MALFORMED_FUNCTION_CALL",
)
"""The enum's names by number: with ``enum-encoding=int`` a reason is a number."""

_FOREIGN = ("args", "response")
"""Keys whose values are not Google's, so that their names stay."""

_DEEPEST = 16
"""Levels of a document in which keys are Google's."""


class GeminiWire(DocumentWire):
    """Reads the documents of Google's APIs, as the module's docstring says."""

    name = _NAME

    def __init__(self, provider: str | None) -> None:
        super().__init__(provider)
        self._candidates: dict[int, GeminiCandidate] = {}
        self._interaction = Interaction(self)
        self._who = ("", "")
        #: where those documents count that are like the one before
        self._counts: Aside | None = None

    def read(self, value: JsonObject, event: str | None) -> None:
        if is_interaction(value):
            self._interaction.read(value)
            return
        value = _unwrapped(value)
        if _KNOWN.isdisjoint(value):
            self.unread(value, event)
            return
        who = self.text(value, "responseId"), self.text(value, "modelVersion")
        if who != self._who:
            self._who = who
            created = seconds(value.get("createTime"))
            self.identify(id=who[0], model=who[1], created=created)
        for position, item in enumerate(self.objects(value, "candidates")):
            self._candidate(item, position)
        self.choice = 0
        if not _LIVE.isdisjoint(value):
            self._live(value)
        if "promptFeedback" in value:
            self._blocked(value)
        self.count(self.body(value, "usageMetadata"))
        self.fail_if(value, event)

    def again(self, document: Document, parts: list[Part]) -> Again | None:
        """A Part that goes on with text or a thought, and counts beside it."""
        value = document.value
        body = _unwrapped(value)
        before = () if body is value else ("response",)
        is_there = body is value or body is value.get("response")
        if document.event or not (is_there and _says_text(body)):
            return None
        said = parts[0]  # of the only Part there is, if it is not empty
        if not isinstance(said, TextPart | ReasoningPart):
            return None
        candidate, is_thought = self._at(said.choice), isinstance(said, ReasoningPart)

        counted = body.get("usageMetadata")
        has_counts = isinstance(counted, dict)
        told = self._counts_at((*before, "usageMetadata")) if has_counts else None

        def count_again() -> list[Part]:
            nonlocal counted
            if told is not None and told.value is not counted:
                counted = told.value
                self.count(counted)
            return self.parts

        def read(text: str) -> list[Part]:
            self.parts = []
            candidate.go_on(text, is_thought=is_thought)
            return count_again()

        def heeds(text: str) -> list[Part]:
            self.parts = []
            candidate.said(text)
            return count_again()

        texts = ((*before, *_TEXT),)
        unread = frozenset((*before, *place) for place in _UNREAD)
        speaker = None if is_thought else said.choice
        return Again(texts, read, unread, speaker, heeds, told)

    def _counts_at(self, place: DocumentPlace) -> Aside:
        """The counts of documents that are alike, the same for all of one shape."""
        if self._counts is None or self._counts.place != place:
            self._counts = Aside(place)
        return self._counts

    def end(self) -> None:
        for _, candidate in sorted(self._candidates.items()):
            candidate.end_call(cut=True)
            candidate.sources.close()
        self._interaction.close()

    def _candidate(self, item: JsonObject, position: int) -> None:
        self.choice = position
        index = self.number(item, "index")
        self.choice = position if index is None else index
        candidate = self._at(self.choice)
        if "content" in item:
            candidate.read(self.body(item, "content"))
        if not _SOURCES.isdisjoint(item):
            candidate.sources.read(item)
        if (raw := item.get("finishReason")) is not None:
            is_number = type(raw) is int and 0 <= raw < len(_REASONS)
            raw = _REASONS[raw] if is_number else self.text(item, "finishReason")
            if raw:
                self._finish(candidate, item, raw)

    def _at(self, index: int) -> GeminiCandidate:
        candidate = self._candidates.get(index)
        if candidate is None:
            candidate = self._candidates[index] = GeminiCandidate(self, index)
        return candidate

    def _finish(self, candidate: GeminiCandidate, item: JsonObject, raw: str) -> None:
        """A call that the model wrote wrongly is told in the message alone."""
        reason = finish_reason(raw, _NAME)
        candidate.end_call(cut=reason != "stop")
        said = self.text(item, "finishMessage")
        if said and reason == "malformed":
            message = "the provider could not read the model's call"
            self.parts.append(
                DiagnosticPart(
                    "malformed-tool-text", message, "warning", said, self.choice
                )
            )
            candidate.refused(said)
        self.parts.append(FinishPart(raw, reason, self.choice))

    def _blocked(self, value: JsonObject) -> None:
        """A prompt that was blocked has no candidates."""
        reason = self.text(self.body(value, "promptFeedback"), "blockReason")
        if reason and not value.get("candidates"):
            self.parts.append(FinishPart(reason, "content-filter"))

    def _live(self, value: JsonObject) -> None:
        """The Live API: the transcript of what the model says is its answer."""
        candidate, content = self._at(0), self.body(value, "serverContent")
        candidate.read(self.body(content, "modelTurn"))
        candidate.say(self.text(self.body(content, "outputTranscription"), "text"))
        candidate.sources.read(content)
        for call in self.objects(self.body(value, "toolCall"), "functionCalls"):
            candidate.read({"parts": [{"functionCall": call}]})
        if content.get("turnComplete"):
            self.parts.append(DonePart())


def _says_text(value: JsonObject) -> bool:
    """Whether the one candidate says a text in one Part, and no more is read of it."""
    match value.get("candidates"):
        case [{"content": {"parts": [{"text": str()} as part]}} as candidate]:
            is_over = candidate.get("finishReason")
            only = part.keys() <= _TEXTUAL and _SOURCES.isdisjoint(candidate)
            return only and not is_over and _LIVE.isdisjoint(value)
    return False


def _unwrapped(value: JsonObject) -> JsonObject:
    """The response itself, its keys in camel case."""
    inner = value.get("response")
    if isinstance(inner, dict) and _KNOWN.isdisjoint(value):
        value = inner
    return value if _SNAKE.isdisjoint(value) else _camel(value, _DEEPEST)


def _camel(value: Json, depth: int) -> Json:
    if isinstance(value, list) and depth:
        return [_camel(item, depth - 1) for item in value]
    if not isinstance(value, dict) or not depth:
        return value
    return {
        re.sub(r"_([a-z])", lambda found: found[1].upper(), name): (
            item if name in _FOREIGN else _camel(item, depth - 1)
        )
        for name, item in value.items()
    }


def fits(document: Document) -> bool:
    """A document that can only be of this wire; errors alone fit none."""
    value = document.value
    first = value[0] if isinstance(value, list) and value else value
    if not isinstance(first, dict):
        return False
    inner = first.get("response")
    holder = inner if isinstance(inner, dict) else first
    return not (_OWN | _SNAKE).isdisjoint(holder) or is_interaction(first)


ROW = WireRow(_NAME, GeminiWire, fits)
