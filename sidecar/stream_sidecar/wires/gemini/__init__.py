"""Gemini's generateContent and Interactions: the row of the wire."""

from __future__ import annotations

from typing import Any

from stream_sidecar.wires.gemini.content import SIGNATURES, THOUGHT
from stream_sidecar.wires.gemini.interactions import is_interaction
from stream_sidecar.wires.gemini.reader import (
    GEMINI_WRITTEN,
    LIVE_REASONS,
    GeminiWire,
    fits,
)
from stream_sidecar.wires.gemini.refusals import GeminiCleaner
from stream_sidecar.wires.gemini.request import write
from stream_sidecar.wires.gemini.sdk_rules import GeminiSdkRules
from stream_sidecar.wires.gemini.writer import GeminiWriter
from stream_sidecar.wires.shared.request_rules import Rule
from stream_sidecar.wires.shared.request_shapes import RequestShape
from stream_sidecar.wires.shared.row import WireRow
from stream_sidecar.wires.shared.usage import UsageShape

_GOOGLE = "google|gemini|vertex|ai-?studio"
_TURNS: dict[str, Any] = {
    "no_names": "[^a-z0-9_.:-]",
    "issuers": _GOOGLE,
    "one_model": True,
    "no_prefix": "",
    "refuses": frozenset(
        ("broken-pairs", "empty-turns", "models-neighbours", "no-user-turn")
    ),
}
"""Rules from these refusals: "The number of function response parts is equal to the
number of function call parts" (google-gemini/gemini-cli#1690); "a function call turn
comes immediately after a user turn" (google-gemini/gemini-cli#11814); "parts must not
be empty" (vercel/ai#3775); "ends with a user role" (songquanpeng/one-api#836)."""

ROW = WireRow(
    name="gemini",
    title="generateContent and Interactions",
    reader=GeminiWire,
    fits=fits,
    usage=UsageShape(
        input=("promptTokenCount", "total_input_tokens"),
        more_input=(("toolUsePromptTokenCount", "total_tool_use_tokens"),),
        output=("candidatesTokenCount", "responseTokenCount", "total_output_tokens"),
        total=("totalTokenCount", "total_tokens"),
        cache_read=("cachedContentTokenCount", "total_cached_tokens"),
        reasoning=("thoughtsTokenCount", "total_thought_tokens"),
        reasoning_is_more=True,
    ),
    reasons={"other": "error", **LIVE_REASONS},
    writer=GeminiWriter,
    sdk_rules=GeminiSdkRules,
    writer_members=GEMINI_WRITTEN - {"promptFeedback", "finishMessage"},
    stands_alone=True,
    is_extra=lambda value: value.keys().isdisjoint(GEMINI_WRITTEN),
    is_written=lambda value: not is_interaction(value),
    request=write,
    unsigned_field=THOUGHT,
    shape=RequestShape(
        items="contents",
        model="model",
        parts="parts",
        call="functionCall",
        answer="functionResponse",
        answered="id",
        input="args",
        is_parsed=True,
        content="parts",
        is_in_parts=True,
        signatures=SIGNATURES,
        pairs_by_name=True,
    ),
    cleaner=GeminiCleaner,
    rules=(
        Rule(
            "Function call is missing a thought_signature in functionCall parts"
            " (thClaws/thClaws#65); the stand-in for calls of another model:"
            " ai.google.dev/gemini-api/docs/thought-signatures",
            model="gemini-([3-9]|\\d\\d)",
            stand_in="skip_thought_signature_validator",
            **_TURNS,
        ),
        Rule(
            "ai.google.dev/gemini-api/docs/thought-signatures: back on the part on"
            " which it came; Corrupted thought signature, of another model"
            " (google-gemini/gemini-cli#13467)",
            **_TURNS,
        ),
    ),
)
