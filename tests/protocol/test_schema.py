"""The schema that clients are made from: it is current, and it is true.

True means: all that the recordings and transcripts hold validates, what the sidecar
refuses does not, and what a later version may add does.
"""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any, Literal, NewType

import pytest
from attrs import Factory, frozen
from goldens import assert_golden
from replay import ANY, read
from rpc_client import ROOT

from stream_sidecar.errors import InvalidParamsError
from stream_sidecar.events import EVENTS, Span
from stream_sidecar.protocol.converter import structure, unstructure
from stream_sidecar.protocol.json_schema import Definitions, SchemaRules
from stream_sidecar.protocol.methods import METHODS
from stream_sidecar.protocol.schema import SCHEMA_FILE, TABLE_FILE, schema, table

HOME = ROOT / "clients" / "schema"
SCHEMA = schema()
TABLE = table()
GOLDENS = sorted((ROOT / "tests" / "wires").glob("*/*.events.jsonl"))
TRANSCRIPTS = sorted((ROOT / "tests" / "transcripts").glob("*.jsonl"))


@cache
def known(name: str) -> Any:
    """The validator of a definition that is committed."""
    return validator(name)


def validator(name: str, document: dict[str, Any] = SCHEMA) -> Any:
    pointed = {**document, "$ref": f"#/$defs/{name}"}
    return _json_schema().validator_for(pointed)


def _json_schema() -> Any:
    return pytest.importorskip("jsonschema_rs", reason="no jsonschema-rs: no validator")


def run(*arguments: str) -> str:
    command = [sys.executable, "-m", "stream_sidecar", "schema", *arguments]
    return subprocess.check_output(command, cwd=ROOT).decode()


# --- It is current --------------------------------------------------------------------


@pytest.mark.golden
@pytest.mark.parametrize(
    ("name", "document"), [(SCHEMA_FILE, SCHEMA), (TABLE_FILE, TABLE)]
)
def test_the_committed_files(name: str, document: dict[str, Any]) -> None:
    text = json.dumps(document, indent=2, ensure_ascii=False) + "\n"
    assert_golden(HOME / name, text)


def test_the_command(tmp_path: Path) -> None:
    """Prints what it writes."""
    run("--out", str(tmp_path / "new" / "place"))
    for name, option in ((SCHEMA_FILE, ()), (TABLE_FILE, ("--methods",))):
        written = (tmp_path / "new" / "place" / name).read_bytes().decode()
        assert run(*option).replace("\r\n", "\n") == written


def test_every_method_and_event_is_there() -> None:
    definitions = SCHEMA["$defs"].keys()
    assert TABLE["methods"].keys() == METHODS.keys()
    assert list(TABLE["events"]) == [vars(kind)["type"] for kind in EVENTS]
    named = {*TABLE["events"].values(), *TABLE["initialize"].values()}
    for row in [*TABLE["methods"].values(), *TABLE["notifications"].values()]:
        named |= {value for key, value in row.items() if key != "notifies"}
    assert named <= definitions


# --- It is true -----------------------------------------------------------------------


def test_it_is_json_schema() -> None:
    _json_schema().meta.validate(SCHEMA)


def test_generators_of_types_find_the_names() -> None:
    """Without titles quicktype calls two types ``PurpleParams`` and ``ResultClass``."""
    assert [kind["title"] for kind in SCHEMA["$defs"].values()] == [*SCHEMA["$defs"]]


def test_recorded_events(subtests: pytest.Subtests) -> None:
    """Each fits the class of its type, and so exactly one variant."""
    any_event, unknown = validator("Event"), validator("UnknownEvent")
    kinds = {type: validator(name) for type, name in TABLE["events"].items()}
    assert GOLDENS
    for path in GOLDENS:
        with subtests.test(path.name):
            for line in path.read_text(encoding="utf-8").splitlines():
                event = json.loads(line)
                any_event.validate(event)
                kinds[event["type"]].validate(event)
                assert not unknown.is_valid(event)


