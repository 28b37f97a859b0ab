"""Token counts and finish reasons, per wire."""

from __future__ import annotations

from typing import Any

import pytest

from stream_sidecar.parts import Document, UsagePart
from stream_sidecar.wires import WIRES
from stream_sidecar.wires.shared.usage import merge_usage, read_usage

# shape, usage -> input, output, total, cache read, cache write, reasoning
COUNTS: tuple[tuple[str, dict[str, Any], tuple[int | None, ...]], ...] = (
    (
        "openai-chat",
        {
            "prompt_tokens": 20,
            "completion_tokens": 30,
            "total_tokens": 50,
            "prompt_tokens_details": {"cached_tokens": 5, "cache_write_tokens": 2},
            "completion_tokens_details": {"reasoning_tokens": 10},
        },
        (20, 30, 50, 5, 2, 10),
    ),
    (  # xAI leaves reasoning out
        "openai-chat",
        {
            "prompt_tokens": 20,
            "completion_tokens": 30,
            "total_tokens": 60,
            "completion_tokens_details": {"reasoning_tokens": 10},
        },
        (20, 40, 60, None, None, 10),
    ),
    (
        "openai-chat",
        {"completion_tokens": 3, "reasoning_tokens": 2, "prompt_cache_hit_tokens": 1},
        (None, 3, None, 1, None, 2),
    ),
    (
        "openai-chat",
        {"prompt_tokens": 4, "completion_tokens": None, "cache_read_input_tokens": 1},
        (4, None, None, 1, None, None),
    ),
    (
        "openai-chat",
        {"prompt_tokens": 9, "prompt_tokens_details": {"cache_creation_tokens": 3}},
        (9, None, None, None, 3, None),
    ),
    (  # Kimi, and DashScope's explicit cache
        "openai-chat",
        {
            "prompt_tokens": 9,
            "cached_tokens": 4,
            "prompt_tokens_details": {"cache_creation_input_tokens": 2},
        },
        (9, None, None, 4, 2, None),
    ),
    (  # Perplexity
        "openai-responses",
        {
            "input_tokens": 7,
            "input_tokens_details": {
                "cache_read_input_tokens": 3,
                "cache_creation_input_tokens": 2,
            },
        },
        (7, None, None, 3, 2, None),
    ),
    (
        "openai-responses",
        {
            "input_tokens": 7,
            "input_tokens_details": {"cached_tokens": 3, "cache_write_tokens": 0},
            "output_tokens": 5,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 12,
        },
        (7, 5, 12, 3, 0, 0),
    ),
    (
        "anthropic",
        {
            "input_tokens": 10,
            "cache_creation_input_tokens": 20,
            "cache_read_input_tokens": 30,
            "output_tokens": 4,
            "output_tokens_details": {"thinking_tokens": 1},
        },
        (60, 4, None, 30, 20, 1),
    ),
    ("anthropic", {"output_tokens": 4}, (None, 4, None, None, None, None)),
    (
        "anthropic",
        {
            "input_tokens": 10,
            "output_tokens": 4,
            "cache_read_input_tokens": 1,
            "iterations": [
                {
                    "type": "compaction",
                    "input_tokens": 100,
                    "output_tokens": 20,
                    "cache_read_input_tokens": 7,
                },
                {"type": "message", "input_tokens": 10, "output_tokens": 4},
                "odd",
            ],
        },
        (118, 24, None, 8, 0, None),
    ),
    (
        "anthropic",
        {"input_tokens": 1, "iterations": [{"type": "message", "input_tokens": 1}]},
        (1, None, None, None, None, None),
    ),
    (
        "gemini",
        {
            "promptTokenCount": 29,
            "candidatesTokenCount": 15,
            "thoughtsTokenCount": 804,
            "totalTokenCount": 848,
            "cachedContentTokenCount": 3,
        },
        (29, 819, 848, 3, None, 804),
    ),
    (  # thoughts already among the candidates
        "gemini",
        {
            "promptTokenCount": 10,
            "toolUsePromptTokenCount": 5,
            "candidatesTokenCount": 20,
            "thoughtsTokenCount": 8,
            "totalTokenCount": 35,
        },
        (15, 20, 35, None, None, 8),
    ),
    (
        "gemini",
        {"candidatesTokenCount": 20, "thoughtsTokenCount": 8},
        (None, 28, None, None, None, 8),
    ),
    (
        "gemini",
        {"promptTokenCount": 10, "thoughtsTokenCount": 8, "totalTokenCount": 18},
        (10, 8, 18, None, None, 8),
    ),
    (
        "gemini",
        {
            "promptTokenCount": 1,
            "candidatesTokenCount": 2,
            "thoughtsTokenCount": 3,
            "totalTokenCount": 9,
        },
        (1, 5, 9, None, None, 3),
    ),
    (
        "gemini",
        {"total_input_tokens": 5, "total_output_tokens": 6, "total_tokens": 11},
        (5, 6, 11, None, None, None),
    ),
    (
        "bedrock-converse",
        {
            "inputTokens": 10,
            "outputTokens": 20,
            "totalTokens": 35,
            "cacheReadInputTokens": 3,
            "cacheWriteInputTokenCount": 2,
        },
        (15, 20, 35, 3, 2, None),
    ),
    (
        "cohere",
        {
            "billed_units": {"input_tokens": 1, "output_tokens": 2},
            "tokens": {"input_tokens": 82.0, "output_tokens": 7},
            "cached_tokens": 64,
        },
        (82, 7, None, 64, None, None),
    ),
    (
        "cohere",
        {"billed_units": {"input_tokens": 1, "output_tokens": 2}, "tokens": None},
        (1, 2, None, None, None, None),
    ),
    (
        "ollama",
        {"done": True, "prompt_eval_count": 26, "eval_count": 298},
        (26, 298, None, None, None, None),
    ),
    (  # what is no count says nothing
        "openai-chat",
        {"prompt_tokens": True, "completion_tokens": -1, "total_tokens": "9"},
        (None,) * 6,
    ),
    ("openai-chat", {"prompt_tokens": 1.5, "completion_tokens": {}}, (None,) * 6),
)


