"""Items of a Responses request: which go whole, which lose their id, which stay."""

from __future__ import annotations

from typing import Any

import pytest

from stream_sidecar.options import Limits, Policy
from stream_sidecar.protocol.methods import METHODS
from stream_sidecar.protocol.sessions import Sessions
from stream_sidecar.wires.shared.item_ids import BOUND_TO_ID, PREFIXES, made_item_id

Json = Any

USER = {"role": "user", "content": "Hi"}
PLAIN: Json = {"type": "reasoning", "id": "rs_1", "summary": []}
SEALED: Json = {**PLAIN, "encrypted_content": "x"}
TEXT = [{"type": "output_text", "text": "Yes."}]
SAID: Json = {"type": "message", "role": "assistant", "content": TEXT}
CALL: Json = {
    "type": "function_call",
    "call_id": "call_1",
    "name": "look",
    "arguments": "{}",
}
OUTPUT = {"type": "function_call_output", "call_id": "call_1", "output": "4"}
SEARCH: Json = {
    "type": "web_search_call",
    "id": "ws_1",
    "action": {"type": "search", "query": "a"},
    "status": "completed",
}
MADE = made_item_id("reasoning", "resp_1", "s", "0")


def _prepare(items: list[Json], store: bool = True, **asked: Json) -> Json:
    body = {"model": "gpt-5", "input": [USER, *items, USER], "store": store}
    params = {"wire": "openai-responses", "provider": "openai", "body": body, **asked}
    result = METHODS["request/prepare"].call(Sessions(Policy(), Limits()), params)
    sent = result.get("body", body)["input"]
    assert result["changed"] == (sent != body["input"])
    return sent[1:-1], [(each["path"], each["what"]) for each in result["lost"]]


def _hosted(kind: str) -> Json:
    """An item of a type that must have an id, and what names it."""
    item = {"type": kind, "id": f"{PREFIXES.get(kind, 'x')}_1", "status": "completed"}
    outputs = {
        "computer_call": ({"call_id": "c"}, "call_id", "computer_call_output"),
        "local_shell_call": ({"call_id": "c"}, "id", "local_shell_call_output"),
        "program": ({"call_id": "c"}, "call_id", "program_output"),
        "mcp_approval_request": (
            {},
            "approval_request_id",
            "mcp_approval_response",
        ),
    }
    more, name, type = outputs.get(kind, ({}, "", ""))
    value = more.get("call_id", item["id"])
    return [item | more] + ([{"type": type, name: value}] if type else [])


@pytest.mark.parametrize("kind", sorted(BOUND_TO_ID - {"program_output"}))
def test_an_item_goes_whole_with_its_reasoning(kind: str) -> None:
    """And what names it, such as the result of a call."""
    sent, lost = _prepare([PLAIN, *_hosted(kind), {**SAID, "id": "msg_1"}], store=False)
    assert sent == [SAID]
    kinds = ["reasoning", "tool-call", "tool-result"][: len(_hosted(kind)) + 1]
    assert [what for _, what in lost] == kinds


def test_an_item_goes_whole_where_the_host_wants_no_reasoning() -> None:
    items = [SEALED, SEARCH, {**CALL, "id": "fc_1"}, OUTPUT]
    sent, lost = _prepare(items, reasoning="none")
    assert sent == [CALL, OUTPUT]
    assert [what for _, what in lost] == ["reasoning", "tool-call"]


@pytest.mark.parametrize("kind", sorted(BOUND_TO_ID - {"program_output"}))
def test_an_item_keeps_the_id_that_it_needs(kind: str) -> None:
    """With its reasoning, and where none came."""
    for items in ([SEALED, *_hosted(kind), SAID], [*_hosted(kind), SAID]):
        assert _prepare(items) == (items, [])


def test_a_call_of_a_program_goes_with_the_program() -> None:
    caller = {"caller": {"type": "program", "caller_id": "p"}}
    program = {"type": "program", "id": "x_1", "call_id": "p", "code": "1"}
    items = [PLAIN, program, CALL | caller, OUTPUT | caller, SAID]
    sent, lost = _prepare(items, store=False)
    assert sent == [SAID]
    assert len(lost) == 4


def test_a_later_call_with_the_id_of_a_lost_one_stays() -> None:
    clicks = _hosted("computer_call")
    items = [PLAIN, *clicks, USER, SEALED, *clicks, SAID]
    sent, lost = _prepare(items, store=False)
    assert [item.get("type") for item in sent[2:-1]] == [c["type"] for c in clicks]
    assert [path for path, _ in lost] == ["/input/1", "/input/2", "/input/3"]


@pytest.mark.parametrize(
    "id", ["call_1", "item_1", "019f629b-43ee-7a82", "ws.1", "", "ws_" + "1" * 70]
)
def test_an_item_whose_id_is_refused(id: str) -> None:
    call, searched = {**CALL, "id": id}, {**SEARCH, "id": id}
    assert _prepare([SEALED, call, OUTPUT, {**SAID, "id": id}])[0] == [
        *(SEALED, CALL, OUTPUT, SAID)
    ]
    sent, lost = _prepare([SEALED, searched, SAID])
    assert sent == [SAID]
    assert [what for _, what in lost] == ["tool-call", "reasoning"]


