"""The wire ``anthropic``: what it takes for its own."""

from __future__ import annotations

from typing import Any

import pytest
from wire_tables import fit

from stream_sidecar.parts import Document

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
