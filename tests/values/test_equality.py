"""Two values have one key where they are equal, and nowhere else."""

from __future__ import annotations

import json
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream_sidecar.values.equality import equal, key_of
from stream_sidecar.values.jsontext import NumberText

DEEP = json.loads("[" * 900 + "]" * 900)
VALUES: list[Any] = [
    *(None, True, False, 0, -0.0, 1, 1.0, 1.5, 2**53, 2.0**53, 1e300, -1),
    *("", "1", "true", "null", "[ ]", "a b", '"', "\ud800", "\udc00", "Größe"),
    *([], [[]], [[], []], [1, 2], [2, 1], ["1 2"], ["1", "2"], {}, [{}]),
    *({"a": 1}, {"a": 1.0}, {"a": True}, {"a": [1], "b": 2}, {"b": 2, "a": [1]}),
    *({"a": {"b": 1}}, {"a": {}, "b": 1}, {"a": ["b", 1]}, {"\ud800": 1}),
    *(NumberText("1e400"), "1e400", DEEP, [DEEP]),
]


def test_every_two_values() -> None:
    for one, other in product(VALUES, VALUES):
        assert (key_of(one) == key_of(other)) == equal(one, other), (one, other)


SCALARS = st.none() | st.booleans() | st.integers() | st.text(max_size=3)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    SCALARS | NUMBERS,
    lambda each: (
        st.lists(each, max_size=3)
        | st.dictionaries(st.text(max_size=2), each, max_size=3)
    ),
    max_leaves=6,
)


@given(JSON, JSON)
def test_values_by_chance(one: Any, other: Any) -> None:
    assert (key_of(one) == key_of(other)) == equal(one, other)


@pytest.mark.parametrize("size", [1, 3])
def test_the_order_of_members_is_free(size: int) -> None:
    members = [(f"k{number}", {"x": [number]}) for number in range(size)]
    assert key_of(dict(members)) == key_of(dict(reversed(members)))
