"""Logs into which something points by bytes: a cut moves nothing after its line, in the
command and in an editor. Other logs get no blanks."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from agent_stores import STORES, compressed, unpacked
from click.testing import CliRunner, Result
from fixing import fixed
from rpc_client import RpcClient

from stream_sidecar.cli import main
from stream_sidecar.history.lengths import has_offsets, padding, says_offsets
from stream_sidecar.session_files import blocks, workers

PULLS = {"capabilities": {"textDocument": {"diagnostic": {}}}}
"""A client to which nothing is sent unasked."""

LEAK, CLEAN = "<think>Größe? 🌿</think>Four.", "Four."


def repair(*arguments: object) -> Result:
    runner = CliRunner(env={"COLUMNS": "500"})
    return runner.invoke(main, ["repair", *map(str, arguments)])


def said(words: str, **more: Any) -> str:
    return json.dumps({"role": "assistant", "content": words, **more}) + "\n"


def ends(data: bytes) -> list[int]:
    """The positions where the lines end."""
    found, at = [], 0
    for line in data.splitlines(keepends=True):
        at += len(line)
        found.append(at)
    return found


@pytest.mark.parametrize("ascii_only", [True, False])
def test_forks_of_codex_find_their_place(tmp_path: Path, ascii_only: bool) -> None:
    """The lines of the parent stay where they were, and it reads like its clean
    twin."""
    twin = tmp_path / "twin"
    twin.mkdir()
    for folder, words in ((tmp_path, LEAK), (twin, CLEAN)):
        STORES["codex"](folder, "?", words)
        path = folder / "rollout-1.jsonl"
        lines = [
            json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()
        ]
        texts = (json.dumps(each, ensure_ascii=ascii_only) for each in lines)
        path.write_bytes("\r\n".join(texts).encode())
    parent, fork = tmp_path / "rollout-1.jsonl", tmp_path / "rollout-2.jsonl"
    old, old_fork = parent.read_bytes(), fork.read_bytes()

    assert repair(parent, fork, "--write").exit_code == 0

    new = parent.read_bytes()
    assert ends(new) == ends(old)
    clean = (twin / "rollout-1.jsonl").read_text(encoding="utf-8").splitlines()
    assert [*map(json.loads, new.splitlines())] == [*map(json.loads, clean)]
    assert b"<think>" not in new
    for one, other in zip(new.decode().splitlines(), clean, strict=True):
        body = one[:-1].rstrip(" ") + one[-1]
        assert body == json.dumps(json.loads(other), ensure_ascii=ascii_only)
    assert fork.read_bytes() == old_fork
    assert repair(parent, fork, "--check").exit_code == 0
    assert repair(parent, "--restore").exit_code == 0
    assert parent.read_bytes() == old


def test_what_codex_has_compressed(tmp_path: Path) -> None:
    STORES["codex-packed"](tmp_path, "?", LEAK)
    (path,) = tmp_path.glob("*.zst")
    old = unpacked(path.read_bytes())
    assert repair(path, "--write").exit_code == 0
    new = unpacked(path.read_bytes())
    assert b"<think>" not in new
    assert ends(new) == ends(old)
    path.write_bytes(compressed(new))
    assert repair(path, "--check").exit_code == 0


def test_a_large_log_on_all_cores(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "LARGE", 1)
    monkeypatch.setattr(blocks, "_SIZE", 500)
    STORES["codex"](tmp_path, "?", LEAK)
    path = tmp_path / "rollout-1.jsonl"
    path.write_text(path.read_text(encoding="utf-8") * 20, encoding="utf-8")
    old = path.read_bytes()
    assert repair(path, "--write", "--jobs", 2).exit_code == 0
    assert b"<think>" not in path.read_bytes()
    assert ends(path.read_bytes()) == ends(old)


def index(path: Path) -> None:
    """A database with places in files."""
    with closing(sqlite3.connect(path)) as file, file:
        file.execute("CREATE TABLE turns (id TEXT, rollout_byte_offset INTEGER)")


POINTERS = {
    "itself": lambda path: path.write_text(
        path.read_text(encoding="utf-8")
        + json.dumps({"type": "checkpoint", "byteOffset": 12})
        + "\n",
        encoding="utf-8",
    ),
    "another log": lambda path: path.with_name("b.jsonl").write_text(
        json.dumps({"parent": "a", "end_byte_offset": 12}) + "\n", encoding="utf-8"
    ),
    "a document": lambda path: path.with_name("index.json").write_text(
        json.dumps({"sessions": [{"name": "a", "offset_bytes": 12}]}, indent=1),
        encoding="utf-8",
    ),
    "a database": lambda path: index(path.with_name("history.sqlite")),
}
NO_POINTERS = {
    "nothing": lambda _path: None,
    "words": lambda path: path.with_name("b.jsonl").write_text(
        json.dumps({"role": "user", "content": 'In {"byte_offset": 12}?'}) + "\n",
        encoding="utf-8",
    ),
    "offsets of text": lambda path: path.with_name("b.json").write_text(
        json.dumps({"offset": 12, "position": 2, "byteLength": 4}), encoding="utf-8"
    ),
}


@pytest.mark.thorough
@pytest.mark.parametrize("name", [*POINTERS, *NO_POINTERS])
def test_who_says_that_something_points_into_a_log(tmp_path: Path, name: str) -> None:
    """A line of the log or a file beside it says so; an editor that has the log open
    adds the blanks, too."""
    path = tmp_path / "a.jsonl"
    path.write_text(said(LEAK, n=1) + said(CLEAN), encoding="utf-8")
    {**POINTERS, **NO_POINTERS}[name](path)
    old = path.read_bytes()
    shorter = old.replace(json.dumps(LEAK).encode(), json.dumps(CLEAN).encode())
    with RpcClient() as client:
        client.initialize(PULLS)
        in_editor = fixed(client, path).encode()

    assert repair(path, "--write").exit_code == 0

    new = path.read_bytes()
    assert new == in_editor
    if name in NO_POINTERS:
        assert new == shorter
    else:
        assert ends(new) == ends(old)
        first, *others = new.splitlines()
        assert first[:-1].rstrip(b" ") + first[-1:] == shorter.splitlines()[0]
        assert others == old.splitlines()[1:]


def test_each_fix_of_an_editor_keeps_the_length(tmp_path: Path) -> None:
    """The fixes of one finding, of a message and of all; a document in an editor need
    not be a file."""
    STORES["codex"](tmp_path, "?", f"{LEAK}</s>")
    text = (tmp_path / "rollout-1.jsonl").read_text(encoding="utf-8")
    uri = "untitled:rollout-1.jsonl"
    sizes = [len(line.encode()) for line in text.splitlines()]
    with RpcClient() as client:
        client.initialize(PULLS)
        for fix in ("one", "message", "all"):
            new = fixed(client, uri, text, fix)
            assert [len(line.encode()) for line in new.splitlines()] == sizes
            assert new != text
            assert [*map(json.loads, new.splitlines())]


def test_a_document_is_no_log(tmp_path: Path) -> None:
    """Nothing points into a file that is read whole."""
    path = tmp_path / "a.json"
    path.write_text(
        json.dumps([{"role": "assistant", "content": LEAK}, {"byte_offset": 1}]),
        encoding="utf-8",
    )
    assert repair(path, "--write").exit_code == 0
    assert path.read_text(encoding="utf-8") == json.dumps(
        [{"role": "assistant", "content": CLEAN}, {"byte_offset": 1}]
    )


def test_names_of_places_in_files() -> None:
    for name in ("byte_offset", "byteOffset", "end_byte_offset", "file_offset"):
        assert says_offsets(json.dumps({name: 1}).encode())
        assert has_offsets(f"CREATE TABLE t (a TEXT, {name} INTEGER)")
    for name in ("offset", "offsets", "bytes", "byte_offset_of"):
        assert not says_offsets(json.dumps({name: 1}).encode())
    assert padding('{"a": "é"} \r\n', [(7, 8, "")]) == (9, "  ")
