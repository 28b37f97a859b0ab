"""Runs the parts of a long run two at a time, and says every minute where each is.

The output of a part is kept until it has ended. Standard library only.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

from environment import ROOT
from progress import VARIABLE, durations, each_minute, read

Commands = dict[str, tuple[str, ...]]
"""The name of a part -> what the interpreter is given."""


def run(python: Path, *command: str, **variables: str) -> int:
    """The code of one command, which says at once what it has to say."""
    print("$", *_shown(command), flush=True)
    done = subprocess.run(_line(python, command), **_setting(variables), check=False)
    return done.returncode


def run_beside(
    python: Path, commands: Commands, seconds: dict[str, float] | None = None
) -> list[str]:
    """The names of the parts that failed; all are run to their end. ``seconds`` gets
    the processor time of each file of tests and of each part that is made of them, and
    the time that any other part took."""
    with tempfile.TemporaryDirectory(prefix="sidecar-progress-") as folder:
        parts = Parts(python, commands, Path(folder))
        with ThreadPoolExecutor(max_workers=2) as pool, each_minute(parts.where):
            failed = _print_as_done(pool, parts)
    if seconds is not None:
        seconds |= parts.seconds
    return failed


def _print_as_done(pool: ThreadPoolExecutor, parts: Parts) -> list[str]:
    """Prints what each part says as soon as it is done."""
    failed = []
    running = {pool.submit(parts.run, name): name for name in parts.commands}
    print(f"running {len(running)} parts, two at a time ...", flush=True)
    for done in as_completed(running):
        name = running[done]
        code, output = done.result()
        failed += [name] if code else []
        print("$", *_shown(parts.commands[name]), flush=True)
        sys.stdout.buffer.write(output)
        sys.stdout.flush()
    return failed


class Parts:
    """Runs parts; each writes to a file in ``folder`` where it is."""

    def __init__(self, python: Path, commands: Commands, folder: Path) -> None:
        self.commands = commands
        self.seconds: dict[str, float] = {}
        self._python = python
        self._folder = folder
        self._running: list[str] = []
        self._done = 0

    def run(self, name: str) -> tuple[int, bytes]:
        """The code of a part and all that it says."""
        self._running.append(name)
        begun = time.monotonic()
        setting = _setting({VARIABLE: str(self._folder / name)})
        both = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        line = _line(self._python, self.commands[name])
        done = subprocess.run(line, **setting, **both, check=False)
        self._running.remove(name)
        files = durations(self._folder / name)
        self.seconds |= files
        self.seconds[name] = sum(files.values()) or time.monotonic() - begun
        self._done += 1
        return done.returncode, done.stdout

    def where(self) -> str:
        """What is done, and on a line each what runs and how far it is."""
        now = (f"\n   {name}: {read(self._folder / name)}" for name in self._running)
        return f"{self._done} of {len(self.commands)} parts done{''.join(now)}"


def _shown(command: tuple[str, ...]) -> list[str]:
    """A command as it is printed: a share of the files is too long to be read."""
    files = [word for word in command if word.endswith(".py")]
    if len(files) < _MANY:
        return [*command]
    return [*(each for each in command if each not in files), f"({len(files)} files)"]


_MANY = 12


def _line(python: Path, command: tuple[str, ...]) -> list[str]:
    return [str(python), *command]


def _setting(variables: dict[str, str]) -> dict[str, Any]:
    return {"cwd": ROOT, "env": {**os.environ, "PYTHONUTF8": "1", **variables}}
