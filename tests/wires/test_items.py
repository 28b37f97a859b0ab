"""Items of Responses that are left out, and what goes with them."""

from __future__ import annotations

from typing import Any

import pytest

from stream_sidecar.api import normalize, prepare, render

Json = Any

USER = {"role": "user", "content": "2 + 2?"}
SEARCH = {"type": "web_search_call", "status": "completed"} | {
    "action": {"type": "search", "query": "q"}
}
CALL = {"type": "shell_call", "call_id": "call_1", "status": "completed"} | {
    "action": {"commands": ["ls"]}
}


def _thought(id: str, *, is_sealed: bool = True) -> Json:
    seal = {"encrypted_content": "gAAAAc2ln"} if is_sealed else {}
    return {"type": "reasoning", "id": id, "summary": []} | seal


def _message(id: str) -> Json:
    text = {"type": "output_text", "text": "4", "annotations": []}
    return {"type": "message", "id": id, "role": "assistant", "content": [text]}


def _prepared(*items: Json) -> tuple[list[Json], list[str]]:
    body = {"model": "gpt-5.6", "input": [USER, *items, USER]}
    result = prepare(body, "openai-responses", provider="openai")
    return (result.body or body)["input"][1:-1], [each.path for each in result.lost]


def test_a_hosted_item_that_goes_takes_the_reasoning_that_led_to_it() -> None:
    first, second = _thought("rs_1"), _thought("rs_2")
    own = {**SEARCH, "id": "ws_1"}
    sent, lost = _prepared(first, {**SEARCH, "id": "call_1"}, second, own)
    assert sent == [second, own]
    assert lost == ["/input/2", "/input/1"]

    sent, _ = _prepared(first, {**SEARCH, "id": "call_1"}, _message("msg_1"))
    assert [each.get("id") for each in sent] == [None]


def test_a_hosted_item_without_its_id() -> None:
    """OpenAI: "Missing required parameter: 'input[1].id'"."""
    sent, lost = _prepared(SEARCH, _message("msg_1"))
    assert [each["type"] for each in sent] == ["message"]
    assert lost == ["/input/1"]


def test_reasoning_before_a_result_that_was_added_leads_to_nothing() -> None:
    sent, lost = _prepared({**CALL, "id": "sh_1"}, _thought("rs_1"))
    assert [each["type"] for each in sent] == ["shell_call", "shell_call_output"]
    assert "/input/2" in lost


@pytest.mark.parametrize("is_sealed", [True, False])
def test_a_turn_with_reasoning_that_is_lost(is_sealed: bool) -> None:
    """Its calls go without ids, hosted items and their reasoning not at all."""
    last = _thought("rs_2", is_sealed=is_sealed)
    output = [_thought("rs_1"), {**SEARCH, "id": "ws_1"}, last, {**CALL, "id": "sh_1"}]
    body = {"object": "response", "model": "gpt-5.6", "store": False, "output": output}
    read = normalize(body, wire="openai-responses", provider="openai")
    results: Json = [{"toolCallId": "call_1", "content": "x"}]
    sent = render(read.message, "openai-responses", results=results).messages

    calls = [each for each in sent if each["type"] == "shell_call"]
    assert [each.get("id") for each in calls] == (["sh_1"] if is_sealed else [None])

    alone = {**body, "output": output[:3]}
    read = normalize(alone, wire="openai-responses", provider="openai")
    sent = render(read.message, "openai-responses").messages
    assert [each["type"] for each in sent] == (
        ["reasoning", "web_search_call"] if is_sealed else []
    )
