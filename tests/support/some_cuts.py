"""A pytest plugin (``-p tests.support.some_cuts``): some cases are cut at every place.

These are the cases of changed pages and recordings, those of a changed module with the
name of a page (``dialects/harmony.py``), and a tenth of all others. Which tenth depends
on the last commit, so in time all have their turn; SIDECAR_SEED takes another.
"""

from __future__ import annotations

import os
import re
from pathlib import PurePosixPath
from zlib import crc32

import pytest

os.environ["SIDECAR_EVERY_CUT"] = "1"

SHARE = 10
ALWAYS = "tests/whole/"
"""Tests of any input, which are of no page."""

_WORD = re.compile(r"[\w.-]+")


def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> None:
    from changes import changed_files  # conftest.py says where it is

    stems, number = stems_of(changed_files() or ()), seed()
    taken = [each for each in items if is_taken(each.nodeid, stems, number)]
    config.hook.pytest_deselected(items=[item for item in items if item not in taken])
    items[:] = taken


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    cut = f"cut at every place: what changed, and one case of {SHARE}"
    terminalreporter.write_line(f"{cut} (SIDECAR_SEED={seed()})")


def seed() -> str:
    from changes import commit  # conftest.py says where it is

    return os.environ.get("SIDECAR_SEED") or commit()[:12]


def stems_of(files: frozenset[str] | tuple[()]) -> frozenset[str]:
    """What the ids of a file's tests contain: its name, as pages are spelled."""
    stems = (PurePosixPath(file).name.partition(".")[0] for file in files)
    return frozenset(stem.replace("_", "-") for stem in stems)


def is_taken(id: str, stems: frozenset[str], seed: str) -> bool:
    """Whether the test ``id`` runs: it is of a changed page, or in the tenth."""
    if id.startswith(ALWAYS) or not stems.isdisjoint(_WORD.findall(id)):
        return True
    return crc32(f"{seed} {id}".encode()) % SHARE == 0
