"""The names that ``initialize`` announces are those of the tables.

``UPDATE=1 python3 tests/run.py tests/protocol/test_announced.py`` writes them anew.
"""

from __future__ import annotations

import os
import re

import pytest
from places import ROOT

from stream_sidecar.dialects import DIALECTS
from stream_sidecar.framing.framer import FRAMINGS
from stream_sidecar.wires import WIRES

PAGE = ROOT / "sidecar" / "stream_sidecar" / "protocol" / "announced.py"
NAMES = {
    "WIRE_NAMES": ("auto", *WIRES),
    "FRAMING_NAMES": tuple(FRAMINGS),
    "DIALECT_NAMES": tuple(DIALECTS),
}


def _table(name: str) -> str:
    rows = (f'    "{each}",\n' for each in NAMES[name])
    return f"{name} = (\n{''.join(rows)})"


def _with(page: str, name: str) -> str:
    """``page`` with the names as they are in their table."""
    return re.sub(rf"^{name} = \(\n.*?^\)", _table(name), page, flags=re.M | re.S)


if os.environ.get("UPDATE"):
    for _name in NAMES:
        text = _with(PAGE.read_text("utf-8"), _name)
        PAGE.write_text(text, "utf-8", newline="\n")


@pytest.mark.parametrize("name", NAMES)
def test_names_are_those_of_the_tables(name: str) -> None:
    assert _table(name) in PAGE.read_text("utf-8")
