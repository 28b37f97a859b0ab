"""Faults of the files of a repair or a recording, with the real command: nothing is
lost, nothing is shown to others, no file is left over."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from backup_lists import LIST, inside
from known_writers import skip_unless_writers_are_reported
from repair_command import COMMAND, ENVIRONMENT, Run, on_a_small_disk, run
from rpc_client import PATIENCE, ROOT, RpcClient

if sys.platform == "win32":
    pytest.skip("files and signals of POSIX", allow_module_level=True)

LEAK = json.dumps({"role": "assistant", "content": "<think>Hm.</think>Four."}) + "\n"
CLEAN = LEAK.replace("<think>Hm.</think>", "")
APPENDED = LEAK.replace("Four", "Five")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with nothing else in it."""
    folder = tmp_path / "sessions"
    folder.mkdir()
    return folder


@pytest.fixture
def session(folder: Path) -> Path:
    path = folder / "session.jsonl"
    path.write_text(LEAK, encoding="utf-8")
    return path


def database(path: Path, cells: int = 1) -> Path:
    with closing(sqlite3.connect(path)) as file, file:
        file.execute("CREATE TABLE message_store (session_id TEXT, message TEXT)")
        file.executemany("INSERT INTO message_store VALUES ('s', ?)", [(LEAK,)] * cells)
    return path


def cells(path: Path) -> set[str]:
    with closing(sqlite3.connect(path)) as file:
        assert file.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        return {cell for (cell,) in file.execute("SELECT message FROM message_store")}


def names(folder: Path) -> list[str]:
    return [path.name for path in inside(folder)]


def rights(path: Path) -> int:
    return path.stat().st_mode & 0o777


@pytest.fixture(autouse=True)
def _usual_umask() -> Iterator[None]:
    """Files get the usual permissions: everybody may read them."""
    before = os.umask(0o022)
    yield
    os.umask(before)


# --- The report -----------------------------------------------------------------------


def _itself(session: Path) -> Path:
    return session


def _symbolic_link(session: Path) -> Path:
    link = session.with_name("link")
    link.symlink_to(session)
    return link


def _hard_link(session: Path) -> Path:
    link = session.with_name("link")
    os.link(session, link)
    return link


def _other_spelling(session: Path) -> Path:
    return session.parent / ".." / session.parent.name / session.name


@pytest.mark.parametrize("name", [_itself, _symbolic_link, _hard_link, _other_spelling])
@pytest.mark.parametrize("options", [[], ["--write", "--force", "--diff"]])
def test_a_report_replaces_no_session(
    session: Path, name: Callable[[Path], Path], options: list[str]
) -> None:
    report = name(session)
    other = session.with_name("other.jsonl")
    other.write_text(LEAK, encoding="utf-8")
    for paths in ([session.parent], [other, session]):
        done = run("repair", *paths, "--report", report, *options)
        assert done.code == 2
        assert "is being repaired" in done.output
        assert (
            session.read_text(encoding="utf-8")
            == other.read_text(encoding="utf-8")
            == LEAK
        )


@pytest.mark.parametrize("suffix", ["", "-wal", "-shm", "-journal"])
def test_a_report_is_no_part_of_a_database(folder: Path, suffix: str) -> None:
    path = database(folder / "a.db")
    report = path.with_name(path.name + suffix)
    done = run("repair", path, "--report", report, "--force")
    assert done.code == 2
    assert names(folder) == ["a.db"]
    assert cells(path) == {LEAK}


def test_a_report_replaces_another_file_by_force_only(session: Path) -> None:
    report = session.with_name("report")
    report.write_text("of somebody else", encoding="utf-8")
    done = run("repair", session, "--report", report)
    assert done.code == 2
    assert "exists; --force replaces it" in done.output
    assert report.read_text(encoding="utf-8") == "of somebody else"
    other = session.with_name("other")
    os.link(report, other)
    assert run("repair", session, "--report", report, "--force").code == 0
    assert json.loads(report.read_text(encoding="utf-8"))["kind"] == "reasoning"
    assert other.read_text(encoding="utf-8") == "of somebody else"
    assert run("repair", session, "--force").code == 2


@pytest.mark.parametrize("target", ["other", "nowhere"])
@pytest.mark.parametrize("options", [[], ["--force"]])
def test_a_report_follows_no_link(
    session: Path, target: str, options: list[str]
) -> None:
    session.with_name("other").write_text("of somebody else", encoding="utf-8")
    report = session.with_name("report")
    report.symlink_to(target)
    done = run("repair", session, "--report", report, *options)
    assert done.code == 2
    assert "exists" in done.output
    assert names(session.parent) == ["other", "report", "session.jsonl"]
    assert session.with_name("other").read_text(encoding="utf-8") == "of somebody else"


