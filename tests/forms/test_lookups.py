"""What is looked up however much there is: openers by a text, results by a value."""

from __future__ import annotations

from typing import Any

import pytest

from stream_sidecar.forms.known_results import FEW, KnownResults, known_value
from stream_sidecar.forms.literals import Openers

OPENERS = Openers(["call:", "c", "call", "[x]", "call:f{", "cab"])
TEXTS = [
    ("call:f{a", 0, ["call:", "c", "call", "call:f{"]),
    ("call", 0, ["c", "call"]),
    ("xcab", 1, ["c", "cab"]),
    ("[x", 0, []),
    ("", 0, []),
    ("b", 0, []),
]
BEGUN = [("c", True), ("call", True), ("call:f{", False), ("[x", True), ("b", False)]


@pytest.mark.parametrize(("text", "at", "expected"), TEXTS)
def test_openers_that_stand_in_a_text(text: str, at: int, expected: list[str]) -> None:
    assert OPENERS.at(text, at) == expected
    assert Openers([]).at(text, at) == []


@pytest.mark.parametrize(("begun", "expected"), BEGUN)
def test_what_an_opener_begins_with(begun: str, expected: bool) -> None:
    assert OPENERS.is_begun(begun) is expected
    assert not Openers([]).is_begun(begun)


KNOWN: list[Any] = ['{"a": 1, "b": [2]}', {"a": 1}, [1, 2], "plain", 3, None, '"s"']
ASKED = [
    ({"b": [2.0], "a": 1}, True),
    ({"a": 1}, True),
    ({"a": True}, False),
    ({"a": 1, "c": 1}, False),
    ([1, 2], True),
    ([2, 1], False),
    ([1], False),
    ("plain", True),
    ("s", True),
    (3.0, True),
    (None, True),
    (False, False),
]


@pytest.mark.parametrize(("value", "expected"), ASKED)
def test_results_are_known_by_their_value(value: Any, expected: bool) -> None:
    known = KnownResults(map(known_value, KNOWN))
    assert len(known) == len(KNOWN)
    assert [known.has(value), known.has(value)] == [expected] * 2  # asked once more
    assert not KnownResults().has(value)


def test_what_may_become_a_known_object() -> None:
    known = KnownResults(map(known_value, KNOWN))
    for keys, expected in (([], True), (["b"], True), (["b", "a", "a"], True)):
        assert known.may_begin(keys) is expected
    assert not known.may_begin(["a", "c"])
    assert not KnownResults([1, "{"]).may_begin([])


def test_where_many_may_be_meant_none_is_excluded() -> None:
    many = [{"a": 1, "b": 1, str(number): 1} for number in range(FEW + 1)]
    assert KnownResults(many).may_begin(["a", "b"])
    assert KnownResults(many).may_begin(["a", "7"])
    assert not KnownResults(many).may_begin(["a", "none"])
    assert not KnownResults(many).may_begin(["7", "8"])


def test_equal_results_are_equally_known() -> None:
    assert KnownResults([{"a": 1}]) == KnownResults([{"a": 1}])
    assert KnownResults([{"a": 1}]) != KnownResults([])
    assert KnownResults() != ()
