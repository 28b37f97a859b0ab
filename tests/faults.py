"""Puts faults into a copy of the package, one at a time, and says which the tests find.

``python3 tests/faults.py [--write] [ROOM ...]``. A row of ``data/faults.jsonl`` is the
room of a fault and a line of its source, ``old``, that becomes ``new``. The line has to
occur once in the package, in whatever file: else the row is stale, and says so. First
the tests of the room run as the checks run them. What these miss is tried with every
cut. ``--write`` puts the list into README.md. By hand: each fault takes some seconds.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from shutil import copytree
from typing import NamedTuple

from environment import ROOT, ensure

TESTS = ROOT / "tests"
TABLE = TESTS / "data" / "faults.jsonl"
PAGE = TESTS / "README.md"

_PAGES = "tests/text/test_spec.py"
_RECORDINGS = "tests/wires/test_wires.py"

FINDERS = {
    "text": ("tests/text", "tests/dialects/test_dialects.py"),
    "channel": ("tests/channel", _PAGES),
    "wires": ("tests/wires",),
    "stream": ("tests/stream", _RECORDINGS),
    "history": ("tests/history",),
    "values": ("tests/values",),
    "framing": ("tests/framing", _RECORDINGS),
    "protocol": ("tests/protocol",),
}
"""The room of a fault -> the tests that should find it."""

_PYTEST = ("-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "--tb=no", "-rfE")
CHECKS = (*_PYTEST, "-m", "not thorough")
EVERY_CUT = (*_PYTEST, "-p", "tests.support.every_cut", _PAGES, _RECORDINGS)


class Fault(NamedTuple):
    """``old`` becomes ``new``."""

    room: str
    old: str
    new: str


def main(words: list[str]) -> int:
    rooms = [word for word in words if word != "--write"] or [*FINDERS]
    rows = map(json.loads, TABLE.read_text(encoding="utf-8").splitlines())
    faults = [fault for row in rows if (fault := Fault(**row)).room in rooms]
    python = ensure("test", "lint", "sdks", "standards")
    lines = []
    with tempfile.TemporaryDirectory(prefix="sidecar-faults-") as folder:
        copy = Path(folder) / "stream_sidecar"
        copytree(ROOT / "sidecar" / "stream_sidecar", copy)
        for room in {fault.room: 0 for fault in faults}:
            if test := _failed(python, copy.parent, (*CHECKS, *FINDERS[room])):
                sys.exit(f"{test} fails as it is")
        for fault in faults:
            lines.append(
                f"| {fault.room} | {_code(fault)} | {_found(python, copy, fault)} |"
            )
            print(lines[-1], flush=True)
    if "--write" in words:
        text = PAGE.read_text(encoding="utf-8")
        begin, end = "<!-- faults: begin -->\n", "<!-- faults: end -->"
        head, _, rest = text.partition(begin)
        _, _, tail = rest.partition(end)
        table = "| room | fault | found by |\n|---|---|---|\n" + "\n".join(lines)
        PAGE.write_text(f"{head}{begin}{table}\n{end}{tail}", encoding="utf-8")
    return 0


def _code(fault: Fault) -> str:
    """The change, in a cell of a table."""
    change = f"{fault.old} -> {fault.new}".replace("|", "\\|")
    return f"`` {change} ``"


def _found(python: Path, copy: Path, fault: Fault) -> str:
    """The first test that fails with the fault."""
    files = {path: path.read_text(encoding="utf-8") for path in copy.rglob("*.py")}
    places = [
        path for path, text in files.items() for _ in range(text.count(fault.old))
    ]
    if len(places) != 1:
        return f"**stale**: the line occurs {len(places)} times"
    (path,) = places
    path.write_text(files[path].replace(fault.old, fault.new), encoding="utf-8")
    try:
        for command in ((*CHECKS, *FINDERS[fault.room]), EVERY_CUT):
            if test := _failed(python, copy.parent, command):
                by = "" if command is not EVERY_CUT else ", **with every cut only**"
                return f"`{test}`{by}"
    finally:
        path.write_text(files[path], encoding="utf-8")
    return "no test"


def _failed(python: Path, folder: Path, command: tuple[str, ...]) -> str:
    """The name of the test that fails with the package in ``folder``; "" if none."""
    environment = {**os.environ, "PYTHONPATH": str(folder), "PYTHONUTF8": "1"}
    done = subprocess.run(
        [str(python), *command],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
    )
    if done.returncode == 0:
        return ""
    named = re.search(
        r"^(?:FAILED|ERROR) tests/(\S+?\.py(?:::\w+)?)", done.stdout, re.M
    )
    return named[1] if named else f"exit code {done.returncode}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
