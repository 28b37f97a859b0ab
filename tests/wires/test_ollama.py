"""The wire ``ollama``: what it takes for its own."""

from __future__ import annotations

from typing import Any

import pytest
from wire_tables import fit

from stream_sidecar.parts import Document

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
