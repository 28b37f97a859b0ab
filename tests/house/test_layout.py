"""The house: a room and what it may import, and what holds in every file.

``ROOMS`` is every folder of ``stream_sidecar/`` and every module beside them, from the
ground up: each may import what its row names, which stands above it. A new room is put
in its place.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable, Iterator
from functools import cache
from graphlib import TopologicalSorter
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from places import TESTS

from stream_sidecar.dialects import DIALECTS
from stream_sidecar.wires import WIRES

HOUSE = TESTS.parent / "sidecar" / "stream_sidecar"

ROOMS: dict[str, str] = {
    "": "",
    "patterns": "",
    "records": "",
    "parts": "",
    "errors": "",
    "events": "parts",
    "options": "",
    "values": "",
    "framing": "parts values",
    "provider_errors": "parts values",
    "forms": "options values",
    "templates": "values forms",
    "dialects": "options values forms",
    "markdown": "",
    "text": "values forms markdown",
    "message": "events",
    "wires": "parts events values provider_errors message",
    "tools": "parts events options values forms",
    "channel": "events options values forms templates dialects text message",
    "stream": (
        "parts events options values framing provider_errors forms text message wires "
        "tools channel"
    ),
    "history": "parts events options values forms wires tools channel stream",
    "protocol": (
        " parts errors events options values provider_errors templates dialects "
        "message wires tools stream history"
    ),
    "api": " errors events options values message wires protocol",
    "transports": " errors values protocol api",
    "explain": (
        " errors events options values forms dialects message wires channel stream "
        "history protocol"
    ),
    "rpc": " errors options values protocol",
    "resume": "parts values provider_errors wires history",
    "session_files": "options values history resume",
    "editor": " errors options values history resume rpc session_files",
    "cli": (
        " errors events options values framing templates dialects wires stream message "
        "history protocol explain resume rpc session_files editor"
    ),
    "worker": "rpc editor",
    "__main__": " values cli",
}
"""A room -> what it may import, but for itself and `EVERYWHERE`."""

EVERYWHERE = {"", "patterns", "records"}
"""The package's version, and how patterns and classes are made."""

CORE = tuple(ROOMS)[1 : tuple(ROOMS).index("protocol")]
"""Decides what a stream means, and does nothing else."""

IMPURE = {
    *("asyncio", "threading", "multiprocessing", "concurrent", "subprocess", "signal"),
    *("socket", "select", "selectors", "http", "urllib", "os", "sys", "ctypes"),
    *("pathlib", "tempfile", "logging", "time", "random", "secrets", "uuid"),
}
"""What the core may not import: the world, its clock and chance."""

LOCKED = {"history.repair_counts": {"threading"}}
"""Counters that two threads add to have a lock; it decides nothing."""

CORE_LIBRARIES = {"attrs", "orjson"}

GUARDED = {
    "pygls": ("editor",),
    "lsprotocol": ("editor",),
    "rich": ("cli.terminal",),
    "click": ("cli",),
    "cattrs": ("protocol.converter", "editor.server"),
    "orjson": ("values.jsontext",),
    "httpx": ("transports.httpx",),
    "httpx2": ("transports.httpx2",),
    "ctypes": ("rpc.processes", "session_files.windows"),
}
"""Libraries that only these modules, or modules of these rooms, may know."""


def _name(path: Path) -> str:
    parts = path.relative_to(HOUSE).with_suffix("").parts
    return ".".join(parts).removesuffix("__init__").removesuffix(".")


FILES = {_name(path): path for path in sorted(HOUSE.rglob("*.py"))}
TREES = {
    name: ast.parse(path.read_text(encoding="utf-8")) for name, path in FILES.items()
}


NODES = {name: [*ast.walk(tree)] for name, tree in TREES.items()}


@cache
def _imports(name: str) -> frozenset[str]:
    """Everything that a module imports, by full name."""
    found: set[str] = set()
    for node in NODES[name]:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.module, f"{name}: a relative import"
            inner = {f"{node.module}.{alias.name}" for alias in node.names}
            modules = {each for each in inner if _own(each) in FILES}
            found |= modules or {node.module}
    return frozenset(found)


def _own(module: str) -> str | None:
    """The name of our own module, None of another's."""
    package, _, name = module.partition(".")
    return name if package == "stream_sidecar" else None


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
"""The wires among the modules of their room."""


def _room(name: str) -> str:
    return name.split(".")[0]


