"""The table of seals: which state of a message is bound, and to what."""

from __future__ import annotations

from typing import Any, get_args

import pytest

from stream_sidecar.wires.requests.seals import BINDINGS, StateKind, seals_in

Json = Any

BEFORE = ("system", "tools", "before")
THOUGHT = {"type": "thinking", "thinking": "Hm", "signature": "c2ln"}
GOOGLES = {"extra_content": {"google": {"thought_signature": "c2ln"}}}
DETAIL = {"type": "reasoning.text", "text": "Hm", "signature": "c2ln"}
SEALED = {"type": "reasoning.encrypted", "data": "c2ln", "format": "xai-responses-v1"}
ITEM = {"type": "reasoning", "id": "rs_1", "encrypted_content": "c2ln"}


@pytest.mark.parametrize(
    ("message", "model", "seals"),
    [
        ({"content": [THOUGHT]}, "claude-opus-5-5", [("/content/0", BEFORE)]),
        (
            {"content": [{"type": "text", "text": "4"}, THOUGHT]},
            "us.anthropic.claude-haiku-5-5-20260901-v1:0",
            [("/content/1", (*BEFORE, "account"))],
        ),
        ({"content": [THOUGHT]}, "claude-opus-4-7", [("/content/0", ("model",))]),
        ({"content": [THOUGHT]}, None, [("/content/0", ("model",))]),
        (
            {"content": [{"reasoningContent": {"reasoningText": THOUGHT}}]},
            "eu.anthropic.claude-opus-5-5-v1:0",
            [("/content/0", BEFORE)],
        ),
        (
            {"content": [{"type": "redacted_thinking", "data": "c2ln"}]},
            "claude-opus-5-5",
            [("/content/0", ("model",))],
        ),
        (
            {"content": [{"reasoningContent": {"redactedContent": "c2ln"}}]},
            None,
            [("/content/0", ("model",))],
        ),
        ({"thinking_blocks": [THOUGHT]}, "opus", [("/thinking_blocks/0", ("model",))]),
        (
            {"reasoning_details": [{"type": "reasoning.text", "text": "Hm"}, SEALED]},
            "x-ai/grok-4.1",
            [("/reasoning_details/1", ("maker",))],
        ),
        (
            {"reasoning_details": [DETAIL]},
            "anthropic/claude-opus-5.5",
            [("/reasoning_details/0", BEFORE)],
        ),
        (
            {"tool_calls": [{"id": "a"}, {"id": "b"} | GOOGLES]},
            None,
            [("/tool_calls/1/extra_content/google", ("part", "maker"))],
        ),
        (
            {"provider_specific_fields": {"thought_signatures": ["c2ln"]}},
            None,
            [("/provider_specific_fields/thought_signatures/0", ("part", "maker"))],
        ),
        (
            {"parts": [{"text": "4", "thoughtSignature": "c2ln"}, {"text": "5"}]},
            "gemini-3-pro",
            [("/parts/0/thoughtSignature", ("part", "maker"))],
        ),
        (ITEM, "gpt-5", [("", ("account", "maker")), ("", ("next-item",))]),
        (
            {"blocks": [{"type": "reasoning", "opaque": ITEM}]},
            None,
            [
                ("/blocks/0/opaque", ("account", "maker")),
                ("/blocks/0/opaque", ("next-item",)),
            ],
        ),
        (
            {"blocks": [{"type": "reasoning", "signature": "c2ln"}]},
            "claude-sonnet-6",
            [("/blocks/0", (*BEFORE, "account"))],
        ),
        (
            {"blocks": [{"signature": "c2ln", "fields": ["thought"]}]},
            None,
            [("/blocks/0", ("part", "maker"))],
        ),
    ],
)
def test_seals_of_a_message(message: Json, model: str | None, seals: Json) -> None:
    assert [(each.path, each.to) for each in seals_in(message, model)] == seals


def test_every_kind_has_a_row_for_any_model() -> None:
    last = {row.kind: row for row in BINDINGS}

    assert set(last) == set(get_args(StateKind))
    for row in BINDINGS:
        assert row.source
        assert all(last[row.kind].fits(each) for each in ("", "made-up-9.9", "\ud800"))


@pytest.mark.parametrize("model", ["", "claude-", "claude-opus-" + "5" * 999, "5.5"])
def test_unknown_models_bind_nothing(model: str) -> None:
    seals = seals_in({"content": [THOUGHT]}, model)
    assert [each.to for each in seals] == [("model",)]


@pytest.mark.parametrize("odd", [None, 5, "x", [], [None], {"x": 1}, True])
def test_odd_values_are_no_seals(odd: Json) -> None:
    names = ("content", "parts", "blocks", "tool_calls", "thinking_blocks")
    assert seals_in(odd) == []
    for name in (*names, "reasoning_details", "extra_content", "type"):
        seals_in({name: odd})
        seals_in({name: [odd], "signature": odd, "opaque": odd})
