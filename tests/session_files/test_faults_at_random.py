"""Two hundred files, and faults at any moment of `repair --write`: each file is the old
or the new one, none is lost, and the next run finishes the work.

Moments are calls of functions in one process, and records that were read from several
processes. All are drawn from a seed.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from backup_lists import inside, listed
from click.testing import CliRunner
from faults_while_writing import APPENDED
from repair_command import COMMAND, ENVIRONMENT, on_a_small_disk
from rpc_client import ROOT

from stream_sidecar.cli import main

if sys.platform == "win32":
    pytest.skip("files and signals of POSIX", allow_module_level=True)

pytestmark = pytest.mark.thorough

FILES = 200
PROGRAM = ROOT / "tests" / "support" / "faults_while_writing.py"
LEAK = {"role": "assistant", "content": "<think>Hm.</think>Four."}
QUESTION = {"role": "user", "content": "What is <think>?"}
RECORDS = [
    json.dumps(
        {"type": kind, "sessionId": "s", "uuid": id, "parentUuid": parent, **more}
    )
    for id, parent, kind, more in (
        ("a", None, "user", {"message": QUESTION}),
        ("b", "a", "assistant", {"message": LEAK}),
        ("c", "b", "user", {"message": {"role": "user", "content": "Go."}}),
    )
]
BROKEN = "\n".join([RECORDS[0], RECORDS[1][:50] + RECORDS[1], RECORDS[2][:50], ""])
"""A session of Claude Code with a leak, and with parts of records."""

OTHERS = APPENDED.replace("<think>Later.</think>", "")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two hundred sessions of all kinds."""
    folder = tmp_path / "0"
    folder.mkdir()
    for number in range(FILES):
        name, pairs = f"{number:03}", [QUESTION, LEAK] * (number % 4 + 1)
        if number % 50 == 10:
            _database(folder / f"{name}.db", [json.dumps(each) for each in pairs])
        elif number % 5 == 0:
            (folder / f"{name}.json").write_text(
                json.dumps(pairs, indent=1), encoding="utf-8"
            )
        elif number % 5 == 1:
            (folder / f"{name}.jsonl").write_text(BROKEN, encoding="utf-8")
        else:
            lines = "".join(json.dumps(each) + "\n" for each in pairs)
            (folder / f"{name}.jsonl").write_text(lines, encoding="utf-8")
    return folder


def _database(path: Path, cells: list[str]) -> None:
    with closing(sqlite3.connect(path)) as file, file:
        file.execute("CREATE TABLE message_store (session_id TEXT, message TEXT)")
        rows = [("s", cell) for cell in cells]
        file.executemany("INSERT INTO message_store VALUES (?, ?)", rows)


def contents(folder: Path) -> dict[str, Any]:
    """The content of every session; for a database, its rows."""
    names = (each for each in folder.iterdir() if each.name[0] != ".")
    return {
        path.name: _rows(path)
        if path.suffix == ".db"
        else path.read_text(encoding="utf-8")
        for path in names
        if path.suffix in {".db", ".json", ".jsonl"}
    }


def _rows(path: Path) -> Any:
    with closing(sqlite3.connect(path)) as file:
        assert file.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        return file.execute("SELECT * FROM message_store").fetchall()


def copied(folder: Path, *names: object) -> None:
    for name in names:
        shutil.copytree(folder, folder.with_name(str(name)))


def repair(folder: Path, how: str) -> int:
    """The exit code of a run without a fault, in this process, which is cheap."""
    words = ["repair", str(folder), how, "--jobs", "1"]
    return CliRunner().invoke(main, words).exit_code


def new_of(folder: Path) -> dict[str, Any]:
    """The sessions after their repair."""
    copied(folder, "new")
    new = folder.with_name("new")
    assert repair(new, "--write") == 0
    return contents(new)


def finished(folder: Path, new: dict[str, Any]) -> None:
    """The next run finishes the work, and leaves nothing but backups."""
    assert repair(folder, "--write") == 0
    assert contents(folder) == new
    assert repair(folder, "--check") == 0
    assert not [*folder.glob("*.sidecar-new")]
    assert not [*folder.glob("*-journal")]
    backups = [each for each in inside(folder) if each.suffix.startswith(".bak")]
    assert {each.name for each in backups} == listed(folder).keys()
    assert len(backups) + FILES == len(inside(folder))


