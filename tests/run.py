"""Runs every check of the project, in an environment of its own: the test command.

``python3 tests/run.py [pytest arguments]``. Without arguments: ruff, mypy, all tests
with branch coverage of the core, and the tests that matter once more without orjson;
beside them the clients in other languages.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

from environment import ROOT, ensure

CLIENTS = ("tests/test_client_typescript.py", "tests/test_client_rust.py")
"""What takes a toolchain of its own; run beside the rest, told behind it."""

PLAIN = ("tests/test_jsontext.py", "tests/test_wires.py", "tests/test_protocol.py")
"""What is run again on the standard library's JSON."""


def main(arguments: list[str]) -> int:
    python = ensure("test", "lint")
    if arguments:
        return _run(python, "pytest", *arguments)
    first = (("ruff", "check", "."), ("ruff", "format", "--check", "."), ("mypy",))
    then = (
        ("coverage", "run", "-m", "pytest", "-q", *(f"--ignore={e}" for e in CLIENTS)),
        ("coverage", "report"),
        ("pytest", "-q", "-p", "tests.without_orjson", *PLAIN),
    )
    if code := _run_all(python, first):
        return code
    clients = ("pytest", "-q", "-p", "no:cacheprovider", "-rs", *CLIENTS)
    with TemporaryFile() as told, _start(python, *clients, output=told) as beside:
        code = _run_all(python, then)
        if code:
            beside.terminate()
        beside.wait()
        told.seek(0)
        print("$", *clients, flush=True)
        sys.stdout.buffer.write(told.read())
        sys.stdout.flush()
        return code or beside.returncode


def _run_all(python: Path, steps: tuple[tuple[str, ...], ...]) -> int:
    """The code of the first step that fails, else 0."""
    return next((code for step in steps if (code := _run(python, *step))), 0)


def _run(python: Path, *command: str) -> int:
    print("$", *command, flush=True)
    with _start(python, *command) as process:
        return process.wait()


def _start(
    python: Path, *command: str, output: IO[bytes] | None = None
) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "PYTHONUTF8": "1"}
    line = [str(python), "-m", *command]
    error = None if output is None else subprocess.STDOUT
    return subprocess.Popen(
        line, cwd=ROOT, env=environment, stdout=output, stderr=error
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
