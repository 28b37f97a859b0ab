"""Backups: only our own are put back or removed, whatever other files have such a name;
links are followed only where the user named them."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from backup_lists import LIST, inside, listed
from click.testing import CliRunner, Result
from rpc_client import ROOT

from stream_sidecar.cli import main
from stream_sidecar.session_files import files
from stream_sidecar.session_files.agents import AGENTS, files_of

LEAK = json.dumps({"role": "assistant", "content": "<think>Hm.</think>Four."}) + "\n"
CLEAN = LEAK.replace("<think>Hm.</think>", "")


def repair(*arguments: object, said: str = "", **environment: str) -> Result:
    runner = CliRunner(env={"COLUMNS": "500", **environment})
    return runner.invoke(main, ["repair", *map(str, arguments)], input=said)


def tree(folder: Path) -> dict[str, str]:
    """Everything below a folder except lists of backups; for a link, its target."""
    return {
        str(path.relative_to(folder)): os.readlink(path)
        if path.is_symlink()
        else path.read_text(encoding="utf-8")
        for path in sorted(folder.rglob("*"))
        if path.is_symlink() or (path.is_file() and path.name != LIST)
    }


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "sessions"
    folder.mkdir()
    (folder / "a.jsonl").write_text(LEAK, encoding="utf-8")
    return folder


# --- What is a session, and what is none ----------------------------------------------

HOMES = {
    "gemini-cli": ("GEMINI_CLI_HOME", ".gemini/tmp/x/chats"),
    "qwen-code": ("QWEN_HOME", "tmp/x/chats"),
    "vs-code": (
        "APPDATA" if sys.platform == "win32" else "XDG_CONFIG_HOME",
        "Code/User/workspaceStorage/x/chatSessions",
    ),
    "claude-code": ("CLAUDE_CONFIG_DIR", "projects/x"),
}
"""Variables of agents, and a folder of theirs below."""


@pytest.mark.parametrize(
    ("name", "kind"),
    [(name, kind) for name in HOMES for kind in ("jsonl", "json")][:-1],
)
def test_a_backup_is_no_session(tmp_path: Path, name: str, kind: str) -> None:
    """A second run over an agent finds everything clean."""
    variable, place = HOMES[name]
    folder = tmp_path / place
    folder.mkdir(parents=True)
    session = folder / f"session-1.{kind}"
    session.write_text(LEAK, encoding="utf-8")
    (folder / f".{session.name}.x.sidecar-new").write_text(LEAK, encoding="utf-8")
    (folder / f"{session.name}.bak7").write_text(LEAK, encoding="utf-8")
    home = {variable: str(tmp_path)}

    assert repair(name, "--write", **home).exit_code == 0
    first = tree(tmp_path)
    assert repair(name, "--write", **home).exit_code == 0

    assert tree(tmp_path) == first
    assert session.read_text(encoding="utf-8") == CLEAN
    assert (folder / f"{session.name}.bak").read_text(encoding="utf-8") == LEAK
    listing = repair("--list", name, "--output-format", "json", **home)
    assert json.loads(listing.output)["agents"][0]["files"] == [str(session)]
    assert repair(tmp_path, "--check").exit_code == 0


def test_patterns_end_as_their_formats_do() -> None:
    for agent in AGENTS.values():
        for _, place in agent.places:
            assert not place.endswith("*")
            assert place.rpartition(".")[2] in {
                *("json", "jsonl", "zst", "db", "sqlite", "vscdb", "md"),
            }


def test_a_backup_that_is_named(folder: Path) -> None:
    """As a pattern of the shell may name it: the backup is read, and not repaired."""
    repair(folder, "--write")
    before = tree(folder)
    paths = [each for each in folder.iterdir() if each.name != LIST]
    assert len(paths) == 2
    done = repair(*paths, "--write")
    assert done.exit_code == 2
    assert "left alone: it is a backup, which --restore puts back" in done.output
    assert tree(folder) == before
    assert repair(folder / "a.jsonl.bak").exit_code == 0


# --- Whose it is ----------------------------------------------------------------------


def test_a_repair_does_not_read_the_list_for_each_file(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reading it for each file takes the square of their number."""
    for number in range(20):
        (folder / f"{number}.jsonl").write_text(LEAK, encoding="utf-8")
    read = []
    monkeypatch.setattr(files, "noted_in", lambda folder: read.append(folder) or {})
    assert repair("--write", "--jobs", "1", folder).exit_code == 0
    assert len(listed(folder)) == 21
    assert read == []
    repair("--write", folder / "a.jsonl.bak")
    assert read == [folder]