@pytest.mark.parametrize("options", [[], ["--diff"]])
def test_a_report_into_a_pipe(session: Path, options: list[str]) -> None:
    """The pipe is not replaced."""
    reading, writing = os.pipe()
    with os.fdopen(reading) as pipe:
        where = f"/dev/fd/{writing}"
        done = run("repair", session, "--report", where, *options, pass_fds=[writing])
        os.close(writing)
        assert done.code == 0
        assert json.loads(pipe.read())["text"] == "<think>Hm.</think>"


# --- Rights ---------------------------------------------------------------------------


def test_a_report_is_its_users_alone(session: Path) -> None:
    report = session.with_name("report")
    run("repair", session, "--report", report)
    assert rights(report) == 0o600


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o644])
def test_a_backup_has_the_rights_of_its_file(folder: Path, mode: int) -> None:
    path, text = database(folder / "a.db"), folder / "b.jsonl"
    text.write_text(LEAK, encoding="utf-8")
    for each in (path, text):
        each.chmod(mode)
    assert run("repair", folder, "--write", "--jobs", 1).code == 0
    assert names(folder) == ["a.db", "a.db.bak", "b.jsonl", "b.jsonl.bak"]
    assert {rights(each) for each in inside(folder)} == {mode}
    assert rights(folder / LIST) == mode
    assert cells(folder / "a.db.bak") == {LEAK}
    assert cells(path) == {CLEAN}


def test_a_backup_of_a_database_with_a_log(folder: Path) -> None:
    """The backup has what is only in the write-ahead log, and has no log itself."""
    path = database(folder / "a.db")
    path.chmod(0o600)
    with closing(sqlite3.connect(path)) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
        with writer:
            writer.execute("INSERT INTO message_store VALUES ('s', ?)", (APPENDED,))
        assert run("repair", path, "--write").code == 0
    backup = folder / "a.db.bak"
    assert names(folder) == ["a.db", "a.db.bak"]
    assert rights(backup) == 0o600
    assert cells(backup) == {LEAK, APPENDED}


def test_a_recording_replaces_nothing(tmp_path: Path) -> None:
    path, link = tmp_path / "said.jsonl", tmp_path / "link"
    link.symlink_to("nowhere")
    path.write_text("of somebody else", encoding="utf-8")
    for where in (path, link):
        with RpcClient("--record", str(where)) as client:
            client.initialize()
            client.end_input()
            assert client.wait(PATIENCE) == 0
            assert "no recording" in client.stderr()
    assert path.read_text(encoding="utf-8") == "of somebody else"
    assert names(tmp_path) == ["link", "said.jsonl"]


def test_a_recording_is_its_users_alone(tmp_path: Path) -> None:
    path = tmp_path / "said.jsonl"
    with RpcClient("--record", str(path)) as client:
        client.initialize()
        client.end_input()
        assert client.wait(PATIENCE) == 0
    assert rights(path) == 0o600


# --- Backups --------------------------------------------------------------------------


@pytest.mark.parametrize("is_database", [False, True])
@pytest.mark.parametrize("target", ["nowhere", "other", "{itself}"])
def test_a_link_where_the_backup_goes(
    folder: Path, target: str, is_database: bool
) -> None:
    """The link and its target stay; the backup gets the next name."""
    path = folder / "session"
    if is_database:
        database(path)
    else:
        path.write_text(LEAK, encoding="utf-8")
    (folder / "other").write_text("of somebody else", encoding="utf-8")
    link = folder / "session.bak"
    link.symlink_to(target.format(itself="session"))

    assert run("repair", path, "--write").code == 0

    assert names(folder) == ["other", "session", "session.bak", "session.bak2"]
    assert link.is_symlink()
    assert (folder / "other").read_text(encoding="utf-8") == "of somebody else"
    backup = folder / "session.bak2"
    assert (cells(backup) if is_database else {backup.read_text(encoding="utf-8")}) == {
        LEAK
    }


@pytest.mark.parametrize("is_alive", [False, True])
def test_what_a_killed_run_has_left(session: Path, is_alive: bool) -> None:
    """It is removed at once if its maker is dead, also if it belongs to another
    session."""
    import fcntl

    left = session.with_name(".other.jsonl.abc.sidecar-new")
    with left.open("w") as file:
        file.write(LEAK)
        if is_alive:
            fcntl.flock(file, fcntl.LOCK_EX)
        run("repair", session)
        assert left.exists(), "nothing was to be written"
        assert run("repair", session, "--write").code == 0
    assert left.exists() == is_alive


