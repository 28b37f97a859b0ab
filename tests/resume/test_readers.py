"""Stored sessions as the requests that their agents send on resume.

A line of a table ``data/resumed_*.jsonl`` has the records of a session. ``sent`` has a
line for each item of the request, ``RECORD ROLE WORDS call ID result ID``, ``left`` one
for what the agent leaves out, ``RECORD PATH RULE``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from stream_sidecar.history.paths import at, pointer_to
from stream_sidecar.resume.conversation import LeftOut, ResumedConversation, SentItem
from stream_sidecar.resume.formats import FORMATS, format_of
from stream_sidecar.resume.records import Outlines, StoredRecord

TESTS = Path(__file__).resolve().parent.parent
TABLES = sorted((TESTS / "data").glob("resumed_*.jsonl"))
LINES = [line for each in TABLES for line in each.read_text("utf-8").splitlines()]
SESSIONS = [json.loads(line) for line in LINES]
NAMES = [f"{session['agent']}: {session['case']}" for session in SESSIONS]
ODD: list[Any] = [None, 7, "x", [{}], {"id": []}]


def stored(values: list[Any], agent: str = "") -> list[StoredRecord]:
    """The records as they are judged: with what the reader of the ``agent`` reads."""
    outlines = Outlines(next((row.reads for row in FORMATS if row.name == agent), {}))
    return [
        StoredRecord(number, outlines.of(value), {"line": number + 1})
        for number, value in enumerate(values)
    ]


def read(session: dict[str, Any]) -> ResumedConversation:
    records = stored(session["records"], session["agent"])
    row = format_of(stored(session["records"]))
    assert row is not None
    assert row.name == session["agent"]
    *_, last = row.conversations(records)
    return last


def told(sent: SentItem) -> str:
    item = sent.item
    words: list[str] = []
    content = item.get("content", item.get("parts"))
    for part in content if isinstance(content, list) else [{"text": content}]:
        words.extend(_part(part))
    words.extend(f"call {call['id']}" for call in item.get("tool_calls", ()))
    if item.get("role") == "tool":
        words.append(f"result {item['tool_call_id']}")
    if call := item.get("call_id"):
        words.append(f"result {call}" if "output" in item else f"call {call}")
    who = item.get("role", item.get("type"))
    return " ".join((str(sent.source.record.number), str(who), *words))


def omitted(left: LeftOut) -> str:
    record, pointer = left.source.record, pointer_to(left.source.path)
    return f"{record.number} {pointer} {left.rule}".strip()


def _part(part: dict[str, Any]) -> Iterator[str]:
    if part.get("text"):
        yield part["text"]
    for word, name, id in (
        ("call", "functionCall", "id"),
        ("result", "functionResponse", "id"),
    ):
        if held := part.get(name):
            yield f"{word} {held.get(id)}"
    if part.get("type") == "tool_use":
        yield f"call {part['id']}"
    if part.get("type") == "tool_result":
        yield f"result {part['tool_use_id']}"


@pytest.mark.parametrize("session", SESSIONS, ids=NAMES)
def test_session_is_read_as_its_agent_sends_it(session: dict[str, Any]) -> None:
    conversation = read(session)
    assert [told(sent) for sent in conversation.items] == session["sent"]
    assert [*map(omitted, conversation.left_out)] == session.get("left", [])
    assert conversation.wire == session["wire"]
    assert conversation.provider == session.get("provider", "")
    assert conversation.model == session.get("model", "")


@pytest.mark.parametrize("session", SESSIONS, ids=NAMES)
def test_what_is_sent_is_found_where_it_is_stored(session: dict[str, Any]) -> None:
    """Texts, names and ids of an item are at their places in the record."""
    for sent in read(session).items:
        for path, value in leaves(sent.item):
            place = sent.stored(path)
            if value and path[-1] in ("text", "id", "name", "tool_use_id"):
                assert at(session["records"][place.record.number], place.path) == value


def leaves(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[Any, Any]]:
    if isinstance(value, (dict, list)):
        inner = value.items() if isinstance(value, dict) else enumerate(value)
        for name, each in inner:
            yield from leaves(each, (*path, name))
    else:
        yield path, value


def wrong(value: Any, odd: Any) -> Iterator[Any]:
    """``value`` with one member after the other replaced by ``odd``."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield {**value, name: odd}
            yield from ({**value, name: each} for each in wrong(inner, odd))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            for each in (odd, *wrong(inner, odd)):
                yield [*value[:number], each, *value[number + 1 :]]


@pytest.mark.parametrize("odd", ODD, ids=repr)
def test_any_record_is_read(odd: Any) -> None:
    for session in SESSIONS:
        for values in wrong(session["records"], odd):
            records = stored(values)
            for row in FORMATS:
                [row.fits(record.value) for record in records]
            if row := format_of(records):
                [*row.conversations(records)]


@pytest.mark.parametrize(
    "value",
    [
        {"role": "user", "parts": [{"type": "text", "text": "Hi"}]},
        {"role": "tool", "content": [{"type": "tool-result", "toolCallId": "a"}]},
        {"role": "tool", "content": "4", "tool_name": "look"},
        {"role": "assistant", "content": [{"toolUse": {"toolUseId": "a"}}]},
    ],
    ids=("AI SDK's parts", "AI SDK's result", "a result by name", "Bedrock's"),
)
def test_messages_of_another_shape_are_not_judged(value: Any) -> None:
    records = stored([value])
    row = format_of(records)
    assert row is None or not [*row.conversations(records)]


def test_kimi_code_reads_nothing_behind_a_broken_line() -> None:
    session = next(each for each in SESSIONS if each["agent"] == "kimi-code")
    records = stored(session["records"], session["agent"])
    row = format_of(stored(session["records"]))
    assert row is not None
    [conversation] = row.conversations([*records[:7], *records[8:]])
    assert [*map(told, conversation.items)] == [
        *session["sent"][:1],
        "3 assistant I look.",
    ]
    assert [*map(omitted, conversation.left_out)] == ["8"]


def test_lists_in_a_file_are_conversations_of_their_own() -> None:
    records = stored([{"messages": [{"role": "user", "content": "Hi"}]}] * 2)
    row = format_of(records)
    assert row is not None
    assert [len(each.items) for each in row.conversations(records)] == [1, 1]
