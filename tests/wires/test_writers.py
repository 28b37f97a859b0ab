"""Every recording, emitted on every wire and read there again: the same message."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from emitting import differences, emitted, found
from places import TESTS

from sidecar.values.jsontext import loads
from sidecar.wires import WRITERS

RECORDINGS = sorted((TESTS / "wires").glob("*/*.chunks.jsonl"))


def _recording(path: Path) -> tuple[dict[str, Any], list[Any], dict[str, Any]]:
    lines = path.read_text(encoding="utf-8").splitlines()
    header, *chunks = map(loads, lines)
    return header["options"], chunks, header.get("close") or {}


@pytest.mark.parametrize("wire", WRITERS)
@pytest.mark.parametrize(
    "path", RECORDINGS, ids=lambda path: f"{path.parent.name}/{path.name.split('.')[0]}"
)
def test_round_trip(path: Path, wire: str) -> None:
    params, chunks, close = _recording(path)
    for whole in (False, True):
        trip = emitted(params, chunks, wire, whole=whole, close=close)
        if whole or not trip.is_early:
            assert differences(trip, wire) == []
        assert not found(trip.again)
