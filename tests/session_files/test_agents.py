"""Every store that agents keep: each leak is found and cut, in the command and in the
editor, and nothing else changes."""

from __future__ import annotations

import json
import re
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from agent_stores import STORES, compressed, database, unpacked
from backup_lists import LIST
from click.testing import CliRunner, Result
from fixing import fixed
from rpc_client import RpcClient

from stream_sidecar.cli import main
from stream_sidecar.session_files.file_kinds import DATABASES

QUESTION = "What does <think>x</think> mean, and </think>?"
LEAK, CLEAN = "<think>Hm. é</think>Four is <b>it</b>.", "Four is <b>it</b>."


def repair(*arguments: object, jobs: int = 1) -> Result:
    runner = CliRunner(env={"COLUMNS": "500"})
    words = ["repair", "--jobs", str(jobs), *map(str, arguments)]
    return runner.invoke(main, words)


def contents(folder: Path) -> dict[str, Any]:
    """The content of every file of a store: lines, or the cells of a database. If a
    line keeps its length, without the blanks before its last bracket."""
    files = (each for each in sorted(folder.rglob("*")) if each.is_file())
    return {
        str(each.relative_to(folder)): _cells(each) or _unpadded(_unpacked(each))
        for each in files
        if ".bak" not in each.name and each.name != LIST
    }


def _unpacked(path: Path) -> bytes:
    data = path.read_bytes()
    return unpacked(data) if path.suffix == ".zst" else data


def _unpadded(data: bytes) -> bytes:
    return re.sub(rb" +(?=[]}]\s*$)", b"", data, flags=re.MULTILINE)


def _cells(path: Path) -> Any:
    if not path.read_bytes().startswith(b"SQLite"):
        return None
    with closing(sqlite3.connect(path)) as opened:
        names = opened.execute(
            "SELECT name FROM pragma_table_list WHERE type IN ('table', 'virtual')"
        )
        return {
            name: opened.execute(f"SELECT rowid, * FROM {name}").fetchall()
            for (name,) in names.fetchall()
        }


@pytest.fixture
def stores(tmp_path: Path) -> tuple[Path, Path]:
    """A folder for a store with a leak, and a folder for its clean twin."""
    leaking, clean = tmp_path / "leaking", tmp_path / "clean"
    leaking.mkdir()
    clean.mkdir()
    return leaking, clean


@pytest.mark.parametrize("name", STORES)
def test_a_store_is_found_and_cut(name: str, stores: tuple[Path, Path]) -> None:
    leaking, clean = stores
    count = STORES[name](leaking, QUESTION, LEAK)
    assert STORES[name](clean, QUESTION, CLEAN) == count
    twin = contents(clean)

    found = repair(leaking, "--check")
    assert found.exit_code == 1, found.output
    counted = f"{count} message{'s' * (count > 1)} of a model"
    assert f"{counted}: {count} to repair" in found.output
    done = repair(leaking, "--write")
    assert done.exit_code == 0, done.output
    assert contents(leaking) == twin

    for folder in (leaking, clean):
        again = repair(folder, "--check")
        assert again.exit_code == 0, again.output
        assert f"{counted}: 0 to repair" in again.output
    repair(clean, "--write")
    assert contents(clean) == twin
    assert not [*clean.rglob("*.bak*")]


def test_stores_beside_each_other_by_two_processes(stores: tuple[Path, Path]) -> None:
    """Each store has a folder of its own; either process may read files that belong
    together."""
    count = 0
    for name, make in STORES.items():
        for folder, answer in zip(stores, (LEAK, CLEAN), strict=True):
            (folder / name).mkdir()
            made = make(folder / name, QUESTION, answer)
        count += made
    leaking, clean = stores

    done = repair(leaking, "--write", jobs=2)

    assert done.exit_code == 0, done.output
    assert f"{count} messages of a model: {count} repaired" in done.output
    assert contents(leaking) == contents(clean)


@pytest.fixture(scope="module")
def editor() -> Iterator[RpcClient]:
    with RpcClient() as client:
        client.initialize({"capabilities": {"textDocument": {"diagnostic": {}}}})
        yield client


@pytest.mark.parametrize("name", STORES)
def test_an_editor_shows_the_same(
    name: str, stores: tuple[Path, Path], editor: RpcClient
) -> None:
    """The editor's fixes make the clean twin. Databases and compressed files are no
    documents of an editor."""
    leaking, clean = stores
    STORES[name](leaking, QUESTION, LEAK)
    STORES[name](clean, QUESTION, CLEAN)
    files = [each for each in sorted(leaking.rglob("*")) if each.is_file()]
    texts = [each for each in files if each.suffix[1:] not in (*DATABASES, "zst")]
    if not texts:
        pytest.skip("the store has no texts")
    for path in texts:
        twin = clean / path.relative_to(leaking)
        new = fixed(editor, path)
        assert _unpadded(new.encode()) == _unpadded(twin.read_bytes())
        assert fixed(editor, twin) == twin.read_bytes().decode()


