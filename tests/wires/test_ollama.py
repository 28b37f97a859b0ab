"""The wire ``ollama``: the table of its parts, and what it takes for its own."""

from __future__ import annotations

from typing import Any

import pytest
from wire_tables import Row, assert_never_raises, fit, parts_of, rows_of

from stream_sidecar.parts import Document

ROWS = rows_of("ollama")
IDS = [row["case"] for row in ROWS]


@pytest.mark.parametrize("row", ROWS, ids=IDS)
def test_parts(row: Row) -> None:
    assert parts_of("ollama", row) == row["parts"]


@pytest.mark.parametrize("row", ROWS, ids=IDS)
def test_never_raises(row: Row) -> None:
    assert_never_raises("ollama", row)


FITS: list[tuple[Any, bool]] = [
    ({"model": "m", "message": {"content": "a"}, "done": False}, True),
    ({"model": "m", "response": "a", "done": False}, True),
    ({"model": "m", "done": True, "done_reason": "load"}, True),
    ([{"response": "a", "done": False}], True),
    ({"response": "a"}, False),
    ({"response": "a", "done": "no"}, False),
    ({"done": True}, False),
    ({"error": "no such model"}, False),
    ([], False),
    ("done", False),
]


@pytest.mark.parametrize(("value", "is_ours"), FITS)
def test_fits(value: Any, is_ours: bool) -> None:
    wires = fit(Document(value))
    assert wires == ["ollama"] if is_ours else "ollama" not in wires