def _wrong(check: Callable[[str], Any]) -> dict[str, Any]:
    """The problems that ``check`` finds, by module; modules without one are absent."""
    return {name: wrong for name in FILES if (wrong := check(name))}


@pytest.mark.parametrize("folder", ["sidecar", "tests", "clients/bundle"])
def test_nothing_imports_the_folder(folder: str) -> None:
    """From the repository's root ``sidecar.stream_sidecar`` would be a second copy of
    the package, and PyPI has another one that is imported as ``sidecar``."""
    paths = (TESTS.parent / folder).rglob("*.py")
    said = {path: path.read_text(encoding="utf-8") for path in paths}
    assert said
    import_of = re.compile(r"^\s*(?:import|from) sidecar\b", re.MULTILINE)
    assert not [path for path, text in said.items() if import_of.search(text)]


def test_every_room_has_its_place() -> None:
    assert {_room(name) for name in FILES} == set(ROOMS)


def test_a_room_imports_what_its_row_names() -> None:
    def others(name: str) -> set[str]:
        room = _room(name)
        allowed = {room, *EVERYWHERE, *ROOMS[room].split()}
        return {_room(own) for own in _own_imports(name)} - allowed

    assert _wrong(others) == {}


def test_a_row_names_what_is_imported() -> None:
    used: dict[str, set[str]] = {room: set() for room in ROOMS}
    for name in FILES:
        used[_room(name)] |= {_room(own) for own in _own_imports(name)}
    for room, row in ROOMS.items():
        assert set(row.split()) <= used[room], room


def test_rooms_stand_above_those_that_import_them() -> None:
    above: set[str] = set()
    for room, row in ROOMS.items():
        assert set(row.split()) <= above, room
        above.add(room)


