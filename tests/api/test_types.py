"""Type checkers know right uses from wrong ones, and the types of options are those of
the classes that read them."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints, is_typeddict

import pytest
from attrs import NOTHING, fields, has
from places import ROOT, TESTS

from stream_sidecar import events, options
from stream_sidecar.api import option_types
from stream_sidecar.message.turn import TurnResult
from stream_sidecar.protocol import params
from stream_sidecar.protocol.announced import FRAMING_NAMES, WIRE_NAMES
from stream_sidecar.protocol.converter import camel
from stream_sidecar.protocol.schema import schema
from stream_sidecar.wires import REQUESTS, WRITERS

USES = TESTS / "data" / "typed_uses.py"
EXPECTED = {
    number
    for number, line in enumerate(USES.read_text(encoding="utf-8").splitlines(), 1)
    if line.endswith("# expect: error")
}


def run(*command: str) -> str:
    pytest.importorskip("httpx2", reason="no httpx2 (pip install --group sdks)")
    done = subprocess.run(
        [sys.executable, "-m", *command, str(USES)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    return done.stdout


@pytest.mark.thorough
def test_mypy_reads_the_uses() -> None:
    pytest.importorskip("mypy", reason="no mypy (pip install --group lint)")
    said = run("mypy", "--strict", "--no-incremental", "--no-pretty")
    found = re.findall(rf"^[^\n]*{USES.name}:(\d+): error: ", said, re.MULTILINE)
    assert {*map(int, found)} == EXPECTED, said


@pytest.mark.thorough
@pytest.mark.skipif(shutil.which("node") is None, reason="no Node.js in PATH")
def test_pyright_reads_the_uses() -> None:
    pytest.importorskip("pyright", reason="no pyright (pip install --group lint)")
    said = run("pyright", "--outputjson", "--pythonpath", sys.executable)
    found = json.loads(said)["generalDiagnostics"]
    lines = {
        each["range"]["start"]["line"] + 1
        for each in found
        if each["severity"] == "error"
    }
    assert lines == EXPECTED, said


def _values(hint: Any) -> set[Any]:
    """The values of a `Literal`, alone or in a union."""
    if get_origin(hint) is Literal:
        return {*get_args(hint)}
    parts = [_values(part) for part in get_args(hint) if part is not NoneType]
    return set().union(*parts) if get_args(hint) else set()


NAMES = {
    "Wire": WIRE_NAMES,
    "RequestWire": REQUESTS,
    "EmitWire": WRITERS,
    "Framing": FRAMING_NAMES,
    "Encoding": _values(get_type_hints(options.StreamOptions)["encoding"]),
    "CloseReason": _values(get_type_hints(params.CloseParams)["reason"]),
    "EmitClaims": _values(get_type_hints(options.Emit)["claims"]),
    "RequestClaims": _values(get_type_hints(params.PrepareParams)["claims"]),
    "RequestReasoning": _values(get_type_hints(params.PrepareParams)["reasoning"]),
}


@pytest.mark.parametrize("name", NAMES)
def test_a_type_names_the_values_that_are_read(name: str) -> None:
    assert {*get_args(getattr(option_types, name))} == {*NAMES[name]}


@pytest.mark.parametrize(
    ("name", "member"),
    [("Finish", "reason"), ("ProviderError", "kind"), ("ToolCall", "kind")],
)
def test_an_event_names_the_values_that_are_sent(name: str, member: str) -> None:
    """The schema has them from the tables that decide."""
    known = schema()["$defs"][name]["properties"][member]["x-open-enum"]
    assert {*get_args(get_type_hints(getattr(events, name))[member])} == {*known}


CLASSES = {
    "PolicyOptions": options.Policy,
    "ReasoningOptions": options.ReasoningPolicy,
    "ToolResultsOptions": options.ToolResultsPolicy,
    "ToolCallsOptions": options.ToolCallsPolicy,
    "EchoOptions": options.EchoPolicy,
    "MessageOptions": options.MessagePolicy,
    "EmitOptions": options.Emit,
    "CallResult": TurnResult,
    "FailedResponse": params.FailedResponse,
}
"""Types of dictionaries -> the classes that read them."""

PATCHES = {
    "PolicyOptions",
    *(f"{each}Options" for each in ("Reasoning", "ToolResults", "ToolCalls")),
    *("EchoOptions", "MessageOptions"),
}
"""Types all of whose members may be absent."""


def test_every_type_of_a_dictionary_is_compared() -> None:
    types = {name for name, each in vars(option_types).items() if is_typeddict(each)}
    assert {name for name in types if not name.startswith("_")} == {*CLASSES}


@pytest.mark.parametrize("name", CLASSES)
def test_a_dictionary_has_the_members_that_are_read(name: str) -> None:
    kind, read = getattr(option_types, name), CLASSES[name]
    members, known = get_type_hints(kind), get_type_hints(read)
    assert {*members} == {camel(each.name) for each in fields(read)}
    required = {camel(each.name) for each in fields(read) if each.default is NOTHING}
    assert kind.__required_keys__ == (set() if name in PATCHES else required)
    for each in fields(read):
        if not has(known[each.name]) and camel(each.name) != "wire":
            assert _values(members[camel(each.name)]) == _values(known[each.name])
