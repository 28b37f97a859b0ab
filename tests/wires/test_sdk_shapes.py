"""Every type that the official SDKs declare is in the table of its wire.

``data/wire_types.jsonl`` is that table: what is in it is recorded, and so read, or
passed on for a reason. A name that is missing here came with a newer SDK: record an
answer that has it, read what is of use, and add the name to the table.
"""

from __future__ import annotations

import json
from collections import defaultdict
from importlib.metadata import PackageNotFoundError, version

import pytest
from places import TESTS
from sdk_shapes import SHAPES, Shape

from stream_sidecar.wires import WIRES

TYPES = TESTS / "data" / "wire_types.jsonl"

UNSPECIFIED = {"FINISH_REASON_UNSPECIFIED", "TURN_COMPLETE_REASON_UNSPECIFIED"}
"""Words that say nothing."""

OF_REQUESTS = {"TOOL_TYPE_UNSPECIFIED"}
"""Values that no answer has."""


def _known() -> dict[str, set[str]]:
    names = defaultdict(set)
    for line in TYPES.read_text("utf-8").splitlines():
        row = json.loads(line)
        names[row["wire"]].update(row["names"])
    return names


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: f"{shape.place}")
def test_all_names_are_in_the_table(shape: Shape) -> None:
    try:
        version(shape.sdk)
    except PackageNotFoundError:
        pytest.skip(f"there is no {shape.sdk} (python3 tests/run.py sdks)")
    names = shape.names()
    assert names, "the SDK declares it in another place"
    if shape.are_words:
        reasons = {word: WIRES[shape.wire].reason_of(word) for word in names}
        assert {w for w, r in reasons.items() if r == "unknown"} <= UNSPECIFIED
    else:
        assert names - _known()[shape.wire] <= OF_REQUESTS
