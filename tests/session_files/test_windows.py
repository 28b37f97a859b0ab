"""Files that other programs have open, and read-only files, on Windows."""

from __future__ import annotations

import os
import stat
import sys
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

import pytest
from backup_lists import inside
from click.testing import CliRunner, Result

from stream_sidecar.cli import main
from stream_sidecar.session_files import replacing, windows, workers

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.skipif(sys.platform != "win32", reason="Windows alone")

LINE = '{"role": "assistant", "content": "<think>a</think>b"}\n'
READS, WRITES = 0x8000_0000, 0x4000_0000
OTHERS = {"read, write and rename": 7, "read and write": 3, "read": 1, "nothing": 0}
"""What a program lets others do meanwhile: node's way, Python's, and two rarer ones."""


def run(*arguments: object) -> Result:
    runner = CliRunner(env={"COLUMNS": "500"})
    return runner.invoke(main, ["repair", *map(str, arguments)])


@pytest.fixture
def session(tmp_path: Path) -> Path:
    path = tmp_path / "session.jsonl"
    path.write_text(LINE, encoding="utf-8")
    return path


@contextmanager
def opened(path: Path, access: int, sharing: int) -> Iterator[None]:
    """The file, opened as another program may open it."""
    import msvcrt
    from _winapi import CreateFile

    handle = CreateFile(str(path), access, sharing, 0, 3, 0, 0)
    with closing(os.fdopen(msvcrt.open_osfhandle(handle, os.O_APPEND), "ab")):
        yield


@pytest.mark.parametrize("others", OTHERS)
def test_a_file_that_is_being_written_is_left_alone(session: Path, others: str) -> None:
    with opened(session, WRITES, OTHERS[others]):
        result = run(session, "--write")
    assert result.exit_code == 2
    if OTHERS[others] & 1:
        assert "left alone: another program has it open for writing" in result.output
    assert session.read_text(encoding="utf-8") == LINE
    assert [*session.parent.iterdir()] == [session]


def test_a_file_that_is_being_read_is_left_alone_or_repaired(session: Path) -> None:
    """It can be replaced if its reader lets others rename it."""
    with opened(session, READS, OTHERS["read and write"]):
        result = run(session, "--write")
    assert "left alone: another program has it open" in result.output
    assert [*session.parent.iterdir()] == [session]
    with opened(session, READS, OTHERS["read, write and rename"]):
        result = run(session, "--write")
    assert result.exit_code == 0
    backup = session.with_name("session.jsonl.bak")
    assert backup.read_text(encoding="utf-8") == LINE
    assert inside(session.parent) == [session, backup]


def test_nobody_begins_to_write_while_it_is_replaced(
    session: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = windows.swap

    def swap(new: Path, path: Path, backup: Path) -> None:
        with pytest.raises(PermissionError):
            path.open("a", encoding="utf-8")
        real(new, path, backup)

    monkeypatch.setattr(replacing.windows, "swap", swap)
    assert run(session, "--write").exit_code == 0


def test_a_read_only_file_and_its_backup(session: Path) -> None:
    os.chmod(session, stat.S_IREAD)
    backup = session.with_name("session.jsonl.bak")

    assert run(session, "--write").exit_code == 0
    assert not session.stat().st_mode & stat.S_IWRITE
    assert not backup.stat().st_mode & stat.S_IWRITE

    assert run(session, "--restore").exit_code == 0
    assert session.read_text(encoding="utf-8") == LINE
    assert [*session.parent.iterdir()] == [session]

    assert run(session, "--write").exit_code == 0
    assert run(session, "--clean").exit_code == 0
    assert [*session.parent.iterdir()] == [session]


def test_restoring_what_another_program_writes(session: Path) -> None:
    assert run(session, "--write").exit_code == 0
    with opened(session, WRITES, OTHERS["read, write and rename"]):
        result = run(session, "--restore")
    assert "another program has it open for writing" in result.output
    assert len(inside(session.parent)) == 2


def test_as_many_cores_as_no_process_can_wait_for(
    session: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "LARGE", 1)
    monkeypatch.setattr(workers.os, "cpu_count", lambda: 64)
    assert run(session, "--write").exit_code == 0
