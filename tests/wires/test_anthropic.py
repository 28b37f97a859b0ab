"""The wire ``anthropic``: the table of its parts, and what it takes for its own."""

from __future__ import annotations

from typing import Any

import pytest
from wire_tables import Row, assert_never_raises, fit, parts_of, rows_of

from stream_sidecar.parts import Document

ROWS = rows_of("anthropic")
IDS = [row["case"] for row in ROWS]


@pytest.mark.parametrize("row", ROWS, ids=IDS)
def test_parts(row: Row) -> None:
    assert parts_of("anthropic", row) == row["parts"]


@pytest.mark.parametrize("row", ROWS, ids=IDS)
def test_never_raises(row: Row) -> None:
    assert_never_raises("anthropic", row)


FITS: list[tuple[Any, str | None, bool]] = [
    ({"type": "message_start", "message": {}}, None, True),
    ({"type": "content_block_start", "index": 0}, None, True),
    ({"type": "content_block_delta"}, None, True),
    ({"type": "content_block_stop"}, None, True),
    ({"type": "message_delta"}, None, True),
    ({"type": "message_stop"}, None, True),
    ({"index": 0, "delta": {}}, "content_block_delta", True),
    ({"type": "message", "model": "m", "content": []}, None, True),
    ({"type": "message", "stop_reason": "end_turn", "content": []}, None, True),
    ({"type": "message", "content": []}, None, False),
    ({"type": "message", "model": "m", "content": "x"}, None, False),
    ({"type": "ping"}, None, False),
    ({"type": "ping"}, "ping", False),
    ({"type": "error", "error": {}}, "error", False),
    ({"type": ["message_start"]}, None, False),
    ({}, None, False),
    ([{"type": "message_start"}], None, False),
    ("message_start", "message_start", False),
]


@pytest.mark.parametrize(("value", "event", "is_ours"), FITS)
def test_fits(value: Any, event: str | None, is_ours: bool) -> None:
    wires = fit(Document(value, event))
    assert wires == ["anthropic"] if is_ours else "anthropic" not in wires
