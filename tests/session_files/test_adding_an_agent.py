"""Each step of session_files/README.md, "Adding an agent", was taken for each agent.

A step that is missing fails a test that names the page and the step.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from agent_stores import STANDARDS, STORES
from click.testing import CliRunner
from rpc_client import ROOT

from stream_sidecar.cli import main
from stream_sidecar.history.shapes import CURSOR, OPENCODE_EVENT, SHAPES
from stream_sidecar.session_files.agents import AGENTS, ELSEWHERE, format_of
from stream_sidecar.session_files.file_kinds import DATABASES
from stream_sidecar.session_files.layouts import PRESETS
from stream_sidecar.session_files.reports import Tally
from stream_sidecar.session_files.tables import layouts_of

PAGE = "session_files/README.md"
STEPS = f'{PAGE}, "Adding an agent", step'

BUILT_FROM = {"kilo": "opencode", "roo": "cline"}
"""Agents with the store of another, from whose sources they are built."""

LIKE_ANOTHER = {("qwen-code", "json")}
"""What an agent's older versions keep as Gemini CLI does, whose store shows it."""


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The store of each agent, in a folder of its own."""
    folders = {name: tmp_path_factory.mktemp(name) for name in STORES}
    for name, folder in folders.items():
        STORES[name](folder, "Why?", "<think>Hm.</think>Four.")
    return folders


def files(folder: Path) -> list[Path]:
    return [each for each in folder.rglob("*") if each.is_file()]


def page_names() -> tuple[str, str]:
    """The first columns of the page's tables of agents and of standards."""
    page = ROOT / "sidecar" / "stream_sidecar" / PAGE
    tables = page.read_text("utf-8").partition("| agent | store |")[2]
    agents, _, standards = tables.partition("## Adding an agent")[0].partition(
        "| standard |"
    )
    first = [re.findall(r"^\| ([^|]+) \|", each, re.M) for each in (agents, standards)]
    return "\n".join(first[0]), "\n".join(first[1])


def test_a_row_of_shapes_has_records_in_a_store(
    stores: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = set()
    add = Tally.add

    def added(tally: Tally, place: Any, found: Any, *more: Any) -> None:
        seen.add(found.shape and found.shape.name)
        add(tally, place, found, *more)

    monkeypatch.setattr(Tally, "add", added)
    for folder in stores.values():
        CliRunner().invoke(main, ["repair", "--jobs", "1", str(folder)])
    rows = {each.name for each in (*SHAPES, CURSOR, OPENCODE_EVENT)}
    assert rows - seen == set(), f"rows of shapes.py without records: {STEPS} 4"


def test_a_layout_has_a_database_in_a_store(stores: dict[str, Path]) -> None:
    databases = [
        each
        for folder in stores.values()
        for each in files(folder)
        if each.suffix[1:] in DATABASES
    ]
    seen = [layout for each in databases for layout in layouts_of(each)]
    lacking = {
        name
        for name, layout in PRESETS.items()
        if layout not in seen and layout.untouched is None
    }
    assert lacking == set(), f"layouts without a database: {STEPS} 4"


def test_an_agent_has_a_store_in_each_of_its_formats(
    stores: dict[str, Path],
) -> None:
    for name, agent in AGENTS.items():
        first = BUILT_FROM.get(name, name).partition("-")[0]
        own = [each for each in stores if each.partition("-")[0] == first]
        made = {format_of(file.name) for each in own for file in files(stores[each])}
        alike = {form for agent, form in LIKE_ANOTHER if agent == name}
        lacking = {*agent.formats()} - made - alike
        assert own, f"{name} has no store: {STEPS} 4"
        assert lacking == set(), f"{name} has no such files in a store: {STEPS} 4"


def test_a_row_a_layout_and_a_store_are_of_an_agent_that_is_listed() -> None:
    listed = " ".join((*(each.title for each in AGENTS.values()), *ELSEWHERE, *AGENTS))
    known = f"{listed} {page_names()[1]}".lower().replace(" ", "").replace("-", "")
    owners = [each.name.partition(",")[0] for each in (*SHAPES, CURSOR, OPENCODE_EVENT)]
    for owner in (*owners, *PRESETS, *(STORES.keys() - STANDARDS.keys())):
        first = re.split(r"[ -]", owner)[0].lower()
        assert first in known, f"{owner} is not in agents.py: {STEPS} 3"


def test_an_agent_is_on_the_page() -> None:
    agents, standards = page_names()
    titles = [*(each.title for each in AGENTS.values()), *ELSEWHERE]
    known = f"{agents}\n{standards}"
    for title in titles:
        name = title.removeprefix("exports of ").partition(" and ")[0]
        assert name in known, f"{title} is in no table: {STEPS} 5"
    for row in agents.splitlines():
        for name in row.removesuffix(" export").split(", "):
            listed = any(name in title for title in titles)
            assert listed, f"{name} is not in agents.py: {STEPS} 3"
