"""The names that ``initialize`` announces are those of the tables.

They are golden, and written before all others, which load them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from attrs import fields
from goldens import assert_golden
from places import ROOT

from stream_sidecar.dialects import DIALECTS
from stream_sidecar.framing.framer import FRAMINGS
from stream_sidecar.options import Emit
from stream_sidecar.protocol.announced import HEADER_NAMES
from stream_sidecar.protocol.methods import METHODS
from stream_sidecar.protocol.params import OpenParams
from stream_sidecar.wires.requests.seals import HEADERS

PAGE = ROOT / "sidecar" / "stream_sidecar" / "protocol" / "announced.py"


def _params(kind: type) -> Iterator[str]:
    """The names of a class's fields in JSON."""
    for each in fields(kind):
        yield re.sub("_(.)", lambda found: found[1].upper(), each.name)


NAMES = {
    "FRAMING_NAMES": tuple(FRAMINGS),
    "DIALECT_NAMES": tuple(DIALECTS),
    "METHOD_NAMES": tuple(METHODS),
    "OPTION_NAMES": (*_params(OpenParams), *map("emit.{}".format, _params(Emit))),
}


def _table(name: str) -> str:
    lines = "".join(f'    "{each}",\n' for each in NAMES[name])
    return f"{name} = (\n{lines})"


def _with(page: str, name: str) -> str:
    """``page`` with the names as they are in their table."""
    return re.sub(rf"^{name} = \(\n.*?^\)", _table(name), page, flags=re.M | re.S)


@pytest.mark.golden
def test_names_are_those_of_the_tables() -> None:
    text = PAGE.read_text("utf-8")
    for name in NAMES:
        assert f"{name} = (" in text
        text = _with(text, name)
    assert_golden(PAGE, text)


def test_headers_are_those_that_are_read() -> None:
    assert HEADER_NAMES == HEADERS