@pytest.fixture
def strangers(folder: Path) -> dict[str, str]:
    """Files that are only named like backups."""
    names = ("thesis.doc.bak", "deep/conf.json.bak", "a.jsonl.bak3", "b.jsonl.bak")
    for name in (*names, "deep/conf.json"):
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"{name}, an only copy", encoding="utf-8")
    return tree(folder)


def test_clean_removes_only_ours(folder: Path, strangers: dict[str, str]) -> None:
    repair(folder, "--write")
    done = repair(folder, "--clean")
    assert done.exit_code == 0, done.output
    assert "1 file removed" in done.output
    assert "4 files left alone: named like a backup" in done.output
    assert tree(folder) == {**strangers, "a.jsonl": CLEAN}
    assert not (folder / LIST).exists()
    again = repair(*folder.glob("*.jsonl"), "--clean")
    assert "0 files removed" in again.output
    assert tree(folder) == {**strangers, "a.jsonl": CLEAN}


@pytest.mark.parametrize("name", [b"a\nb.jsonl", b"a\xff.jsonl", b"\xed\xa0\x80.jsonl"])
def test_names_are_bytes(tmp_path: Path, name: bytes) -> None:
    """A name may have a line break, or bytes that are not text: the list has it
    anyway."""
    try:
        session = tmp_path / os.fsdecode(name)
        session.write_text(LEAK, encoding="utf-8")
    except (OSError, UnicodeDecodeError):  # macOS and Windows take text alone
        pytest.skip("no such names here")
    for option in ("--clean", "--restore"):
        repair(tmp_path, "--write")
        assert session.read_text(encoding="utf-8") == CLEAN
        assert "1 file " in repair(tmp_path, option).output
        assert os.listdir(tmp_path) == [session.name]
        session.write_text(LEAK, encoding="utf-8")


@pytest.mark.parametrize("option", ["--clean", "--restore"])
def test_a_list_leads_nowhere_else(folder: Path, option: str) -> None:
    """Whoever makes a folder may know the content of a file outside of it."""
    other = folder.parent / "b.jsonl.bak"
    other.write_text(LEAK, encoding="utf-8")
    digest = hashlib.sha256(LEAK.encode()).hexdigest()
    names = ("../b.jsonl.bak", str(other), "b\0.bak")
    lines = [{"name": name, "size": len(LEAK), "sha256": digest} for name in names]
    made = "\n".join(map(json.dumps, lines))
    (folder / LIST).write_text(made, encoding="utf-8")
    assert repair(folder, option).exit_code == 0
    assert other.read_text(encoding="utf-8") == LEAK


def test_restore_of_a_folder_is_of_ours_alone(
    folder: Path, strangers: dict[str, str]
) -> None:
    repair(folder, "--write")
    done = repair(folder, "--restore")
    assert done.exit_code == 0, done.output
    assert "1 file put back" in done.output
    assert tree(folder) == strangers


