"""The wire ``openai-responses``: the table of its parts, and what is its own."""

from __future__ import annotations

from typing import Any

import pytest
from wire_tables import Row, assert_never_raises, fit, parts_of, rows_of

from stream_sidecar.parts import Document

ROWS = rows_of("openai-responses")
IDS = [row["case"] for row in ROWS]


@pytest.mark.parametrize("row", ROWS, ids=IDS)
def test_parts(row: Row) -> None:
    assert parts_of("openai-responses", row) == row["parts"]


@pytest.mark.parametrize("row", ROWS, ids=IDS)
def test_never_raises(row: Row) -> None:
    assert_never_raises("openai-responses", row)


FITS: list[tuple[Any, str | None, bool]] = [
    ({"type": "response.created", "response": {}}, None, True),
    ({"type": "response.output_text.delta", "delta": "a"}, None, True),
    ({"delta": "a"}, "response.output_text.delta", True),
    ({"object": "response", "output": []}, None, True),
    ([{"object": "response"}], None, True),
    ({"type": "error", "message": "m"}, "error", False),
    ({"type": "keepalive"}, None, False),
    ({"output": []}, None, False),
    ({"type": ["response.created"]}, None, False),
    ([], "response.created", False),
    ("response.created", None, False),
]


@pytest.mark.parametrize(("value", "event", "is_ours"), FITS)
def test_fits(value: Any, event: str | None, is_ours: bool) -> None:
    wires = fit(Document(value, event))
    assert wires == ["openai-responses"] if is_ours else "openai-responses" not in wires
