"""request/prepare: what a host sends is clean, and nothing of it is refused."""

from __future__ import annotations

from typing import Any

import pytest

from stream_sidecar.options import Limits, Policy
from stream_sidecar.protocol.methods import METHODS
from stream_sidecar.protocol.sessions import Sessions
from stream_sidecar.wires.shared.item_ids import made_item_id

USER = {"role": "user", "content": "Hi"}
THOUGHT = {"role": "assistant", "content": "Hi", "reasoning_content": "Hm."}
LEAK = {"role": "assistant", "content": "<think>Hm.</think>Hi"}
CLEAN = {"role": "assistant", "content": "Hi"}


def _prepare(
    wire: str, body: dict[str, Any], limits: Limits | None = None, **asked: Any
) -> Any:
    params = {"wire": wire, "body": body, **asked}
    sessions = Sessions(Policy(), limits or Limits())
    return METHODS["request/prepare"].call(sessions, params)


def _chat(turn: dict[str, Any], *more: Any, **asked: Any) -> Any:
    given = [USER, turn, *(more or [USER])]
    result = _prepare("openai-chat", {"model": "m", "messages": given}, **asked)
    messages = result.get("body", {"messages": given})["messages"]
    assert result["changed"] == ("body" in result) == (messages != given)
    return messages[1], [each["what"] for each in result["lost"]]


@pytest.mark.parametrize(
    ("provider", "model", "turn", "lost"),
    [
        ("groq", "m", CLEAN, ["reasoning"]),
        ("api.groq.com", "m", CLEAN, ["reasoning"]),
        ("openai", "gpt-5", CLEAN, ["reasoning"]),
        ("deepseek", "deepseek-reasoner", CLEAN, ["reasoning"]),
        ("deepseek", "deepseek-v3.2", THOUGHT, []),
        ("cerebras", "m", {**CLEAN, "reasoning": "Hm."}, []),
        ("openrouter", "m", THOUGHT, []),
        (None, None, THOUGHT, []),
    ],
)
def test_reasoning_goes_where_it_is_taken(
    provider: str | None, model: str | None, turn: dict[str, Any], lost: list[str]
) -> None:
    assert _chat(THOUGHT, provider=provider, model=model) == (turn, lost)


def test_mistral_has_thinking_in_the_content() -> None:
    turn, lost = _chat(THOUGHT, provider="mistral")
    said = {"type": "text", "text": "Hi"}
    thought = {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}
    assert turn == {"role": "assistant", "content": [thought, said]}
    assert lost == []


def test_text_is_cleaned_whoever_gets_it() -> None:
    assert _chat(LEAK) == (CLEAN, [])


def test_minimax_keeps_its_tags() -> None:
    assert _chat(LEAK, provider="minimax", model="minimax-m2") == (LEAK, [])


@pytest.mark.parametrize(("claims", "lost"), [("drop", ["tool-call"]), ("include", [])])
def test_calls_in_text(claims: str, lost: list[str]) -> None:
    call = '<tool_call>{"name": "look", "arguments": {}}</tool_call>'
    turn = {"role": "assistant", "content": f"Hi{call}"}
    assert _chat(turn, model="qwen3", claims=claims) == (
        CLEAN if lost else turn,
        lost,
    )


def test_the_tools_of_the_body_are_declared() -> None:
    call = '<tool_call>{"name": "look", "arguments": {}}</tool_call>'
    items = [USER, {"role": "assistant", "content": f"Hi\n{call}"}, USER]
    tools = [{"type": "function", "function": {"name": "look", "parameters": {}}}]
    body = {"model": "qwen3", "messages": items, "tools": tools}
    result = _prepare("openai-chat", body)
    assert result["body"]["messages"][1]["content"].strip() == "Hi"
    assert result["body"]["tools"] == tools


def test_a_prefix_stays() -> None:
    body = {"messages": [USER, LEAK]}
    assert _prepare("openai-chat", body, provider="groq") == {
        "changed": False,
        "lost": [],
    }


def test_a_turn_of_which_nothing_would_be_left_stays() -> None:
    turn = {"role": "assistant", "content": "<think>Hm.</think>"}
    assert _chat(turn) == (turn, ["text"])


def test_no_later_turn_matters() -> None:
    turns = [USER, LEAK, USER, THOUGHT, USER]
    short = _prepare("openai-chat", {"messages": turns[:3]}, provider="groq")
    long = _prepare("openai-chat", {"messages": turns}, provider="groq")
    assert long["body"]["messages"][:3] == short["body"]["messages"]


def test_an_id_is_replaced_in_call_and_answer() -> None:
    function = {"name": "look", "arguments": "{"}
    call = {"type": "function", "id": "call_1", "function": function}
    turn = {"role": "assistant", "content": None, "tool_calls": [call]}
    answer = {"role": "tool", "tool_call_id": "call_1", "content": "4"}
    items = [USER, turn, answer]
    result = _prepare("openai-chat", {"messages": items}, provider="mistral")
    _, turn, answer = result["body"]["messages"]
    assert turn["tool_calls"][0]["id"] == answer["tool_call_id"] != "call_1"
    assert turn["tool_calls"][0]["function"]["arguments"] == "{}"
    whats = {each["what"] for each in result["lost"]}
    assert whats == {"tool-call-id", "arguments"}