def test_a_backup_of_an_older_version(folder: Path) -> None:
    """It is on no list: it is put back if its file is named, and never removed."""
    session, backup = folder / "a.jsonl", folder / "a.jsonl.bak2"
    session.write_text(CLEAN, encoding="utf-8")
    backup.write_text(LEAK, encoding="utf-8")
    os.utime(backup, ns=(session.stat().st_atime_ns, session.stat().st_mtime_ns))
    home = {"CODEX_HOME": str(folder.parent)}
    for words in ((folder, "--restore"), ("codex", "--restore"), (session, "--clean")):
        assert repair(*words, **home).exit_code == 0
        assert tree(folder) == {"a.jsonl": CLEAN, "a.jsonl.bak2": LEAK}
    assert repair(session, "--restore").exit_code == 0
    assert tree(folder) == {"a.jsonl": LEAK}


def test_ours_goes_before_a_strangers(folder: Path) -> None:
    """Even if the stranger's has the higher number."""
    session = folder / "a.jsonl"
    repair(session, "--write")
    (folder / "a.jsonl.bak2").write_text("of somebody else", encoding="utf-8")
    assert repair(session, "--restore").exit_code == 0
    assert tree(folder) == {"a.jsonl": LEAK, "a.jsonl.bak2": "of somebody else"}


def test_a_backup_that_somebody_has_changed(folder: Path) -> None:
    repair(folder, "--write")
    backup = folder / "a.jsonl.bak"
    backup.write_text(LEAK.replace("Four", "Five"), encoding="utf-8")
    for option in ("--clean", "--restore"):
        assert "0 files" in repair(folder, option).output
        assert backup.exists()


def test_a_copy_that_comes_after_a_backup_of_ours(folder: Path) -> None:
    """A backup that was put back is on no list any more: an equal copy belongs to its
    maker."""
    repair(folder, "--write")
    repair(folder, "--restore")
    assert inside(folder) == [folder / "a.jsonl"]
    copy = folder / "a.jsonl.bak"
    copy.write_text(LEAK, encoding="utf-8")
    assert "0 files removed" in repair(folder, "--clean").output
    assert copy.read_text(encoding="utf-8") == LEAK


def test_a_copy_that_was_there_before(folder: Path) -> None:
    """Our backup gets another name, and only this name is on the list."""
    (folder / "a.jsonl.bak").write_text(LEAK, encoding="utf-8")
    repair(folder, "--write")
    assert [*listed(folder)] == ["a.jsonl.bak2"]
    repair(folder, "--clean")
    assert tree(folder) == {"a.jsonl": CLEAN, "a.jsonl.bak": LEAK}


def test_a_list_that_cannot_be_written(folder: Path) -> None:
    """Without the list nothing is replaced."""
    (folder / LIST).symlink_to("nowhere")
    done = repair(folder, "--write")
    assert done.exit_code == 2
    assert "left alone" in done.output
    assert (folder / "a.jsonl").read_text(encoding="utf-8") == LEAK
    assert sorted(os.listdir(folder)) == [LIST, "a.jsonl"]


@pytest.mark.parametrize(
    "content",
    [
        b"\0\xff\n[1]\n{}\n" + b'{"name":7,"size":1,"sha256":"x"}\n',
        b'{"name":"a.jsonl.bak","size":"1","sha256":1}\n{"name":"a.jsonl.bak","si',
        b'{"name":"../a.jsonl.bak","size":1,"sha256":"x"}\n' + b"[" * 10_000,
    ],
)
def test_an_odd_list(folder: Path, content: bytes) -> None:
    """A line that is not an entry is ignored, and the next line is read."""
    (folder / LIST).write_bytes(content)
    (folder / "a.jsonl.bak").write_text("of somebody else", encoding="utf-8")
    assert repair(folder, "--write").exit_code == 0
    assert repair(folder, "--restore").exit_code == 0
    assert tree(folder) == {"a.jsonl": LEAK, "a.jsonl.bak": "of somebody else"}


# --- Links ----------------------------------------------------------------------------


