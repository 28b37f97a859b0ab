"""Runs every check of the project, in an environment of its own: the test command.

``python3 tests/run.py [room or pytest argument ...]``. Without arguments: ruff, mypy,
all tests with branch coverage of the core, the clients in other languages, and the
tests that matter once more without orjson. It says every minute where it is. With
arguments it runs pytest with them; a room (``text``, ``wires``, ``house`` ...) stands
for the folder of its tests.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

from environment import ROOT, ensure
from progress import VARIABLE, each_minute, read

CUT = (
    "tests/text/test_spec.py",
    "tests/dialects/test_dialects.py",
    "tests/wires/test_wires.py",
)
"""What tries the engine at every cut; coverage is measured at few of them."""

WHOLE = (
    *("tests/whole/test_cases.py", "tests/whole/test_corpus.py"),
    *("tests/whole/test_fuzz.py", "tests/whole/test_linear.py"),
    *("tests/whole/test_properties.py", "tests/whole/test_pumps.py"),
    *("tests/whole/test_soak.py", "tests/whole/test_trust_cases.py"),
    "tests/house/test_packaging.py",
)
"""What reads any input and runs whole processes: coverage needs none of it."""

CLIENTS = (
    "tests/house/test_client_typescript.py",
    "tests/house/test_client_rust.py",
    "tests/house/test_client_vscode.py",
    "tests/house/test_binary.py",
)
"""What takes a toolchain of its own."""

PLAIN = (
    "tests/values/test_jsontext.py",
    "tests/wires/test_wires.py",
    "tests/protocol/test_protocol.py",
)
"""What is run again on the standard library's JSON."""

FIRST = (("ruff", "check", "."), ("ruff", "format", "--check", "."))

_TESTS = ("pytest", "-q", "-rs", "-p", "no:cacheprovider", "-p", "tests.progress")
_COVERED = ("coverage", "run", "--parallel-mode", "-m", *_TESTS)

BESIDE = {
    "most tests, covered": (
        *_COVERED,
        *(f"--ignore={path}" for path in (*CUT, *WHOLE, *CLIENTS)),
    ),
    "clients": (*_TESTS, *CLIENTS),
    "few cuts, covered": (*_COVERED, "-p", "tests.support.few_cuts", *CUT),
    "every cut": (*_TESTS, *CUT),
    "whole inputs and processes": (*_TESTS, *WHOLE),
    "without orjson": (*_TESTS, "-p", "tests.support.without_orjson", *PLAIN),
    "types": ("mypy",),
}
"""What does not need each other, the longest first; two at a time, each told when it
is done."""

LAST = (("coverage", "combine", "--quiet"), ("coverage", "report"))


def main(arguments: list[str]) -> int:
    python = ensure("test", "lint", "sdks")
    if arguments:
        return _run(python, "pytest", *map(_path_of, arguments))
    first = _run_all(python, (*FIRST, ("coverage", "erase")))
    return first or _run_beside(python) or _run_all(python, LAST)


def _path_of(argument: str) -> str:
    """The folder of a room's tests; any other argument as it is."""
    folder = ROOT / "tests" / argument
    return str(folder) if argument.isidentifier() and folder.is_dir() else argument


def _run_all(python: Path, steps: tuple[tuple[str, ...], ...]) -> int:
    """The code of the first step that fails, else 0."""
    return next((code for step in steps if (code := _run(python, *step))), 0)


def _run_beside(python: Path) -> int:
    """The code of a run that failed, else 0; all are run to their end."""
    with tempfile.TemporaryDirectory(prefix="sidecar-progress-") as folder:
        parts = Parts(python, Path(folder))
        with ThreadPoolExecutor(max_workers=2) as pool, each_minute(parts.where):
            return _all_told(pool, parts)


def _all_told(pool: ThreadPoolExecutor, parts: Parts) -> int:
    """Prints what each part says as soon as it is done."""
    failed = 0
    running = {pool.submit(parts.run, name): name for name in BESIDE}
    print(f"running {len(BESIDE)} parts, two at a time ...", flush=True)
    for done in as_completed(running):
        code, output = done.result()
        failed = failed or code
        print("$", *BESIDE[running[done]], flush=True)
        sys.stdout.buffer.write(output)
        sys.stdout.flush()
    return failed


class Parts:
    """Runs parts of `BESIDE`; each writes to a file in ``folder`` where it is."""

    def __init__(self, python: Path, folder: Path) -> None:
        self._python = python
        self._folder = folder
        self._running: list[str] = []
        self._done = 0

    def run(self, name: str) -> tuple[int, bytes]:
        """The code of a part and all that it says."""
        self._running.append(name)
        told = {**_SETTING["env"], VARIABLE: str(self._folder / name)}
        both = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        setting = {**_SETTING, **both, "env": told}
        line = _line(self._python, BESIDE[name])
        done = subprocess.run(line, **setting, check=False)
        self._running.remove(name)
        self._done += 1
        return done.returncode, done.stdout

    def where(self) -> str:
        """What is done, and on a line each what runs and how far it is."""
        now = (f"\n   {name}: {read(self._folder / name)}" for name in self._running)
        return f"{self._done} of {len(BESIDE)} parts done{''.join(now)}"


def _run(python: Path, *command: str) -> int:
    print("$", *command, flush=True)
    return subprocess.run(_line(python, command), **_SETTING, check=False).returncode


def _line(python: Path, command: tuple[str, ...]) -> list[str]:
    return [str(python), "-m", *command]


_SETTING: dict[str, Any] = {"cwd": ROOT, "env": {**os.environ, "PYTHONUTF8": "1"}}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
