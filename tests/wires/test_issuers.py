"""State goes only to models of the maker that issued it: whole requests.

What `message/render` makes of one turn is in ``data/requests.jsonl``.
"""

from __future__ import annotations

import copy
from typing import Any

import pytest

from stream_sidecar.api import normalize, prepare, render
from stream_sidecar.wires.requests.issuers import (
    FOREIGN,
    issuers_in,
    without_foreign,
)
from stream_sidecar.wires.shared.request_rules import Names

Json = Any

FERNET = "gAAAAABpLz5kc2VhbGVk"
GOOGLE = {"google": {"thought_signature": "c2ln"}}
CALL = {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": ""}}
BLOCK = {"type": "thinking", "thinking": "Hm", "signature": "c2ln"}
GPT, CLAUDE, GEMINI, GROK = (
    *("openai/gpt-5.6", "anthropic/claude-opus-4.7", "google/gemini-3-pro"),
    "x-ai/grok-4.1",
)


def _detail(format: str) -> Json:
    return {"type": "reasoning.encrypted", "data": "c2ln", "format": format}


def _details(*formats: str, **more: Json) -> Json:
    return {"reasoning_details": [_detail(each) for each in formats], **more}


FIELDS = {"thinking_blocks": [BLOCK]}
SIGNATURES = {"thought_signatures": ["c2ln"]}
BOTH = {"provider_specific_fields": {**FIELDS, **SIGNATURES}}

STATES: list[tuple[Json, str]] = [
    (_details("xai-responses-v1"), GROK),
    (_details("anthropic-claude-v1"), CLAUDE),
    (_details("google-gemini-v1"), GEMINI),
    (_details("openai-responses-v1"), GPT),
    (_details("azure-openai-responses-v2"), GPT),
    ({"reasoning_details": [{"type": "reasoning.encrypted", "data": FERNET}]}, GPT),
    ({"extra_content": GOOGLE}, GEMINI),
    ({"tool_calls": [{**CALL, "extra_content": GOOGLE}]}, GEMINI),
    ({"tool_calls": [{**CALL, "thought_signature": "c2ln"}]}, GEMINI),
    ({"reasoning_opaque": "c2ln", "model": GEMINI}, GEMINI),
    (FIELDS, CLAUDE),
    ({"provider_specific_fields": FIELDS}, CLAUDE),
    ({"provider_specific_fields": SIGNATURES}, GEMINI),
    (BOTH, GEMINI),
    ({**FIELDS, "metadata": {"model": GEMINI}}, GEMINI),
    ({**FIELDS, "metadata": {"model": "MiniMax-M2"}}, "minimax-m2"),
    ({"reasoning_items": [{"id": "rs_1", "encrypted_content": FERNET}]}, GPT),
    (_details("unknown", model=GROK), GROK),
    (_details("unknown", metadata={"model": CLAUDE}), CLAUDE),
    (_details("unknown", metadata={"hostProvider": "x.ai"}), GROK),
    (_details("unknown", providerID="anthropic", modelID="opus"), CLAUDE),
    (_details("unknown", model_provider="openai"), GPT),
    (_details("google-gemini-v1", model=GROK), GEMINI),
]
"""Members of a model's turn -> a model of the maker that issued their state."""


def _prepared(turn: Json, model: str, provider: str | None) -> tuple[Json, list[str]]:
    call = turn.get("tool_calls")
    answers = [{"role": "tool", "tool_call_id": "call_1", "content": "4"}]
    messages = [
        {"role": "user", "content": "2 + 2?"},
        {"role": "assistant", "content": "4", **turn},
        *(answers if call else []),
        {"role": "user", "content": "Sure?"},
    ]
    body = {"model": model, "messages": messages}
    was = copy.deepcopy(body)
    result = prepare(body, "openai-chat", provider=provider)
    assert body == was
    again = prepare(result.body or body, "openai-chat", provider=provider)
    assert {each.why for each in result.lost} <= {FOREIGN}
    assert (again.changed, again.lost) == (False, [])
    sent = (result.body or body)["messages"][1]
    return sent, [each.path for each in result.lost]


@pytest.mark.parametrize("provider", ["openrouter", "litellm", None])
@pytest.mark.parametrize(("turn", "model"), STATES)
def test_state_goes_to_its_maker_alone(
    turn: Json, model: str, provider: str | None
) -> None:
    for asked in (GPT, CLAUDE, GEMINI, GROK, "mine"):
        if provider is None and asked in (GPT, GROK):
            continue  # these models' own rows refuse more
        sent, lost = _prepared(turn, asked, provider)
        is_kept = asked in (model, "mine")
        assert (sent == {"role": "assistant", "content": "4", **turn}) == is_kept
        assert bool(lost) != is_kept
        assert set(sent) >= {"role", "content"}


def test_models_that_check_no_signature_get_any() -> None:
    sent, lost = _prepared(FIELDS, "mistral-large", "litellm")

    assert (sent["thinking_blocks"], lost) == ([BLOCK], [])


def test_pieces_of_one_list_go_apart() -> None:
    turn = _details("xai-responses-v1", "google-gemini-v1", "made-up-v1")
    sent, lost = _prepared(turn, GEMINI, "openrouter")

    assert sent["reasoning_details"] == turn["reasoning_details"][1:]
    assert lost == ["/messages/1/reasoning_details/0"]


def test_what_else_stands_beside_a_mark_stays() -> None:
    fields = {"thought_signatures": ["c2ln"], "citations": [[]]}
    sent, _ = _prepared({"provider_specific_fields": fields}, CLAUDE, "litellm")

    assert sent["provider_specific_fields"] == {"citations": [[]]}


def _item(**more: Json) -> Json:
    return {"type": "reasoning", "id": f"rs_{'0' * 40}", "summary": [], **more}


ITEMS: list[tuple[Json, str]] = [
    (_item(encrypted_content=FERNET), "gpt-5.6"),
    (_item(encrypted_content="c2ln", format="xai-responses-v1"), "grok-4.1"),
    (_item(encrypted_content="c2ln", format="openai-responses-v1"), "gpt-5.6"),
    (_item(encrypted_content="c2ln", model="x-ai/grok-4.1"), "grok-4.1"),
    ({"type": "compaction", "encrypted_content": FERNET}, "gpt-5.6"),
]
"""Items of Responses -> a model of the maker that issued them."""


@pytest.mark.parametrize("provider", ["openrouter", "openai", "xai", "azure"])
@pytest.mark.parametrize(("item", "model"), ITEMS)
def test_items_go_to_their_maker_alone(item: Json, model: str, provider: str) -> None:
    call = {"type": "function_call", "call_id": "call_1", "name": "f"}
    message = {"type": "message", "role": "assistant", "content": "4", "id": "msg_1"}
    items = [
        {"role": "user", "content": "2 + 2?"},
        item,
        {**call, "arguments": "{}", "id": "fc_1"},
        {"type": "function_call_output", "call_id": "call_1", "output": "4"},
        message,
        {"role": "user", "content": "Sure?"},
    ]
    for asked in ("gpt-5.6", "grok-4.1", "gemini-3-pro"):
        body = {"model": asked, "input": items}
        result = prepare(body, "openai-responses", provider=provider)
        sent = (result.body or body)["input"]
        is_sent = any(each.get("type") == item["type"] for each in sent)
        assert is_sent == (asked == model)
        assert [each.why for each in result.lost] == ([] if is_sent else [FOREIGN])
        if not is_sent and provider != "xai":  # which does not check ids
            assert [each["id"] for each in sent if "id" in each] == []


@pytest.mark.parametrize(
    "block",
    [
        {"type": "thinking", "thinking": "Hm", "signature": FERNET},
        {"type": "redacted_thinking", "data": FERNET},
    ],
)
def test_what_a_proxy_made_of_an_item_is_openais(block: Json) -> None:
    turn = {"role": "assistant", "content": [block, {"type": "text", "text": "4"}]}
    user = {"role": "user", "content": "2 + 2?"}
    body = {"model": "claude-opus-5-5", "messages": [user, turn, user]}
    result = prepare(body, "anthropic", provider="anthropic", headers={})

    sent = (result.body or {})["messages"][1]["content"]
    assert sent == [{"type": "text", "text": "4"}]
    assert [each.path for each in result.lost] == ["/messages/1/content/0"]
    assert result.headers is None
    same = prepare({**body, "model": "gpt-5.6"}, "anthropic", provider="litellm")
    assert not same.changed


@pytest.mark.parametrize("model", ["claude-opus-4-7", "kimi-k2.6", "deepseek-v4-pro"])
def test_signed_thinking_of_a_turn_that_names_its_model(model: str) -> None:
    turn = {"role": "assistant", "content": [BLOCK], "model": "claude-opus-4-7"}
    user = {"role": "user", "content": "2 + 2?"}
    body = {"model": model, "messages": [user, turn, user]}
    result = prepare(body, "anthropic", provider="litellm")

    is_kept = model == "claude-opus-4-7"
    assert (FOREIGN in {each.why for each in result.lost}) != is_kept


def test_gemini_is_given_no_signature_of_a_turn_that_names_another() -> None:
    call = {"functionCall": {"name": "f", "args": {}}, "thoughtSignature": "c2ln"}
    turn = {"role": "model", "parts": [call], "model": "claude-opus-4-7"}
    answer = {"functionResponse": {"name": "f", "response": {"output": 4}}}
    user = {"role": "user", "parts": [{"text": "2 + 2?"}]}
    contents = [user, turn, {"role": "user", "parts": [answer]}]
    result = prepare({"contents": contents}, "gemini", model="gemini-3-pro")

    part = (result.body or {})["contents"][1]["parts"][0]
    assert [each.what for each in result.lost] == ["state"]
    assert part["thoughtSignature"] == "skip_thought_signature_validator"


@pytest.mark.parametrize(
    ("provider", "model", "maker"),
    [
        ("openrouter", "anthropic/claude-opus-4.7", "anthropic"),
        ("azure", "x-ai/grok-4", "xai"),
        ("bedrock", "us.amazon.nova-pro-v1:0", "amazon"),
        ("api.openai.com", "mine", "openai"),
        ("https://api.anthropic.com/v1", "", "anthropic"),
        ("Google AI Studio", "", "google"),
        ("deepseek", "", "deepseek"),
        ("moonshotai", "", "moonshot"),
        ("zai-coding-plan", "", "zai"),
        ("minimax-cn", "", "minimax"),
        ("vertex", "mine", ""),
        ("", "made-up-9.9", ""),
    ],
)
def test_the_maker_is_known_by_the_model_first(
    provider: str, model: str, maker: str
) -> None:
    assert Names(provider, model).maker == maker


@pytest.mark.parametrize("odd", [None, 5, "x", [], {}, [None], [[]], {"google": 5}])
def test_odd_values_raise_nothing(odd: Json) -> None:
    names = ("reasoning_details", "thinking_blocks", "extra_content", "tool_calls")
    for name in (*names, "provider_specific_fields", "metadata", "model", "parts"):
        assert isinstance(issuers_in({name: odd}), dict)
        without_foreign({name: odd, "type": odd, "format": odd}, "xai")


@pytest.mark.parametrize("provider", [None, "copilot", "openai", "azure"])
@pytest.mark.parametrize("name", ["reasoning_details", "reasoning_opaque"])
def test_state_of_a_router_goes_back_where_no_row_of_a_server_refuses_it(
    provider: str | None, name: str
) -> None:
    state = [_detail("openai-responses-v1")] if name.endswith("details") else "c2ln"
    turn = {"role": "assistant", "content": "4", name: state}
    user = {"role": "user", "content": "2 + 2?"}
    body = {"model": GPT, "messages": [user, turn, user]}
    result = prepare(body, "openai-chat", provider=provider)

    assert result.changed == (provider in ("openai", "azure"))


def test_a_message_names_the_hosts_model_where_its_response_names_none() -> None:
    """Converse never names a model, and its signature has no mark."""
    thought = {"reasoningText": {"text": "Hm", "signature": "c2ln"}}
    content = [{"reasoningContent": thought}, {"text": "4"}]
    body = {"output": {"message": {"role": "assistant", "content": content}}}
    read = normalize(
        body, wire="bedrock-converse", model="us.anthropic.claude-opus-4-7"
    )

    kept = render(
        read.message, "anthropic", provider="bedrock", model="claude-opus-4-7"
    )
    other = render(read.message, "anthropic", model="kimi-k2.6")
    assert "c2ln" in str(kept.messages)
    assert "c2ln" not in str(other.messages)
    assert [each.what for each in other.lost] == ["reasoning"]


def test_state_without_a_place_in_the_next_wire_is_reported() -> None:
    item = {
        "type": "reasoning",
        "id": "rs_1",
        "summary": [],
        "encrypted_content": "c2ln",
    }
    text = {"type": "output_text", "text": "4", "annotations": []}
    message = {"type": "message", "id": "msg_1", "role": "assistant", "content": [text]}
    body = {"object": "response", "model": GROK, "output": [item, message]}
    read = normalize(body, wire="openai-responses")

    rendered = render(read.message, "openai-chat", model=GROK, reasoning="all")
    assert [each.what for each in rendered.lost] == ["state"]


def test_a_part_of_gemini_with_a_member_of_null_is_no_call() -> None:
    """A dump of google-genai's objects has each kind of part as a member."""
    text = {"text": "4", "functionCall": None}
    user = {"role": "user", "parts": [{"text": "2 + 2?"}]}
    contents = [user, {"role": "model", "parts": [text]}, user]
    assert not prepare({"contents": contents}, "gemini", model="gemini-3-pro").changed
