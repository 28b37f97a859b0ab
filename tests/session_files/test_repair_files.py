"""Session files: found, reported and repaired in place; everything else stays."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from backup_lists import LIST, inside
from click.testing import CliRunner, Result
from hypothesis import given, settings
from hypothesis import strategies as st
from known_writers import skip_unless_writers_are_reported
from places import TESTS
from rpc_client import ROOT
from strategies import JUNK, TEXTS
from systems import not_on_windows

from stream_sidecar.cli import main
from stream_sidecar.history.bound import BoundTexts
from stream_sidecar.history.cuts import halves_replaced
from stream_sidecar.history.documents import messages_in
from stream_sidecar.history.history import History
from stream_sidecar.history.unsealing import RepairedMessage
from stream_sidecar.options import StreamOptions
from stream_sidecar.session_files import backups, documents, new_file, replacing
from stream_sidecar.session_files.datasets import RowRepair, replaced
from stream_sidecar.session_files.documents import repaired
from stream_sidecar.session_files.files import Job, format_of, repair_file
from stream_sidecar.session_files.layouts import PRESETS
from stream_sidecar.session_files.replacing import FileChangedError, Replacement
from stream_sidecar.values.json_places import Place, items, locate, offsets
from stream_sidecar.values.jsontext import loads

LEAK = "<think>Hm.</think>Four."


def assistant(content: Any, **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": content, **more}


# --- Cuts in the text of a document ---------------------------------------------------

_LEAKS = st.builds(
    lambda role, content: {"role": role, "content": content},
    st.sampled_from(["assistant", "user"]),
    st.one_of(
        TEXTS,
        st.lists(st.one_of(TEXTS, st.builds(lambda t: {"text": t}, TEXTS)), max_size=4),
    ),
)
_DOCUMENTS = st.recursive(
    st.one_of(_LEAKS, _LEAKS, JUNK),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from(["a", "é", '"', "\\n"]), inner, max_size=3),
    ),
    max_leaves=4,
)


@st.composite
def _written(draw: Any) -> str:
    """JSON text of a document: with escapes or without, with all kinds of space."""
    document = draw(_DOCUMENTS)
    text = json.dumps(
        document,
        ensure_ascii=draw(st.booleans()),
        indent=draw(st.sampled_from([None, 0, 2, "\t"])),
        separators=draw(
            st.sampled_from([(",", ":"), (" ,\r\n", " :  "), (", ", ": ")])
        ),
    )
    if draw(st.booleans()):
        text = text.replace("<", "\\u003c").replace("/", "\\/")
    return (
        draw(st.sampled_from(["", "\ufeff"])) + text + draw(st.sampled_from(["", "\n"]))
    )


def repairs_of(text: str, history: History) -> list[RepairedMessage]:
    found = messages_in(loads(text.removeprefix("\ufeff")))
    return documents.repairs_of([*found], history, BoundTexts([], None))


@settings(max_examples=250)
@given(_written())
def test_a_cut_text_is_the_repaired_document(text: str) -> None:
    """The new text, parsed, is the old document with its messages repaired. The new
    text is the old one with pieces left out."""
    repairs = repairs_of(text, History(StreamOptions()))

    new = repaired(text, repairs)

    wanted = replaced(loads(text.removeprefix("\ufeff")), repairs)
    assert loads(new.removeprefix("\ufeff")) == wanted
    rest = iter(halves_replaced(text))
    assert all(each in rest for each in halves_replaced(new))
    again = repairs_of(new, History(StreamOptions()))
    assert not any(repair.changed for _, repair in again)


def test_everything_else_stays_byte_for_byte() -> None:
    text = (
        '{ "n": 1e400, "big": 123456789012345678901234567890,\t"odd": "\\ud83d",\r\n'
        ' "message" : {"role":"assistant","x":1.0, "content" : '
        '"<thin\\u006B>\\ud83d\\ude00 \\/ \\"</think>\\u0048i \\u00e9 \\/" } }'
    )
    new = repaired(text, repairs_of(text, History(StreamOptions())))

    start, end = text.index("<thin"), text.index("\\u0048i")
    assert new == text[:start] + text[end:]


def test_an_emptied_part_goes_with_one_comma() -> None:
    def new(parts: str) -> str:
        text = '{"role":"assistant","content":' + parts + "}"
        whole = repaired(text, repairs_of(text, History(StreamOptions())))
        return whole[len('{"role":"assistant","content":') : -1]

    assert new('[ {"text":"<think>a"} , {"text":"b</think>"}, {"text":"c"} ]') == (
        '[ {"text":"c"} ]'
    )
    assert new('["a" ,"<think>" , "b</think>"\n]') == '["a"\n]'
    assert new('["a","<think>b</think>","c"]') == '["a","c"]'
    text = '{"role":"assistant","tool_calls":[{}],"content": [ "</think>" ] }'
    whole = repaired(text, repairs_of(text, History(StreamOptions())))
    assert whole == text.replace('"</think>"', "")


def test_the_last_of_equal_keys_counts() -> None:
    text = '{"role":"assistant","content":["</think>x"],"content":"</think>y"}'
    new = repaired(text, repairs_of(text, History(StreamOptions())))
    assert new == '{"role":"assistant","content":["</think>x"],"content":"y"}'


def test_places_of_what_is_no_json() -> None:
    """The caller has parsed the text before; the search must end, though."""
    assert items(Place(" []", 1, 3)) == []
    with pytest.raises(ValueError, match="no string of 9 characters"):
        offsets(Place('"abc"', 0, 5), [9])
    with pytest.raises(ValueError, match="nested too deeply"):
        locate("[" * 100_000, [(0, 0)])


def test_messages_are_found_anywhere() -> None:
    event = {"type": "assistant", "message": assistant("a", model="m"), "n": 1}
    payload = {"type": "response_item", "payload": assistant([{"text": "b"}])}
    session = {"model": "outer", "messages": [assistant("c"), {"role": "user"}]}
    output = {"type": "function_call_output", "output": "d"}
    store = {"type": "ai", "data": {"type": "ai", "content": "e"}}

    found = list(messages_in([event, payload, session, output, store, "x", None]))

    assert [each.path for each in found] == [
        (0, "message"),
        (1, "payload"),
        (2, "messages", 0),
        (3,),
        (4,),
    ]
    assert [each.model for each in found] == ["m", None, "outer", None, None]


QUOTED = {"messages": [assistant(LEAK)]}


@pytest.mark.parametrize(
    "document",
    [
        {"type": "user", "toolUseResult": QUOTED},
        {"hook_event_name": "PostToolUse", "tool_name": "f", "tool_response": QUOTED},
        {"type": "tool.execution_start", "data": {"arguments": QUOTED}},
        {"type": "tool.execution_complete", "data": {"result": QUOTED}},
        {"type": "tool", "callID": "c", "state": {"input": QUOTED, "output": "ok"}},
        {"type": "mcp_tool_call_end", "result": {"Ok": {"content": [QUOTED]}}},
        {"type": "mcp_tool_call_end", "invocation": {"arguments": QUOTED}},
        {"sessionUpdate": "tool_call", "toolCallId": "c", "content": [QUOTED]},
        {"type": "function_call", "parameters": QUOTED},
    ],
)
def test_messages_that_a_tool_was_given_or_answered(document: Any) -> None:
    """They are quoted; no model of this session wrote them."""
    assert [*messages_in([document])] == []


@pytest.mark.parametrize(
    "document",
    [
        {"model": "m", "input": [assistant(LEAK)], "output": [assistant(LEAK)]},
        {"custom_id": "c", "response": {"body": {"choices": [assistant(LEAK)]}}},
        {"type": "llm_call", "call_id": "c", "result": QUOTED},
        {"type": "toolbox", "output": QUOTED},
        {"type": "tool", "data": {"type": "tool", "content": "Rain."}},
        {"type": "tool", "callID": "c", "messages": [assistant(LEAK)]},
    ],
)
def test_messages_in_logs_of_requests(document: Any) -> None:
    """These logs use the names of a tool's data, too; and a tool may be an agent."""
    assert [*messages_in([document])]