def exchanges(path: Path) -> list[tuple[str, Any, dict[str, Any]]]:
    """Method, params and answer of the requests that are ours; no wildcards inside."""
    found, asked = [], {}
    for line in read(path):
        message = line.get("msg")
        if not isinstance(message, dict) or "id" not in message:
            continue
        if line["dir"] == "in" and message.get("method") in METHODS:
            asked[json.dumps(message["id"])] = message
        elif line["dir"] == "out" and json.dumps(message["id"]) in asked:
            request = asked.pop(json.dumps(message["id"]))
            found.append((request["method"], request.get("params"), message))
    return found


def test_transcripts(subtests: pytest.Subtests) -> None:
    """What was answered fits, params and result; what was refused as invalid does
    not, but for the few rules that no schema can say."""
    assert TRANSCRIPTS
    for path in TRANSCRIPTS:
        with subtests.test(path.stem):
            _assert_fitting(exchanges(path))


def _assert_fitting(exchanged: list[tuple[str, Any, dict[str, Any]]]) -> None:
    for method, params, answer in exchanged:
        row = TABLE["methods"][method]
        fits = known(row["params"]).is_valid({} if params is None else params)
        if "result" in answer:
            assert fits, (method, params)
            filled = _filled(answer["result"], SCHEMA["$defs"][row["result"]])
            known(row["result"]).validate(filled)
        elif answer["error"]["data"]["kind"] == "invalid-params":
            unsaid = any(words in answer["error"]["message"] for words in _UNSAID)
            assert fits == unsaid, (method, params)
        if "error" in answer:
            known("ResponseError").validate(answer["error"])


_UNSAID = (
    *('if wire is "text", and only then', "without white space and backticks"),
    "must have at most 256 characters",
    *("params.responseTemplate.", "must have one of"),
)
"""Refusals that no schema can say: of two fields, of white space, of a
literal's length, of a template."""


def _filled(value: Any, definition: dict[str, Any]) -> Any:
    """A result with something that fits in place of the wildcards."""
    if value == ANY:
        return _sample(definition)
    if not isinstance(value, dict):
        return value
    parts = _resolved(definition).get("properties", {})
    return {key: _filled(item, parts.get(key, {})) for key, item in value.items()}


def _resolved(definition: dict[str, Any]) -> dict[str, Any]:
    name = definition.get("$ref", "").removeprefix("#/$defs/")
    found: dict[str, Any] = SCHEMA["$defs"][name] if name else definition
    return found


def _sample(definition: dict[str, Any]) -> Any:
    """The least that fits."""
    definition = _resolved(definition)
    if "anyOf" in definition:
        return _sample(definition["anyOf"][0])
    if "const" in definition:
        return definition["const"]
    empty = {"string": "", "integer": 1, "boolean": True, "array": []}
    if definition.get("type") in empty:
        return empty[definition["type"]]
    parts = definition.get("properties", {})
    return {key: _sample(parts[key]) for key in definition.get("required", ())}


@pytest.mark.parametrize("name", TABLE["events"])
def test_every_required_field_counts(name: str) -> None:
    """The test above could not tell an empty schema from a good one."""
    definition = SCHEMA["$defs"][TABLE["events"][name]]
    least = {**_sample(definition), "seq": 1}
    any_event = validator("Event")
    assert any_event.is_valid(least)
    for field in definition["required"]:
        less = {key: value for key, value in least.items() if key != field}
        assert not any_event.is_valid(less)
        assert not any_event.is_valid({**least, field: None})


def test_what_a_later_version_sends_is_let_through() -> None:
    any_event = validator("Event")
    assert any_event.is_valid({"type": "weather", "seq": 1, "rain": True})
    finish = {"seq": 1, "reason": "rain", "emptyAnswer": True, "complete": True}
    assert any_event.is_valid({"type": "finish", **finish, "more": 1})
    message = _sample({"$ref": "#/$defs/Message"})
    assert validator("Message").is_valid({**message, "blocks": [{"type": "weather"}]})


