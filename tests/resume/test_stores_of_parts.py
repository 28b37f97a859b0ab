"""opencode, goose and Crush: their records as the requests that they send."""

from __future__ import annotations

from typing import Any

import pytest

from stream_sidecar.resume.conversation import ResumedConversation
from stream_sidecar.resume.formats import format_of
from stream_sidecar.resume.records import StoredRecord

CLAUDE = {"providerID": "anthropic", "modelID": "claude-opus-4-8"}
GPT = {"providerID": "openai", "modelID": "gpt-5.5"}


def conversation(*values: Any, agent: str) -> ResumedConversation:
    records = [StoredRecord(number, value) for number, value in enumerate(values)]
    row = format_of(records)
    assert row is not None
    assert row.name == agent
    (only,) = row.conversations(records)
    return only


def asked(id: str, model: dict[str, str] = CLAUDE) -> dict[str, Any]:
    info = {"role": "user", "time": {"created": int(id[1:])}, "model": model}
    return {"id": id, "session_id": "s", "data": info}


def answered(id: str, model: dict[str, str] = CLAUDE, **more: Any) -> dict[str, Any]:
    info = {"role": "assistant", "time": {"created": int(id[1:])}, **model, **more}
    return {"id": id, "session_id": "s", "data": info}


def part(message: str, number: int, kind: str, **data: Any) -> dict[str, Any]:
    row = {"id": f"p{message}{number}", "message_id": message, "session_id": "s"}
    return {**row, "data": {"type": kind, **data}}


def text(message: str, number: int, words: str) -> dict[str, Any]:
    return part(message, number, "text", text=words)


def tool(message: str, number: int, **state: Any) -> dict[str, Any]:
    return part(message, number, "tool", callID="c1", tool="read", state=state)


def opencode(*rows: Any) -> ResumedConversation:
    return conversation(*rows, agent="opencode")


def items(found: ResumedConversation) -> list[Any]:
    return [each.item for each in found.items]


SIGNED = {"anthropic": {"signature": "U0lH"}}
DONE = {"status": "completed", "input": {"p": "a"}, "output": "4", "time": {}}
SESSION = (
    asked("m1"),
    text("m1", 1, "Hi"),
    answered("m2"),
    part("m2", 1, "step-start"),
    part("m2", 2, "reasoning", text="hm", metadata=SIGNED),
    tool("m2", 3, **DONE),
    part("m2", 4, "step-finish"),
    part("m2", 5, "step-start"),
    text("m2", 6, "Four."),
)


def test_opencode_sends_the_steps_of_an_answer() -> None:
    found = opencode(*reversed(SESSION))
    thinking = {"type": "thinking", "thinking": "hm", "signature": "U0lH"}
    use = {"type": "tool_use", "id": "c1", "name": "read", "input": {"p": "a"}}
    result = {"type": "tool_result", "tool_use_id": "c1", "content": "4"}
    assert (found.wire, found.provider, found.model) == (
        "anthropic",
        "anthropic",
        "claude-opus-4-8",
    )
    assert items(found) == [
        {"role": "user", "content": [{"type": "text", "text": "Hi"}]},
        {"role": "assistant", "content": [thinking, use]},
        {"role": "user", "content": [result]},
        {"role": "assistant", "content": [{"type": "text", "text": "Four."}]},
    ]
    assert found.left_out == ()


def test_a_place_in_an_item_is_that_of_its_row() -> None:
    answer = opencode(*SESSION).items[1]
    signature = answer.stored(("content", 0, "signature"))
    assert signature.record.value == SESSION[4]
    assert signature.path == ("data", "metadata", "anthropic", "signature")
    assert answer.stored(("content", 1)).path == ("data",)
    assert answer.stored(("content", 1, "input", "p")).path == (
        "data",
        "state",
        "input",
        "p",
    )


@pytest.mark.parametrize("status", ["pending", "running"])
def test_opencode_answers_a_call_that_was_interrupted(status: str) -> None:
    call = tool("m2", 3, status=status, input={})
    found = opencode(asked("m1"), text("m1", 1, "Hi"), answered("m2"), call)
    (result,) = items(found)[-1]["content"]
    assert result["content"] == "[Tool execution was interrupted]"


def test_a_seal_of_another_model_is_not_sent() -> None:
    found = opencode(*SESSION, asked("m3", GPT), text("m3", 1, "Go"))
    assert found.wire == "openai-responses"
    assert found.settings == {"store": False}
    kinds = [item.get("type", item.get("role")) for item in items(found)]
    assert kinds == [
        "user",
        "function_call",
        "function_call_output",
        "assistant",
        "user",
    ]


def test_a_reasoning_item_is_sent_with_its_state() -> None:
    def reasoning(number: int, words: str, **state: str) -> dict[str, Any]:
        metadata = {"openai": {"itemId": "rs_1", **state}}
        return part("m2", number, "reasoning", text=words, metadata=metadata)

    found = opencode(
        asked("m1", GPT),
        text("m1", 1, "Hi"),
        answered("m2", GPT),
        reasoning(1, "one"),
        reasoning(2, "two", reasoningEncryptedContent="gAAA"),
        text("m2", 3, "Ok."),
    )
    item = found.items[1]
    assert item.item["encrypted_content"] == "gAAA"
    assert [each["text"] for each in item.item["summary"]] == ["one", "two"]
    assert item.stored(("encrypted_content",)).path[-1] == "reasoningEncryptedContent"