def test_nesting_without_end() -> None:
    deep: Any = assistant(LEAK)
    for _ in range(200):
        deep = [deep]
    assert list(messages_in(deep)) == []


# --- The command ----------------------------------------------------------------------


def run(*arguments: object) -> Result:
    runner = CliRunner(env={"COLUMNS": "500"})
    return runner.invoke(main, ["repair", *map(str, arguments)])


@pytest.fixture
def session(tmp_path: Path) -> Path:
    """A session of three lines; the second is not JSON, and the file ends without a
    line break."""
    path = tmp_path / "session.jsonl"
    lines = [
        {"type": "user", "message": {"role": "user", "content": LEAK}},
        {"type": "assistant", "message": assistant(LEAK, model="m"), "x": 1},
    ]
    text = "\n".join(
        [*map(json.dumps, lines), "{broken", "", json.dumps(assistant("ok"))]
    )
    path.write_text(text, encoding="utf-8")
    return path


def test_dry_run_changes_nothing(session: Path) -> None:
    before = session.read_bytes()

    result = run(session, "--diff")

    assert result.exit_code == 0, result.output
    assert "<think>Hm.</think>" in result.output
    assert f"{session}:2 /message/content reasoning" in result.output
    assert "2 messages of a model: 1 to repair; nothing was changed" in result.output
    assert "To remove the leaks, run again with --write." in result.output
    assert "1 not JSON" in result.output
    assert session.read_bytes() == before
    assert inside(session.parent) == [session]