@pytest.mark.parametrize(
    ("wire", "model"),
    [("anthropic", "claude-opus-4-5"), ("bedrock-converse", "anthropic.claude")],
)
def test_unsigned_thinking_is_refused(wire: str, model: str) -> None:
    thoughts: dict[str, Any] = {
        "anthropic": {"type": "thinking", "thinking": "Hm.", "signature": ""},
        "bedrock-converse": {"reasoningContent": {"reasoningText": {"text": "Hm."}}},
    }
    text = {"type": "text", "text": "Hi"}
    blank = {"type": "text", "text": " "}
    turn = {"role": "assistant", "content": [thoughts[wire], text, blank]}
    body = {"messages": [USER, turn, USER]}
    result = _prepare(wire, body, model=model)
    assert result["body"]["messages"][1]["content"] == [text]
    assert [each["what"] for each in result["lost"]] == ["reasoning", "text"]
    assert _prepare(wire, body, model=model, reasoning="none")["changed"]
    assert not _prepare("anthropic", body)["changed"]  # nobody knows who that is


def test_signed_thinking_stays() -> None:
    thought = {"type": "thinking", "thinking": "Hm.", "signature": "abc="}
    turn = {"role": "assistant", "content": [thought, {"type": "text", "text": "Hi"}]}
    body = {"model": "claude-opus-4-5", "messages": [USER, turn, USER]}
    assert not _prepare("anthropic", body)["changed"]


def test_an_item_that_no_server_gave_is_refused() -> None:
    made = {"type": "reasoning", "id": made_item_id("reasoning", "r"), "summary": []}
    given = {"type": "reasoning", "id": "rs_0", "summary": []}
    sealed = {"type": "reasoning", "summary": [], "encrypted_content": "x"}
    items = [USER, made, given, {**made, **sealed}, CLEAN, USER]
    body = {"model": "gpt-5", "input": items}
    result = _prepare("openai-responses", body, provider="openai")
    assert result["body"]["input"] == [USER, given, sealed, CLEAN, USER]
    assert [each["path"] for each in result["lost"]] == ["/input/1"]
    assert not _prepare("openai-responses", body)["changed"]


def test_what_a_lost_item_led_to_has_no_id() -> None:
    given = {"type": "reasoning", "id": "rs_" + "0a" * 24, "summary": []}
    call = {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}
    answer = {"type": "function_call_output", "call_id": "c", "output": "4"}
    items = [USER, given, {**call, "id": "fc_1"}, answer]
    body = {"model": "gpt-5", "input": items, "store": False}
    result = _prepare("openai-responses", body, provider="openai")
    assert result["body"]["input"] == [USER, call, answer]


def test_a_call_of_gemini_has_a_signature() -> None:
    call = {"functionCall": {"name": "look", "args": {}}}
    user = {"role": "user", "parts": [{"text": "Hi"}]}
    items = [user, {"role": "model", "parts": [call, call]}, user]
    result = _prepare("gemini", {"contents": items}, model="gemini-3-pro")
    first, second = result["body"]["contents"][1]["parts"]
    assert first["thoughtSignature"] == "skip_thought_signature_validator"
    assert second == call


@pytest.mark.parametrize(
    ("body", "limits"),
    [
        ({"messages": [USER, LEAK, USER]}, Limits(max_document_chars=8)),
        ({"messages": [USER, LEAK, USER], "seed": 10**30}, Limits()),
    ],
)
def test_a_body_that_cannot_be_written_stays(
    body: dict[str, Any], limits: Limits
) -> None:
    result = _prepare("openai-chat", body, limits)
    assert not result["changed"]
    assert [each["what"] for each in result["lost"]] == ["body"]


@pytest.mark.parametrize(
    "items", [None, "Hi", {}, [None, 1, [], {"role": "assistant"}, {"content": [1]}]]
)
@pytest.mark.parametrize(
    "wire", ["openai-chat", "openai-responses", "anthropic", "gemini", "cohere"]
)
def test_any_body_is_taken(wire: str, items: Any) -> None:
    body = dict.fromkeys(("messages", "contents", "input", "tools"), items)
    assert not _prepare(wire, body, provider="openai", model="gpt-5")["changed"]


HALF = {"role": "user", "content": "a\ud83d"}


def test_half_a_character_goes_wherever_it_stands() -> None:
    tools = [
        {"type": "function", "function": {"name": "f", "\udc00": {"a/b": "\ud83d"}}}
    ]
    body = {"model": "m", "messages": [HALF, CLEAN, HALF], "tools": tools}

    result = _prepare("openai-chat", body)

    whole = {"role": "user", "content": "a\ufffd"}
    assert result["changed"]
    assert result["body"]["messages"] == [whole, CLEAN, whole]
    (tool,) = result["body"]["tools"]
    assert tool["function"] == {"name": "f", "\ufffd": {"a/b": "\ufffd"}}
    assert [each["path"] for each in result["lost"]] == [
        "/messages/0/content",
        "/messages/2/content",
        "/tools/0/function",
        "/tools/0/function/\udc00/a~1b",
    ]
    assert _prepare("openai-chat", result["body"]) == {"changed": False, "lost": []}


def test_a_body_that_cannot_be_written_stays_with_its_halves() -> None:
    result = _prepare("openai-chat", {"messages": [HALF], "seed": 10**30})
    assert [each["path"] for each in result["lost"]] == [""]
    assert not result["changed"]