@pytest.mark.parametrize("provider", ["openai", "azure", "copilot", "chatgpt"])
def test_an_item_goes_once(provider: str) -> None:
    turn = [SEALED, SEARCH, {**CALL, "id": "fc_1"}, OUTPUT]
    sent, lost = _prepare([*turn, USER, *turn], provider=provider)
    again = {**CALL, "call_id": sent[5]["call_id"]}
    assert sent == [*turn, USER, again, {**OUTPUT, "call_id": again["call_id"]}]
    assert [what for _, what in lost] == ["reasoning", "tool-call"]


def test_reasoning_of_another_turn_with_the_same_id_stays() -> None:
    other = {**SEALED, "encrypted_content": "y"}
    bare = {name: other[name] for name in other if name != "id"}
    assert _prepare([SEALED, SAID, USER, other, SAID]) == (
        [SEALED, SAID, USER, bare, SAID],
        [],
    )


@pytest.mark.parametrize(
    ("thought", "is_sent"),
    [
        (PLAIN, True),
        ({**PLAIN, "id": MADE}, False),
        ({**PLAIN, "encrypted_content": ""}, False),
        ({**PLAIN, "content": [{"type": "reasoning_text", "text": "Hm."}]}, False),
        ({**PLAIN, "id": "item_1"}, False),
        ({**PLAIN, "id": ""}, False),
    ],
)
def test_reasoning_goes_by_its_id_if_the_provider_gave_it(
    thought: Json, is_sent: bool
) -> None:
    sent, lost = _prepare([thought, SAID])
    assert sent == ([thought, SAID] if is_sent else [SAID])
    assert bool(lost) != is_sent


def test_reasoning_that_the_sidecar_made_leads_to_nothing() -> None:
    items = [SEALED, {**PLAIN, "id": MADE}, SEARCH, {**SAID, "id": "msg_1"}]
    assert _prepare(items)[0] == [SEALED, *items[2:]]


@pytest.mark.parametrize("provider", ["deepseek", "llama.cpp"])
def test_plain_reasoning_stays_with_open_models(provider: str) -> None:
    said = {**PLAIN, "content": [{"type": "reasoning_text", "text": "Hm."}]}
    items = [said, {**CALL, "id": "x"}, OUTPUT, SAID]
    assert _prepare(items, store=False, provider=provider) == (items, [])


def test_empty_reasoning_is_refused_by_llama_cpp() -> None:
    items = [PLAIN, {**CALL, "id": "fc_1"}, OUTPUT, SAID]
    sent, lost = _prepare(items, provider="llama.cpp")
    assert (sent, lost) == (items[1:], [("/input/1", "reasoning")])


@pytest.mark.parametrize(
    ("action", "sent"),
    [
        ({"type": "search", "query": "a"}, {"query": "a", "queries": ["a"]}),
        ({"type": "search", "query": None}, {"query": None, "queries": []}),
        ({"type": "search", "queries": ["b"]}, {"queries": ["b"]}),
        ({"type": "open_page", "url": "u"}, {"url": "u"}),
        (None, None),
    ],
)
def test_deepseek_has_a_list_of_queries(action: Json, sent: Json) -> None:
    items, _ = _prepare([{**SEARCH, "action": action}, SAID], provider="deepseek")
    assert items[0]["action"] == (sent and {"type": action["type"], **sent})


@pytest.mark.parametrize(
    "named", [{"previous_response_id": "resp_1"}, {"conversation": "conv_1"}]
)
def test_a_result_stays_whose_call_the_server_has(named: Json) -> None:
    body = {"model": "gpt-5", "input": [OUTPUT], **named}
    params = {"wire": "openai-responses", "provider": "openai", "body": body}
    result = METHODS["request/prepare"].call(Sessions(Policy(), Limits()), params)
    assert result == {"changed": False, "lost": []}


def test_a_result_stays_behind_references() -> None:
    names = [{"type": "item_reference", "id": id} for id in ("rs_1", "fc_1")]
    assert _prepare([*names, OUTPUT]) == ([*names, OUTPUT], [])
    sent, lost = _prepare([OUTPUT, *names, SAID])
    assert (sent, lost) == ([*names, SAID], [("/input/1", "tool-result")])


def test_a_reference_goes_once_and_to_items_of_the_server() -> None:
    one, made = ({"type": "item_reference", "id": id} for id in ("rs_1", MADE))
    sent, lost = _prepare([one, made, CALL, OUTPUT, USER, one, SAID])
    assert sent == [one, CALL, OUTPUT, USER, SAID]
    assert [what for _, what in lost] == ["state", "reasoning"]
