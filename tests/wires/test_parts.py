"""The tables of the wires: documents in, parts out, and any value in any place."""

from __future__ import annotations

import pytest
from goldens import assert_golden
from wire_tables import (
    WIRES_WITH_TABLES,
    as_read,
    assert_never_raises,
    rows_of,
    table_of,
)


@pytest.mark.golden
@pytest.mark.parametrize("wire", WIRES_WITH_TABLES)
def test_parts(wire: str) -> None:
    assert_golden(table_of(wire), as_read(wire))


@pytest.mark.thorough
@pytest.mark.parametrize("wire", WIRES_WITH_TABLES)
def test_never_raises(wire: str) -> None:
    for row in rows_of(wire):
        assert_never_raises(wire, row)


@pytest.mark.parametrize("wire", WIRES_WITH_TABLES)
def test_cases_have_names(wire: str) -> None:
    names = [row["case"] for row in rows_of(wire)]
    assert len({*names}) == len(names)
