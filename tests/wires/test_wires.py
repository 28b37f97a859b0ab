"""Recordings: the chunks of a provider and the events that come of them.

``wires/<wire>/<case>.chunks.jsonl`` begins with a line ``{"options": ...}``, the
parameters of stream/open (and ``"close"``, those of stream/close); each further line
is a chunk. ``<case>.events.jsonl`` has one event a line. A new recording needs no test
code: ``python3 tests/run.py update`` writes the events, which are read line by line.

``data/wire_types.jsonl`` names the events, deltas, blocks, items, parts and fields of
each wire: each must be in one of its recordings. What no event carries, and so is only
passed on, has the reason in its ``kind``. ``test_sdk_shapes.py`` compares the names
with those of the providers' SDKs.
"""

from __future__ import annotations

import re
from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from checking import check, feed
from goldens import IS_WRITTEN, assert_golden
from places import TESTS
from recordings import PATHS, own

from stream_sidecar.protocol.converter import unstructure
from stream_sidecar.values.jsontext import encode, loads

WIRES = TESTS / "wires"
TYPES = TESTS / "data" / "wire_types.jsonl"


def _read(path: Path) -> list[Any]:
    return [loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _golden(path: Path) -> Path:
    return path.with_name(path.name.replace(".chunks.", ".events."))


@pytest.mark.golden
@pytest.mark.parametrize(
    "path", PATHS, ids=lambda path: f"{path.parent.name}/{path.name.split('.')[0]}"
)
def test_recording(path: Path) -> None:
    recording = own(path)
    params, chunks, close = recording.params, recording.chunks, recording.close
    events = feed(params, chunks, close=close).events
    lines = (encode(unstructure(event)).decode() + "\n" for event in events)
    assert_golden(_golden(path), "".join(lines))
    if not IS_WRITTEN:
        check(params, chunks, close=close)


def test_every_golden_has_its_recording() -> None:
    goldens = {_golden(path) for path in PATHS}
    assert set(WIRES.glob("*/*.events.jsonl")) == goldens


@cache
def _names() -> dict[str, set[str]]:
    """Wire -> the keys and short strings of its recordings, also of those in text."""
    names = defaultdict(set)
    for path in PATHS:
        text = path.read_text(encoding="utf-8").replace('\\"', '"')
        names[path.parent.name].update(re.findall(r'"([\w.:-]{1,60})"', text))
    return names


@pytest.mark.parametrize(
    "row", _read(TYPES), ids=lambda row: f"{row['wire']}: {row['kind']}"
)
def test_every_type_is_recorded(row: dict[str, Any]) -> None:
    assert set(row["names"]) <= _names()[row["wire"]]
