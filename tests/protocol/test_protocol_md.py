"""protocol.md against the process and the code: it is right, and nothing is missing.

Examples (``examples.py``), those of README.md too, are sent to the real process. What
it says is golden, except where the page has ``"..."``.
What the code knows and the page does not, or the other way round, is read from the
code.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

import pytest
from attrs import fields, has
from examples import examples_of, update
from goldens import assert_golden
from rpc_client import ROOT

import stream_sidecar.rpc.connection  # noqa: F401 - so that all errors are known
from stream_sidecar.errors import UsageError
from stream_sidecar.events import EVENTS, ToolCall
from stream_sidecar.framing.framer import FRAMINGS
from stream_sidecar.history.results import (
    KINDS,
    Edit,
    Finding,
    Inspection,
    Removal,
    Repair,
)
from stream_sidecar.message.message import Message, ReasoningBlock, Stats, TextBlock
from stream_sidecar.message.sources import Source
from stream_sidecar.options import Limits, Policy, Tool
from stream_sidecar.protocol import params
from stream_sidecar.protocol.announced import WIRE_NAMES
from stream_sidecar.protocol.converter import camel
from stream_sidecar.protocol.handshake import ConnectionOptions
from stream_sidecar.protocol.methods import METHODS
from stream_sidecar.protocol.reading_options import TOOL_KINDS
from stream_sidecar.provider_errors.kinds import GENERIC, SPECIFIC, STATUS
from stream_sidecar.stream.stream import MAX_CHOICES

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


def coded(text: str) -> set[str]:
    """Everything in backticks, and each word of it; marks of absence left out."""
    spans = [*re.findall(r"``(.+?)``|`([^`\n]+)`", _prose(text))]
    found = {span.strip() for pair in spans for span in pair if span}
    return found | {word for each in found for word in re.findall(r"[\w/-]+", each)}


def _prose(text: str) -> str:
    return re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)


def words_of(kind: type) -> set[str]:
    """The JSON names of an attrs class's fields, and the values of enumerations."""
    words = {camel(each.name) for each in fields(kind)} - {"choice", "seq", "span"}
    for name, hint in get_type_hints(kind).items():
        if name in {each.name for each in fields(kind)}:
            words |= literals(hint)
    return words


def literals(hint: Any) -> set[str]:
    """The values of all enumerations in a type."""
    if get_origin(hint) is Literal:
        return set(get_args(hint))
    return {value for part in get_args(hint) for value in literals(part)}


def result_of(method: Any) -> type:
    kind: type = getattr(params, method.handler.__annotations__["return"])
    return kind


def policy_keys(kind: type, path: str = "") -> dict[str, set[str]]:
    """Dotted keys of a policy with the values of their enumerations."""
    keys: dict[str, set[str]] = {}
    for name, hint in get_type_hints(kind).items():
        if has(hint):
            keys |= policy_keys(hint, f"{path}{camel(name)}.")
        else:
            keys[path + camel(name)] = literals(hint)
    return keys


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
        "print(*(module.__file__ for name, module in sys.modules.items()"
        " if name.startswith('stream_sidecar.')))"
    )
    command = [sys.executable, "-c", program]
    output = subprocess.check_output(command, cwd=ROOT, text=True)
    return [Path(name) for name in output.split()]


_MAKERS = ("DiagnosticPart", "diagnose", "report", "part")


def _code(node: ast.expr) -> str | None:
    value = node.value if isinstance(node, ast.Constant) else None
    is_code = isinstance(value, str) and re.fullmatch(r"[a-z]+(-[a-z]+)*", value)
    return value if is_code else None


@pytest.mark.parametrize("name", METHODS)
def test_method_is_documented(name: str) -> None:
    method = METHODS[name]
    text = section(f"`{name}`")
    if "as in [`stream/open`]" in text:
        text += section("`stream/open`")
    wanted = words_of(method.params) | words_of(result_of(method))
    assert sorted(wanted - coded(text)) == []
    if method.notifies:
        assert section(f"`{method.notifies}`")


