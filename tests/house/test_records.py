"""Classes of fields compare, hash and show themselves as those that attrs makes."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from stream_sidecar import records

FIELDS: tuple[dict[str, Any], ...] = (
    {},
    {"one": 1},
    {"one": 1, "two": "x"},
    {"one": [1], "two": {"a": None}},
)
MAKERS = (
    (records.define, attrs.define),
    (records.frozen, attrs.frozen),
    (records.hot, attrs.frozen),
)


def _class(make: Any, names: Any) -> Any:
    return make(type("Pair", (), {"__annotations__": dict.fromkeys(names, Any)}))


def _hash_of(value: Any) -> bool:
    try:
        return hash(value) == hash(type(value)(*attrs.astuple(value, recurse=False)))
    except TypeError:
        return False


@pytest.mark.parametrize("values", FIELDS, ids=str)
@pytest.mark.parametrize(("ours", "theirs"), MAKERS)
def test_it_is_as_attrs_makes_it(
    ours: Any, theirs: Any, values: dict[str, Any]
) -> None:
    mine, other = _class(ours, values), _class(theirs, values)
    assert repr(mine(**values)) == repr(other(**values))
    assert mine(**values) == mine(**values)
    assert mine(**values) != other(**values)
    for name in values:
        assert mine(**values) != mine(**{**values, name: "another"})
    assert _hash_of(mine(**values)) == _hash_of(other(**values))


@pytest.mark.parametrize("values", FIELDS, ids=str)
def test_a_copy_with_another_value(values: dict[str, Any]) -> None:
    kind = _class(records.frozen, values)
    assert records.evolve(kind(**values)) == kind(**values)
    for name in values:
        changed = records.evolve(kind(**values), **{name: "another"})
        assert changed == kind(**{**values, name: "another"})


@pytest.mark.parametrize("ours", [records.define, records.frozen])
def test_it_may_be_the_same_as_itself_alone(ours: Any) -> None:
    kind = _class(ours(eq=False), ["one"])
    value = kind(1)
    assert value == value
    assert value != kind(1)
    assert {value: 2}[value] == 2
