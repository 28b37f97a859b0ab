"""Messages as standards write them: a repaired message is valid by the standard's own
types, and is byte for byte the twin that never leaked."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from agent_stores import STANDARDS
from click.testing import CliRunner

from stream_sidecar.cli import main

ANSWER = "Four is <b>it</b>."
LEAK = f"<think>Hm. é</think>{ANSWER}"
QUESTION = "What does <think>x</think> mean, and </think>?"

_NONE = "no types of standards (pip install --group standards)"
_ACP = "clients/typescript/node_modules/@agentclientprotocol/sdk/schema/v2/schema.json"

Check = Callable[[Path], None]
"""Raises for a store that is none of its standard."""


def _check_atif(folder: Path) -> None:
    atif = pytest.importorskip("atif", reason=_NONE)
    atif.Trajectory.model_validate_json((folder / "trajectory.json").read_bytes())


def _check_opentelemetry(folder: Path) -> None:
    types = pytest.importorskip("opentelemetry.util.genai.types", reason=_NONE)
    pydantic = pytest.importorskip("pydantic", reason=_NONE)
    (event,) = (json.loads(line) for line in _lines(folder / "events.jsonl"))
    for side, kind in (("input", types.InputMessage), ("output", types.OutputMessage)):
        adapter = pydantic.TypeAdapter(list[kind])
        messages = event["attributes"][f"gen_ai.{side}.messages"]
        parts = [
            each for one in adapter.validate_python(messages) for each in one.parts
        ]
        assert types.GenericPart not in map(type, parts)  # which anything is


def _check_a2a(folder: Path) -> None:
    types = pytest.importorskip("a2a.types", reason=_NONE)
    json_format = pytest.importorskip("google.protobuf.json_format", reason=_NONE)
    json_format.Parse((folder / "task.json").read_text("utf-8"), types.Task())
    older = pytest.importorskip("a2a.compat.v0_3.types", reason=_NONE)
    for message in json.loads((folder / "older.json").read_text("utf-8")):
        older.Message.model_validate(message)


def _check_acp(folder: Path) -> None:
    schemas = pytest.importorskip("jsonschema_rs", reason="no jsonschema-rs: no ACP")
    path = Path(__file__).parents[2] / _ACP
    if not path.exists():
        pytest.skip("no schema of ACP (npm ci in clients/typescript)")
    defined = json.loads(path.read_text("utf-8"))
    wanted = {"$ref": "#/$defs/UpdateSessionNotification", "$defs": defined["$defs"]}
    validator = schemas.Draft202012Validator(wanted)
    for line in _lines(folder / "updates.jsonl"):
        validator.validate(json.loads(line)["params"])


def _lines(path: Path) -> list[str]:
    return path.read_text("utf-8").splitlines()


CHECKS: dict[str, tuple[Check, str]] = {
    "atif": (_check_atif, '"source"'),
    "opentelemetry": (_check_opentelemetry, '"role"'),
    "a2a": (_check_a2a, '"messageId"'),
    "acp": (_check_acp, '"messageId"'),
}
"""How a store is checked, and a name without which it is none."""


@pytest.mark.parametrize("name", STANDARDS)
def test_what_is_repaired_is_valid(name: str, tmp_path: Path) -> None:
    check, _ = CHECKS[name]
    leaking, clean = tmp_path / "leaking", tmp_path / "clean"
    for folder, answer in ((leaking, LEAK), (clean, ANSWER)):
        folder.mkdir()
        STANDARDS[name](folder, QUESTION, answer)
    check(leaking)

    done = CliRunner().invoke(main, ["repair", "--write", str(leaking)])

    assert done.exit_code == 0, done.output
    check(leaking)
    for twin in clean.iterdir():
        assert (leaking / twin.name).read_bytes() == twin.read_bytes()


@pytest.mark.parametrize("name", STANDARDS)
def test_a_check_refuses_what_is_none(name: str, tmp_path: Path) -> None:
    check, needed = CHECKS[name]
    STANDARDS[name](tmp_path, QUESTION, LEAK)
    for path in [*tmp_path.iterdir()]:
        path.write_text(path.read_text("utf-8").replace(needed, '"other"'), "utf-8")
    with pytest.raises(Exception) as refused:  # noqa: PT011 - each has one of its own
        check(tmp_path)
    assert type(refused.value).__name__ in {"ParseError", "ValidationError"}
