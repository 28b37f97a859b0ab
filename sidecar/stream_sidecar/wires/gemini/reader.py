"""The wire ``gemini``: generateContent of all servers, and the Interactions API.

A chunk is a response with less in it. The wire reads AI Studio and Vertex (server-sent
events or a JSON array), Code Assist (wrapped in ``response``), dumps of the Python SDK
(snake case), text of the Live API, and interactions (`gemini.interactions`). Candidates
are choices (wires/README.md, "generateContent and Interactions"). Never raises for any
JSON value: see `shared.document_wire`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stream_sidecar import patterns
from stream_sidecar.parts import CallCancelPart, DiagnosticPart, DonePart, FinishPart
from stream_sidecar.wires.gemini.content import GeminiCandidate
from stream_sidecar.wires.gemini.interactions import Interaction, is_interaction
from stream_sidecar.wires.shared.document_wire import DocumentWire, seconds
from stream_sidecar.wires.shared.fields import first_object

if TYPE_CHECKING:
    from stream_sidecar.events import FinishReason
    from stream_sidecar.parts import Document, Json, JsonObject
    from stream_sidecar.wires.shared.row import WireRow

_OWN = {
    "candidates",
    "promptFeedback",
    "usageMetadata",
    "modelVersion",
    "serverContent",
    "setupComplete",
    "sessionResumptionUpdate",
}
"""Keys of documents that can only be of this wire."""

_KNOWN = _OWN | {
    "toolCall",
    "toolCallCancellation",
    "goAway",
    "responseId",
    "voiceActivity",
    "voiceActivityDetectionSignal",
}
_SNAKE = frozenset(("usage_metadata", "model_version", "prompt_feedback"))

_PLAIN = frozenset(
    ("candidates", "usageMetadata", "modelVersion", "responseId", "createTime")
)
"""Keys of documents that are neither wrapped nor of another API, as nearly all are."""

_LIVE = frozenset(("serverContent", "toolCall"))
_SOURCES = frozenset(("groundingMetadata", "citationMetadata", "urlContextMetadata"))

_CANDIDATE = _SOURCES | frozenset(
    (
        "index",
        "finishReason",
        "finishMessage",
        "safetyRatings",
        "tokenCount",
        "avgLogprobs",
        "continuationToken",
        "logprobsResult",
        "groundingAttributions",
    )
)
"""A candidate's members besides its content."""

GEMINI_WRITTEN = (
    frozenset(("candidates", "content", "parts", "role", "usageMetadata", "error"))
    | frozenset(("modelVersion", "responseId", "finishReason", "finishMessage"))
    | frozenset(("response", "promptFeedback", "serverContent"))
    | _SOURCES
    | _SNAKE
)
"""Members of a document that become events."""

_REASONS = (
    "FINISH_REASON_UNSPECIFIED",
    "STOP",
    "MAX_TOKENS",
    "SAFETY",
    "RECITATION",
    "OTHER",
    "LANGUAGE",
    "BLOCKLIST",
    "PROHIBITED_CONTENT",
    "SPII",
    "MALFORMED_FUNCTION_CALL",
)
"""The enum's names by number: with ``enum-encoding=int`` a reason is a number."""

_BLOCKED = (
    "response_rejected prohibited_input_content image_prohibited_input_content"
    " input_text_contain_prominent_person_prohibited input_image_celebrity"
    " input_image_photo_realistic_child_prohibited input_text_ncii_prohibited"
    " input_other input_ip_prohibited unsafe_prompt_for_image_generation"
    " generated_image_safety generated_content_safety generated_audio_safety"
    " generated_video_safety generated_content_prohibited generated_content_blocklist"
    " generated_image_prohibited generated_image_celebrity generated_image_minors"
    " generated_image_prominent_people_detected_by_rewriter"
    " generated_image_identifiable_people output_image_ip_prohibited generated_other"
)
LIVE_REASONS: dict[str, FinishReason] = {
    "need_more_input": "stop",
    "max_regeneration_reached": "error",
    **dict.fromkeys(_BLOCKED.split(), "content-filter"),
}
"""Words of the Live API for the end of a turn, ``turnCompleteReason``."""

_FOREIGN = ("args", "response")
"""Keys whose values do not come from Google: keys inside them stay as they are."""

_DEEPEST = 16
"""Keys are changed to camel case down to this level of a document."""


