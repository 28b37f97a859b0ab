"""The house: who may import whom, and how large a file may be.

``ORDER`` is every module and package from the ground up: each may import what stands
above it there, so that dependencies have one direction. A new one is put in its place.
"""

from __future__ import annotations

import ast
import sys
from graphlib import TopologicalSorter
from importlib import import_module
from pathlib import Path

import pytest

from sidecar.dialects import DIALECTS
from sidecar.wires import WIRES

TESTS = Path(__file__).parent
HOUSE = TESTS.parent / "sidecar"


def _names(text: str) -> list[str]:
    return text.split()


CORE = _names(
    """
    errors hot events options pieces profiles text text_map jsontext
    pushdown relaxed_tables relaxed pythonic_tables pythonic delimiters reasoning
    echo grammar forms call_bodies call_parts candidate leading markdown gates lexicon
    written
    wires.parts sources
    message builder plain outlet ending visible torn trailing scanner waiting shown
    answer splitter twice
    usage provider_error_kinds provider_error_waits provider_error_bodies
    provider_errors
    citations blocks sse jsonstream base64text eventstream decoders
    framing
    dialects tools surroundings tagged watch formed removals channel choice wires
    alike intake stream
    history_results history_messages history_text history_spans history
    json_places history_documents
    """
)
"""Decides what a stream means, and does nothing else."""

PROCESS = _names(
    """
    logs transport lifetime envelope failures base_protocol
    repair_counts converter json_schema methods history_methods sessions lookups batches
    protocol handshake schema batch_thread connection recording
    server editor lsp_thread
    session_files cli __main__
    """
)
"""Speaks with the world."""

ORDER = ["", *CORE, *PROCESS]
"""The package itself, which says its version, stands above all."""

IMPURE = {
    *("asyncio", "threading", "multiprocessing", "concurrent", "subprocess", "signal"),
    *("socket", "select", "selectors", "http", "urllib", "os", "sys", "ctypes"),
    *("pathlib", "tempfile", "logging", "time", "random", "secrets", "uuid"),
}
"""What the core may not import: the world, its clock and chance."""

CORE_LIBRARIES = {"attrs", "orjson"}

GUARDED = {
    "pygls": {"server", "editor", "transport"},
    "lsprotocol": {"server", "editor", "transport"},
    "rich": {"cli"},
    "click": {"cli"},
    "cattrs": {"converter", "server"},
    "orjson": {"jsontext"},
    "ctypes": {"lifetime"},
}
"""Libraries that only these modules, or modules of these packages, may know."""

LONGEST = 300


def _name(path: Path) -> str:
    parts = path.relative_to(HOUSE).with_suffix("").parts
    return ".".join(parts).removesuffix("__init__").removesuffix(".")


FILES = {_name(path): path for path in sorted(HOUSE.rglob("*.py"))}
TREES = {name: ast.parse(path.read_text()) for name, path in FILES.items()}


def _imports(name: str) -> set[str]:
    """Everything that a module imports, by full name."""
    found = set()
    for node in ast.walk(TREES[name]):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.module, f"{name}: a relative import"
            inner = {f"{node.module}.{alias.name}" for alias in node.names}
            modules = {each for each in inner if _own(each) in FILES}
            found |= modules or {node.module}
    return found


def _own(module: str) -> str | None:
    """The name of our own module, None of another's."""
    if module == "sidecar":
        return ""
    return module.removeprefix("sidecar.") if module.startswith("sidecar.") else None


def _own_imports(name: str) -> set[str]:
    return {own for each in _imports(name) if (own := _own(each)) is not None} - {name}


def _others(name: str) -> set[str]:
    return {each.split(".")[0] for each in _imports(name) if _own(each) is None}


def _assigned(tree: ast.Module) -> set[str]:
    targets = [
        target
        for node in tree.body
        if isinstance(node, ast.Assign | ast.AnnAssign)
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
    ]
    return {target.id for target in targets if isinstance(target, ast.Name)}