def test_a_search_finds_what_is_said_now(stores: tuple[Path, Path]) -> None:
    """The index of Copilot CLI agrees with its own content, too. A view of the same
    name, and an entry with other text, stay."""
    folder, _ = stores
    path = folder / "session-store.db"
    STORES["copilot-database"](folder, "Why?", LEAK)
    with database(path) as db:
        db.execute("INSERT INTO turns VALUES ('s', 2, '', ?)", (LEAK,))
        db.execute(
            "INSERT INTO search_index VALUES ('Hm', 's', 'turn', 's:turn:2'), (?, 's', "
            "'turn', 's:turn:3')",
            (LEAK,),
        )
    assert repair(folder, "--write").exit_code == 0
    with database(path) as db:
        db.execute("INSERT INTO search_index(search_index) VALUES ('integrity-check')")
        query = "SELECT source_id FROM search_index(?)"
        assert [*db.execute(query, ("hm",))] == [("s:turn:2",), ("s:turn:3",)]
        assert [*db.execute(query, ("why + four",))] == [("s:turn:0",)]
        db.execute("UPDATE turns SET assistant_response = ?", (LEAK,))
        db.execute("DROP TABLE search_index")
        db.execute("CREATE VIEW search_index AS SELECT '' AS content, '' AS source_id")
    assert repair(folder, "--write").exit_code == 0
    assert repair(folder, "--check").exit_code == 0


def test_what_cannot_be_written_back_is_reported_and_stays(tmp_path: Path) -> None:
    packed = tmp_path / "checkpoints.sqlite"
    with database(packed) as db:
        db.execute("CREATE TABLE checkpoints (type TEXT, checkpoint BLOB)")
        row = (b"\x81\xa1a" + LEAK.encode(),)
        db.execute("INSERT INTO checkpoints VALUES ('msgpack', ?)", row)
    named = tmp_path / "logs.db"
    with database(named) as db:
        for table in ("messages", "parts", "turns"):
            db.execute(f"CREATE TABLE {table} (hash TEXT, content TEXT)")
            db.execute(f"INSERT INTO {table} VALUES ('b2:00', ?)", (LEAK,))
    chat = tmp_path / "store.db"
    with database(chat) as db:
        db.execute("CREATE TABLE meta (key TEXT, value TEXT)")
        db.execute("CREATE TABLE blobs (id TEXT, data BLOB)")
        db.execute("INSERT INTO blobs VALUES ('0f3', ?)", (LEAK.encode(),))
    before = contents(tmp_path)

    result = repair(tmp_path, "--check")

    assert result.exit_code == 2, result.output
    assert "1 not read: packed as msgpack" in result.output
    by_hash = "1 not read: its rows are named after a hash of their content"
    assert result.output.count(by_hash) == 2
    assert repair(tmp_path, "--write").exit_code == 0
    assert contents(tmp_path) == before


def test_what_is_no_compressed_session_is_reported(tmp_path: Path) -> None:
    broken, other = tmp_path / "rollout-1.jsonl.zst", tmp_path / "data.zst"
    for path in (broken, other):
        path.write_bytes(compressed(b"")[:4] + b" and more")
    result = repair(tmp_path, "--check")
    assert result.exit_code == 2, result.output
    assert "1 file, 0 messages" in result.output
    assert "1 not JSON" in result.output
    assert repair(other, "--check").exit_code == 2


def test_a_compressed_session_without_the_library(
    stores: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, _ = stores
    STORES["codex-packed"](folder, QUESTION, LEAK)
    before = contents(folder)
    for name in ("compression.zstd", "backports.zstd"):
        monkeypatch.setitem(sys.modules, name, None)
    result = repair(folder, "--check", "--jobs", 1)
    assert result.exit_code == 2, result.output
    assert "1 not read: packed as zstd: pip install" in result.output
    monkeypatch.undo()
    assert contents(folder) == before


def test_a_part_without_its_message(stores: tuple[Path, Path]) -> None:
    """Nobody knows who wrote the part: it is not changed, and not clean."""
    folder, _ = stores
    STORES["opencode"](folder, QUESTION, LEAK)
    for path in (folder / "storage" / "message").rglob("*.json"):
        path.unlink()
    before = contents(folder)
    assert repair(folder, "--check").exit_code == 2
    repair(folder, "--write")
    assert contents(folder) == before


def test_markdown_that_is_no_chat(tmp_path: Path) -> None:
    """Other texts have headings, too."""
    path = tmp_path / "README.md"
    path.write_text(f"#### About\n\n{LEAK}\n", encoding="utf-8")
    assert "0 messages" in repair(tmp_path).output
    assert repair(path, "--check").exit_code == 2
    log = tmp_path / "old.md"
    log.write_text(
        f"# aider chat started at x\n\n#### q\n\n{LEAK}\r\n\r\n#### q\n",
        encoding="utf-8",
        newline="",
    )
    assert repair(log, "--write").exit_code == 0
    assert log.read_bytes().decode().endswith(f"#### q\n\n{CLEAN}\r\n\r\n#### q\n")


@pytest.mark.parametrize("name", ["odd.json", "odd.jsonl"])
def test_a_role_without_a_text_is_no_session(name: str, tmp_path: Path) -> None:
    """Only opencode's store has the text in other files."""
    path = tmp_path / name
    path.write_text(
        json.dumps({"role": "assistant", "words": LEAK}) + "\n", encoding="utf-8"
    )
    result = repair(path, "--check")
    assert result.exit_code == 2
    assert "1 file in which no message of a model was recognised" in result.output
