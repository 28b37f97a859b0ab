"""Inputs that are larger than the memory, or never end: the file is listed, the other
files are repaired, and Ctrl-C ends the run."""

from __future__ import annotations

import io
import json
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from agent_stores import STORES, compressed, database
from click.testing import CliRunner, Result
from repair_command import COMMAND, ENVIRONMENT, run
from rpc_client import ROOT
from systems import not_on_windows

from stream_sidecar.cli import main
from stream_sidecar.session_files import blocks, files, size_limits, tables, workers
from stream_sidecar.session_files.documents import Stopped
from stream_sidecar.session_files.files import Job, repair_file
from stream_sidecar.session_files.size_limits import LinePart, lines_of

LEAK = json.dumps({"role": "assistant", "content": "<think>Hm.</think>Four."})
CLEAN = LEAK.replace("<think>Hm.</think>", "")
LONG = json.dumps({"role": "user", "content": "x" * 5000})


def repair(*arguments: object) -> Result:
    runner = CliRunner(env={"COLUMNS": "500"})
    return runner.invoke(main, ["repair", *map(str, arguments)])


@pytest.fixture
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(size_limits, "LONGEST_LINE", 1000)
    monkeypatch.setattr(size_limits, "LARGEST_DOCUMENT", 3000)


# --- Lines and documents --------------------------------------------------------------


def test_pieces_of_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(size_limits, "LONGEST_LINE", 4)
    data = b"abc\nabcd\nabcdefghi\n\nabcde"
    line, long, rest = LinePart.LINE, LinePart.TOO_LONG, LinePart.REST
    assert [*lines_of(io.BytesIO(data))] == [
        (b"abc\n", line),
        (b"abcd\n", long),
        (b"abcde", long),
        (b"fghi", rest),
        (b"\n", rest),
        (b"\n", line),
        (b"abcde", long),
    ]


@pytest.mark.usefixtures("_small")
@pytest.mark.parametrize("cores", [1, 2])
def test_a_line_that_is_too_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cores: int
) -> None:
    """It stays; the lines around it are repaired, and keep their numbers."""
    monkeypatch.setattr(workers, "LARGE", 1)
    monkeypatch.setattr(blocks, "_SIZE", 200)
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join((LEAK, LONG, LEAK, LEAK, LEAK, LONG)), encoding="utf-8")
    report = tmp_path / "report"
    done = repair(path, "--write", "--jobs", cores, "--report", report)
    assert done.exit_code == 0, done.output
    assert "2 not read: a line of more than" in done.output
    assert path.read_text(encoding="utf-8").split("\n") == [
        CLEAN,
        LONG,
        CLEAN,
        CLEAN,
        CLEAN,
        LONG,
    ]
    findings = map(json.loads, report.read_text(encoding="utf-8").splitlines())
    assert [each["line"] for each in findings] == [1, 3, 4, 5]
    assert repair(path, "--check", "--jobs", cores).exit_code == 2


