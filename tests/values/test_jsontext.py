"""JSON in and out: both back ends read and write the same."""

from __future__ import annotations

import json
import sys
from importlib.util import module_from_spec, spec_from_file_location

import pytest
from rpc_client import strict_json

from stream_sidecar.values import jsontext


def plain_jsontext():
    """The module as it is where orjson cannot be imported."""
    spec = spec_from_file_location("plain_jsontext", jsontext.__file__)
    module = module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "orjson", None)
        spec.loader.exec_module(module)
    return module


@pytest.fixture(params=["as installed", "without orjson"], scope="module")
def module(request):
    return jsontext if request.param == "as installed" else plain_jsontext()


def nested(depth):
    value = 1
    for _ in range(depth):
        value = [value]
    return value


READINGS = [
    ('{"a":[1,-0.5,true,null,"é"]}', {"a": [1, -0.5, True, None, "é"]}),
    ("18446744073709551615", 2**64 - 1),
    ("-9223372036854775808", -(2**63)),
    ("18446744073709551616", "18446744073709551616"),
    ("-9223372036854775809", "-9223372036854775809"),
    ("[1234567890123456789012]", ["1234567890123456789012"]),
    ('"1234567890123456789012"', "1234567890123456789012"),
    ("1e400", "1e400"),
    ("-1e400", "-1e400"),
    ("[NaN,Infinity,-Infinity]", ["NaN", "Infinity", "-Infinity"]),
    ('"\\ud83d"', "\ud83d"),
    ('"\\ud83d\\ude00"', "😀"),
    ('{"a":1,"a":2}', {"a": 2}),
]


@pytest.mark.parametrize(("text", "value"), READINGS)
def test_reading(module, text, value):
    assert module.loads(text) == value
    assert module.decode(text.encode()) == value


def test_reading_what_only_python_reads(module):
    assert module.loads('"\ud83d"') == "\ud83d"
    assert module.decode(b'"\xed\xa0\xbd"') == "\ud83d"
    assert module.decode(b'\xef\xbb\xbf"x"') == "x"
    assert module.decode('"é"'.encode("utf-16")) == "é"


@pytest.mark.parametrize(
    "text", ["", "{", "{}{}", "undefined", '{"a":1,}', "[" * 10**5]
)
def test_no_json(module, text):
    with pytest.raises(ValueError):  # noqa: PT011 - whichever of its children
        module.loads(text)
    with pytest.raises(ValueError):  # noqa: PT011
        module.decode(text.encode())


def test_no_utf8(module):
    with pytest.raises(ValueError, match="utf-8"):
        module.decode(b'"\xff"')


@pytest.mark.parametrize(
    "form", ["@", "[0, @]", '{"id":@}', '{"a":\n@,"b":1}', "[@,@.5,@e0]", "[-1,\t@ ]"]
)
def test_integers_of_any_length(module, form):
    """Those outside 64 bits become text; digits in strings are none of them."""

    def read(number):
        value = int(number)
        return value if -(2**63) <= value < 2**64 else module.NumberText(number)

    numbers = [sign + "9" * size for size in range(15, 45) for sign in ("", "-")]
    edges = [2**63, 2**64 - 1, 2**64, -(2**63), -(2**63) - 1]
    for number in [*numbers, *map(str, edges)]:
        text = form.replace("@", number)
        assert repr(module.loads(text)) == repr(json.loads(text, parse_int=read))
        for quoted in (number, f"a:{number}", f"{number * 3} -{number}"):
            assert module.loads(f'["{quoted}", 1]') == [quoted, 1]


def test_numbers_that_became_text_can_be_reported_from_text(module):
    number, text = module.loads('[1e999,"1e999"]')

    assert number == text
    assert isinstance(number, module.NumberText)
    assert not isinstance(text, module.NumberText)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"b": 1, "a": [True, None, 0.5]}, '{"b":1,"a":[true,null,0.5]}'),
        ("é", '"é"'),
        ("\ud83d", '"\ud83d"'),
        ((1, {}), "[1,{}]"),
        (nested(3000), "[" * 3000 + "1" + "]" * 3000),
        (
            [{"a": nested(3000), "b": {}, "c": []}, "é"],
            '[{"a":' + "[" * 3000 + "1" + "]" * 3000 + ',"b":{},"c":[]},"é"]',
        ),
    ],
)
def test_dumps(module, value, text):
    assert module.dumps(value) == text


@pytest.mark.parametrize(
    ("value", "body"),
    [
        ({"a": ["é", None, True, 1, 0.5]}, '{"a":["é",null,true,1,0.5]}'),
        ("\ud83d", '"\ufffd"'),
        ("\ud83d\ude00", '"😀"'),
        (
            {"\udead": ["\ud83d", None, 1, 0.5, True]},
            '{"\ufffd":["\ufffd",null,1,0.5,true]}',
        ),
        (2**64, '"18446744073709551616"'),
        ({1: "a"}, '{"1":"a"}'),
    ],
)
def test_encode(module, value, body):
    assert module.encode(value) == body.encode()
    strict_json(module.encode(value))


def test_encode_refuses_what_is_no_json(module):
    with pytest.raises(TypeError):
        module.encode({"a": {1}})


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, None),
        ("\ud83d", "\ud83d"),
        (2**63, 2**63),
        (2**64, "18446744073709551616"),
        (float("nan"), "NaN"),
        (float("-inf"), "-Infinity"),
        (b"x", "b'x'"),
        ([1, (2, float("inf"))], [1, [2, "Infinity"]]),
        ({"a": {"b": 2**64}}, {"a": {"b": "18446744073709551616"}}),
        (nested(64), nested(64)),
    ],
)
def test_portable(module, value, expected):
    assert module.portable(value) == expected


@pytest.mark.parametrize("value", [{"a": [1, None, {"b": 0.5}]}, [], {}, (1, 2)])
def test_portable_values_are_not_copied(module, value):
    assert module.portable(value) is value


def test_portable_bounds_the_depth(module):
    assert strict_json(module.encode(module.portable(nested(3000))))
    assert module.portable([{"a": {}}], 1) == ['{"a":{}}']
    assert module.portable([[]], 1) == ["[]"]
