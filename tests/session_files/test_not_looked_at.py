"""A session is clean only if all of its text was read: what no row reads is listed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from agent_stores import STORES, database
from click.testing import CliRunner, Result

from stream_sidecar.cli import main
from stream_sidecar.history.documents import messages_in
from stream_sidecar.history.unread import UnreadText, may_be_said

LEAK, CLEAN = "<think>Hm.</think>Four.", "Four."
MESSAGE = {"role": "assistant", "content": CLEAN}


def repair(*arguments: object) -> Result:
    runner = CliRunner(env={"COLUMNS": "500"})
    return runner.invoke(main, ["repair", *map(str, arguments)])


UNREAD = {
    # A record that may hold what a model said, and where the text is.
    "/event/part/text": {
        "type": "context.append_new_event",
        "event": {"type": "content.new", "part": {"type": "text", "text": LEAK}},
    },
    "/turn/outcome/output/*/text": {
        "turn": {"outcome": {"output": [{"text": LEAK, "type": "text"}]}}
    },
    "/payload/last_agent_message": {
        "type": "event_msg",
        "payload": {"type": "task_over", "last_agent_message": LEAK},
    },
    "/rounds/*/response": {"rounds": [{"response": LEAK, "toolCalls": []}]},
    "/outputs/*": {"outputs_content": [], "outputs": [], "x": {"content": [LEAK]}},
    "/content/*/markdown": {
        "role": "assistant",
        "content": [{"type": "text", "text": "a"}, {"type": "new", "markdown": LEAK}],
    },
    "/words/text": {"role": "assistant", "words": {"text": LEAK}},
    # Cut off, as attributes are that are too long.
    "/gen_ai.output.messages": {"gen_ai.output.messages": f'[{{"content": "{LEAK}'},
    "/value/stringValue": {
        "key": "gen_ai.output.messages",
        "value": {"stringValue": f'[{{"content": "{LEAK}'},
    },
}
UNREAD["/x/content/*"] = UNREAD.pop("/outputs/*")


@pytest.mark.parametrize("place", UNREAD)
@pytest.mark.parametrize("name", ["a.json", "a.jsonl", "a.db"])
def test_text_that_no_row_reads(tmp_path: Path, place: str, name: str) -> None:
    """It is reported with its place, beside the text that was read."""
    path, record = tmp_path / name, UNREAD[place]
    documents = [json.dumps(MESSAGE), json.dumps(record)]
    if name == "a.db":
        with database(path) as db:
            db.execute("CREATE TABLE message_store (session_id TEXT, message TEXT)")
            rows = [("s", each) for each in documents]
            db.executemany("INSERT INTO message_store VALUES (?, ?)", rows)
    elif name == "a.json":
        path.write_text(f"[{', '.join(documents)}]", encoding="utf-8")
    else:
        path.write_text("\n".join(documents), encoding="utf-8")
    before = path.read_bytes()
    place = f"/*{place}" if name == "a.json" else place

    result = repair(path, "--check")
    assert result.exit_code == 2
    assert (
        f"1 not read: a delimiter in text of no known kind, at {place}" in result.output
    )
    done = repair(path, "--write")
    assert "1 not read" in done.output
    assert path.read_bytes() == before
    clean = path.read_bytes().replace(LEAK.encode(), CLEAN.encode().ljust(len(LEAK)))
    path.write_bytes(clean)
    assert repair(path, "--check").exit_code == 0


@pytest.mark.parametrize(
    "record",
    [
        {"type": "user_message", "message": LEAK},
        {"type": "session", "instructions": {"text": LEAK}},
        {"type": "event", "data": {"kind": "tool-output", "content": LEAK}},
        {"type": "tool.execution_complete", "data": {"result": {"content": LEAK}}},
        {"toolUseResult": {"file": {"content": LEAK}}},
        {"step_id": 1, "source": "user", "message": LEAK},
        {"update": {"sessionUpdate": "agent_thought_chunk", "content": {"text": LEAK}}},
        {"title": LEAK, "titleText": LEAK, "name": LEAK, "uuid": LEAK},
        {"type": "thinking_delta", "text": LEAK},
        {"type": "agent_reasoning", "text": LEAK},
        {"sender": "Ann", "isCreatedByUser": True, "text": LEAK},
        {"kind": 1, "k": ["requests", 0, "message"], "v": {"text": LEAK}},
        [{"type": "say", "say": "task", "text": LEAK}],
        {
            "role": "assistant",
            "content": [
                {"type": "tool_use", "id": "a", "name": "f", "input": {"text": LEAK}}
            ],
        },
        {"a": {"text": 'no delimiter, but {"success": true}'}},
    ],
)
def test_text_that_others_said(tmp_path: Path, record: Any) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(f"{json.dumps(MESSAGE)}\n{json.dumps(record)}", encoding="utf-8")
    assert repair(path, "--check").exit_code == 0, repair(path).output


def test_the_nearest_word_tells_whose_text_it_is() -> None:
    def each_may_be_said(document: Any) -> list[bool]:
        unread: list[UnreadText] = []
        assert [*messages_in(document, unread=unread)] == []
        return [may_be_said(document, each) for each in unread]

    said = {"message": {"text": ""}, "reply": {"text": ""}}
    assert each_may_be_said({"requests": [said]}) == [False, True]
    assert each_may_be_said({"type": "user", "answer": ""}) == [True]
    assert each_may_be_said({"type": "assistant", "prompt": {"text": ""}}) == [False]
    assert each_may_be_said(
        {"a": [{"b": 1, "content": ""}], "id": ["x", "HumanMessage"]}
    ) == [False]
    deep: Any = {"text": ""}
    for _ in range(40):
        deep = {"x": deep}
    assert each_may_be_said(deep) == []


def test_reasons_are_bounded(tmp_path: Path) -> None:
    """Names come from files, and may be many."""
    path = tmp_path / "a.jsonl"
    records = [{f"{number}{'x' * 500}": {"text": LEAK}} for number in range(100)]
    path.write_text("\n".join(map(json.dumps, [MESSAGE, *records])), encoding="utf-8")
    report = json.loads(repair(path, "--output-format", "json").output)
    (file,) = report["files"]
    assert sum(file["notRead"].values()) == 100
    assert len(file["notRead"]) == 17
    assert all(len(reason) < 200 for reason in file["notRead"])


@pytest.mark.parametrize("name", ["continue", "codex"])
def test_files_that_are_known_to_hold_no_message(tmp_path: Path, name: str) -> None:
    """The list of sessions, and forks that continue another file."""
    STORES[name](tmp_path, "</think>?", CLEAN)
    for path in tmp_path.iterdir():
        result = repair(path, tmp_path, "--check", "--output-format", "json")
        assert result.exit_code == 0, result.output
    (tmp_path / "sessions.json").write_text('[{"title": "a"}]', encoding="utf-8")
    assert repair(tmp_path, "--check").exit_code == 2
