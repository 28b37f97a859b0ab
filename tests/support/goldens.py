"""Goldens: files that the code itself writes, and that are read as a diff.

A test that is marked ``golden`` gives all of such a file to `assert_golden`.
``python3 tests/run.py update`` runs these tests and has each write its file first.
"""

from __future__ import annotations

import os
from difflib import unified_diff
from itertools import islice
from pathlib import Path

IS_WRITTEN = bool(os.environ.get("UPDATE"))

_SHOWN = 60


def assert_golden(path: Path, text: str) -> None:
    """The file is ``text``; AssertionError says where it is not."""
    if IS_WRITTEN:
        path.write_text(text, encoding="utf-8", newline="\n")
    kept = path.read_text(encoding="utf-8") if path.exists() else ""
    if kept != text:
        lines = (kept.split("\n"), text.split("\n"))
        found = unified_diff(*lines, str(path), "now", n=1, lineterm="")
        shown = "\n".join(islice(found, _SHOWN))
        raise AssertionError(f"`python3 tests/run.py update` writes it:\n{shown}")
