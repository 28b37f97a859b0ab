"""The row of a wire, as wires/README.md, "Adding a wire", has it."""

from __future__ import annotations

import re
import sys
from textwrap import dedent
from types import SimpleNamespace
from typing import Any

import pytest
from attrs import fields
from checking import check, feed
from places import TESTS

from stream_sidecar import wires
from stream_sidecar.parts import Document
from stream_sidecar.wires import REQUESTS, WIRES, WRITERS
from stream_sidecar.wires.shared.row import WireRow

PAGE = TESTS.parent / "sidecar" / "stream_sidecar" / "wires" / "README.md"
CODE = re.compile(r"^ +```python\n(.*?)^ +```$", re.MULTILINE | re.DOTALL)
CHUNKS = [
    {"say": "Hello", "model": "m"},
    {"say": "", "why": "stop", "counts": {"in": 3}},
]


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> str:
    """The wire that the page shows, added; its name."""
    found = CODE.search(PAGE.read_text("utf-8"))
    assert found is not None
    module: dict[str, Any] = {"__name__": "toy"}
    exec(compile(dedent(found[1]), str(PAGE), "exec"), module)
    name: str = module["ROW"].name
    monkeypatch.setattr(wires, "NAMES", (*wires.NAMES, name))
    own = SimpleNamespace(**module)
    monkeypatch.setitem(sys.modules, f"{wires.__name__}.{name}", own)
    return name


def test_what_the_page_shows_is_a_wire(toy: str) -> None:
    message = feed({"wire": toy}, CHUNKS).message
    assert (message.text, message.finish.reason) == ("Hello", "stop")
    assert (message.metadata.model, message.usage.input_tokens) == ("m", 3)
    assert all(WIRES[toy].fits(Document(chunk)) for chunk in CHUNKS)
    check({"wire": toy}, CHUNKS)


def test_the_page_tells_every_field_of_a_row() -> None:
    page = PAGE.read_text("utf-8").split("## Adding a wire")[1].split("\n## ")[0]
    cells = re.findall(r"^\| ((?:`\w+`(?:, )?)+) \|", page, re.MULTILINE)
    documented = re.findall(r"`(\w+)`", " ".join(cells))
    assert {each.name for each in fields(WireRow)} <= {*documented}


@pytest.mark.parametrize("row", WIRES.values(), ids=lambda row: row.name)
def test_a_row_of_the_table(row: WireRow) -> None:
    """What goes out can be read again; all but plain text has a place on the page."""
    assert row.writer is None or row.request is not None
    assert (row.writer is not None) == (row.name in WRITERS)
    assert (row.request is not None) == (row.name in REQUESTS)
    assert (row.title == "") == (row.name == "text")
    assert any(row.usage.counts) == (row.name != "text")
