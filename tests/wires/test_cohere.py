"""The wire ``cohere``: the table of its parts, and what it takes for its own."""

from __future__ import annotations

from typing import Any

import pytest
from wire_tables import Row, assert_never_raises, fit, parts_of, rows_of

from stream_sidecar.parts import Document

ROWS = rows_of("cohere")
IDS = [row["case"] for row in ROWS]


@pytest.mark.parametrize("row", ROWS, ids=IDS)
def test_parts(row: Row) -> None:
    assert parts_of("cohere", row) == row["parts"]


@pytest.mark.parametrize("row", ROWS, ids=IDS)
def test_never_raises(row: Row) -> None:
    assert_never_raises("cohere", row)


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