# --- A full disk ----------------------------------------------------------------------


def _within_a_limit(folder: Path, size: int, *arguments: object) -> Run:
    """The command, run so that no file may grow beyond so many bytes."""
    import resource

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    return run(*arguments, folder, preexec_fn=limit)


@pytest.mark.thorough
@pytest.mark.parametrize("place", [on_a_small_disk, _within_a_limit])
@pytest.mark.parametrize("name", ["a.jsonl", "a.json", "a.db"])
def test_no_room(folder: Path, place: Callable[..., Run], name: str) -> None:
    """The file stays as it was, and no other file is beside it."""
    path = folder / name
    filler = json.dumps({"role": "user", "content": "x" * 1000}) + "\n"
    if name == "a.db":
        database(path, 600)
    elif name == "a.json":
        path.write_text(f"[{','.join([LEAK] + [filler] * 150)}]", encoding="utf-8")
    else:
        path.write_text(LEAK + filler * 150, encoding="utf-8")
    before = path.read_bytes()
    small = len(before) * 3 // 2 if place is on_a_small_disk else len(before) // 2
    small = small // 4096 * 4096

    done = place(folder, small, "repair", "--write")

    assert done.code == 2, done.output
    assert "left alone" in done.output
    assert "0 repaired" in done.output
    assert names(folder) == [name]
    assert path.read_bytes() == before


def test_no_room_for_what_is_reported(session: Path) -> None:
    """What was done before is reported."""
    other = session.with_name("t.jsonl")
    other.write_text(LEAK, encoding="utf-8")
    words = ("repair", session.parent, "--write", "--jobs", 1)
    done = run(*words, "--report", "/dev/full")
    assert done.code == 2
    assert "No space left" in done.output
    assert "1 repaired" in done.output
    assert "stopped after 1 of 2 files" in done.output
    assert other.read_text(encoding="utf-8") == LEAK


# --- Owners, links, and who else has it open ------------------------------------------

IS_ROOT = hasattr(os, "geteuid") and os.geteuid() == 0
STRANGER = 12_345


@pytest.fixture
def shared() -> Iterator[Path]:
    """A folder that every user can reach."""
    with tempfile.TemporaryDirectory() as place:
        Path(place).chmod(0o777)
        yield Path(place)


@pytest.mark.skipif(not IS_ROOT, reason="not root: other owners were not tried")
def test_the_owner_is_kept(shared: Path) -> None:
    text, path = shared / "a.jsonl", database(shared / "b.db")
    text.write_text(LEAK, encoding="utf-8")
    for each in (text, path):
        os.chown(each, STRANGER, STRANGER + 1)
        each.chmod(0o640)
    assert run("repair", shared, "--write", "--jobs", 1).code == 0
    for each in shared.iterdir():
        stat = each.stat()
        assert (stat.st_uid, stat.st_gid) == (STRANGER, STRANGER + 1), each
        assert rights(each) == 0o640
    assert len(names(shared)) == 4


@pytest.mark.skipif(not IS_ROOT, reason="not root: other owners were not tried")
def test_an_owner_that_cannot_be_kept(shared: Path) -> None:
    as_stranger = {"user": STRANGER, "group": STRANGER, "extra_groups": []}
    try:
        subprocess.run([sys.executable, "-c", ""], check=True, **as_stranger)
    except (PermissionError, subprocess.CalledProcessError):
        pytest.skip("others may not run this Python: other owners were not tried")
    text, path = shared / "a.jsonl", database(shared / "b.db")
    text.write_text(LEAK, encoding="utf-8")
    for each in (text, path):
        each.chmod(0o666)
    done = run("repair", shared, "--write", "--jobs", 1, **as_stranger)
    assert done.code == 2
    assert done.output.count("left alone: its owner and group cannot be kept") == 2
    assert (text.read_text(encoding="utf-8"), cells(path)) == (LEAK, {LEAK})
    assert names(shared) == ["a.jsonl", "b.db"]


def test_other_names_of_the_file(session: Path) -> None:
    other = session.with_name("other")
    os.link(session, other)
    done = run("repair", session, "--write")
    assert done.code == 2
    assert "left alone: it has 2 names (hard links)" in done.output
    assert other.samefile(session)
    assert names(session.parent) == ["other", "session.jsonl"]


