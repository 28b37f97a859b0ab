"""Stores that are addressed by content: a leak is reported, and nothing is edited, in
the command and in an editor."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from agent_stores import database
from click.testing import CliRunner, Result
from fixing import fixed
from rpc_client import RpcClient

from stream_sidecar.cli import main
from stream_sidecar.history.digests import SEALED, is_digest_name, seal_of

LEAK = "<think>Hm.</think>Four."


def repair(*arguments: object) -> Result:
    runner = CliRunner(env={"COLUMNS": "500"})
    return runner.invoke(main, ["repair", *map(str, arguments)])


def said(words: str) -> dict[str, Any]:
    return {"role": "assistant", "content": [{"type": "text", "text": words}]}


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def tree(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def named(folder: Path, kind: str) -> Path:
    """A chunk that is named by its hash, like the chunk after it."""
    text = json.dumps([said(LEAK)])
    folder = folder / "chunks"
    folder.mkdir()
    (folder / f"{sha256('[]')}.json").write_text("[]", encoding="utf-8")
    path = folder / f"{hashlib.new(kind, text.encode()).hexdigest()}.json"
    path.write_text(text, encoding="utf-8")
    return path


def chained(folder: Path) -> Path:
    """A journal in which each record has the hash of the record before it."""
    path, last, lines = folder / "0030.jsonl", None, []
    for words in (LEAK, "Five.", LEAK):
        record = {"message": said(words), "at": 1}
        digest = sha256(json.dumps(record))
        line = {"record": record, "record_sha256": digest, "previous_sha256": last}
        lines.append(json.dumps(line) + "\n")
        last = digest
    path.write_text("".join(lines), encoding="utf-8")
    return path


def listed(folder: Path) -> Path:
    """A checkpoint whose name and hash are in a manifest above it."""
    path = folder / "generations" / "29" / "checkpoint.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"messages": [said(LEAK)]}), encoding="utf-8")
    entry = {
        "path": "29/checkpoint.json",
        "sha256": sha256(path.read_text(encoding="utf-8")),
    }
    manifest = {"generation": 29, "checkpoint": entry, "chunks": []}
    (folder / "generations" / "manifest.json").write_text(
        json.dumps(manifest), encoding="utf-8"
    )
    return path


STORES = {
    "by sha256": lambda folder: named(folder, "sha256"),
    "by sha512": lambda folder: named(folder, "sha512"),
    "by sha1": lambda folder: named(folder, "sha1"),
    "by md5": lambda folder: named(folder, "md5"),
    "a chain": chained,
    "a manifest": listed,
    "beside the text": lambda folder: one(
        folder, {**said(LEAK), "content_hash": f"sha256:{sha256(LEAK)}"}
    ),
    "in the part": lambda folder: one(
        folder,
        {"role": "assistant", "content": [{"text": LEAK, "digest": sha256(LEAK)}]},
    ),
}


def one(folder: Path, message: Any) -> Path:
    path = folder / "a.json"
    path.write_text(json.dumps({"messages": [message]}), encoding="utf-8")
    return path


@pytest.mark.thorough
@pytest.mark.parametrize("name", STORES)
def test_it_is_reported_and_stays(tmp_path: Path, name: str) -> None:
    path = STORES[name](tmp_path)
    before = tree(tmp_path)

    result = repair(path, "--output-format", "json")
    assert result.exit_code == 0, result.output
    (file,) = json.loads(result.output)["files"]
    assert file["changed"] == sum(file["kept"].values()) > 0
    assert "<think>Hm.</think>" in repair(path, "--diff").output
    assert repair(path, "--check").exit_code == 1
    done = repair(path, "--write")
    assert done.exit_code == 2
    assert f"0 repaired, {file['changed']} left as they were" in done.output
    assert " kept: " in done.output
    assert tree(tmp_path) == before
    with RpcClient() as client:
        client.initialize({"capabilities": {"textDocument": {"diagnostic": {}}}})
        assert (
            fixed(client, path)
            == fixed(client, path, fix="one")
            == path.read_text(encoding="utf-8")
        )


def test_an_editor_says_why(tmp_path: Path) -> None:
    """Text that stays is underlined, and its lens does nothing."""
    path = chained(tmp_path)
    document = {"textDocument": {"uri": path.as_uri()}}
    with RpcClient() as client:
        client.initialize({"capabilities": {"textDocument": {"diagnostic": {}}}})
        item = {"uri": path.as_uri(), "languageId": "jsonl", "version": 1}
        opened = {"textDocument": {**item, "text": path.read_text(encoding="utf-8")}}
        client.notify("textDocument/didOpen", opened)
        diagnostics = client.request("textDocument/diagnostic", document)["items"]
        lenses = client.request("textDocument/codeLens", document)
        again = {
            "command": "streamSidecar.fixMessage",
            "arguments": [path.as_uri(), 1, 0],
        }
        assert client.request("workspace/executeCommand", again) is None
    assert [each["code"] for each in diagnostics] == ["reasoning", "reasoning"]
    why = f"it stays: {SEALED}"
    assert all(f"({why})" in each["message"] for each in diagnostics)
    assert [
        (e["command"]["command"], why in e["command"]["title"]) for e in lenses
    ] == [
        ("", True),
        ("", True),
    ]


def test_the_rest_of_a_file_is_repaired(tmp_path: Path) -> None:
    """Only records that a hash protects stay."""
    path = chained(tmp_path)
    sealed = path.read_text(encoding="utf-8")
    path.write_text(sealed + json.dumps(said(LEAK)) + "\n", encoding="utf-8")
    done = repair(path, "--write")
    assert done.exit_code == 2
    assert "1 repaired, 2 left as they were" in done.output
    assert path.read_text(encoding="utf-8") == sealed + json.dumps(said("Four.")) + "\n"
    assert repair(path, "--restore").exit_code == 0


def test_rows_with_a_hash(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with database(path) as db:
        db.execute("CREATE TABLE message_store (message TEXT, content_sha256 TEXT)")
        cell = json.dumps(said(LEAK))
        db.execute("INSERT INTO message_store VALUES (?, ?)", (cell, sha256(cell)))
    before = tree(tmp_path)
    assert repair(path, "--check").exit_code == 1
    assert "1 kept: a hash" in repair(path).output
    assert repair(path, "--write").exit_code == 2
    assert tree(tmp_path) == before


def test_what_only_looks_so(tmp_path: Path) -> None:
    """Ids, hashes of other things, and text about hashes."""
    project = sha256("project")
    name = "550e8400e29b41d4a716446655440000"
    sessions = {
        f"{name}.json": {"projectHash": project, "messages": [said(LEAK)]},
        "b.json": {"git": {"commit_hash": project[:40]}, "messages": [said(LEAK)]},
        "c.json": {"messages": [said(LEAK)], "files": [{"sha256": project}]},
        "d.json": {"sha256": "none yet", "messages": [said(LEAK)]},
        "e.json": {
            "messages": [said(f'{LEAK} {{"path": "a", "sha256": "{project}"}}')]
        },
        "lastCheckpoint.json": [{**said(LEAK), "lastCheckpointHash": project[:40]}],
    }
    for each, document in sessions.items():
        (tmp_path / each).write_text(json.dumps(document), encoding="utf-8")
    other = {"attachment": {"path": "picture.png", "sha256": project}}
    (tmp_path / "index.json").write_text(
        json.dumps({**other, "messages": [said("a")]}), encoding="utf-8"
    )
    done = repair(tmp_path, "--write")
    assert done.exit_code == 0, done.output
    assert "7 messages of a model: 6 repaired\n" in done.output


def test_names_of_digests() -> None:
    for name in ("sha256", "record_sha256", "recordSha256", "contentHash", "md5"):
        assert is_digest_name(name)
    for name in ("hash", "projectHash", "commit_hash", "digests_of", "shape", "sha"):
        assert not is_digest_name(name)
    nested: Any = {"a": [{"b": {"role": "x"}}], "sha256": "0" * 64}
    assert seal_of(nested, [("a", 0, "b", "role")])
    assert not seal_of({"x": nested, "y": {"z": 1}}, [("y", "z")])


def test_a_manifest_that_is_none(tmp_path: Path) -> None:
    """An unreadable manifest seals nothing."""
    path = one(tmp_path, said(LEAK))
    (tmp_path / "large.json").write_bytes(b'{"sha256": "' + b"0" * 5_000_000)
    (tmp_path / "broken.json").write_text('{"sha256": "a.json"', encoding="utf-8")
    (tmp_path / "deep").write_text('{"sha256": ' + "[" * 100_000, encoding="utf-8")
    with closing(sqlite3.connect(tmp_path / "a.db")) as db, db:
        db.execute("CREATE TABLE t (sha256 TEXT)")
    assert repair(path, "--write").exit_code == 0
