"""Runs every check of the project, in an environment of its own: the test command.

``python3 tests/run.py [pytest arguments]``. Without arguments: ruff, mypy, all tests
with branch coverage of the core, and the tests that matter once more without orjson.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from environment import ROOT, ensure

PLAIN = ("tests/test_jsontext.py", "tests/test_wires.py", "tests/test_protocol.py")
"""What is run again on the standard library's JSON."""


def main(arguments: list[str]) -> int:
    python = ensure("test", "lint")
    if arguments:
        return _run(python, "pytest", *arguments)
    steps = (
        ("ruff", "check", "."),
        ("ruff", "format", "--check", "."),
        ("mypy",),
        ("coverage", "run", "-m", "pytest", "-q"),
        ("coverage", "report"),
        ("pytest", "-q", "-p", "tests.without_orjson", *PLAIN),
    )
    for step in steps:
        if code := _run(python, *step):
            return code
    return 0


def _run(python: Path, *command: str) -> int:
    print("$", *command, flush=True)
    environment = {**os.environ, "PYTHONUTF8": "1"}
    line = [str(python), "-m", *command]
    return subprocess.run(line, cwd=ROOT, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
