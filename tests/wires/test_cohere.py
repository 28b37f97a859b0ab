"""The wire ``cohere``: what it takes for its own."""

from __future__ import annotations

from typing import Any

import pytest
from wire_tables import fit

from stream_sidecar.parts import Document

FITS: list[tuple[Any, str | None, bool]] = [
    *(({"type": f"message-{part}"}, None, True) for part in ("start", "end")),
    *(({"type": f"content-{part}"}, None, True) for part in ("start", "delta", "end")),
    *(
        ({"type": f"tool-call-{part}"}, None, True)
        for part in ("start", "delta", "end")
    ),
    *(({"type": f"citation-{part}"}, None, True) for part in ("start", "end")),
    ({"type": "tool-plan-delta"}, None, True),
    ({"index": 0}, "content-end", True),
    ({"message": {"content": []}, "finish_reason": "COMPLETE"}, None, True),
    ({"message": {"content": "x"}, "done": True}, None, False),
    ({"message": "no", "finish_reason": "x"}, None, False),
    ({"type": "debug"}, None, False),
    ({"type": ["message-start"]}, None, False),
    ([{"type": "message-start"}], None, False),
    ("message-start", "message-start", False),
]


@pytest.mark.parametrize(("value", "event", "is_ours"), FITS)
def test_fits(value: Any, event: str | None, is_ours: bool) -> None:
    wires = fit(Document(value, event))
    assert wires == ["cohere"] if is_ours else "cohere" not in wires
