"""Documents that say a text in one Part, as most do: their shapes, and reading them
without looking at the rest.

Not a wire: a helper of ``gemini``. Two documents of one `TextShape` differ in a text,
in counts, in who answers and in a signature; all else that the wire reads is the same.
So `ShapeReader` reads one of which only these values are known, in any stream of the
wire (`stream_sidecar.parts.Again`).
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple, Protocol

from stream_sidecar.parts import (
    Again,
    Aside,
    FinishPart,
    MetadataPart,
    ReasoningPart,
    ReasoningStatePart,
    TextPart,
    UsagePart,
)
from stream_sidecar.values.paths import values_at
from stream_sidecar.wires.gemini.content import SIGNATURE, THOUGHT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stream_sidecar.parts import DocumentPlace, Json, JsonObject, Part
    from stream_sidecar.wires.gemini.content import GeminiCandidate

SAYING = frozenset(
    (MetadataPart, TextPart, ReasoningPart, ReasoningStatePart, FinishPart, UsagePart)
)
"""Parts that such a document gives; one with something malformed in it gives others."""

SOURCE_METADATA = frozenset(
    ("groundingMetadata", "citationMetadata", "urlContextMetadata")
)
LIVE = frozenset(("serverContent", "toolCall"))
_MORE = LIVE | {"promptFeedback", "error"}
_TEXTUAL = frozenset(("text", THOUGHT, SIGNATURE))

_CANDIDATE = ("candidates", 0)
_PART = (*_CANDIDATE, "content", "parts", 0)
_CREATED = ("createTime",)
_STEADY = (("responseId",), ("modelVersion",), _CREATED, (*_PART, SIGNATURE))
_UNREAD = (_CREATED, (*_CANDIDATE, "safetyRatings"))
"""Places of which nothing is read once it is known who answers."""


class TextShape(NamedTuple):
    """``before`` is where the response is in the document, ``reason`` why it is the
    last one, if it is."""

    before: DocumentPlace
    choice: int
    is_thought: bool
    is_signed: bool
    reason: str
    has_counts: bool


def shape_of(value: JsonObject, body: JsonObject) -> TextShape | None:
    """That of the document ``value``, whose response is the ``body``; None where more
    may be said."""
    before: DocumentPlace = () if body is value else ("response",)
    if (before and body is not value.get("response")) or not _MORE.isdisjoint(body):
        return None
    match body.get("candidates"):
        case [{"content": {"parts": [{"text": str()} as part]}} as candidate]:
            only = part.keys() <= _TEXTUAL and SOURCE_METADATA.isdisjoint(candidate)
            reason = candidate.get("finishReason")
            if only and (reason is None or isinstance(reason, str)):
                return TextShape(
                    before,
                    choice=candidate.get("index") or 0,
                    is_thought=part.get(THOUGHT) is True,
                    is_signed=SIGNATURE in part,
                    reason=reason or "",
                    has_counts=isinstance(body.get("usageMetadata"), dict),
                )
    return None


@cache
def _places(
    before: DocumentPlace,
) -> tuple[
    DocumentPlace,
    DocumentPlace,
    tuple[DocumentPlace, ...],
    frozenset[DocumentPlace],
]:
    """The places of the text, of the counts, of what is steady and what is not read."""
    steady = tuple([(*before, *place) for place in _STEADY])
    unread = frozenset([(*before, *place) for place in _UNREAD])
    return (*before, *_PART, "text"), (*before, "usageMetadata"), steady, unread


class _Wire(Protocol):
    """What reads a document, a piece at a time; ``counted``: what counts it was told
    last."""

    parts: list[Part]
    choice: int
    counted: JsonObject

    def answers(self, id: str, model: str, created: Json) -> None: ...

    def candidate(self, index: int) -> GeminiCandidate: ...

    def finish(
        self, candidate: GeminiCandidate, item: JsonObject, raw: str
    ) -> None: ...

    def tell(self, counts: JsonObject) -> None: ...


class ShapeReader:
    """Reads documents of one ``shape`` in the stream of a ``wire``."""

    def __init__(self, wire: _Wire, shape: TextShape) -> None:
        text, counts, steady, unread = _places(shape.before)
        self._wire, self._shape = wire, shape
        self._counts = Aside(counts) if shape.has_counts else None
        self._steady: Sequence[Json] = ()
        is_plain = not (shape.is_thought or shape.is_signed or shape.reason)
        self.again = Again(
            texts=(text,),
            read=self._read,
            unread=unread,
            speaker=shape.choice if is_plain else None,
            heeds=self._heeds if is_plain else None,
            told=self._counts,
            shape=shape,
            steady=steady,
            takes=self._take,
        )

    def learn(self, value: JsonObject, counts: JsonObject) -> None:
        """A document ``value`` has been read, and its ``counts``."""
        found = dict(values_at(value, self.again.steady))
        self._steady = [found.get(place) for place in self.again.steady]
        if self._counts:
            self._counts.value = counts

    def _take(self, steady: Sequence[Json]) -> None:
        self._steady = steady

    def _read(self, text: str) -> list[Part]:
        """The parts of a document that says ``text``, in their order."""
        wire, (_, choice, is_thought, _, reason, _) = self._wire, self._shape
        id, model, created, signature = self._steady
        wire.parts, wire.choice = [], choice
        wire.answers(id or "", model or "", created)
        candidate = wire.candidate(choice)
        candidate.take(text, signature, is_thought=is_thought)
        if reason:
            wire.finish(candidate, {}, reason)
        wire.choice = 0
        return self._count()

    def _heeds(self, text: str) -> list[Part]:
        self._wire.parts = []
        self._wire.candidate(self._shape.choice).said(text)
        return self._count()

    def _count(self) -> list[Part]:
        """What is told last; the same counts are told again and again."""
        wire, counts = self._wire, self._counts
        if counts and counts.value is not wire.counted:
            wire.tell(counts.value)
        return wire.parts