def test_a_backup_of_a_killed_run_is_no_other_name(session: Path) -> None:
    """It is the file itself, and on the list; what was appended since is in both."""
    backup = session.with_name("session.jsonl.bak")
    os.link(session, backup)
    entry = {"name": backup.name, "size": 1, "sha256": "0"}
    (session.parent / LIST).write_text(
        f"{json.dumps(entry)}\n{{broken", encoding="utf-8"
    )
    assert run("repair", session, "--write").code == 0
    assert (
        session.read_text(encoding="utf-8"),
        backup.read_text(encoding="utf-8"),
    ) == (CLEAN, LEAK)
    assert names(session.parent) == ["session.jsonl", "session.jsonl.bak"]


def test_another_name_like_a_backups(session: Path) -> None:
    """A hard link that somebody else made is not our backup."""
    backup = session.with_name("session.jsonl.bak")
    os.link(session, backup)
    done = run("repair", session, "--write")
    assert done.code == 2
    assert "left alone: it has 2 names (hard links)" in done.output
    assert backup.samefile(session)


def test_a_file_that_is_open_for_appending(session: Path) -> None:
    """What is appended is in the file, and it can be repaired afterwards."""
    skip_unless_writers_are_reported(session.parent)
    with session.open("a") as agent:
        done = run("repair", session, "--write")
        agent.write(APPENDED)
    assert done.code == 2
    assert "left alone: another program has it open for writing" in done.output
    assert session.read_text(encoding="utf-8") == LEAK + APPENDED
    assert names(session.parent) == ["session.jsonl"]
    with session.open("rb"):  # who only reads is in nobody's way
        done = run("repair", session, "--write")
    assert done.code == 0
    assert "could not be checked" not in done.output
    assert session.read_text(encoding="utf-8") == CLEAN + CLEAN.replace("Four", "Five")


def test_a_pipe_is_no_session(folder: Path) -> None:
    """The command does not wait for it."""
    pipe = folder / "a.jsonl"
    os.mkfifo(pipe)
    done = run("repair", pipe)
    assert done.code == 2
    assert "is not a regular file" in done.output


def test_one_file_by_two_names(session: Path) -> None:
    session.with_name("link.jsonl").symlink_to(session)
    done = run("repair", session.parent, session, "--write", "--jobs", 2)
    assert done.code == 0
    assert "1 file, 1 message of a model: 1 repaired" in done.output
    assert len(names(session.parent)) == 3


def test_the_summary_counts_what_was_done(folder: Path) -> None:
    for name in ("a", "b", "c"):
        (folder / f"{name}.jsonl").write_text(LEAK * 5, encoding="utf-8")
        if name != "a":
            os.link(folder / f"{name}.jsonl", folder / f"{name}.other")
    done = run("repair", folder, "--write", "--jobs", 1)
    assert done.code == 2
    assert "3 files, 15 messages of a model: 5 repaired, 10 left as they" in done.output


# --- Signals --------------------------------------------------------------------------

LONG = json.dumps({"role": "assistant", "content": f"<think>{'x' * 900}</think>y"})
"""A pipe is full of the removals of 300 of these."""


def _interrupted(
    folder: Path, until: bytes, sign: signal.Signals, *options: object
) -> Run:
    """A repair that gets ``sign`` while it writes its report into a full pipe, which is
    not read after ``until``."""
    reading, writing = os.pipe()
    words = ("repair", str(folder), "--write", *map(str, options))
    process = subprocess.Popen(
        [*COMMAND, *words, "--report", f"/dev/fd/{writing}"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        pass_fds=[writing],
        cwd=ROOT,
        env=ENVIRONMENT,
        preexec_fn=_honour_signals,
    )
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        read = b""
        while until not in read:
            read += (more := pipe.read1(100))
            assert more, process.communicate()
        process.send_signal(sign)
        while pipe.read(1 << 16):
            pass
    output, _ = process.communicate()
    assert b"Traceback" not in output, output
    return Run(process.returncode, output.decode())


@pytest.mark.thorough
def test_ctrl_c_at_a_terminal(folder: Path) -> None:
    """The signal goes to the workers, too, and one of them may not have begun yet."""
    import fcntl
    import pty
    import termios

    for number in range(40):
        (folder / f"{number:02}.jsonl").write_text(f"{LONG}\n" * 300, encoding="utf-8")
    terminal, ours = pty.openpty()
    reading, writing = os.pipe()

    def at_terminal() -> None:
        _honour_signals()
        fcntl.ioctl(ours, termios.TIOCSCTTY, 0)

    words = ("repair", str(folder), "--write", "--jobs", "3")
    process = subprocess.Popen(
        [*COMMAND, *words, "--report", f"/dev/fd/{writing}"],
        stdin=ours,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        pass_fds=[writing],
        cwd=ROOT,
        env=ENVIRONMENT,
        start_new_session=True,
        preexec_fn=at_terminal,
    )
    os.close(writing)
    os.close(ours)
    with os.fdopen(terminal, "wb", buffering=0) as keys:
        with os.fdopen(reading, "rb") as pipe:
            assert pipe.read(1)
            keys.write(b"\x03")
            while pipe.read(1 << 16):
                pass
        output, _ = process.communicate()
    assert process.returncode == 130, output
    assert b"Traceback" not in output
    written = [name for name in names(folder) if name.endswith(".bak")]
    assert f"stopped after {len(written)} of 40 files" in output.decode()
    assert len(names(folder)) == 40 + len(written)


def _honour_signals() -> None:
    """Restores the default signals, which the process that started the tests may
    ignore."""
    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, signal.SIG_DFL)