def happens(folder: Path, fault: str, seed: int, count: int) -> list[int]:
    """The exit codes of repairs in which ``fault`` comes at random moments."""
    copied(folder, "last", *range(1, count + 1))
    words = (sys.executable, str(PROGRAM), fault, str(folder.parent))
    done = subprocess.run(
        [*words, str(seed), str(count)],
        cwd=ROOT,
        env={**ENVIRONMENT, "PYTHONPATH": str(ROOT / "sidecar")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    codes: list[int] = json.loads(done.stdout)
    return codes


@pytest.mark.parametrize(
    ("fault", "code", "count"),
    [("killed", -signal.SIGKILL, 4), ("interrupted", 128 + signal.SIGINT, 3)],
)
def test_a_run_that_ends(folder: Path, fault: str, code: int, count: int) -> None:
    """Each file is old or repaired. An end after the last file, while the summary is
    printed, is not the repair's."""
    old = contents(folder)
    codes = happens(folder, fault, 7, count)
    assert code in codes
    new = contents(folder)
    done = set()
    for number, ended in enumerate(codes, 1):
        each = folder.with_name(str(number))
        now = contents(each)
        assert now.keys() == old.keys()
        assert all(now[name] in (old[name], new[name]) for name in now)
        assert ended == code or (ended == 0 and now == new)
        done.add(sum(now[name] == new[name] for name in now))
        finished(each, new)
    assert len(done) > count // 2, "the moments were all alike"


def test_two_that_repair(folder: Path) -> None:
    """The second run leaves alone what the first has repaired, and says so."""
    codes = happens(folder, "repaired", 5, 2)
    assert set(codes) <= {0, 2}
    new = contents(folder)
    for number in range(1, 3):
        each = folder.with_name(str(number))
        assert contents(each) == new
        assert len([*each.glob("*.bak*")]) == FILES
        finished(each, new)


def test_agents_that_go_on(folder: Path) -> None:
    """What the agents append is in the file, before its repair or after it."""
    old = contents(folder)
    assert set(happens(folder, "continued", 3, 3)) <= {0, 2}
    new = contents(folder)
    for number in range(1, 4):
        each = folder.with_name(str(number))
        for name, text in contents(each).items():
            if not name.endswith(".jsonl"):
                assert text in (old[name], new[name])
                continue
            assert text in (
                old[name] + APPENDED,
                new[name] + APPENDED,
                new[name] + OTHERS,
            )
        more = {
            name: text + OTHERS if name.endswith(".jsonl") else text
            for name, text in new.items()
        }
        finished(each, more)


def test_a_locked_database(folder: Path) -> None:
    """It is listed, and all other files are repaired."""
    old = contents(folder)
    codes = happens(folder, "locked", 1, 2)
    new = contents(folder)
    for number, code in enumerate(codes, 1):
        each = folder.with_name(str(number))
        now = contents(each)
        left = {name for name in now if now[name] != new[name]}
        assert all(now[name] == old[name] for name in left)
        said = each.with_suffix(".txt").read_text(encoding="utf-8")
        assert said.count("database is locked") == len(left)
        assert code == (2 if left else 0)
        finished(each, new)
    assert 2 in codes, "no database was locked"


@pytest.mark.parametrize("seed", range(3))
def test_a_disk_that_fills(folder: Path, seed: int) -> None:
    old, new = contents(folder), new_of(folder)
    used = sum(-(-each.stat().st_size // 4096) * 4096 for each in folder.iterdir())
    size = used + random.Random(seed).randrange(used)
    done = on_a_small_disk(folder, size // 4096 * 4096, "repair", "--write")
    assert done.code == 2, done.output
    assert "left alone" in done.output
    now = contents(folder)
    assert now.keys() == old.keys()
    assert all(now[name] in (old[name], new[name]) for name in now)
    assert {now[name] == new[name] for name in now} == {True, False}
    finished(folder, new)


@pytest.mark.parametrize("sign", [signal.SIGKILL, signal.SIGINT])
@pytest.mark.parametrize("seed", range(2))
def test_workers_that_end(folder: Path, sign: signal.Signals, seed: int) -> None:
    """The moment is a record of the report."""
    old, new = contents(folder), new_of(folder)
    moment = random.Random(f"{sign} {seed}").randrange(20, 300)
    reading, writing = os.pipe()
    words = ("--write", "--jobs", "2", "--report", f"/dev/fd/{writing}")
    process = subprocess.Popen(
        [*COMMAND, "repair", str(folder), *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        pass_fds=[writing],
        cwd=ROOT,
        env=ENVIRONMENT,
    )
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        for _ in range(moment):
            assert pipe.readline()
        process.send_signal(sign)
        pipe.read()
    said, _ = process.communicate()  # its workers have ended, too
    assert process.returncode == (130 if sign == signal.SIGINT else -sign), said
    now = contents(folder)
    assert now.keys() == old.keys()
    assert all(now[name] in (old[name], new[name]) for name in now)
    finished(folder, new)
