"""A run of minutes says where it is."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from threading import Event

import pytest
from beside import Parts
from progress import VARIABLE, each_minute, read
from rpc_client import PATIENCE, ROOT

TESTS = """
import os
from pathlib import Path

def test_first():
    print("is kept")

def test_second():
    progress = Path(os.environ["SIDECAR_PROGRESS"]).read_text()
    assert progress.splitlines()[-1].startswith("1 of 2 tests done, now ")
"""


def test_it_is_said_again_and_again(capsys: pytest.CaptureFixture[str]) -> None:
    """Until what took so long has ended."""
    said, again = Event(), Event()

    def say() -> str:
        (again if said.is_set() else said).set()
        return "here"

    with each_minute(say, seconds=0.001):
        assert again.wait(PATIENCE)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) >= 2
    assert set(lines) == {"-- 0 min: here"}


@pytest.mark.thorough
def test_how_many_tests_are_done(tmp_path: Path) -> None:
    tests, progress = tmp_path / "test_two.py", tmp_path / "progress"
    assert read(progress) == "runs"
    tests.write_text(TESTS, encoding="utf-8")
    done = subprocess.run(
        [*(sys.executable, "-m", "pytest", "-q", "-p", "tests.progress"), str(tests)],
        cwd=ROOT,
        env={**os.environ, VARIABLE: str(progress)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout
    assert done.stdout.splitlines()[-1].startswith("2 passed")
    assert read(progress).startswith("1 of 2 tests done, now ")
    assert read(progress).endswith("test_two.py::test_second")


def test_what_runs_beside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While a part runs, its own line is shown."""
    commands = {"first": ("-m", "pytest"), "second": ("-m", "mypy")}
    parts = Parts(Path(sys.executable), commands, tmp_path)
    seen = []

    def run(*_: object, **setting: object) -> subprocess.CompletedProcess[bytes]:
        Path(setting["env"][VARIABLE]).write_text(
            "1 of 2 tests done, now x\n", encoding="utf-8"
        )
        seen.append(parts.where())
        return subprocess.CompletedProcess([], 3, b"all that it said")

    monkeypatch.setattr("beside.subprocess.run", run)
    assert parts.run("first") == (3, b"all that it said")
    assert seen == ["0 of 2 parts done\n   first: 1 of 2 tests done, now x"]
    assert parts.where() == "1 of 2 parts done"
