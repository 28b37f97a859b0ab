"""protocol.md against the process and the code: it is right, and nothing is missing.

Examples (``examples.py``), those of README.md too, are sent to the real process. What
it says is golden, except where the page has ``"..."``.
What the code knows and the page does not, or the other way round, is read from the
code.
"""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from attrs import fields
from examples import examples_of, update
from goldens import assert_golden
from interfaces import interfaces_of, renewed, unknown_names
from rpc_client import ROOT

import stream_sidecar.rpc.connection  # noqa: F401 - so that all errors are known
from stream_sidecar.errors import UsageError
from stream_sidecar.events import EVENTS
from stream_sidecar.framing.framer import FRAMINGS
from stream_sidecar.options import Limits
from stream_sidecar.protocol import params
from stream_sidecar.protocol.announced import WIRE_NAMES
from stream_sidecar.protocol.converter import camel
from stream_sidecar.protocol.methods import METHODS
from stream_sidecar.protocol.schema import schema
from stream_sidecar.stream.choices import MAX_CHOICES

SCHEMA = schema()
PAGE = ROOT / "protocol.md"
TEXT = PAGE.read_text(encoding="utf-8")

_LIFECYCLE = {"initialize", "initialized", "shutdown", "exit"}

# --- The examples ---------------------------------------------------------------------

README = ROOT / "README.md"


@pytest.mark.golden
@pytest.mark.parametrize("page", [PAGE, README], ids=lambda page: page.name)
def test_examples(page: Path) -> None:
    """Each is played as it stands there."""
    text = page.read_text(encoding="utf-8")
    assert examples_of(text)
    assert_golden(page, update(text))


def test_frame_example() -> None:
    """The one frame that is shown byte by byte is one."""
    shown = re.search(r"^Content-Length: (\d+)\\r\\n\n\\r\\n\n(.*)\n", TEXT, re.M)
    assert shown is not None
    assert int(shown[1]) == len(shown[2].encode())


# --- The code and the page ------------------------------------------------------------


def section(heading: str) -> str:
    """The text below a heading, to the next one of its level or above."""
    match = re.search(rf"^(#+) {re.escape(heading)}$", TEXT, re.MULTILINE)
    assert match is not None, f"no heading {heading}"
    rest = TEXT[match.end() :]
    end = re.search(rf"^#{{1,{len(match[1])}}} ", rest, re.MULTILINE)
    return rest[: end.start()] if end else rest


def _prose(text: str) -> str:
    return re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)


def result_of(method: Any) -> type:
    kind: type = getattr(params, method.handler.__annotations__["return"])
    return kind


def error_classes(kind: type[UsageError] = UsageError) -> list[type[UsageError]]:
    known = kind.__subclasses__()  # those of other tests are none of ours
    children = [each for each in known if each.__module__.startswith("stream_sidecar.")]
    return [*children, *(each for child in children for each in error_classes(child))]


def diagnostic_codes() -> set[str]:
    """The codes that stand in what the process imports, where a diagnostic is made.

    That is a call of one of `_MAKERS`, or a tuple of code, severity and message.
    """
    codes = set()
    for path in imported():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                name = getattr(node.func, "attr", getattr(node.func, "id", ""))
                if name.strip("_") in _MAKERS:
                    codes |= {code for each in node.args if (code := _code(each))}
            elif isinstance(node, ast.Tuple) and len(node.elts) == 3:
                code, severity, _message = map(_code, node.elts)
                if code and severity in ("info", "warning"):
                    codes.add(code)
    return codes - {"info", "warning"}


def imported() -> list[Path]:
    """The files of our modules that the server needs, and no others."""
    program = (
        "import stream_sidecar.rpc.connection, stream_sidecar.protocol.methods, sys;"
        "from stream_sidecar.protocol import batches, lookups, requests;"
        "from stream_sidecar.wires import WIRES; list(WIRES.values());"
        "print(*(module.__file__ for name, module in sys.modules.items()"
        " if name.startswith('stream_sidecar.')))"
    )
    command = [sys.executable, "-c", program]
    output = subprocess.check_output(command, cwd=ROOT, text=True)
    return [Path(name) for name in output.split()]


_MAKERS = ("DiagnosticPart", "diagnose", "diagnostic", "report", "part")


def _code(node: ast.expr) -> str | None:
    value = node.value if isinstance(node, ast.Constant) else None
    is_code = isinstance(value, str) and re.fullmatch(r"[a-z]+(-[a-z]+)*", value)
    return value if is_code else None


@pytest.mark.golden
def test_types() -> None:
    """The interfaces have the fields and types of the schema."""
    assert_golden(PAGE, renewed(TEXT, SCHEMA["$defs"]))


def test_every_type_is_there() -> None:
    """All that a method takes or gives, and all that is named in it."""
    asked = {name for name in SCHEMA["$defs"] if not name.endswith(_VARIANTS)}
    assert asked - _OTHERWISE == {*interfaces_of(TEXT)}
    assert unknown_names(TEXT) == {"Partial", "Key"}


_VARIANTS = ("Patch", "Input")
_OTHERWISE = {
    *("Block", "Event", "ProviderTool", "Turn"),  # types that are no interface
    *("UnknownBlock", "UnknownEvent", "TurnBlock", "TurnCitation", "TurnFinish"),
    *("TurnMetadata", "NoParams", "SnapshotParams", "NormalizeErrorResult"),
    *("ErrorData", "ResponseError", "PushRefusal", "Span"),
}
"""Definitions that the page tells in words."""


