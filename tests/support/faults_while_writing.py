"""A program that repairs copies of a folder; in each copy a fault is injected.

``python faults_while_writing.py FAULT FOLDER SEED COUNT`` is ``repair --write`` of
FOLDER/0, and of FOLDER/last, for which it counts the calls of functions when everything
is imported; and then that of each of FOLDER/1 ... FOLDER/COUNT in a process of its own,
in which FAULT comes at a random one of those calls. It prints the exit codes as JSON, a
signal as a negative number; what each said is in FOLDER/1.txt and so on.

``python faults_while_writing.py FAULT FOLDER MODULE...`` makes copies of FOLDER/0 as
FOLDER/1 and so on: one for each call of a function of C in those modules, at which
FAULT comes in turn.
"""

from __future__ import annotations

import io
import json
import os
import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any, TypeAlias

from stream_sidecar.cli import main

APPENDED = '{"role": "assistant", "content": "<think>Later.</think>Five."}\n'

Fault: TypeAlias = Callable[[Path], None]


def killed(_folder: Path) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def interrupted(_folder: Path) -> None:
    os.kill(os.getpid(), signal.SIGINT)


def repaired(folder: Path) -> None:
    """Another process repairs the same files, and ends before this one continues."""
    command = [sys.executable, "-m", "stream_sidecar", *arguments(folder)]
    subprocess.run(command, stdout=subprocess.DEVNULL, check=False)


def continued(folder: Path) -> None:
    """Agents continue their sessions."""
    for path in sorted(folder.glob("*.jsonl")):
        with path.open("a") as file:
            file.write(APPENDED)


_LOCK = """
import sqlite3, sys
held = [sqlite3.connect(path, 0, isolation_level=None) for path in sys.argv[1:]]
for database in held:
    try:
        database.execute("BEGIN EXCLUSIVE")
    except sqlite3.OperationalError:
        pass  # the repair has it
print(flush=True)
sys.stdin.read()
"""


def locked(folder: Path) -> None:
    """Another program works on the databases, as long as this process lives."""
    command = [sys.executable, "-c", _LOCK, *map(str, folder.glob("*.db"))]
    program = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert program.stdout is not None
    program.stdout.readline()
    _PROGRAMS.append(program)


_PROGRAMS: list[Any] = []
"""They end with this process, not before."""

FAULTS: dict[str, Fault] = {
    each.__name__: each for each in (killed, interrupted, repaired, continued, locked)
}


def arguments(folder: Path) -> list[str]:
    return ["repair", str(folder), "--write", "--jobs", "1"]


EVENTS = ("call", "c_call", "c_return")


def _module_of(frame: Any) -> str:
    return Path(frame.f_code.co_filename).stem


def repair(
    folder: Path, moment: int | None, fault: Fault, modules: frozenset[str] | None
) -> tuple[int, int]:
    """The exit code, and how many calls it took, in some ``modules`` or in all;
    ``fault`` comes at a ``moment``."""
    calls = 0

    def count(frame: Any, event: str, _argument: Any) -> None:
        nonlocal calls
        is_counted = event in EVENTS
        if modules is not None:
            is_counted = event == "c_call" and _module_of(frame) in modules
        if is_counted:
            calls += 1
            if calls == moment:
                fault(folder)

    sys.setprofile(count)
    try:
        main(arguments(folder))
    except SystemExit as end:
        sys.setprofile(None)
        return int(end.code or 0), calls
    raise AssertionError("a command ends with SystemExit")


def _forked(
    folder: Path,
    moment: int | None,
    fault: Fault,
    modules: frozenset[str] | None = None,
) -> tuple[int, int]:
    """`repair` in a process that says what it has to say in a file."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        said = os.open(folder.with_suffix(".txt"), os.O_CREAT | os.O_WRONLY)
        os.dup2(said, 1)
        os.dup2(said, 2)
        code, calls = repair(folder, moment, fault, modules)
        sys.stdout.flush()
        os.write(writing, str(calls).encode())
        os._exit(code)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        printed = pipe.read()
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status), int(printed or 0)


def run(fault: Fault, folder: Path, seed: int, count: int) -> list[int]:
    """The exit codes of all copies."""
    with redirect_stdout(io.StringIO()):
        repair(folder / "0", None, fault, None)
    _, last = _forked(folder / "last", None, fault)
    # A run may need a few calls fewer, by its folder's name, and must not end before.
    moments = random.Random(seed).sample(range(1, last - last // 100), count)
    return [
        _forked(folder / str(number), moment, fault)[0]
        for number, moment in enumerate(moments, 1)
    ]


def run_in_turn(fault: Fault, folder: Path, modules: frozenset[str]) -> list[int]:
    """The exit codes of all copies, one for each call in ``modules``."""
    shutil.copytree(folder / "0", folder / "first")
    with redirect_stdout(io.StringIO()):
        repair(folder / "first", None, fault, modules)
    codes: list[int] = []
    while not codes or codes[-1]:
        copy = folder / str(len(codes) + 1)
        shutil.copytree(folder / "0", copy)
        codes.append(_forked(copy, len(codes) + 1, fault, modules)[0])
    return codes


if __name__ == "__main__":
    name, place, *more = sys.argv[1:]
    if more[0].isdigit():
        codes = run(FAULTS[name], Path(place), *map(int, more))
    else:
        codes = run_in_turn(FAULTS[name], Path(place), frozenset(more))
    sys.stdout.write(json.dumps(codes) + "\n")