ROWS = {
    name
    for name, tree in TREES.items()
    if name.startswith("wires.") and "ROW" in _assigned(tree)
}
"""The wires among the modules of their package."""


def _place(name: str) -> str:
    """The entry of ``ORDER`` for a module: its own, or its package's."""
    return name if name in ORDER else name.split(".")[0]


def test_every_module_has_its_place() -> None:
    assert len(set(ORDER)) == len(ORDER)
    assert set(ORDER) == {_place(name) for name in FILES}


@pytest.mark.parametrize("name", FILES)
def test_imports_point_one_way(name: str) -> None:
    here = ORDER.index(_place(name))
    assert {_place(own) for own in _own_imports(name)} <= set(ORDER[: here + 1])


def test_imports_have_no_circles() -> None:
    tuple(
        TopologicalSorter({name: _own_imports(name) for name in FILES}).static_order()
    )


@pytest.mark.parametrize("name", FILES)
def test_the_core_is_pure(name: str) -> None:
    if _place(name) in CORE:
        assert {_place(own) for own in _own_imports(name)} <= set(CORE)
        assert not _others(name) & IMPURE
        assert _others(name) <= sys.stdlib_module_names | CORE_LIBRARIES


@pytest.mark.parametrize("name", FILES)
def test_libraries_are_known_in_one_place(name: str) -> None:
    package = name.split(".")[0]
    for library in _others(name) & GUARDED.keys():
        assert package in GUARDED[library], library


@pytest.mark.parametrize("name", FILES)
def test_wires_and_dialects_keep_apart(name: str) -> None:
    """Wires share helpers, and know nothing of each other."""
    package, _, inner = name.partition(".")
    own = _own_imports(name)
    if package == "dialects":
        assert not [each for each in own if each.startswith("wires")]
    if package == "wires" and inner:
        assert not [each for each in own if each.startswith("dialects")]
        assert not own & ROWS


@pytest.mark.parametrize("name", FILES)
def test_files_are_short(name: str) -> None:
    assert len(FILES[name].read_text().splitlines()) <= LONGEST


@pytest.mark.parametrize("name", FILES)
def test_a_file_begins_with_its_contract(name: str) -> None:
    assert ast.get_docstring(TREES[name])


@pytest.mark.parametrize("name", FILES)
def test_nothing_prints(name: str) -> None:
    """Standard output is the protocol's; only the command line writes."""
    calls = [node.func for node in ast.walk(TREES[name]) if isinstance(node, ast.Call)]
    names = {func.id for func in calls if isinstance(func, ast.Name)}
    assert "print" not in names or name.startswith("cli.")


def test_every_wire_is_in_the_table_and_has_a_recording() -> None:
    """A module with a ``ROW`` is a wire."""
    names = {name.removeprefix("wires.").replace("_", "-") for name in ROWS}
    assert names == set(WIRES)
    recorded = {path.parent.name for path in TESTS.glob("wires/*/*.chunks.jsonl")}
    assert set(WIRES) - {"text"} <= recorded


def test_every_dialect_is_in_the_table_and_has_a_page() -> None:
    """``spec/<file>.md`` tells what a file of dialects means."""
    files = {name.removeprefix("dialects.") for name in FILES if "dialects." in name}
    pages = {path.stem.replace("-", "_") for path in TESTS.glob("spec/*.md")}
    assert files <= pages
    tables = {file: _families(f"dialects.{file}") for file in files}
    assert set().union(*tables.values()) == set(DIALECTS)
    assert {file for file, names in tables.items() if not names} == OF_NO_FAMILY


OF_NO_FAMILY = {"host_echo", "leftovers"}
"""Files without a row in the table: what they read is nobody's way of writing."""


def _families(name: str) -> set[str]:
    """The families in a file's tables of forms and delimiters."""
    module = import_module(f"sidecar.{name}")
    tables = (getattr(module, table, {}) for table in TABLES)
    return {family for table in tables for family in table}


TABLES = ("FORMS", "THOUGHTS", "PAIRS", "MARKS", "ENDS")
"""The names that tables by family have in the files of dialects."""
