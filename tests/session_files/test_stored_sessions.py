"""Each session of a database is judged, and what lies in a cell is mended."""

from __future__ import annotations

import base64
import json
import sqlite3
import struct
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from stream_sidecar.cli import main
from stream_sidecar.resume import sessions
from stream_sidecar.resume.conversation import ResumedConversation
from stream_sidecar.resume.findings import FileEdit, ResumeFinding

MODEL = {"providerID": "anthropic", "modelID": "claude-opus-4-8"}
TABLES = (
    "CREATE TABLE session (id TEXT PRIMARY KEY, revert TEXT)",
    "CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, data TEXT)",
    "CREATE TABLE part "
    "(id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, data TEXT)",
)


def store(path: Path, *texts: str, session: str = "s") -> None:
    """A session of opencode: a question, and an answer with these texts."""
    user = {"role": "user", "time": {"created": 1}, "model": MODEL}
    answer = {"role": "assistant", "time": {"created": 2}, **MODEL}
    with closing(sqlite3.connect(path)) as database, database:
        for table in TABLES:
            database.execute(table.replace("TABLE", "TABLE IF NOT EXISTS"))
        database.execute("INSERT INTO session VALUES (?, NULL)", (session,))
        for number, info in enumerate((user, answer)):
            row = (f"m{session}{number}", session, json.dumps(info))
            database.execute("INSERT INTO message VALUES (?, ?, ?)", row)
        for number, words in enumerate(("Hi", *texts)):
            data = json.dumps({"type": "text", "text": words}, indent=1)
            message = f"m{session}{min(number, 1)}"
            row = (f"p{session}{number}", message, session, data)
            database.execute("INSERT INTO part VALUES (?, ?, ?, ?)", row)


def parts(path: Path) -> list[Any]:
    with closing(sqlite3.connect(path)) as database:
        return database.execute("SELECT id, data FROM part ORDER BY id").fetchall()


def repair(*arguments: object) -> Result:
    runner = CliRunner(env={"COLUMNS": "500"})
    return runner.invoke(main, ["repair", "--jobs", "1", *map(str, arguments)])


def findings(path: Path) -> list[Any]:
    found: list[Any] = json.loads(repair(path, "--output-format", "json").output)[
        "findings"
    ]
    return found


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "opencode.db"
    store(path, "Four.", " ", session="a")
    store(path, "Five.", session="b")
    return path


def left_out(path: Path) -> list[dict[str, Any]]:
    return [found for found in findings(path) if found["kind"] == "left-out"]


def lose_message(path: Path) -> None:
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("DELETE FROM message WHERE id = 'mb1'")


def test_a_finding_is_named_with_its_row(database: Path) -> None:
    assert repair(database, "--check", "--only", "left-out").exit_code == 0
    lose_message(database)
    (found,) = left_out(database)
    place = {"table": "part", "row": 5, "path": "", "kind": "left-out"}
    assert {name: found[name] for name in place} == place
    assert "its message is missing" in found["message"]
    assert repair(database, "--check").exit_code == 1
    assert repair(database, "--check", "--only", "broken").exit_code == 0


@pytest.fixture
def blanks_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(
        conversation: ResumedConversation, _heals: Mapping[str, str], _without: object
    ) -> Iterator[ResumeFinding]:
        for item in conversation.items:
            for number, part in enumerate(item.item["content"]):
                if part["text"].isspace():
                    source = item.stored(("content", number))
                    edit = FileEdit(source)
                elif part["text"] == "Five.":
                    source = item.stored(("content", number, "text"))
                    edit = FileEdit(source, '"Six."')
                else:
                    continue
                yield ResumeFinding(
                    "refused", source, "no", "blank-text", "", "file", (edit,)
                )

    monkeypatch.setattr(sessions, "refusals_of", refused)


@pytest.mark.usefixtures("blanks_are_refused")
def test_a_cell_is_mended_with_the_leaks(database: Path) -> None:
    store(database, "<think>Hm.</think>Seven.", session="c")
    old = parts(database)
    assert sorted(each["row"] for each in findings(database)) == [3, 5, 7]

    done = repair(database, "--write")

    assert done.exit_code == 0, done.output
    blank = old[2]
    new = [(id, data.replace("Five.", "Six.")) for id, data in old if id != blank[0]]
    new = [(id, data.replace("<think>Hm.</think>", "")) for id, data in new]
    assert parts(database) == new
    assert findings(database) == []
    assert repair(database, "--restore").exit_code == 0
    assert parts(database) == old


@pytest.mark.usefixtures("blanks_are_refused")
def test_a_kind_that_is_not_chosen_stays(database: Path) -> None:
    old = parts(database)
    assert repair(database, "--write", "--except", "refused").exit_code == 0
    assert parts(database) == old


def test_a_cell_that_is_no_json_hides_no_other(database: Path) -> None:
    lose_message(database)
    with closing(sqlite3.connect(database)) as opened, opened:
        opened.execute("UPDATE part SET data = '{' WHERE id = 'pa0'")
    assert [each["row"] for each in left_out(database)] == [5]


def test_an_image_in_a_row_becomes_a_text(database: Path) -> None:
    size = struct.pack(">II", 9000, 20)
    png = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR" + size + b"\x08\x06\0\0\0"
    url = f"data:image/png;base64,{base64.b64encode(png).decode()}"
    file = {"type": "file", "mime": "image/png", "filename": "a.png", "url": url}
    with closing(sqlite3.connect(database)) as opened, opened:
        row = ("pa9", "ma0", "a", json.dumps(file))
        opened.execute("INSERT INTO part VALUES (?, ?, ?, ?)", row)
    (found,) = [each for each in findings(database) if "image" in each.get("rule", "")]
    assert (found["rule"], found["table"], found["path"], found["mend"]) == (
        "image-too-large",
        "part",
        "",
        "file",
    )
    assert repair(database, "--write").exit_code == 0
    (data,) = [json.loads(data) for id, data in parts(database) if id == "pa9"]
    assert data["type"] == "text"
    assert "9000x20 pixels" in data["text"]
    assert set(data) == {"type", "text"}


def test_half_a_character_far_inside_a_text(database: Path) -> None:
    """Of a tool's output, of which the judge has the beginning only."""
    output = "x" * 500 + "\ud83d"
    state = {"status": "completed", "input": {}, "output": output}
    tool = {"type": "tool", "callID": "c", "tool": "f", "state": state}
    cell = json.dumps(tool, indent=1)
    with closing(sqlite3.connect(database)) as opened, opened:
        opened.execute("INSERT INTO part VALUES ('pb9', 'mb1', 'b', ?)", (cell,))
    (found,) = [each for each in findings(database) if "half" in each.get("rule", "")]
    assert (found["kind"], found["path"]) == ("refused", "/state/output")
    assert repair(database, "--write").exit_code == 0
    (new,) = [data for id, data in parts(database) if id == "pb9"]
    assert new == cell.replace(r"\ud83d", r"\ufffd")