@pytest.mark.usefixtures("_small")
@pytest.mark.parametrize("name", ["a.json", ".aider.chat.history.md"])
def test_a_document_that_is_too_large(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    text = f"[{LEAK}, {LONG}]" if name == "a.json" else f"#### q\n{LEAK}{LONG}"
    path.write_text(text, encoding="utf-8")
    (tmp_path / "b.jsonl").write_text(LEAK, encoding="utf-8")
    done = repair(tmp_path, "--write", "--jobs", 1)
    assert "1 not read: a document of more than" in done.output
    assert (
        path.read_text(encoding="utf-8"),
        (tmp_path / "b.jsonl").read_text(encoding="utf-8"),
    ) == (text, CLEAN)
    assert repair(tmp_path, "--check", "--jobs", 1).exit_code == 2


@pytest.mark.usefixtures("_small")
def test_a_cell_that_is_too_large(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with database(path) as db:
        db.execute("CREATE TABLE message_store (session_id TEXT, message TEXT)")
        rows = [("s", each) for each in (LEAK, LONG, LEAK)]
        db.executemany("INSERT INTO message_store VALUES (?, ?)", rows)
    done = repair(path, "--write")
    assert "1 not read: a cell of more than" in done.output
    with closing(sqlite3.connect(path)) as file:
        found = file.execute("SELECT message FROM message_store").fetchall()
    assert found == [(CLEAN,), (LONG,), (CLEAN,)]


@pytest.mark.usefixtures("_small")
@pytest.mark.parametrize("count", [1_000, 1_000_000])
def test_what_is_compressed(tmp_path: Path, count: int) -> None:
    """The unpacked size counts; the packed file is small."""
    path = tmp_path / "rollout-1.jsonl.zst"
    path.write_bytes(compressed(f"{LEAK}\n".encode() + b" " * count))
    before = path.read_bytes()
    done = repair(path, "--write")
    assert (path.read_bytes() == before) == (count > 3000), done.output
    assert ("1 not read: packed text of more than" in done.output) == (count > 3000)


@pytest.mark.usefixtures("_small")
def test_a_packed_cell(tmp_path: Path) -> None:
    STORES["zed"](tmp_path, "q" * 4000, "<think>a</think>b")
    done = repair(tmp_path, "--check")
    assert "1 not read: packed text of more than" in done.output
    assert "1 not read: a cell of more than" in done.output


def test_rows_are_read_by_their_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "_BYTES", 10)
    path = tmp_path / "a.db"
    with database(path) as db:
        db.execute("CREATE TABLE message_store (session_id TEXT, message TEXT)")
        rows = [("s", LEAK)] * 5
        db.executemany("INSERT INTO message_store VALUES (?, ?)", rows)
    assert "5 repaired" in repair(path, "--write").output


# --- Memory ---------------------------------------------------------------------------


@pytest.mark.thorough
@pytest.mark.skipif(sys.platform != "linux", reason="needs a limit of memory")
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_file_that_does_not_fit(tmp_path: Path, jobs: int) -> None:
    """It is listed, the other files are repaired, and no leak is reported for it."""
    import resource

    size = 200_000_000
    large = tmp_path / "b.json"
    with large.open("w") as file:
        file.write(f'[{CLEAN}, "')
        file.seek(size)
        file.write('"]')
    for name in ("a.jsonl", "c.jsonl", "d.jsonl"):
        (tmp_path / name).write_text(CLEAN, encoding="utf-8")

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (2 * size, 2 * size))

    words = ("--check", "--jobs", jobs)
    done = run("repair", tmp_path, *words, preexec_fn=limit)
    assert done.code == 2, done.output
    assert f"{large}  " in done.output
    assert "left alone: it does not fit into the memory" in done.output
    assert "4 files, 3 messages" in done.output
    assert "Not listed: 3 files without a finding (3 messages)" in done.output


def test_memory_that_ends_beside_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "format_of", _no_memory)
    report = repair_file(tmp_path / "a.json", Job(), lambda _size: None)
    assert report.error == files.NO_MEMORY


def _no_memory(*_: object) -> Any:
    raise MemoryError


# --- Databases of anybody -------------------------------------------------------------

ENDLESS = (
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT "
    "i AS id, 's' AS session_id, 'assistant' AS role, '[]' AS content_json, '[]' AS "
    "parts, '{}' AS message FROM n"
)


def test_a_view_is_no_table(tmp_path: Path) -> None:
    """It is never queried: its query may never end."""
    path = tmp_path / "a.db"
    with database(path) as db:
        for name in ("messages", "message_store"):
            db.execute(f"CREATE VIEW {name} AS {ENDLESS}")
        db.execute("CREATE VIRTUAL TABLE agent_messages USING fts5(message_data)")
    for options in (
        (),
        ("--preset", "goose"),
        ("--table", "messages", "--column", "x"),
    ):
        done = run("repair", path, *options, timeout=600)
        assert done.code == 2, done.output
        assert "left alone" in done.output
    assert run("repair", tmp_path, timeout=600).code == 0