@pytest.fixture
def outside(tmp_path: Path, folder: Path) -> Path:
    """A session, and a folder with another one, outside of the folder; links lead to
    both."""
    outside = tmp_path / "outside"
    (outside / "inner").mkdir(parents=True)
    for path in (outside / "b.jsonl", outside / "inner" / "c.jsonl"):
        path.write_text(LEAK, encoding="utf-8")
    (folder / "b.jsonl").symlink_to(outside / "b.jsonl")
    (folder / "inner").symlink_to(outside / "inner")
    (folder / "same.jsonl").symlink_to("a.jsonl")
    (folder / "loop").symlink_to(folder)
    return outside


def test_links_that_leave_the_folder(folder: Path, outside: Path) -> None:
    before = tree(outside)
    done = repair(folder, "--write", "--jobs", 1)
    assert done.exit_code == 0, done.output
    for name in ("b.jsonl", "inner"):
        assert f"{folder / name}  " in done.output
    assert done.output.count("it is a link that leaves its folder") == 2
    assert (folder / "a.jsonl").read_text(encoding="utf-8") == CLEAN
    assert tree(outside) == before
    assert repair(folder, "--check").exit_code == 2, "somebody has to look at them"
    repair(folder, "--restore")
    assert tree(outside) == before


def test_a_link_that_is_named(folder: Path, outside: Path) -> None:
    """It is followed: by the repair, by --restore and by --clean."""
    for link in (folder / "b.jsonl", folder / "inner"):
        before = tree(outside)
        assert repair(link, "--write").exit_code == 0
        assert tree(outside) != before
        done = repair(link, "--restore")
        assert "1 file put back" in done.output
        assert tree(outside) == before
        repair(link, "--write")
        assert "1 file removed" in repair(link, "--clean").output


def test_links_in_the_places_of_an_agent(tmp_path: Path) -> None:
    """A link out of the agent's folder is listed; the folder itself may be a link."""
    home, real, outside = (tmp_path / name for name in ("home", "real", "outside"))
    for place in (home, real, real / "x", outside):
        place.mkdir()
        (place / "s.jsonl").write_text(LEAK, encoding="utf-8")
    (home / "projects").symlink_to(real)
    (real / "out").symlink_to(outside)
    (real / "x" / "up").symlink_to(real)
    (real / "x" / "down").symlink_to(real / "x")
    (real / "x" / "t.jsonl").symlink_to(outside / "s.jsonl")
    variables = {"CLAUDE_CONFIG_DIR": str(home)}

    found = files_of("claude-code", "linux", variables)

    inner = home / "projects"
    assert found.files == [inner / "s.jsonl", inner / "x" / "s.jsonl"]
    assert {*found.leaving} == {inner / "out", inner / "x" / "t.jsonl"}
    done = repair("claude-code", "--write", **variables)
    assert done.output.count("it is a link that leaves its folder") == 2
    assert (outside / "s.jsonl").read_text(encoding="utf-8") == LEAK
    assert "2 files put back" in repair("claude-code", "--restore", **variables).output
    assert (real / "s.jsonl").read_text(encoding="utf-8") == LEAK


# --- A process that is killed ---------------------------------------------------------

PROGRAM = ROOT / "tests" / "support" / "faults_while_writing.py"
KEEPERS = ("backups", "manifest", "replacing", "new_file", "tables", "files")
"""Modules that keep a file and replace it, or what is in it."""


def _texts(path: Path) -> Any:
    if path.suffix != ".db":
        return path.read_text(encoding="utf-8")
    with closing(sqlite3.connect(path)) as file:
        assert file.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        return file.execute("SELECT * FROM message_store").fetchall()


@pytest.mark.parametrize("line", ["", '{"name": "a.jsonl.bak"}\n'])
@pytest.mark.parametrize("option", ["--clean", "--restore"])
def test_a_list_of_what_is_gone_goes(folder: Path, option: str, line: str) -> None:
    """A run was killed after it had removed the backup, or the backup and its entry."""
    repair(folder, "--write")
    (folder / "a.jsonl.bak").unlink()
    with (folder / LIST).open("a", encoding="utf-8") as file:
        file.write(line)
    assert repair(folder, option).exit_code == 0
    assert os.listdir(folder) == ["a.jsonl"]