def test_check(session: Path) -> None:
    assert run(session, "--check").exit_code == 1
    run(session, "--write")
    assert run(session, "--check").exit_code == 2, "a line is broken"
    session.write_text(
        session.read_text(encoding="utf-8").replace("{broken\n", ""), encoding="utf-8"
    )
    assert run(session, "--check").exit_code == 0
    assert run(session, "--check", "--write").exit_code == 2


def test_write(session: Path) -> None:
    session.chmod(0o640)
    before = session.read_text(encoding="utf-8")

    result = run(session, "--write")

    assert result.exit_code == 0, result.output
    assert session.read_text(encoding="utf-8") == before.replace(
        json.dumps(assistant(LEAK, model="m")),
        json.dumps(assistant("Four.", model="m")),
    )
    assert session.stat().st_mode & 0o777 == (0o640 if os.name == "posix" else 0o666)
    assert session.with_name("session.jsonl.bak").read_text(encoding="utf-8") == before
    assert len(inside(session.parent)) == 2

    session.write_text(json.dumps(assistant(LEAK)), encoding="utf-8")
    run(session, "--write")
    assert session.with_name("session.jsonl.bak").read_text(encoding="utf-8") == before
    assert session.with_name("session.jsonl.bak2").exists()


def _written(path: Path) -> dict[str, int]:
    """All that is known of a file except the time when it was read."""
    stat = path.stat()
    names = (name for name in dir(stat) if name.startswith("st_"))
    return {name: getattr(stat, name) for name in names if "atime" not in name}


def test_a_clean_file_is_not_written(session: Path) -> None:
    run(session, "--write")
    before = _written(session)

    run(session, "--write")

    assert _written(session) == before
    assert len(inside(session.parent)) == 2


def test_a_link_is_followed(session: Path) -> None:
    link = session.with_name("link.jsonl")
    link.symlink_to(session)
    run(link, "--write")
    assert link.is_symlink()
    assert LEAK not in session.read_text(encoding="utf-8").splitlines()[1]


def test_report(session: Path, tmp_path: Path) -> None:
    report = tmp_path / "report.jsonl"
    run(session, "--report", report)
    assert [
        json.loads(line) for line in report.read_text(encoding="utf-8").splitlines()
    ] == [
        {
            "file": str(session),
            "line": 2,
            "column": session.read_text(encoding="utf-8")
            .splitlines()[1]
            .index("<think>")
            + 1,
            "endLine": 2,
            "endColumn": session.read_text(encoding="utf-8")
            .splitlines()[1]
            .index("Four.")
            + 1,
            "message": "/message",
            "path": "/content",
            "kind": "reasoning",
            "start": 0,
            "end": 18,
            "text": "<think>Hm.</think>",
            "before": "",
            "after": "Four.",
            "model": "m",
        }
    ]


