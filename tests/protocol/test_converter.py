"""The converter, on classes that it has never seen."""

from __future__ import annotations

import json
from typing import Any, Literal

import pytest
from attrs import Factory, frozen

from stream_sidecar.errors import InvalidParamsError
from stream_sidecar.events import Span
from stream_sidecar.protocol.converter import structure, unstructure
from stream_sidecar.protocol.methods import METHODS
from stream_sidecar.values.jsontext import encode


@frozen
class Inner:
    some_name: str = "x"


@frozen
class Sample:
    """One field for each kind of type that the methods use or may come to use."""

    required_field: str
    number: int = 0
    dialects: Literal["auto"] | tuple[str, ...] = "auto"
    known: tuple[Any, ...] = ()
    inner: Inner | None = None
    mixed: str | tuple[Inner, ...] = ""
    free: dict[str, Any] = Factory(dict)
    span: Span | None = None


@pytest.mark.parametrize(
    "value",
    [
        {"requiredField": "r"},
        {
            "requiredField": "r",
            "number": 5,
            "dialects": ["a"],
            "known": [1, {"b_c": 2}],
        },
        {"requiredField": "r", "inner": {"someName": "y"}, "free": {"any_key": None}},
        {"requiredField": "r", "mixed": [{"someName": "z"}]},
        {"requiredField": "r", "mixed": "text"},
    ],
)
def test_new_fields_are_read_and_written_by_themselves(value):
    written = unstructure(structure(value, Sample, "params"))

    defaults = unstructure(Sample("r"))
    assert json.loads(encode(written)) == {**defaults, **value}


def test_span():
    assert unstructure(Sample("r", span=(1, 2)))["span"] == {"start": 1, "end": 2}


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ({}, "params.requiredField"),
        ({"requiredField": "r", "number": True}, "params.number"),
        ({"requiredField": "r", "dialects": "none"}, "params.dialects"),
        ({"requiredField": "r", "dialects": [5]}, "params.dialects[0]"),
        ({"requiredField": "r", "inner": {"someName": 5}}, "params.inner.someName"),
        ({"requiredField": "r", "mixed": 5}, "params.mixed"),
        ({"requiredField": "r", "free": 5}, "params.free"),
    ],
)
def test_paths_of_bad_values(value, path):
    with pytest.raises(InvalidParamsError, match=r".") as caught:
        structure(value, Sample, "params")

    assert str(caught.value).startswith(f"{path}: ")


def test_every_method_has_params_of_its_own_class():
    for name, method in METHODS.items():
        assert method.name == name
        with pytest.raises(InvalidParamsError):
            structure([], method.params, "params")