def _wal(path: Path, message: str) -> None:
    """Writes a message into a database like a program that is killed afterwards: the
    message is only in the log."""
    before = path.with_name("before")
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("UPDATE message_store SET message = ?", (message,))
        database.commit()
        shutil.copy(path, before)
        shutil.copy(f"{path}-wal", f"{before}-wal")
    before.replace(path)
    Path(f"{before}-wal").replace(f"{path}-wal")


class Killed(BaseException):
    """Raised in place of a signal."""


def test_restore_is_killed_before_the_log_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The log of a database does not get into the restored one."""
    path = tmp_path / "a.db"
    with closing(sqlite3.connect(path)) as file, file:
        file.execute("CREATE TABLE message_store (session_id TEXT, message TEXT)")
        file.execute("INSERT INTO message_store VALUES ('s', ?)", (LEAK,))
    old = _texts(path)
    repair(path, "--write")
    _wal(path, "something else")
    unlink = os.unlink

    def killed(name: str | Path) -> None:
        if str(name).endswith("-wal"):
            raise Killed
        unlink(name)

    monkeypatch.setattr(os, "unlink", killed)
    with pytest.raises(Killed):
        repair(path, "--restore", "--force")
    assert _texts(path) == old


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["jsonl", "db"])
def test_killed_at_each_call_that_keeps_a_file(tmp_path: Path, kind: str) -> None:
    """The session is old or new; a new one has a backup on the list. The next runs
    continue, and ``--clean`` removes nothing that somebody else made."""
    first = tmp_path / "0"
    first.mkdir()
    session = first / f"a.{kind}"
    if kind == "db":
        with closing(sqlite3.connect(session)) as file, file:
            file.execute("CREATE TABLE message_store (session_id TEXT, message TEXT)")
            file.execute("INSERT INTO message_store VALUES ('s', ?)", (LEAK,))
    else:
        session.write_text(LEAK, encoding="utf-8")
    (first / "a.bak").write_text("of somebody else", encoding="utf-8")
    old = _texts(session)
    done = subprocess.run(
        [sys.executable, str(PROGRAM), "killed", str(tmp_path), *KEEPERS],
        stdout=subprocess.PIPE,
        env={"PYTHONPATH": str(ROOT / "sidecar"), "PATH": ""},
        check=True,
    )
    *codes, last = json.loads(done.stdout)
    assert last == 0
    assert len(codes) > 30
    assert {*codes} == {-signal.SIGKILL}
    new = _texts(tmp_path / str(len(codes) + 1) / session.name)
    assert new != old
    begun = 0
    for number in range(1, len(codes) + 1):
        path = tmp_path / str(number) / session.name
        begun += _is_well(path, old, new)
        if number % 3:
            assert repair(path.parent, "--write").exit_code == 0
            assert _texts(path) == new
            # A database that was written a moment before has no time of its own yet.
            done = repair(path.parent, "--restore", "--force")
            assert "1 file put back" in done.output
            assert _texts(path) == old
        else:
            was = _texts(path)
            repair(path.parent, "--clean")
            assert _texts(path) == was
        repair(path.parent, "--clean")
        assert (path.parent / "a.bak").read_text(encoding="utf-8") == "of somebody else"
    assert 0 < begun < len(codes)


def _is_well(path: Path, old: Any, new: Any) -> bool:
    """Whether a session is repaired already; checks that none of it is lost."""
    now = _texts(path)
    assert now in (old, new)
    if now == old:
        return False
    (backup,) = (each for each in listed(path.parent) if each.startswith(path.name))
    assert _texts(path.with_name(backup)) == old if path.suffix != ".db" else True
    return True