def test_what_failed_was_reverted_or_replaced_is_not_sent() -> None:
    failed = answered("m3", error={"name": "APIError"})
    ended = answered("m4", error={"name": "MessageAbortedError"})
    rows = (*SESSION[:2], failed, text("m3", 1, "no"), ended, text("m4", 1, "half"))
    assert [each["role"] for each in items(opencode(*rows))] == ["user", "assistant"]

    reverted = {"id": "s", "revert": {"messageID": "m2"}}
    assert len(items(opencode(reverted, *SESSION))) == 1

    compaction = (asked("m5"), part("m5", 1, "compaction", tail_start_id="m2"))
    summary = answered("m6", summary=True, finish="stop", parentID="m5")
    replaced = opencode(*SESSION, *compaction, summary, text("m6", 1, "In short."))
    said = items(replaced)
    assert said[0]["content"][0]["text"] == "What did we do so far?"
    assert said[1]["content"][0]["text"] == "In short."
    assert len(said) == 4


def test_a_part_without_its_message_is_left_out() -> None:
    (left,) = opencode(*SESSION, text("m9", 1, "lost")).left_out
    assert left.source.record.number == len(SESSION)


def test_an_export_and_part_files_are_read_alike() -> None:
    rows = [*SESSION]
    messages = [
        {
            "info": {"id": row["id"], **row["data"]},
            "parts": [
                {"id": each["id"], **each["data"]}
                for each in rows
                if each.get("message_id") == row["id"]
            ],
        }
        for row in rows
        if "message_id" not in row
    ]
    exported = opencode({"info": {"id": "s"}, "messages": messages})
    files = [
        {
            "id": row["id"],
            "sessionID": "s",
            **({"messageID": row["message_id"]} if "message_id" in row else {}),
            **row["data"],
        }
        for row in rows
    ]
    assert items(exported) == items(opencode(*files)) == items(opencode(*SESSION))


def goose(role: str, *parts: Any, **more: Any) -> dict[str, Any]:
    row = {"role": role, "session_id": "s", "content_json": [*parts]}
    return {"id": 1, **row, **more}


def test_goose_sends_what_the_agent_sees() -> None:
    call = {"status": "success", "value": {"name": "f", "arguments": {"a": 1}}}
    request = {"type": "toolRequest", "id": "c1", "toolCall": call}
    output = {"status": "success", "value": [{"type": "text", "text": "4"}]}
    response = {"type": "toolResponse", "id": "c1", "toolResult": output}
    thinking = {"type": "thinking", "thinking": "hm", "signature": ""}
    hidden = {"agentVisible": False, "userVisible": True}
    model = {"model_name": "claude-opus-4-8"}
    found = conversation(
        {"id": "s", "provider_name": "anthropic", "model_config_json": model},
        goose("user", {"type": "text", "text": "Hi"}),
        goose("assistant", thinking, request),
        goose("user", response),
        goose("assistant", {"type": "text", "text": "old"}, metadata_json=hidden),
        agent="goose",
    )
    assert (found.wire, found.model) == ("anthropic", "claude-opus-4-8")
    said = items(found)
    assert [each["role"] for each in said] == ["user", "assistant", "user"]
    assert said[1]["content"][0]["signature"] == ""
    assert said[1]["content"][1]["input"] == {"a": 1}
    assert said[2]["content"][0]["content"] == "4"
    stored = found.items[2].stored(("content", 0, "content"))
    assert stored.path == ("content_json", 0, "toolResult", "value", 0, "text")


def test_a_log_of_goose_is_read_alike() -> None:
    said = {"type": "toolRequest", "id": "c1", "toolCall": {"value": {"name": "f"}}}
    found = conversation(
        {"working_dir": "/w", "description": "x"},
        {"role": "assistant", "created": 1, "content": [said]},
        agent="goose",
    )
    (item,) = items(found)
    assert item["tool_calls"][0]["function"] == {"name": "f", "arguments": "{}"}


def crush(id: str, role: str, *parts: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    listed = [{"type": kind, "data": data} for kind, data in parts]
    named = {"provider": "anthropic", "model": "claude-opus-4-8"}
    origin = named if role == "assistant" else {}
    return {"id": id, "session_id": "s", "role": role, "parts": listed, **origin}


def test_crush_begins_with_its_summary() -> None:
    call = {"id": "c1", "name": "view", "input": '{"p": 1}', "finished": True}
    result = {"tool_call_id": "c1", "name": "view", "content": "4"}
    finish = ("finish", {"reason": "end_turn"})
    found = conversation(
        {"id": "s", "summary_message_id": "2"},
        crush("1", "user", ("text", {"text": "Hi"})),
        crush("2", "assistant", ("text", {"text": "In short."}), finish),
        crush(
            "3",
            "assistant",
            ("reasoning", {"thinking": "hm", "signature": "U0lH"}),
            ("text", {"text": "  "}),
            ("tool_call", call),
            finish,
        ),
        crush("4", "tool", ("tool_result", result)),
        agent="crush",
    )
    said = items(found)
    assert found.wire == "anthropic"
    assert [each["role"] for each in said] == ["user", "assistant", "user"]
    assert [each["type"] for each in said[1]["content"]] == ["thinking", "tool_use"]
    assert said[1]["content"][1]["input"] == {"p": 1}
    assert found.items[2].stored(("content", 0, "tool_use_id")).path == (
        "parts",
        0,
        "data",
        "tool_call_id",
    )
