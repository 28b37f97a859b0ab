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
