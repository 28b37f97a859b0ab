"""Runs the parts of a long run two at a time, and says every minute where each is.

What a part says is kept until it has ended, and told at once. Standard library only.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

from environment import ROOT
from progress import VARIABLE, each_minute, read

Commands = dict[str, tuple[str, ...]]
"""The name of a part -> what the interpreter is given."""


def run(python: Path, *command: str, **variables: str) -> int:
    """The code of one command, which says at once what it has to say."""
    print("$", *command, flush=True)
    done = subprocess.run(_line(python, command), **_setting(variables), check=False)
    return done.returncode


def run_beside(python: Path, commands: Commands) -> list[str]:
    """The names of the parts that failed; all are run to their end."""
    with tempfile.TemporaryDirectory(prefix="sidecar-progress-") as folder:
        parts = Parts(python, commands, Path(folder))
        with ThreadPoolExecutor(max_workers=2) as pool, each_minute(parts.where):
            return _print_as_done(pool, parts)


def _print_as_done(pool: ThreadPoolExecutor, parts: Parts) -> list[str]:
    """Prints what each part says as soon as it is done."""
    failed = []
    running = {pool.submit(parts.run, name): name for name in parts.commands}
    print(f"running {len(running)} parts, two at a time ...", flush=True)
    for done in as_completed(running):
        name = running[done]
        code, output = done.result()
        failed += [name] if code else []
        print("$", *parts.commands[name], flush=True)
        sys.stdout.buffer.write(output)
        sys.stdout.flush()
    return failed


class Parts:
    """Runs parts; each writes to a file in ``folder`` where it is."""

    def __init__(self, python: Path, commands: Commands, folder: Path) -> None:
        self.commands = commands
        self._python = python
        self._folder = folder
        self._running: list[str] = []
        self._done = 0

    def run(self, name: str) -> tuple[int, bytes]:
        """The code of a part and all that it says."""
        self._running.append(name)
        setting = _setting({VARIABLE: str(self._folder / name)})
        both = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        line = _line(self._python, self.commands[name])
        done = subprocess.run(line, **setting, **both, check=False)
        self._running.remove(name)
        self._done += 1
        return done.returncode, done.stdout

    def where(self) -> str:
        """What is done, and on a line each what runs and how far it is."""
        now = (f"\n   {name}: {read(self._folder / name)}" for name in self._running)
        return f"{self._done} of {len(self.commands)} parts done{''.join(now)}"


def _line(python: Path, command: tuple[str, ...]) -> list[str]:
    return [str(python), *command]


def _setting(variables: dict[str, str]) -> dict[str, Any]:
    return {"cwd": ROOT, "env": {**os.environ, "PYTHONUTF8": "1", **variables}}
