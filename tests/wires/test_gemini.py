"""The wire ``gemini``: what it takes for its own."""

from __future__ import annotations

from typing import Any

import pytest
from wire_tables import fit

from stream_sidecar.parts import Document

FITS: list[tuple[Any, bool]] = [
    ({"candidates": [{"content": {"parts": [{"text": "a"}]}}]}, True),
    ({"candidates": [], "usage_metadata": None}, True),
    ({"promptFeedback": {"blockReason": "SAFETY"}}, True),
    ({"usageMetadata": {"totalTokenCount": 1}}, True),
    ({"response": {"candidates": []}, "traceId": "t"}, True),
    ({"serverContent": {}}, True),
    ({"setupComplete": {}}, True),
    ([{"candidates": []}], True),
    ({"event_type": "interaction.created", "interaction": {}}, True),
    ({"event_type": "step.delta", "index": 0}, True),
    ({"object": "interaction", "status": "failed"}, True),
    ({"steps": [], "status": "completed"}, True),
    ({"steps": []}, False),
    ({"event_type": "stream-end", "response": {"response_id": "r"}}, False),
    ({"type": "response.created", "response": {"object": "response"}}, False),
    ({"event_type": "error", "error": {}}, False),
    ({"error": {"code": 429, "status": "RESOURCE_EXHAUSTED"}}, False),
    ({"response": "text", "done": False}, False),
    ([], False),
    ("candidates", False),
]


@pytest.mark.parametrize(("value", "is_ours"), FITS)
def test_fits(value: Any, is_ours: bool) -> None:
    wires = fit(Document(value))
    assert wires == ["gemini"] if is_ours else "gemini" not in wires