def test_a_call_outside_of_a_stream_has_no_number() -> None:
    """But one in a stream has, as all events have."""
    call = _sample({"$ref": "#/$defs/ToolCall"})
    assert "seq" not in call
    assert validator("ClassifyResult").is_valid({"calls": [call]})
    assert not validator("Event").is_valid(call)


# --- It is generic --------------------------------------------------------------------


@frozen
class Inner:
    """In ``Sample``; ``some_name`` may be None."""

    some_name: str | None = None
    level: float = 0.5


Patch = NewType("Patch", dict[str, Any])


@frozen
class Sample:
    """One field for each kind of type that the methods use or may come to use."""

    required_field: str
    inner: Inner | None = None
    dialects: Literal["auto"] | tuple[str, ...] = "auto"
    known: tuple[Any, ...] = ()
    either: str | int | None = None
    free: dict[str, Any] = Factory(dict)
    patch: Patch | None = None
    span: Span | None = None
    choice: int = 0


SPAN = {"start": 1, "end": 2}
RICH: dict[str, Any] = {
    "requiredField": "r",
    "inner": {"someName": "x", "level": 0.5},
    "dialects": ["a"],
    "known": [1, None],
    "either": 5,
    "free": {"any_key": None},
}


def made(*, reads: bool) -> dict[str, Any]:
    definitions = Definitions(SchemaRules(patches={Patch: Inner}))
    definitions.of(Sample, reads=reads)
    return {"$defs": definitions.by_name}


@pytest.mark.parametrize(
    ("change", "fits"),
    [
        ({}, True),
        ({"requiredField": None}, False),
        ({"inner": None, "dialects": None, "either": None, "span": None}, True),
        ({"inner": {"someName": 1}}, False),
        ({"dialects": "auto"}, True),
        ({"dialects": "some"}, False),
        ({"either": []}, False),
        ({"known": {}}, False),
        ({"free": []}, False),
        ({"unknown": 1}, True),
    ],
)
def test_what_is_read(change: dict[str, Any], fits: bool) -> None:
    """Schema and converter agree."""
    value = {**RICH, **change}
    assert validator("Sample", made(reads=True)).is_valid(value) is fits
    value.pop("span", None)
    value["inner"] = value["inner"] and {**value["inner"]}
    try:
        structure(_without_floats(value), Sample, "params")
    except InvalidParamsError:
        assert not fits
    else:
        assert fits


def _without_floats(value: dict[str, Any]) -> dict[str, Any]:
    """No field that is read is a float so far, and the converter knows none."""
    inner = value["inner"]
    return {**value, "inner": inner and {"someName": inner.get("someName")}}


def test_what_is_written() -> None:
    written = validator("Sample", made(reads=False))
    least = unstructure(Sample("r"))
    assert written.is_valid(least)
    assert written.is_valid({**least, **RICH, "span": SPAN, "choice": 1})
    assert written.is_valid({**least, "dialects": "weather"})
    assert not written.is_valid({**least, "choice": 0})
    assert not written.is_valid({**least, "span": {"start": 1}})
    assert not written.is_valid({**least, "inner": None})
    for field in ("requiredField", "dialects", "known", "free"):
        less = {key: value for key, value in least.items() if key != field}
        assert not written.is_valid(less)


def test_a_class_that_is_read_and_written() -> None:
    """Has two definitions, a patch of it a third."""
    definitions = Definitions(SchemaRules(patches={Patch: Inner}))
    assert definitions.of(Inner) == {"$ref": "#/$defs/Inner"}
    assert definitions.of(Inner, reads=True) == {"$ref": "#/$defs/InnerInput"}
    assert definitions.of(Patch, reads=True) == {"$ref": "#/$defs/InnerPatch"}
    assert definitions.of(Inner) == {"$ref": "#/$defs/Inner"}
    assert "required" not in definitions.by_name["InnerInput"]
    assert definitions.by_name["Inner"]["required"] == ["level"]
    assert definitions.by_name["Inner"]["description"] == (
        "In `Sample`; `someName` may be absent."
    )


def test_an_unknown_type_is_a_mistake_of_ours() -> None:
    with pytest.raises(StopIteration):
        Definitions(SchemaRules()).of(bytes)