class GeminiWire(DocumentWire):
    """Reads the documents of Google's APIs (see the module's docstring)."""

    def __init__(self, row: WireRow, provider: str | None) -> None:
        super().__init__(row, provider)
        self._candidates: dict[int, GeminiCandidate] = {}
        self._interaction = Interaction(self)
        self._identity: tuple[Json, Json] = (None, None)

    def read(self, value: JsonObject, event: str | None) -> None:
        is_plain = _PLAIN.issuperset(value)
        if not is_plain:
            if is_interaction(value):
                self._interaction.read(value)
                return
            value = _unwrapped(value)
        if _KNOWN.isdisjoint(value):
            self.unread(value, event)
            return
        identity = value.get("responseId"), value.get("modelVersion")
        if identity != self._identity:
            self._identity = identity
            id, model = self.text(value, "responseId"), self.text(value, "modelVersion")
            self.identify(id=id, model=model, created=seconds(value.get("createTime")))
        for position, item in enumerate(self.objects(value, "candidates")):
            self._read_candidate(item, position)
        self.choice = 0
        if not is_plain:
            self._read_beside(value)
        self.count(self.body(value, "usageMetadata"))
        if event or not is_plain:  # a plain document has no member for an error
            self.fail_if(value, event)

    def _read_beside(self, value: JsonObject) -> None:
        """Reads the members of a response besides its candidates."""
        if not _LIVE.isdisjoint(value):
            self._live(value)
        if "toolCallCancellation" in value:
            self._cancel(self.body(value, "toolCallCancellation"))
        if "promptFeedback" in value:
            self._blocked(value)

    def end(self) -> None:
        for _, candidate in sorted(self._candidates.items()):
            candidate.end_call(cut=True)
            candidate.sources.close()
        self._interaction.close()

    def _read_candidate(self, item: JsonObject, position: int) -> None:
        self.choice = position
        index = self.number(item, "index")
        self.choice = position if index is None else index
        candidate = self._candidate(self.choice)
        if "content" in item:
            candidate.read(self.body(item, "content"))
        elif not _CANDIDATE.issuperset(item):
            self.unused("candidate", item, _CANDIDATE, len(self.parts))
        if not _SOURCES.isdisjoint(item):
            candidate.sources.read(item)
        if (raw := item.get("finishReason")) is not None:
            is_number = type(raw) is int and 0 <= raw < len(_REASONS)
            raw = _REASONS[raw] if is_number else self.text(item, "finishReason")
            if raw:
                self._finish(candidate, item, raw)

    def _candidate(self, index: int) -> GeminiCandidate:
        candidate = self._candidates.get(index)
        if candidate is None:
            candidate = self._candidates[index] = GeminiCandidate(self, index)
        return candidate

    def _finish(self, candidate: GeminiCandidate, item: JsonObject, raw: str) -> None:
        """Reads a finish. Only its ``finishMessage`` has a call that was malformed."""
        reason = self.row.reason_of(raw)
        candidate.end_call(cut=reason != "stop")
        quote = self.text(item, "finishMessage")
        if quote and reason == "malformed":
            message = "the provider could not read the model's call"
            self.parts.append(
                DiagnosticPart(
                    "malformed-tool-text", message, "warning", quote, self.choice
                )
            )
            candidate.refused(quote)
        elif reason != "stop":
            self.report_details(item, ("finishMessage",))
        self.parts.append(FinishPart(raw, reason, self.choice))

    def _blocked(self, value: JsonObject) -> None:
        """Reads the end of a response without candidates: its prompt was blocked."""
        feedback = self.body(value, "promptFeedback")
        reason = self.text(feedback, "blockReason")
        if reason and not value.get("candidates"):
            self.report_details(feedback, ("blockReasonMessage", "safetyRatings"))
            self.parts.append(FinishPart(reason, "content-filter"))

    def _cancel(self, value: JsonObject) -> None:
        """Reads calls that must not be run: the Live API takes them back."""
        ids = value.get("ids")
        ids = ids if isinstance(ids, list) else []
        self.parts.append(
            CallCancelPart(tuple(id for id in ids if isinstance(id, str)))
        )

    def _live(self, value: JsonObject) -> None:
        """Reads the Live API: the transcript of the model's speech is its answer."""
        candidate, content = self._candidate(0), self.body(value, "serverContent")
        candidate.read(self.body(content, "modelTurn"))
        candidate.say(self.text(self.body(content, "outputTranscription"), "text"))
        candidate.sources.read(content)
        for call in self.objects(self.body(value, "toolCall"), "functionCalls"):
            candidate.read({"parts": [{"functionCall": call}]})
        if content.get("interrupted"):
            self.parts.append(FinishPart("interrupted", "cancelled"))
        if raw := self.text(content, "turnCompleteReason"):
            self.parts.append(FinishPart(raw, self.row.reason_of(raw)))
        if content.get("turnComplete"):
            self.parts.append(DonePart())


def _unwrapped(value: JsonObject) -> JsonObject:
    """The response in ``value`` without its wrapper, with keys in camel case."""
    inner = value.get("response")
    if isinstance(inner, dict) and _KNOWN.isdisjoint(value):
        value = inner
    return value if _SNAKE.isdisjoint(value) else _camel(value, _DEEPEST)


_HUMP = patterns.compile("_([a-z])")


def _camel(value: Json, depth: int) -> Json:
    if isinstance(value, list) and depth:
        return [_camel(item, depth - 1) for item in value]
    if not isinstance(value, dict) or not depth:
        return value
    return {
        _HUMP.sub(lambda match: match[1].upper(), name): (
            item if name in _FOREIGN else _camel(item, depth - 1)
        )
        for name, item in value.items()
    }


def fits(document: Document) -> bool:
    """Whether a document can only be of this wire; an error alone fits no wire."""
    value = first_object(document.value)
    inner = value.get("response")
    holder = inner if isinstance(inner, dict) else value
    return not (_OWN | _SNAKE).isdisjoint(holder) or is_interaction(value)
