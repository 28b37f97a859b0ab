"""Edits of a record's JSON text: a value goes or is replaced, and all else stays."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream_sidecar.history.cuts import spliced
from stream_sidecar.resume.conversation import StoredPlace
from stream_sidecar.resume.edits import text_changes
from stream_sidecar.resume.findings import FileEdit
from stream_sidecar.resume.records import StoredRecord


def edited(text: str, values: dict[tuple[Any, ...], str | None]) -> str:
    record = StoredRecord(0, None)
    edits = [FileEdit(StoredPlace(record, path), new) for path, new in values.items()]
    return spliced(text, text_changes(text, edits))


@pytest.mark.parametrize(
    ("text", "gone", "left"),
    [
        ("[1, 2, 3]", [(0,)], "[2, 3]"),
        ("[1, 2, 3]", [(1,)], "[1, 3]"),
        ("[1, 2, 3]", [(2,)], "[1, 2]"),
        ("[ 1 ]", [(0,)], "[  ]"),
        ("[1, 2, 3]", [(0,), (1,)], "[3]"),
        ("[1, 2, 3]", [(1,), (2,)], "[1]"),
        ("[1,2]", [(0,), (1,)], "[]"),
        ('{"a" : 1, "b": 2}', [("a",)], '{"b": 2}'),
        ('{"a" : 1, "\\\\\\"b" : {"c": [":"]}}', [('\\"b',)], '{"a" : 1}'),
        ('{"a": {"b": 1}}\n', [("a", "b")], '{"a": {}}\n'),
        ('{"a": 1}\n', [()], ""),
    ],
)
def test_what_goes_takes_one_comma_along(text: str, gone: Any, left: str) -> None:
    assert edited(text, dict.fromkeys(gone)) == left


def test_what_is_replaced_keeps_its_place() -> None:
    text = '{"a":  [1,{"b" : "\\ud83d"}], "c":null}'
    new = edited(text, {("a", 1, "b"): '"\\ufffd"', ("a", 0): None})
    assert new == '{"a":  [{"b" : "\\ufffd"}], "c":null}'


@given(st.lists(st.integers()), st.sets(st.integers(0, 8)), st.booleans())
def test_items_of_a_list_go(values: list[int], chosen: set[int], tight: bool) -> None:
    text = json.dumps(values, separators=(",", ":") if tight else None)
    gone = {(number,): None for number in chosen if number < len(values)}
    left = [value for number, value in enumerate(values) if (number,) not in gone]
    assert json.loads(edited(text, gone)) == left
