"""Edits of stored sessions that their agents still read."""

from __future__ import annotations

from typing import Any

import pytest

from stream_sidecar.history.paths import pointer_to
from stream_sidecar.resume import claude_code, codex, pi
from stream_sidecar.resume.conversation import StoredPlace
from stream_sidecar.resume.findings import FileEdit
from stream_sidecar.resume.records import StoredRecord
from stream_sidecar.resume.sessions import findings_in


def stored(values: list[Any]) -> list[StoredRecord]:
    return [StoredRecord(number, value) for number, value in enumerate(values)]


def told(edits: tuple[FileEdit, ...]) -> list[str]:
    return [
        f"{edit.source.record.number} {pointer_to(edit.source.path)} {edit.new}"
        for edit in edits
    ]


@pytest.mark.parametrize(
    ("path", "edited"),
    [
        (("payload",), "0 /payload"),
        (("payload", "encrypted_content"), "0 /payload"),
        (
            ("payload", "replacement_history", 1, "encrypted_content"),
            "0 /payload/replacement_history/1",
        ),
    ],
)
def test_item_of_codex_becomes_one_that_is_not_sent(
    path: tuple[str | int, ...], edited: str
) -> None:
    source = StoredPlace(StoredRecord(0, {}), path)
    assert told(codex.without_item(source)) == [f'{edited} {{"type": "other"}}']


def test_message_of_pi_keeps_its_entry() -> None:
    record = StoredRecord(0, {})
    call = StoredPlace(record, ("message", "content", 2, "id"))
    assert told(pi.without_item(call)) == ["0 /message/content/2 None"]
    for path in (("message",), ("message", "toolCallId")):
        assert told(pi.without_item(StoredPlace(record, path))) == ['0 /type "custom"']


@pytest.mark.parametrize(
    ("ordinals", "kinds", "edits"),
    [
        ((0, 1, 2), [], []),
        ((None, None, None), [], []),
        ((4, 5, 9), [], []),
        ((0, 1, None), ["refused"], [["2 /ordinal 2"]]),
        ((0, None, 2), ["left-out"], [["1 /ordinal 1"]]),
        ((0, 1, 1, 2, 9), ["left-out"], [["2 /ordinal 2", "3 /ordinal 3"]]),
        ((0, None, 1), ["left-out"], [["1 /ordinal 1", "2 /ordinal 2"]]),
        ((0, 0, 0), ["left-out"] * 2, [["1 /ordinal 1"], ["2 /ordinal 2"]]),
    ],
)
def test_ordinals_of_codex_rise(
    ordinals: tuple[int | None, ...], kinds: list[str], edits: list[list[str]]
) -> None:
    record = {"type": "event_msg", "payload": {"type": "token_count"}}
    values = [
        record if number is None else {**record, "ordinal": number}
        for number in ordinals
    ]
    found = [each for each in findings_in(stored(values)) if each.rule == "ordinal"]
    assert [each.kind for each in found] == kinds
    assert [told(each.edits) for each in found] == edits


def turn(id: str, parent: str | None, role: str, *content: Any) -> dict[str, Any]:
    message = {"role": role, "content": [*content], "id": id}
    return {"uuid": id, "parentUuid": parent, "type": role, "message": message}


TEXT = {"type": "text", "text": "Hi"}


def test_record_of_claude_code_is_joined_to_the_one_before() -> None:
    records = stored(
        [
            turn("a", None, "user", TEXT),
            turn("b", "a", "assistant", TEXT),
            turn("c", "x", "user", TEXT),
        ]
    )
    (conversation,) = claude_code.conversations(records)
    assert [told(left.edits) for left in conversation.left_out] == [
        ['2 /parentUuid "b"']
    ]


def test_result_of_claude_code_is_joined_to_the_branch_that_goes_on() -> None:
    calls = ({"type": "tool_use", "id": id, "name": "x", "input": {}} for id in "12")
    results = [{"type": "tool_result", "tool_use_id": id} for id in "12"]
    records = stored(
        [
            turn("a", None, "assistant", *calls),
            turn("b", "a", "user", results[0]),
            turn("c", "a", "user", results[1]),
            turn("d", "c", "assistant", TEXT),
        ]
    )
    (conversation,) = claude_code.conversations(records)
    assert [told(left.edits) for left in conversation.left_out] == [
        ['2 /parentUuid "b"']
    ]


def opencode(provider: str, *parts: dict[str, Any]) -> list[StoredRecord]:
    """The rows of a session: a question, and an answer of these parts."""
    model = {"providerID": provider, "modelID": "m"}
    rows: list[Any] = [
        {"id": "1", "data": {"role": "user", "time": {"created": 1}, "model": model}},
        {"id": "2", "data": {"role": "assistant", "time": {"created": 2}, **model}},
        {"id": "3", "message_id": "1", "data": {"type": "text", "text": "Look."}},
    ]
    rows += [
        {"id": str(4 + number), "message_id": "2", "data": part}
        for number, part in enumerate(parts)
    ]
    return [
        StoredRecord(number, {"session_id": "s", **row}, {"table": "t", "row": number})
        for number, row in enumerate(rows)
    ]