def test_folders_and_workers(tmp_path: Path) -> None:
    """Many files in several processes give the same as in one process."""
    for number in range(7):
        folder = tmp_path / "sessions" / str(number)
        folder.mkdir(parents=True)
        (folder / "s.json").write_text(
            json.dumps([assistant(f"{number}</think>")]), encoding="utf-8"
        )
        (folder / "notes.txt").write_text("</think>", encoding="utf-8")
    reports = []
    for jobs in (1, 2):
        report = tmp_path / f"report{jobs}"
        result = run(tmp_path / "sessions", "--report", report, "--jobs", jobs)
        assert result.exit_code == 0, result.output
        assert "7 files, 7 messages of a model: 7 to repair" in result.output
        reports.append(report.read_text(encoding="utf-8"))
    assert reports[0] == reports[1]
    assert [json.loads(line)["before"] for line in reports[0].splitlines()] == [
        *"0123456"
    ]


def test_models_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    messages = [assistant(LEAK, model="m", provider="p"), assistant("x", model="n")]
    path.write_text(json.dumps(messages), encoding="utf-8")

    lines = [line.split() for line in run(path).output.splitlines()]

    assert ["1", "1", "1", "m", "p"] in lines
    assert ["1", "0", "-", "n"] in lines


def test_text_of_files_does_not_steer_the_terminal(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps(assistant("\x1b[2J\u202e</think>x")), encoding="utf-8")
    output = run(path, "--diff").output
    assert "\\x1b[2J\\u202e" in output
    assert "\x1b" not in output


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    result = run(tmp_path / "none.jsonl")
    assert result.exit_code == 2
    assert result.output.startswith("Error: ")
    empty = tmp_path / "empty.json"
    empty.touch()
    latin = tmp_path / "latin.jsonl"
    latin.write_bytes(b'{"role":"assistant","content":"\xe9</think>"}\n')
    assert run(empty, latin).exit_code == 0
    checked = run(empty, latin, "--check")
    assert checked.exit_code == 2
    assert "2 files in which no message of a model was recognised" in checked.output
    assert "1 not JSON" in run(latin).output