def test_columns_that_are_computed_are_none(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with database(path) as db:
        columns = "session_id TEXT, message TEXT AS (zeroblob(9))"
        db.execute(f"CREATE TABLE message_store ({columns})")
        db.execute("INSERT INTO message_store (session_id) VALUES ('s')")
    assert "no known layout" in repair(path).output


def test_the_schema_calls_nothing_of_consequence(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with database(path) as db:
        db.execute("CREATE TABLE t (x TEXT)")
    with closing(tables._open(path)) as opened:
        assert opened.execute("PRAGMA trusted_schema").fetchall() == [(0,)]


def slow(path: Path) -> None:
    """A database in which the repair of a row starts a trigger that never ends."""
    with database(path) as db:
        db.execute("CREATE TABLE message_store (session_id TEXT, message TEXT)")
        db.execute("INSERT INTO message_store VALUES ('s', ?)", (LEAK,))
        db.execute("CREATE TABLE n (i INTEGER)")
        db.execute("INSERT INTO n SELECT 1")
        for _ in range(12):
            db.execute("INSERT INTO n SELECT i FROM n")
        db.execute(
            "CREATE TRIGGER t AFTER UPDATE ON message_store BEGIN "
            "SELECT count(*) FROM n a, n b, n c, n d, n e; END"
        )


def test_a_query_that_is_to_end(tmp_path: Path) -> None:
    """A running query asks whether to continue; nothing was written before."""
    path, asked = tmp_path / "a.db", []
    slow(path)

    def advance(_size: int) -> None:
        asked.append(True)
        if len(asked) > 50:
            raise Stopped

    report = repair_file(path, Job(write=True), advance)
    assert report.stopped
    assert sorted(each.name for each in tmp_path.iterdir()) == ["a.db"]
    with closing(sqlite3.connect(path)) as file:
        assert file.execute("SELECT message FROM message_store").fetchall() == [(LEAK,)]


@pytest.mark.thorough
@not_on_windows("needs signals")
@pytest.mark.parametrize("jobs", [1, 2])
def test_ctrl_c_ends_a_query(tmp_path: Path, jobs: int) -> None:
    for name in ("a.db", "b.db"):
        slow(tmp_path / name)
    words = ("repair", str(tmp_path), "--write", "--jobs", str(jobs))
    process = subprocess.Popen(
        [*COMMAND, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        cwd=ROOT,
        env=ENVIRONMENT,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    while not [*tmp_path.glob("*-journal")]:  # a transaction has begun
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate()
    assert process.returncode == 130, output
    assert b"stopped after 0 of 2 files" in output
    assert sorted(each.name for each in tmp_path.iterdir()) == ["a.db", "b.db"]


def test_an_index_that_triggers_keep(tmp_path: Path) -> None:
    """As in the database of llm: a search for removed text finds nothing."""
    path = tmp_path / "logs.db"
    with closing(sqlite3.connect(path)) as file:
        file.executescript("""
            CREATE TABLE responses (response TEXT);
            CREATE VIRTUAL TABLE texts USING fts5 (response, content=responses);
            CREATE TRIGGER made AFTER INSERT ON responses BEGIN
                INSERT INTO texts (rowid, response) VALUES (new.rowid, new.response);
            END;
            CREATE TRIGGER changed AFTER UPDATE ON responses BEGIN
                INSERT INTO texts (texts, rowid, response)
                    VALUES ('delete', old.rowid, old.response);
                INSERT INTO texts (rowid, response) VALUES (new.rowid, new.response);
            END;
            INSERT INTO responses VALUES ('<think>Hm.</think>Four.');
        """)
    report = repair_file(path, Job(write=True), lambda _size: None)
    assert (report.error, report.written) == (None, True)
    with closing(sqlite3.connect(path)) as file:
        assert file.execute("SELECT * FROM responses").fetchall() == [("Four.",)]
        found = "SELECT count(*) FROM texts WHERE texts MATCH ?"
        assert file.execute(found, ("hm",)).fetchone() == (0,)
        assert file.execute(found, ("four",)).fetchone() == (1,)
