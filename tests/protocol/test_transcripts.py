"""Recorded conversations, replayed against the real process.

What a transcript is stands in ``replay.py``. What the sidecar says is golden: it is
read as a diff, never typed.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from goldens import IS_WRITTEN
from places import TESTS
from replay import difference, read, renewed, replay, write
from rpc_client import strict_json

PATHS = sorted((TESTS / "transcripts").glob("*.jsonl"))

_FORMS = (
    {"comment"},
    {"dir", "msg"},
    {"dir", "raw"},
    {"dir", "base64"},
    {"dir", "end"},
    {"dir", "code"},
)


@pytest.mark.golden
@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_transcript(path: Path) -> None:
    """The sidecar says what was recorded, nothing else, and ends as it did."""
    recorded = read(path)
    played = replay(recorded)
    if IS_WRITTEN:
        write(path, [*map(renewed, recorded, played)])
        return
    problems = map(difference, recorded, played)
    differences = [
        f"line {n}: {problem}" for n, problem in enumerate(problems, 1) if problem
    ]
    assert not differences, "\n".join(differences)


def test_form(subtests: pytest.Subtests) -> None:
    """Any client can read it: strict JSON, one header, known lines, one end."""
    for path in PATHS:
        with subtests.test(path.stem):
            lines = [strict_json(line) for line in path.read_bytes().splitlines()]
            header, *rest = lines
            assert header.keys() == {"transcript", "protocolVersion", "title"}
            assert (header["transcript"], header["protocolVersion"]) == (1, 1)
            assert header["title"]
            assert all(set(line) in _FORMS for line in rest)
            assert [line["dir"] for line in rest if "code" in line] == ["exit"]
            assert "code" in rest[-1]


def test_titles() -> None:
    """Each says something of its own."""
    titles = [read(path)[0]["title"] for path in PATHS]
    assert len(set(titles)) == len(titles)