@pytest.mark.thorough
@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_stops_before_the_next_file(
    folder: Path, sign: signal.Signals
) -> None:
    """The signal comes during the second of three files."""
    for name in ("a", "b", "c"):
        (folder / f"{name}.jsonl").write_text(f"{LONG}\n" * 300, encoding="utf-8")
    done = _interrupted(folder, b"/b.jsonl", sign, "--jobs", 1)
    assert done.code == 128 + sign
    assert "stopped after 1 of 3 files; the others were not changed" in done.output
    assert "1 file, 300 messages of a model: 300 repaired" in done.output
    assert names(folder) == ["a.jsonl", "a.jsonl.bak", "b.jsonl", "c.jsonl"]
    for name in ("b", "c"):
        assert (folder / f"{name}.jsonl").read_text(
            encoding="utf-8"
        ) == f"{LONG}\n" * 300


@pytest.mark.thorough
def test_a_signal_stops_workers(folder: Path) -> None:
    count = 40
    for number in range(count):
        size = 300 if not number else 1
        (folder / f"{number:02}.jsonl").write_text(f"{LONG}\n" * size, encoding="utf-8")
    done = _interrupted(folder, b"/00.jsonl", signal.SIGINT, "--jobs", 2)
    assert done.code == 130
    written = [name for name in names(folder) if name.endswith(".bak")]
    assert f"stopped after {len(written)} of {count} files" in done.output
    assert 1 <= len(written) < count
    assert len(names(folder)) == count + len(written)


def test_a_signal_in_a_database(folder: Path) -> None:
    path = folder / "a.db"
    with closing(sqlite3.connect(path)) as file, file:
        file.execute("CREATE TABLE message_store (session_id TEXT, message TEXT)")
        rows = [("s", LONG)] * 600
        file.executemany("INSERT INTO message_store VALUES (?, ?)", rows)
    done = _interrupted(folder, b"a.db", signal.SIGINT)
    assert done.code == 130
    assert cells(path) == {LONG}
    assert names(folder) == ["a.db"]


@pytest.mark.thorough
def test_workers_end_with_who_started_them(folder: Path) -> None:
    """Their parent is killed while it waits for its reader: the error stream that all
    share ends."""
    for number in range(3):
        (folder / f"{number}.jsonl").write_text(f"{LONG}\n" * 300, encoding="utf-8")
    reading, writing = os.pipe()
    words = ("repair", str(folder), "--jobs", "2")
    with os.fdopen(reading, "rb") as pipe:
        process = subprocess.Popen(
            [*COMMAND, *words, "--report", f"/dev/fd/{writing}"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            pass_fds=[writing],
            cwd=ROOT,
            env=ENVIRONMENT,
        )
        os.close(writing)
        assert pipe.read(1)
        process.kill()
        assert process.communicate()[1] is not None


def test_ctrl_c_ends_what_only_reads(folder: Path) -> None:
    """This holds for ``normalize``, too, without a traceback."""
    reading, writing = os.pipe()
    process = subprocess.Popen(
        [*COMMAND, "normalize", "--wire", "text", "-"],
        stdin=reading,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=ROOT,
        env={**ENVIRONMENT, "PYTHONUNBUFFERED": "1"},
        preexec_fn=_honour_signals,
    )
    os.close(reading)
    with os.fdopen(writing, "wb", buffering=0) as pipe:
        pipe.write(b"Hello. " * 10_000)
        assert process.stdout is not None
        assert process.stdout.read(1)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate()
    assert process.returncode == 130
    assert b"Traceback" not in errors
