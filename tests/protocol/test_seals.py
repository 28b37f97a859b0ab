"""Signed thinking that is bound to the conversation before it.

The server seals each thinking block with a hash of what stands before it, and refuses a
request in which a signature does not fit, as `refusing.unfit_seals` says.
"""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some
from refusing import seal, unfit_seals

from stream_sidecar.api import prepare, repair
from stream_sidecar.wires.requests.seals import BETA, binding_of

Json = Any

LEAK = "<think>So.</think>Four."


@pytest.mark.parametrize(
    ("model", "is_bound"),
    [
        ("claude-opus-5-5", True),
        ("anthropic/claude-fable-5.1", True),
        ("us.anthropic.claude-sonnet-5-5-20260901-v1:0", True),
        ("claude-haiku-5-5@20260901", True),
        ("claude-mythos-6", True),
        ("Claude-Opus-5.5:beta", True),
        ("claude-opus-5-20260901", False),
        ("claude-sonnet-4-5-20250929", False),
        ("claude-3-7-sonnet-latest", False),
        ("gpt-6", False),
        ("", False),
        (None, False),
    ],
)
def test_a_model_binds_from_a_version_on(model: str | None, is_bound: bool) -> None:
    assert (binding_of(model) is not None) == is_bound


def _body(texts: list[list[str]]) -> Json:
    messages: list[Json] = []
    for turn in texts:
        messages.append({"role": "user", "content": "2 + 2?"})
        blocks: list[Json] = []
        for text in turn:
            blocks.append({"type": "thinking", "thinking": "Hm", "signature": ""})
            blocks.append({"type": "text", "text": text})
        messages.append({"role": "assistant", "content": blocks})
    messages.append({"role": "user", "content": "Sure?"})
    body = {
        "model": "claude-opus-5-5",
        "max_tokens": 9,
        "thinking": {"type": "adaptive"},
        "messages": messages,
    }
    seal(body)
    return body


TURNS = some.lists(
    some.lists(some.sampled_from([LEAK, "Four."]), min_size=1, max_size=2),
    min_size=1,
    max_size=6,
)


@given(TURNS, some.booleans())
def test_no_edit_makes_a_provider_refuse(turns: list[list[str]], given: bool) -> None:
    body = _body(turns)
    was = copy.deepcopy(body)
    headers = {"Anthropic-Beta": "mine"} if given else None
    result = prepare(body, "anthropic", provider="anthropic", headers=headers)

    assert body == was
    assert not unfit_seals(body, headers or {})
    now = result.body or body
    assert not unfit_seals(now, {**(headers or {}), **(result.headers or {})})
    if LEAK not in [text for turn in turns for text in turn]:
        assert (result.changed, result.lost, result.headers) == (False, [], None)


def test_the_beta_is_added_to_the_hosts_own() -> None:
    headers = {"Anthropic-Beta": "mine"}
    body = _body([[LEAK], ["Four."]])
    result = prepare(body, "anthropic", provider="anthropic", headers=headers)

    assert result.headers == {"Anthropic-Beta": f"mine,{BETA}"}
    assert result.lost == []


def test_on_bedrock_the_beta_stands_in_the_body() -> None:
    body = _body([[LEAK], ["Four."]])
    body["anthropic_beta"] = ["mine"]
    result = prepare(body, "anthropic", provider="bedrock")

    assert result.headers is None
    assert (result.body or {})["anthropic_beta"] == ["mine", BETA]


def test_another_value_of_the_host_stays() -> None:
    body = _body([[LEAK], ["Four."]])
    behavior = {"prefix_mismatch_behavior": "error"}
    body["thinking"]["block_binding"] = behavior
    result = prepare(body, "anthropic", provider="anthropic", headers={})

    assert (result.body or {})["thinking"]["block_binding"] == behavior
    assert [each.path for each in result.lost] == ["/messages/3/content/0"]


def test_thinking_that_the_body_demands_is_bound() -> None:
    body = _body([[LEAK], ["Four."]])
    body["thinking"] = {"type": "enabled", "budget_tokens": 1024}
    call = {"type": "tool_use", "id": "toolu_1", "name": "read", "input": {}}
    body["messages"][3]["content"].append(call)
    answer = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "x"}
    body["messages"][4]["content"] = [answer]
    result = prepare(body, "anthropic", provider="anthropic")

    assert (result.changed, [each.what for each in result.lost]) == (False, ["bound"])


@pytest.mark.parametrize("value", [["a", "b"], None, 7, ""])
def test_odd_headers_raise_nothing(value: Json) -> None:
    body = _body([[LEAK], ["Four."]])
    headers = {"ANTHROPIC-BETA": value}
    result = prepare(body, "anthropic", provider="anthropic", headers=headers)

    assert (result.headers or {})["ANTHROPIC-BETA"].endswith(BETA)


def test_a_model_that_binds_nothing_keeps_its_seals() -> None:
    body = _body([[LEAK], ["Four."]]) | {"model": "claude-opus-5-20260901"}
    result = prepare(body, "anthropic", provider="anthropic", headers={})

    assert (result.lost, result.headers) == ([], None)
    assert (result.body or {})["messages"][3] == body["messages"][3]


def test_a_repair_leaves_text_that_a_seal_is_bound_to() -> None:
    body = _body([[LEAK], ["Four.", LEAK]])
    messages = body["messages"]
    results = repair(messages, model=body["model"]).results

    assert [bool(each.bound) for each in results] == [i == 1 for i in range(5)]
    assert [each.changed for each in results] == [False, False, False, True, False]
    free = repair(messages, model="claude-opus-5").results
    assert [each.changed for each in free] == [False, True, False, True, False]
