"""Two shares of the test files that end at the same time, by recorded durations.

`FILE` has the seconds of each part of a lane and of each file of tests in it. What it
does not know counts as the median. ``python3 tests/run.py durations`` writes it anew.
Standard library only.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from statistics import median

FILE = Path(__file__).with_name("durations.json")

Durations = dict[str, float]
"""A part or a file of tests -> its seconds."""


def recorded(lane: str) -> Durations:
    """What is known of a lane."""
    lanes: dict[str, Durations] = json.loads(FILE.read_text(encoding="utf-8"))
    return lanes.get(lane, {})


def record(lane: str, durations: Durations) -> None:
    """Replaces what is known of a lane."""
    lanes = json.loads(FILE.read_text(encoding="utf-8"))
    lanes[lane] = {name: round(durations[name], 1) for name in sorted(durations)}
    text = json.dumps(lanes, indent=1, ensure_ascii=False)
    FILE.write_text(f"{text}\n", encoding="utf-8")


def in_order(parts: Iterable[str], known: Durations) -> list[str]:
    """The longest first, so that none begins when all others have ended."""
    unknown = median(known.values() or [1.0])
    return sorted(parts, key=lambda part: -known.get(part, unknown))


def shares(
    parts: Iterable[str], files: Iterable[str], known: Durations
) -> tuple[list[str], list[str]]:
    """The files in two shares, for two cores that first run ``parts``; the first share
    is that of the core which is done with its parts first."""
    unknown = median(known.values() or [1.0])
    ends = [0.0, 0.0]
    for part in in_order(parts, known):
        ends[ends[0] > ends[1]] += known.get(part, unknown)
    ends.sort()
    both: tuple[list[str], list[str]] = ([], [])
    for file in in_order(files, known):
        at = ends[0] > ends[1]
        both[at].append(file)
        ends[at] += known.get(file, unknown)
    return both