def test_the_map_shows_the_house() -> None:
    """The table of sidecar/README.md, "Rooms", is this one."""
    text = (HOUSE.parent / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \|.*\|([^|]*)\|$", text, re.MULTILINE)
    documented = {room: re.findall(r"`(\w+)`", row) for room, row in rows}
    rooms = {room: row.split() for room, row in ROOMS.items()}
    assert [*documented.items()] == [*rooms.items()][1:-1]  # without "" and "__main__"


def test_imports_have_no_circles() -> None:
    tuple(
        TopologicalSorter({name: _own_imports(name) for name in FILES}).static_order()
    )


def test_the_core_is_pure() -> None:
    def impure(name: str) -> set[str]:
        if _room(name) not in CORE:
            return set()
        known = sys.stdlib_module_names | CORE_LIBRARIES
        world = _others(name) & IMPURE
        return (world - LOCKED.get(name, set())) | (_others(name) - known)

    assert _wrong(impure) == {}


def test_libraries_are_known_in_one_place() -> None:
    def strange(name: str) -> list[str]:
        return [
            library
            for library in _others(name) & GUARDED.keys()
            if not any(f"{name}.".startswith(f"{home}.") for home in GUARDED[library])
        ]

    assert _wrong(strange) == {}


def test_what_may_be_known_is() -> None:
    """A home that does not know its library guards nothing."""
    known = [(home, library) for library, homes in GUARDED.items() for home in homes]
    known += [(home, library) for home, own in LOCKED.items() for library in own]
    for home, library in known:
        users = (name for name in FILES if library in _others(name))
        assert any(f"{name}.".startswith(f"{home}.") for name in users), (home, library)


def test_wires_know_nothing_of_each_other() -> None:
    """Code that two wires need is in ``wires/shared``, and what a whole request needs
    in ``wires/requests``."""

    def others(name: str) -> set[str]:
        if not (home := _provider(name)):
            return set()
        known = {_provider(own) for own in _own_imports(name)}
        return known - {"", home, "shared", "requests"}

    assert _wrong(others) == {}


def _provider(name: str) -> str:
    """The folder or file of ``wires/`` that a module belongs to; "" of another room."""
    package, _, inner = name.partition(".")
    return inner.split(".")[0] if package == "wires" else ""


NAMED_ELSEWHERE = {
    "protocol.announced": "the words that the handshake and the schema announce",
    "transports.*": "which wire a URL or an HTTP library's body is of",
    "dialects.*": "families of models of the same name",
    "templates.family_templates": "families of models of the same name",
    "history.shapes": "an application's name for its model",
    "history.unread": "a word for the model in stored records",
    "history.reading": "the wire through which stored text is read",
    "resume.*": "the wire that an agent speaks, and its provider",
    "provider_errors.codes": "a provider of the same name",
    "tools.runners": "on which wires an id tells who runs a call: no room above wires",
    "wires": "the table of wires",
    "wires.openai_chat.refusals": "the maker of models, Anthropic",
    "wires.openai_chat.rules": "a pattern for models",
    "wires.requests.issuers": "makers, platforms, and formats of OpenRouter's",
    "wires.shared.request_rules": "makers of models",
}
"""Modules, or rooms, that name a wire, or write a word that is also a wire's name."""


def test_a_wire_is_named_in_its_own_folder() -> None:
    """Elsewhere what differs between wires is a member of their row. The wire ``text``
    has a name that is also everybody's word, so it is not looked for."""
    names = {*WIRES} - {"text"}

    def named(module: str) -> set[str]:
        own = _provider(module).replace("_", "-")
        nodes = (node for node in NODES[module] if isinstance(node, ast.Constant))
        return {node.value for node in nodes if node.value in names} - {own}

    known = NAMED_ELSEWHERE.keys()
    homes = {name: {name, f"{_room(name)}.*"} & known for name in _wrong(named)}
    assert {name for name, home in homes.items() if not home} == set()
    assert known - set().union(*homes.values()) == set(), "these name no wire"


def test_a_file_begins_with_its_contract() -> None:
    assert _wrong(lambda name: not ast.get_docstring(TREES[name])) == {}


_WITHOUT_SUBJECT = re.compile(r"(?:The same|Those|Nor|Of one)\b")


def test_a_docstring_stands_alone() -> None:
    """An editor shows it without the text above it."""

    def leaning(name: str) -> list[str]:
        return [each for each in _docstrings(name) if _WITHOUT_SUBJECT.match(each)]

    assert _wrong(leaning) == {}


def _docstrings(name: str) -> Iterator[str]:
    """The docstrings of a module, of its classes and functions, and of constants."""
    for node in NODES[name]:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            yield str(node.value.value)


def test_a_public_name_is_one_thing() -> None:
    """Classes and types: one name, one meaning, in whatever room but `FACES`."""
    homes: dict[str, list[str]] = {}
    for name, tree in TREES.items():
        for public in () if _room(name) in FACES else _types(tree):
            homes.setdefault(public, []).append(name)
    assert {each: where for each, where in homes.items() if len(where) > 1} == {}


FACES = {"api", "transports"}
"""Rooms that call by the name that their users know: a stream, whoever reads it."""


def test_a_public_constant_is_one_thing_in_its_room() -> None:
    """But for the tables that a file of a kind has by its kind."""
    homes: dict[tuple[str, str], list[str]] = {}
    for name, tree in TREES.items():
        for public in _assigned(tree) - {*OF_A_KIND} - _types(tree):
            if not public.startswith("_"):
                homes.setdefault((_room(name), public), []).append(name)
    assert {each: where for each, where in homes.items() if len(where) > 1} == {}


def _types(tree: ast.Module) -> set[str]:
    """The public classes and type aliases that a module makes."""
    classes = {node.name for node in tree.body if isinstance(node, ast.ClassDef)}
    aliases = {
        node.target.id
        for node in tree.body
        if isinstance(node, ast.AnnAssign)
        and isinstance(node.target, ast.Name)
        and isinstance(node.annotation, ast.Name)
        and node.annotation.id == "TypeAlias"
    }
    return {name for name in classes | aliases if not name.startswith("_")}


def test_nothing_prints() -> None:
    """Standard output is the protocol's; of the command line one module writes."""

    def printing(name: str) -> set[str]:
        names = {node.id for node in NODES[name] if isinstance(node, ast.Name)}
        of = {node.attr for node in NODES[name] if isinstance(node, ast.Attribute)}
        is_cli = name.startswith("cli") and name != "cli.terminal"
        return (names & {"print"}) | (of & STREAMS if is_cli else set())

    assert _wrong(printing) == {}


STREAMS = {"echo", "secho", "stdout", "stderr", "progressbar"}

IMPORTS_BY_NAME = {
    *("", "cli", "protocol.methods", "session_files.packing", "tools.checks", "wires")
}
"""What sidecar/README.md, "Security", says of imports by a name in our own tables."""

RUNNERS = {"eval", "exec", "compile", "import_module", "__import__"}


def test_no_text_is_run() -> None:
    def running(name: str) -> set[str]:
        calls = [each.func for each in NODES[name] if isinstance(each, ast.Call)]
        runs = {each.id for each in calls if isinstance(each, ast.Name)} & RUNNERS
        expected = {"import_module"} if name in IMPORTS_BY_NAME else set()
        return (runs ^ expected) | (_others(name) & {"pickle", "marshal", "shelve"})

    assert _wrong(running) == {}


OF_RE = {"DOTALL", "IGNORECASE", "MULTILINE", "VERBOSE", "Match", "Pattern", "escape"}
"""What compiles nothing."""


@pytest.mark.parametrize("name", sorted(FILES.keys() - {"patterns"}))
def test_patterns_are_compiled_in_one_place(name: str) -> None:
    """Elsewhere a Python that misreads possessive repeats would be given them."""
    uses = [each for each in ast.walk(TREES[name]) if isinstance(each, ast.Attribute)]
    of_re = {each.attr for each in uses if ast.unparse(each.value) == "re"}
    assert of_re <= OF_RE
    assert not {each for each in _imports(name) if each.startswith("re.")}


@pytest.mark.parametrize("folder", ["sidecar", "tests", "clients/bundle"])
def test_a_text_names_its_encoding(folder: str) -> None:
    """Python's default encoding differs by system."""
    texts = {
        path: path.read_text(encoding="utf-8")
        for path in sorted((TESTS.parent / folder).rglob("*.py"))
    }
    unnamed = [
        f"{path}:{node.lineno}"
        for path, text in texts.items()
        if "read_text" in text or "write_text" in text
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in {"read_text", "write_text"}
        and not node.args[node.func.attr == "write_text" :]
        and "encoding" not in {each.arg for each in node.keywords}
    ]
    assert unnamed == []


def test_every_wire_is_in_the_table_and_has_a_recording() -> None:
    """A module with a ``ROW`` is a wire."""
    names = {_provider(name).replace("_", "-") for name in ROWS}
    assert names == set(WIRES)
    recorded = {path.parent.name for path in TESTS.glob("wires/*/*.chunks.jsonl")}
    assert set(WIRES) - {"text"} <= recorded


ADDING_A_DIALECT = 'dialects/README.md, "Adding a dialect"'


def test_every_dialect_is_in_the_table_and_has_a_page() -> None:
    """``spec/<file>.md`` shows what a file of dialects means."""
    files = {name.removeprefix("dialects.") for name in FILES if "dialects." in name}
    files -= NO_SYNTAX
    pages = {path.stem.replace("-", "_") for path in TESTS.glob("spec/*.md")}
    assert files <= pages, f"{ADDING_A_DIALECT}, step 3: a page in tests/spec"
    tables = {file: _families(f"dialects.{file}") for file in files}
    known = set().union(*tables.values())
    assert known == set(DIALECTS), f"{ADDING_A_DIALECT}, step 2: the table of __init__"
    assert {file for file, names in tables.items() if not names} == OF_NO_FAMILY


PAGE_ROW = re.compile(
    r"^\| \[`(\w+)\.py`\]\(\1\.py\) \|.*\| ([^|]*) \| \[", re.MULTILINE
)
"""A file and its families in the table of ``dialects/README.md``."""


def test_every_family_is_named_on_the_page_of_dialects() -> None:
    """Beside a file that has it in one of its tables."""
    page = (HOUSE / "dialects" / "README.md").read_text(encoding="utf-8")
    named = {
        file: set(re.findall(r"`([^`]+)`", families))
        for file, families in PAGE_ROW.findall(page)
    }
    known = set().union(*named.values())
    assert known == set(DIALECTS), f"{ADDING_A_DIALECT}, step 2: the table of the page"
    for file, families in named.items():
        assert families <= _families(f"dialects.{file}"), file


NO_SYNTAX = {"profiles"}
"""Says which model writes how."""

OF_NO_FAMILY = {"host_echo", "turns"}
"""Have no row in the table: they are read for any model."""


def _families(name: str) -> set[str]:
    """The families in a file's tables of forms and delimiters."""
    module = import_module(f"stream_sidecar.{name}")
    tables = (getattr(module, table, {}) for table in TABLES)
    return {family for table in tables for family in table}


TABLES = ("FORMS", "PAIRS", "MARKS", "ENDS")
"""The names that tables by family have in the files of dialects."""

OF_A_KIND = (*TABLES, "ROW", "T")
"""What has the same name, and the same meaning, in many files: tables by family, the
rows of wires, and a type that may be any."""