def test_events_are_those_of_recordings() -> None:
    """Each example in the table came of a recorded stream."""
    rows = re.findall(r"^\| \[?`([\w-]+)`.*?\| `(\{.*?\})` \|", section("Events"), re.M)
    assert [name for name, _ in rows] == [vars(kind)["type"] for kind in EVENTS]
    goldens = (ROOT / "tests" / "wires").glob("*/*.events.jsonl")
    recorded = "".join(path.read_text(encoding="utf-8") for path in goldens)
    for name, example in rows:
        if name not in _NOT_RECORDED:
            assert f"{example}\n" in recorded, f"{name}: {STEPS} 4"


_NOT_RECORDED = ("retract", "tool-call")
"""Of them the page has a shorter one."""


STEPS = 'sidecar/README.md, "Adding things", step'
_COMMON = {"choice", "span"}
"""Fields of every event: the page explains them once, and recordings of one choice
without ``trace`` lack them."""

_IN_MESSAGES = {("block-end", "sealBroken")}
"""What no event of a stream has: a message learns it later."""


def test_every_field_of_an_event_is_recorded() -> None:
    files = [
        *(ROOT / "tests" / "wires").glob("*/*.events.jsonl"),
        *(ROOT / "tests" / "transcripts").rglob("*.jsonl"),
    ]
    text = "".join(path.read_text(encoding="utf-8") for path in files)
    recorded: dict[str, set[str]] = {}
    waiting: list[Any] = [json.loads(line) for line in text.splitlines()]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            if isinstance(value.get("type"), str):
                recorded.setdefault(value["type"], set()).update(value)
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value
    for kind in EVENTS:
        name = vars(kind)["type"]
        known = {camel(each.name) for each in fields(kind)} - _COMMON
        lacking = {each for each in known if (name, each) not in _IN_MESSAGES}
        assert lacking - recorded[name] == set(), f"{name}: {STEPS} 2"


def test_every_field_of_an_event_is_explained() -> None:
    """Its line in the interface has a comment, or the page names it in prose."""
    for kind in EVENTS:
        pattern = rf"^interface {kind.__name__} \{{.*?\}}$"
        found = re.search(pattern, TEXT, re.MULTILINE | re.DOTALL)
        lines = found[0].splitlines() if found else []
        for name in {camel(each.name) for each in fields(kind)} - _COMMON:
            commented = re.compile(rf"\b{name}\??:.*//")
            is_said = any(map(commented.search, lines)) or f"`{name}`" in _prose(TEXT)
            assert is_said, f"{kind.__name__}.{name}: {STEPS} 4"


@pytest.mark.parametrize("name", METHODS)
def test_method_is_documented(name: str) -> None:
    method = METHODS[name]
    assert section(f"`{name}`")
    if method.notifies:
        assert section(f"`{method.notifies}`")


def test_no_other_method_is_documented() -> None:
    documented = re.findall(r"^### `(\w+/\w+)`$", TEXT, re.MULTILINE)
    assert sorted(documented) == sorted(METHODS)
    assert {*re.findall(r"\[`(\w+/\w+)`\]", section("Methods"))} == {*METHODS}
    lifecycle = re.findall(r"^### (`\w+`.*)$", TEXT, re.MULTILINE)
    assert {*re.findall(r"`(\w+)`", " ".join(lifecycle))} == _LIFECYCLE
    shown = set(re.findall(r'"method": "([^"]+)"', TEXT))
    known = {*METHODS, *_LIFECYCLE, "no/such", "$/progress"}
    assert shown <= known | {each.notifies for each in METHODS.values()}


def test_wires_and_framings_are_documented() -> None:
    here = section("`stream/open`")
    for name, values in (("wire", WIRE_NAMES), ("framing", FRAMINGS)):
        table = re.search(rf"^\| `{name}` \|.*\n\|-.*\n((?:\|.*\n)*)", here, re.M)
        assert table is not None
        firsts = [line.split("|")[1] for line in table[1].splitlines()]
        assert re.findall("`(.+?)`", "".join(firsts)) == list(values)


def test_diagnostics_are_documented() -> None:
    table = re.findall(r"^\| `([\w-]+)` \|", section("`diagnostic`"), re.MULTILINE)
    documented = set(table) - {"code", "severity", "message"}
    assert sorted(documented) == sorted(diagnostic_codes())


def test_limits_are_documented() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (\d+) \|", section("Limits"), re.MULTILINE)
    assert rows == [(camel(each.name), str(each.default)) for each in fields(Limits)]
    assert f"{MAX_CHOICES} choices" in section("Limits")


def test_errors_are_documented() -> None:
    rows = re.findall(r"^\| `(-\d+)` \| `([\w-]+)` \|", section("Errors"), re.MULTILINE)
    known = [(str(kind.code), kind.kind) for kind in error_classes()]
    assert sorted(rows) == sorted(known)
    assert set(re.findall(r"-3\d{4}", TEXT)) <= {code for code, _ in known}


def test_the_table_of_contents_is_complete() -> None:
    """That its links lead somewhere is tested with all pages in ``test_pages.py``."""
    sections = re.findall(r"^## (.*)$", _prose(TEXT), re.MULTILINE)
    line = next(line for line in TEXT.splitlines() if line.startswith("[Your first"))
    assert re.findall(r"\[(.+?)\]\(#", line) == sections
