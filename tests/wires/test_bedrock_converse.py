"""The wire ``bedrock-converse``: what it takes for its own."""

from __future__ import annotations

from typing import Any

import pytest
from wire_tables import fit

from stream_sidecar.parts import Document

FITS: list[tuple[Any, str | None, bool]] = [
    ({"messageStart": {"role": "assistant"}}, None, True),
    ({"contentBlockStart": {}}, None, True),
    ({"contentBlockDelta": {}, "p": "a"}, None, True),
    ({"contentBlockStop": {}}, None, True),
    ({"messageStop": {}}, None, True),
    ({"role": "assistant"}, "messageStart", True),
    ({":event-type": "contentBlockStop"}, None, True),
    ({"contentBlockIndex": 0, "delta": {}}, None, True),
    ({"output": {"message": {"content": []}}}, None, True),
    ({"output": {"message": {"content": "x"}}}, None, False),
    ({"output": {"message": "x"}}, None, False),
    ({"output": "x"}, None, False),
    ({"metadata": {"usage": {}}}, None, False),
    ({"usage": {}}, "metadata", False),
    ({"messageStop": None}, None, False),
    ({"contentBlockIndex": "0"}, None, False),
    ({"role": "assistant"}, None, False),
    ({"throttlingException": {}}, None, False),
    ({":event-type": ["messageStop"]}, None, False),
    ([{"messageStop": {}}], None, False),
    ("messageStop", "messageStop", False),
]


@pytest.mark.parametrize(("value", "event", "is_ours"), FITS)
def test_fits(value: Any, event: str | None, is_ours: bool) -> None:
    wires = fit(Document(value, event))
    assert wires == ["bedrock-converse"] if is_ours else "bedrock-converse" not in wires