def test_formats(tmp_path: Path) -> None:
    texts = {
        "a.json": "[1,\n2]",
        "b.json": '{"a":1}\n{"b":2}\n',
        "c.log": '\ufeff{"a":1}\n{"b":2}',
        "d.json": '{"a":1}\n',
        "e.json": '{\n"a":1}',
        "f.ndjson": "",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    formats = [format_of(tmp_path / name) for name in texts]
    assert formats == ["json", "jsonl", "jsonl", "json", "json", "jsonl"]


# --- Nothing is lost ------------------------------------------------------------------


def test_a_file_that_was_changed_meanwhile(session: Path) -> None:
    with Replacement(session) as new:
        with session.open("rb") as old:
            new.begin(old)
        new.change(b"new")
        session.write_text("of somebody else", encoding="utf-8")
        with pytest.raises(FileChangedError):
            new.commit()
    assert session.read_text(encoding="utf-8") == "of somebody else"
    assert inside(session.parent) == [session]


looked_at_again = not_on_windows("a file is held there: test_windows.py")


@looked_at_again
def test_a_file_system_without_links(
    session: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backups.os, "link", _refuse)
    session.chmod(0o640)
    before = session.read_text(encoding="utf-8")
    session.with_name("session.jsonl.bak").symlink_to("nowhere")
    assert run(session, "--write").exit_code == 0
    backup = session.with_name("session.jsonl.bak2")
    assert backup.read_text(encoding="utf-8") == before
    assert backup.stat().st_mode & 0o777 == 0o640
    assert len(inside(session.parent)) == 3


LAST_MOMENT = [("a", True), ("a", False), ("w", True), ("w", False)]


@looked_at_again
@pytest.mark.parametrize(("mode", "has_links"), LAST_MOMENT)
def test_what_is_written_in_the_last_moment(
    session: Path, monkeypatch: pytest.MonkeyPatch, mode: str, has_links: bool
) -> None:
    """Somebody writes between the last check of the old file and the moment when the
    new one takes its name: the old file comes back, with what was written."""
    if not has_links:
        monkeypatch.setattr(backups.os, "link", _refuse)

    def write() -> None:
        with session.open(mode) as file:
            file.write("of somebody else")

    _before_replace(monkeypatch, write)
    before = session.read_text(encoding="utf-8") if mode == "a" else ""

    result = run(session, "--write")

    assert result.exit_code == 2
    assert "left alone: the file was changed meanwhile" in result.output
    assert "0 repaired, 1 left as they were" in result.output
    assert session.read_text(encoding="utf-8") == before + "of somebody else"
    assert inside(session.parent) == [session]


@looked_at_again
def test_another_repair_right_before_the_backup(
    session: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other repair stays, with its backup alone."""
    real, before = backups.back_up, session.read_text(encoding="utf-8")

    def back_up(path: Path) -> Path:
        monkeypatch.setattr(backups, "back_up", real)
        assert run(session, "--write").exit_code == 0
        return real(path)

    monkeypatch.setattr(backups, "back_up", back_up)
    result = run(session, "--write")
    assert result.exit_code == 2
    assert "left alone: the file was changed meanwhile" in result.output
    assert session.read_text(encoding="utf-8") != before
    backup = session.with_name("session.jsonl.bak")
    assert backup.read_text(encoding="utf-8") == before
    assert {*inside(session.parent)} == {session, backup}


@looked_at_again
def test_what_is_written_to_both_files(
    session: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is undone, and the error says where the rest is."""
    real = Replacement._settle

    def settle(*arguments: Any) -> None:
        for path in (session, session.with_name("session.jsonl.bak")):
            with path.open("a") as file:
                file.write("of somebody else")
        real(*arguments)

    monkeypatch.setattr(Replacement, "_settle", settle)
    result = run(session, "--write")
    assert result.exit_code == 2
    assert "what it was before is in" in result.output
    assert "1 to repair" not in result.output
    for path in session.parent.iterdir():
        assert path.name == LIST or path.read_text(encoding="utf-8").endswith(
            "of somebody else"
        )


@looked_at_again
def test_who_opens_it_in_the_last_moment(
    session: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    skip_unless_writers_are_reported(session.parent)
    with ExitStack() as files:
        _before_replace(monkeypatch, lambda: files.enter_context(session.open("a")))
        before = session.stat().st_ino
        result = run(session, "--write")
    assert "left alone: another program has it open for writing" in result.output
    assert session.stat().st_ino == before
    assert inside(session.parent) == [session]


@looked_at_again
def test_where_nobody_tells_of_writers(
    session: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replacing, "reports_writers", lambda _handle: False)
    result = run(session, "--write")
    assert result.exit_code == 0
    assert "another program may have open for writing: 1" in result.output


@looked_at_again
def test_a_name_that_cannot_be_taken(
    session: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No backup is left."""
    _before_replace(monkeypatch, _refuse)
    before = session.read_text(encoding="utf-8")
    assert run(session, "--write").exit_code == 2
    assert session.read_text(encoding="utf-8") == before
    assert inside(session.parent) == [session]


def _refuse(*_: object) -> None:
    raise OSError("not here")


def _before_replace(monkeypatch: pytest.MonkeyPatch, act: Callable[[], object]) -> None:
    real = os.replace

    def replace(new: Any, path: Any) -> None:
        monkeypatch.setattr(new_file, "put", real)
        act()
        real(new, path)

    monkeypatch.setattr(new_file, "put", replace)


KILLS = 50


@pytest.mark.thorough
@not_on_windows("needs fork and SIGKILL")
def test_killed_at_any_moment(tmp_path: Path) -> None:
    """Each file is the old or the new one, during whatever call SIGKILL comes."""
    names = ("a.jsonl", "b.json", "c.db")
    first = tmp_path / "0"
    first.mkdir()
    messages = [assistant(LEAK if n % 2 else "é" * 50) for n in range(12)]
    (first / "a.jsonl").write_text(
        "".join(json.dumps(m) + "\n" for m in messages), encoding="utf-8"
    )
    (first / "b.json").write_text(json.dumps(messages), encoding="utf-8")
    _database(first / "c.db", [json.dumps(message) for message in messages])
    old = {name: _content(first / name) for name in names}
    for number in ("last", *range(1, KILLS + 1)):
        shutil.copytree(first, tmp_path / str(number))

    program = TESTS / "support" / "faults_while_writing.py"
    done = subprocess.run(
        [sys.executable, str(program), "killed", str(tmp_path), "7", str(KILLS)],
        cwd=ROOT,
        env={"PYTHONPATH": str(ROOT / "sidecar"), "PATH": ""},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [-signal.SIGKILL] * KILLS
    new = {name: _content(first / name) for name in names}
    assert all(old[name] != new[name] for name in names)
    seen = set()
    for number in range(1, KILLS + 1):
        for name in names:
            content = _content(tmp_path / str(number) / name)
            assert content in (old[name], new[name]), (number, name)
            seen.add((name, content == new[name]))
    assert len(seen) >= 5, "the moments were all alike"
    assert any(tmp_path.rglob("*.sidecar-new"))
    again = run(tmp_path, "--write", "--jobs", 1)
    assert again.exit_code == 0, again.output
    assert not any(tmp_path.rglob("*.sidecar-new*"))
    for number in range(1, KILLS + 1):
        for name in names:
            assert _content(tmp_path / str(number) / name) == new[name]


def _content(path: Path) -> Any:
    if path.suffix != ".db":
        return path.read_bytes()
    with closing(sqlite3.connect(path)) as database:
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        return database.execute("SELECT * FROM agent_messages").fetchall()


# --- SQLite ---------------------------------------------------------------------------


def _database(path: Path, cells: list[Any]) -> None:
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(
            "CREATE TABLE agent_messages "
            "(id INTEGER PRIMARY KEY, session_id TEXT, message_data TEXT)"
        )
        database.executemany(
            "INSERT INTO agent_messages (session_id, message_data) VALUES ('s', ?)",
            [(cell,) for cell in cells],
        )


def test_database_of_a_known_layout(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    cells = [json.dumps(assistant(LEAK)), "no json", None, b"\0", json.dumps({"a": 1})]
    _database(path, cells)
    before = _content(path)

    assert run(path).exit_code == 0
    assert _content(path) == before
    result = run(path, "--write")

    assert result.exit_code == 0, result.output
    assert _content(path) == [
        (1, "s", json.dumps(assistant("Four."))),
        *before[1:],
    ]
    with closing(sqlite3.connect(tmp_path / "a.db.bak")) as backup:
        assert backup.execute("SELECT * FROM agent_messages").fetchall() == before


def test_database_by_options(tmp_path: Path) -> None:
    """The content in a column of its own, as text and as parts, and the role in another
    column."""
    path = tmp_path / "chat.sqlite"
    with closing(sqlite3.connect(path)) as database, database:
        database.execute('CREATE TABLE "my chat" (who TEXT, "what said" TEXT)')
        rows = [
            ("user", LEAK),
            ("assistant", LEAK),
            (
                "assistant",
                '[ {"type": "text", "text": "<think>"}, {"text": "\\u0062</think>c"} ]',
            ),
            ("assistant", "[1] says so.</think>"),
        ]
        database.executemany('INSERT INTO "my chat" VALUES (?, ?)', rows)
    options = ("--table", "my chat", "--column", "what said", "--role-column", "who")

    assert run(path, *options, "--write").exit_code == 0

    with closing(sqlite3.connect(path)) as database:
        found = database.execute('SELECT "what said" FROM "my chat"').fetchall()
    assert [cell for (cell,) in found] == [
        LEAK,
        "Four.",
        '[ {"text": "c"} ]',
        "[1] says so.",
    ]


OPEN = "a <think>open"
CELLS = {
    # What a cell holds, and what of it stays.
    json.dumps({"type": "text", "text": LEAK}): '{"type": "text", "text": "Four."}',
    json.dumps({"type": "text", "text": OPEN}): '{"type": "text", "text": "a open"}',
    json.dumps({"answer": OPEN, "n": [OPEN]}): None,
    json.dumps(assistant(LEAK)): json.dumps(assistant("Four.")),
    json.dumps({"role": "user", "content": LEAK}): None,
    json.dumps([{"type": "text", "text": LEAK}]): '[{"type": "text", "text": "Four."}]',
    json.dumps([1, OPEN]): '[1, "a open"]',
    json.dumps([1, {"a": OPEN}]): None,
    json.dumps(f"é{LEAK}"): '"\\u00e9Four."',
    '{"text": "<think>a"}\n{"text": "b</think>c"}': None,
    '\ufeff{"text": "</think>c"}': '\ufeff{"text": "c"}',
    '{"a": 1}</think> is it.': '{"a": 1} is it.',
    "7": None,
    "[" * 100_000: None,
}


@pytest.mark.parametrize("who", ["assistant", "user", None])
def test_cells_that_are_json(tmp_path: Path, who: str | None) -> None:
    """JSON stays JSON, and text stays text. Rows of a user, and of nobody, stay
    unchanged."""
    path = tmp_path / "chat.db"
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("CREATE TABLE t (who TEXT, said TEXT)")
        rows = [(who, cell) for cell in CELLS]
        database.executemany("INSERT INTO t VALUES (?, ?)", rows)

    result = run(
        path, "--write", "--table", "t", "--column", "said", "--role-column", "who"
    )

    assert result.exit_code == 0, result.output
    with closing(sqlite3.connect(path)) as database:
        found = [cell for (cell,) in database.execute("SELECT said FROM t")]
    if who == "assistant":
        wanted = [cell if new is None else new for cell, new in CELLS.items()]
        assert found == wanted
    else:
        assert found == [*CELLS]


def test_database_that_is_not_known(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("CREATE TABLE t (x TEXT)")
    for options in ((), ("--table", "t", "--column", "y"), ("--preset", "llm")):
        assert run(path, *options).exit_code == 2
    assert run(path, "--table", "t").exit_code == 2
    # In a folder it is nobody's session.
    assert run(tmp_path).exit_code == 0
    assert run(tmp_path, "--table", "t", "--column", "y").exit_code == 0
    assert "1 file in which" in run(tmp_path, "--table", "t", "--column", "x").output
    path.write_bytes(path.read_bytes()[:50])
    assert run(tmp_path).exit_code == 2
    assert {"openai-agents", "langchain", "llm", "goose"} <= {*PRESETS}


def test_a_row_that_was_changed_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Either all cells are written or none."""
    path = tmp_path / "a.db"
    _database(path, [json.dumps(assistant(LEAK)), json.dumps(assistant(LEAK))])
    before = _content(path)
    from stream_sidecar.session_files import tables

    real = tables._replace

    def replace(database: Any, layout: Any, row: Any, new: str) -> None:
        other = evolve(row, cell=row.cell + " ")
        real(database, layout, row if row.key == 1 else other, new)

    monkeypatch.setattr(tables, "_replace", replace)
    report = repair_file(path, Job(write=True), lambda _size: None)
    assert report.error == "a row was changed meanwhile"
    assert _content(path) == before
    assert inside(tmp_path) == [path]


# --- Datasets -------------------------------------------------------------------------


def test_rows_of_a_dataset() -> None:
    """JSON text and lists keep their form; the note says what was removed."""
    row = RowRepair("d", "messages", StreamOptions())

    new, note = row._row([{"role": "user"}, assistant(LEAK)], 3)
    assert new == [{"role": "user"}, assistant("Four.")]
    counts, (model,), (removal,) = loads(note.decode())
    assert (removal["rowInBatch"], removal["kind"]) == (3, "reasoning")
    assert counts == [0, 0, 0, {}]
    assert (model["messages"], model["changed"], model["blocked"]) == (1, 1, 0)
    assert (model["removed"], model["model"]) == ({"reasoning": 1}, None)
    assert row._row(assistant(LEAK), 0)[0] == assistant("Four.")
    text = json.dumps([assistant(LEAK)], indent=1)
    assert row._row(text, 0)[0] == text.replace(LEAK, "Four.")
    assert row._row("[", 0)[0] == "["


def test_batches_of_ray() -> None:
    pyarrow = pytest.importorskip("pyarrow", reason="no pyarrow: datasets were not run")
    table = pyarrow.table({"n": [1, 2], "messages": [[assistant(LEAK)], []]})

    new = RowRepair("d", "messages", StreamOptions())(table)

    assert new.column("messages").to_pylist() == [[assistant("Four.")], []]
    assert new.column("messages").type == table.column("messages").type