def test_no_other_method_is_documented() -> None:
    told = re.findall(r"^### `(\w+/\w+)`$", section("Methods"), re.MULTILINE)
    assert told == list(METHODS)
    assert set(re.findall(r"^\| \[`(.+?)`\]", section("Methods"), re.MULTILINE)) == {
        *METHODS
    }
    lifecycle = re.findall(r"^### `(\w+)`$", section("Lifecycle"), re.MULTILINE)
    assert set(lifecycle) == _LIFECYCLE
    shown = set(re.findall(r'"method": "([^"]+)"', TEXT))
    known = {*METHODS, *_LIFECYCLE, "no/such", "$/progress"}
    assert shown <= known | {each.notifies for each in METHODS.values()}


def test_initialize_is_documented() -> None:
    here = coded(section("`initialize`"))
    assert sorted(words_of(ConnectionOptions) - here) == []


@pytest.mark.parametrize("kind", EVENTS, ids=lambda kind: kind.type)
def test_event_is_documented(kind: type) -> None:
    place = "Tool calls" if kind is ToolCall else f"`{kind.type}`"
    assert sorted(words_of(kind) - coded(section(place))) == []
    assert section(f"`{kind.type}`")


def test_no_other_event_is_documented() -> None:
    told = re.findall(r"^### `(.+)`$", section("Events"), re.MULTILINE)
    assert told == [vars(kind)["type"] for kind in EVENTS]
    shown = re.findall(r'"type": "([\w-]+)", "seq"', TEXT)
    assert set(shown) <= set(told)


@pytest.mark.parametrize("kind", [Message, Source, Stats, TextBlock, ReasoningBlock])
def test_message_is_documented(kind: type) -> None:
    assert sorted(words_of(kind) - coded(section("The message"))) == []


@pytest.mark.parametrize("kind", [Inspection, Finding, Repair, Edit, Removal])
def test_repairs_are_documented(kind: type) -> None:
    here = section("`message/inspect`") + section("`message/repair`")
    assert sorted(words_of(kind) - coded(here)) == []


def test_kinds_of_findings_are_documented() -> None:
    row = re.search(r"^\| `kind` \|.*$", section("`message/inspect`"), re.MULTILINE)
    assert row is not None
    assert set(KINDS) <= coded(row[0])


def test_tools_are_documented() -> None:
    assert sorted(words_of(Tool) - coded(section("`stream/open`"))) == []
    assert set(TOOL_KINDS) <= coded(section("Tool calls"))


def test_wires_and_framings_are_documented() -> None:
    here = section("`stream/open`")
    for name, values in (("wire", WIRE_NAMES), ("framing", FRAMINGS)):
        table = re.search(rf"^\| `{name}` \|.*\n\|-.*\n((?:\|.*\n)*)", here, re.M)
        assert table is not None
        firsts = [line.split("|")[1] for line in table[1].splitlines()]
        assert re.findall("`(.+?)`", "".join(firsts)) == list(values)


def test_diagnostics_are_documented() -> None:
    table = re.findall(r"^\| `([\w-]+)` \|", section("`diagnostic`"), re.MULTILINE)
    told = set(table) - {"code", "severity", "message"}
    assert sorted(told) == sorted(diagnostic_codes())


def test_error_kinds_are_documented() -> None:
    kinds = {*SPECIFIC.values(), *GENERIC.values(), *STATUS.values()}
    assert sorted(kinds - coded(section("`error`"))) == []


def test_policy_is_documented() -> None:
    here = section("Policy")
    keys = policy_keys(Policy)
    assert re.findall(r"^\| `([\w.]+)` \|", here, re.MULTILINE) == list(keys)
    assert set().union(*keys.values()) - coded(here) == set()


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
    """That its links lead somewhere is told of all pages in ``test_pages.py``."""
    sections = re.findall(r"^## (.*)$", _prose(TEXT), re.MULTILINE)
    line = next(line for line in TEXT.splitlines() if line.startswith("[Your first"))
    assert re.findall(r"\[(.+?)\]\(#", line) == sections