def done(name: str, id: str = "a") -> dict[str, Any]:
    state = {"status": "completed", "input": {"name": "Ada"}, "output": "4"}
    return {"type": "tool", "tool": name, "callID": id, "state": state}


@pytest.mark.parametrize("provider", ["anthropic", "openai", "google", "mistral"])
def test_name_of_a_tool_changes_where_opencode_has_it(provider: str) -> None:
    rows = opencode(provider, done("look\0"), {"type": "text", "text": "Four."})
    found = [x for x in findings_in(rows) if x.rule == "name-characters"]
    assert {each for x in found for each in told(x.edits)} == {'3 /data/tool "look_"'}


def test_name_of_a_tool_changes_where_other_agents_have_it() -> None:
    called = {"name": "look\0", "arguments": {"name": "Ada"}}
    asked = {"type": "toolRequest", "id": "a", "toolCall": {"value": called}}
    answered = {"type": "toolResponse", "id": "a", "toolResult": {"value": []}}
    config = {"provider_name": "anthropic", "model_config_json": {"model_name": "m"}}
    rows = [
        {"id": "s", **config},
        {"session_id": "s", "role": "user", "content_json": [TEXT]},
        {"session_id": "s", "role": "assistant", "content_json": [asked]},
        {"session_id": "s", "role": "user", "content_json": [answered]},
        {"session_id": "s", "role": "assistant", "content_json": [TEXT]},
    ]
    found = [x for x in findings_in(stored(rows)) if x.rule == "name-characters"]
    assert [told(each.edits) for each in found] == [
        ['2 /content_json/0/toolCall/value/name "look_"']
    ]


def test_part_of_opencode_goes_with_its_row() -> None:
    thought = {"type": "reasoning", "text": "Hm.", "metadata": {"anthropic": {}}}
    thought["metadata"]["anthropic"]["signature"] = ""
    rows = opencode("anthropic", thought, {"type": "text", "text": "Four."})
    (found,) = findings_in(rows)
    assert (found.rule, told(found.edits)) == ("signature-missing", ["3 /data None"])


CALL = {"type": "function_call", "call_id": "a", "name": "look", "arguments": "{}"}
OUTPUT = {"type": "function_call_output", "call_id": "a", "output": "4"}
ASKED, ANSWERED = (
    {"type": "message", "role": role, "content": [{"type": kind, "text": "Hi"}]}
    for role, kind in (("user", "input_text"), ("assistant", "output_text"))
)


@pytest.mark.parametrize(
    ("items", "rule", "edited"),
    [
        ((CALL, CALL, OUTPUT), "repeated-id", 3),
        ((CALL, OUTPUT, OUTPUT), "two-results", 3),
        ((CALL, {**CALL, "arguments": "[1]"}, OUTPUT), "call-without-result", None),
    ],
)
def test_what_codex_wrote_twice_goes_once(
    items: tuple[Any, ...], rule: str, edited: int | None
) -> None:
    meta = {"type": "session_meta", "payload": {"model_provider": "openai"}}
    sent = ({"type": "response_item", "payload": x} for x in (ASKED, *items, ANSWERED))
    found = [x for x in findings_in(stored([meta, *sent])) if x.rule == rule]
    gone = [] if edited is None else [f'{edited} /payload {{"type": "other"}}']
    assert [told(each.edits) for each in found] == [gone]


def test_ids_that_need_reasoning_go_with_it() -> None:
    """Up to the next reasoning, which the ids behind it need."""
    sealed = {"type": "reasoning", "id": "rs_1", "summary": []}
    foreign, own = (
        {**sealed, "encrypted_content": seal} for seal in ("c2VhbA==", "gAAAAABz")
    )
    meta = {"type": "session_meta", "payload": {"model_provider": "openai"}}
    items = (
        *({**ASKED, "id": "msg_0"}, foreign, {**CALL, "id": "fc_1"}, OUTPUT),
        *({**ANSWERED, "id": "msg_2"}, own, {**ANSWERED, "id": "msg_3"}),
    )
    sent = ({"type": "response_item", "payload": item} for item in items)
    (found,) = findings_in(stored([meta, *sent]))
    assert told(found.edits) == [
        '2 /payload {"type": "other"}',
        "3 /payload/id None",
        "5 /payload/id None",
    ]


def test_result_that_another_one_follows_goes_alone() -> None:
    use = ({"type": "tool_use", "id": id, "name": "x", "input": {}} for id in "ab")
    results = [
        {"type": "tool_result", "tool_use_id": id, "content": "4"} for id in "aab"
    ]
    messages = [
        {"role": "user", "content": [TEXT]},
        {"role": "assistant", "content": [*use]},
        {"role": "user", "content": results},
        {"role": "assistant", "content": [TEXT]},
    ]
    (found,) = findings_in([StoredRecord(0, {"messages": messages})])
    assert found.rule == "two-results"
    assert told(found.edits) == ["0 /messages/2/content/0 None"]
