"""What a schema says of values that were written without a type."""

from __future__ import annotations

from typing import Any

import pytest

from stream_sidecar.forms.schemas import kinds_of, member_of

CYCLE: dict[str, Any] = {"$defs": {"a": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"}
ROOT = {"$defs": {"a/b": {"type": "integer"}, "Item": {"properties": {"x": {}}}}}

KINDS: tuple[tuple[Any, set[str]], ...] = (
    (None, set()),
    ({"type": 7}, set()),
    ({"type": "INTEGER"}, {"integer"}),
    ({"type": ["string", "null", 7]}, {"string", "null"}),
    ({"type": "string", "nullable": True}, {"string", "null"}),
    ({"nullable": True}, set()),
    ({"$ref": "#/$defs/a~1b"}, {"integer"}),
    ({"$ref": "#/$defs/Item"}, {"object"}),
    ({"$ref": "#/$defs/none"}, set()),
    ({"$ref": "https://example.com/schema"}, set()),
    ({"allOf": [{"$ref": "#/$defs/Item"}]}, {"object"}),
    ({"anyOf": [{"type": "string"}, {"type": "null"}]}, {"string", "null"}),
    ({"oneOf": "odd"}, set()),
    ({"enum": [1, "a", None]}, {"integer", "number", "string", "null"}),
    ({"enum": "odd", "const": True}, {"boolean"}),
    ({"items": {}}, {"array"}),
)


@pytest.mark.parametrize(("schema", "kinds"), KINDS)
def test_kinds(schema: Any, kinds: set[str]) -> None:
    assert kinds_of(schema, ROOT) == kinds


def test_a_cycle_ends() -> None:
    assert kinds_of(CYCLE, CYCLE) == set()


def test_members() -> None:
    schema = {"allOf": [{"$ref": "#/$defs/Item"}], "items": {"type": "string"}}
    assert member_of(schema, ROOT, "x") == {}
    assert member_of(schema, ROOT, "y") is None
    assert member_of(schema, ROOT) == {"type": "string"}
    assert member_of(None, ROOT) is None