@pytest.mark.parametrize(("wire", "usage", "counts"), COUNTS)
def test_usage_has_one_meaning(
    wire: str, usage: dict[str, Any], counts: tuple[int | None, ...]
) -> None:
    expected = UsagePart(usage, *counts)
    found = read_usage(usage, WIRES[wire].usage)
    assert found == (None if counts == (None,) * 6 else expected)


@pytest.mark.parametrize("value", [None, [], "x", 5, {}])
def test_no_usage(value: Any) -> None:
    assert read_usage(value, WIRES["anthropic"].usage) is None


MERGES = (
    ({"a": 1, "b": 2}, {"a": 3, "b": None}, {"a": 3, "b": 2}),
    ({"d": {"x": 1, "y": 2}}, {"d": {"x": None, "y": 5}}, {"d": {"x": 1, "y": 5}}),
    ({"d": None}, {"d": {"x": 1}}, {"d": {"x": 1}}),
    (None, {"a": 1}, {"a": 1}),
    ({"a": 1}, None, {"a": 1}),
    ({"a": 1}, "odd", "odd"),
)


@pytest.mark.parametrize(("old", "new", "expected"), MERGES)
def test_the_last_count_that_is_not_null_stays(
    old: Any, new: Any, expected: Any
) -> None:
    assert merge_usage(old, new) == expected


def test_counts_in_every_document_are_reported_now_and_then() -> None:
    wire, output_counts = WIRES["gemini"].make(None), list[int]()
    for number in range(70):
        candidate = {"content": {"parts": [{"text": "a"}]}}
        counts = {"candidatesTokenCount": number}
        value = {"candidates": [candidate], "usageMetadata": counts}
        parts = wire.push(Document(value))
        output_counts += [number for each in parts if isinstance(each, UsagePart)]
    (last,) = wire.close()
    assert output_counts == [0, 32, 64]
    assert isinstance(last, UsagePart)
    assert last.output_tokens == 69


def test_counts_beside_a_finish_are_reported_at_once() -> None:
    wire = WIRES["gemini"].make(None)
    for reason in (None, "STOP"):
        candidates = [{"index": 0, "finishReason": reason}]
        value = {"candidates": candidates, "usageMetadata": {"totalTokenCount": 3}}
        assert isinstance(wire.push(Document(value))[-1], UsagePart)
    assert not wire.close()


REASONS = {
    "openai-chat": {
        "stop": "stop",
        "tool_calls": "tool-calls",
        "function_call": "tool-calls",
        "length": "length",
        "content_filter": "content-filter",
        "sensitive": "content-filter",
        "error": "error",
        "network_error": "error",
        "abort": "error",
        "insufficient_system_resource": "error",
        "MALFORMED_FUNCTION_CALL": "malformed",
        "model_length": "length",
        "eos": "stop",
        "function_call_filter: MALFORMED_FUNCTION_CALL": "malformed",
        "content_filter: RECITATION": "content-filter",
        "content_filter: anything": "content-filter",
        "odd: odd": "unknown",
        "load": "unknown",
        "other": "unknown",
        "": "unknown",
        None: "unknown",
    },
    "openai-responses": {
        "completed": "stop",
        "max_output_tokens": "length",
        "content_filter": "content-filter",
        "steered": "pause",
        "failed": "error",
        "cancelled": "cancelled",
    },
    "anthropic": {
        "end_turn": "stop",
        "stop_sequence": "stop",
        "tool_use": "tool-calls",
        "max_tokens": "length",
        "model_context_window_exceeded": "context-length",
        "refusal": "refusal",
        "pause_turn": "pause",
        "compaction": "pause",
    },
    "gemini": {
        "STOP": "stop",
        "requires_action": "tool-calls",
        "MAX_TOKENS": "length",
        "SAFETY": "content-filter",
        "IMAGE_SAFETY": "content-filter",
        "PUP_LIMITED_DISABLED": "content-filter",
        "CONTINUATION": "pause",
        "TOO_MANY_TOOL_CALLS": "pause",
        "UNEXPECTED_TOOL_CALL": "malformed",
        "MISSING_THOUGHT_SIGNATURE": "malformed",
        "OTHER": "error",
        "FINISH_REASON_UNSPECIFIED": "unknown",
    },
    "bedrock-converse": {
        "guardrail_intervened": "content-filter",
        "content_filtered": "content-filter",
        "malformed_model_output": "malformed",
        "malformed_tool_use": "malformed",
    },
    "cohere": {
        "COMPLETE": "stop",
        "STOP_SEQUENCE": "stop",
        "TOOL_CALL": "tool-calls",
        "ERROR_LIMIT": "context-length",
        "ERROR_TOXIC": "content-filter",
        "TIMEOUT": "error",
        "USER_CANCEL": "cancelled",
    },
    "ollama": {"load": "pause", "unload": "pause", "stop": "stop"},
    "text": {
        "REASON_STOP": "stop",
        "REASON_TOOL_CALLS": "tool-calls",
        "REASON_MAX_LEN": "length",
        "REASON_MAX_CONTEXT": "context-length",
        "REASON_TIME_LIMIT": "pause",
        "REASON_INVALID": "error",
    },
}


@pytest.mark.parametrize("wire", REASONS)
def test_finish_reasons(wire: str) -> None:
    expected = REASONS[wire]
    assert {raw: WIRES[wire].reason_of(raw) for raw in expected} == expected
