"""The wire ``openai-responses``: what it takes for its own."""

from __future__ import annotations

from typing import Any

import pytest
from wire_tables import fit

from stream_sidecar.parts import Document

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
