"""Objects as models write them: where they end or fail, and what they mean."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import pytest
from cutting import cuttings
from hypothesis import given
from hypothesis import strategies as st
from line_count import in_slices, lines_of

from stream_sidecar.values.jsontext import NumberText
from stream_sidecar.values.pushdown import MAX_NESTING
from stream_sidecar.values.relaxed import ObjectScanner, parse


def end_of(pieces: list[str], bare: bool, opener: str) -> tuple[int, str]:
    scanner = ObjectScanner(bare, opener)
    end = 0
    for piece in pieces:
        end += scanner.scan(piece, 0)
    return end, scanner.state


def scan(text: str, bare: bool = False, opener: str = "{") -> tuple[int, str]:
    """Where the object ends and how, the same for every way to cut ``text``."""
    found = {end_of(pieces, bare, opener) for pieces in cuttings(text)}
    assert len(found) == 1, text
    return found.pop()


def read(text: str, bare: bool) -> Any:
    """The value of ``text``, which ends where the scanner says."""
    assert scan(text + "}]", bare, "{[") == (len(text), "whole")
    return parse(text, bare)


RELAXED_VALUES: dict[str, Any] = {
    "{}": {},
    "[]": [],
    "{ \r\n\t}": {},
    '{saved: true, kind: "note", at: 12}': {"saved": True, "kind": "note", "at": 12},
    "{'a': 'it\\'s', \"b\": 'say \"x\"'}": {"a": "it's", "b": 'say "x"'},
    "{a-b: 1, a.b: 2, $c_3: 3, 4: 4}": {"a-b": 1, "a.b": 2, "$c_3": 3, "4": 4},
    "{größe :1, 名前\n:2, नाम:3}": {"größe": 1, "名前": 2, "नाम": 3},
    "{'a b': True, '\\n': False, \"\": None}": {"a b": True, "\n": False, "": None},
    "{a: undefined, true: false, b: null}": {"a": None, "true": False, "b": None},
    "[+1, -0, .5, 5., -.5e+2, +2E-1, 3.e1]": [1, 0, 0.5, 5.0, -50.0, 0.2, 30.0],
    "[Infinity, -Infinity, +Infinity]": [math.inf, -math.inf, math.inf],
    '{"a": [1, {"b": []},], }': {"a": [1, {"b": []}]},
    "{a: {b: {}}, c: [[], {}]}": {"a": {"b": {}}, "c": [[], {}]},
    '{"a": "{[}],:\'"}': {"a": "{[}],:'"},
    '{"a": "one\ntwo\r\n\tthree"}': {"a": "one\ntwo\r\n\tthree"},
    "{a: 1, b: 2, a: 3}": {"a": 3, "b": 2},
    "{a: 123456789012345678901234567890}": {"a": 123456789012345678901234567890},
    "{a: 1e400}": {"a": math.inf},
    r"['\b\f\n\r\t\v\/\\\0']": ["\b\f\n\r\t\v/\\\0"],
    r"['\u00e9\xe9\U0001F600\ud83d\ude00\ud83d!']": ["éé😀😀\ud83d!"],
    "['one \\\n\\\r\n\\\rline']": ["one line"],
    r"['C:\proj \d+ \u12 \xg \U00110000 \01 \`']": [
        r"C:\proj \d+ \u12 \xg \U00110000 \01 \`"
    ],
}


@pytest.mark.parametrize("text", RELAXED_VALUES)
def test_relaxed_values(text: str) -> None:
    assert read(text, bare=False) == RELAXED_VALUES[text]
    assert list(parse(text)) == list(RELAXED_VALUES[text])


BARE_VALUES: dict[str, Any] = {
    "{}": {},
    "{link:https://example.org/a,x:1}": {"link": "https://example.org/a", "x": 1},
    "{why:Asked for it, twice.,id:QQ-77}": {
        "why": "Asked for it, twice.",
        "id": "QQ-77",
    },
    r"{path:E:\src\b.rs,limit:20}": {"path": r"E:\src\b.rs", "limit": 20},
    "{tags:[new, two words],title:null}": {"tags": ["new", "two words"], "title": None},
    "{order:{item:2x Box , note: }}": {"order": {"item": "2x Box", "note": ""}},
    "{thought:…,list:[{a:…}]}": {"thought": "…", "list": [{"a": "…"}]},
    "{a:,b:x,}": {"a": "", "b": "x"},
    "{a:x,,b:y}": {"a": "x,", "b": "y"},
    "{a:1,2,3:4,b:5}": {"a": "1,2,3:4", "b": 5},
    "{a:x, 2:3,b-c : 4}": {"a": "x, 2:3", "b-c": 4},
    "{a:x,'b c':1,\"d\" :2}": {"a": "x", "b c": 1, "d": 2},
    '{a:x, "b, c" d,e:1}': {"a": 'x, "b, c" d', "e": 1},
    "{a:x, 'b' c,e:1}": {"a": "x, 'b' c", "e": 1},
    '{a:x,"b\\"c":1,d:2}': {"a": 'x,"b\\"c":1', "d": 2},
    '{a:1,"b}":2,c:"x","d}":3}': {"a": 1, "b}": 2, "c": "x", "d}": 3},
    "{a:1, b c:2,d:3}": {"a": "1, b c:2", "d": 3},
    "{a:1, ?,d:3}": {"a": "1, ?", "d": 3},
    "{a:f(x){y],b:[},{c:1}]}": {"a": "f(x){y]", "b": ["}", {"c": 1}]},
    "{a:true,b:True,c:trueish,d:nul}": {
        "a": True,
        "b": True,
        "c": "trueish",
        "d": "nul",
    },
    "{a:-1.5,b:007,c:1.2.3,d:1e}": {"a": -1.5, "b": "007", "c": "1.2.3", "d": "1e"},
    "{a:-,b:.,c:.5,d:1e+,e:+x}": {"a": "-", "b": ".", "c": 0.5, "d": "1e+", "e": "+x"},
    "{a:[WIP] Fix,b:{c:1} d,e:2}": {"a": "[WIP] Fix", "b": "{c:1} d", "e": 2},
    '{a:["x" y, \'z\'],b:"x" OR "y"}': {"a": ['"x" y', "z"], "b": '"x" OR "y"'},
    '{a:"}" ,b:"k}":],c:1}': {"a": "}", "b": '"k}":]', "c": 1},
    "{a:\"x\\n\\\"\",b:'it\\'s'}": {"a": 'x\n"', "b": "it's"},
    "{a:<b>c</b>,b:<ct,c:<|x}": {"a": "<b>c</b>", "b": "<ct", "c": "<|x"},
    '{a:`x"},{b:1}\\`,b:<|"|>`}<|"|>}': {"a": 'x"},{b:1}\\', "b": "`}"},
    '{a:<|"|><<|"<escape><ctrl46><|"|>}': {"a": '<<|"<escape><ctrl46>'},
    "{a:<escape><<esc\\n<|><escape>}": {"a": "<<esc\\n<|>"},
    "{a:<ctrl46>x,<<ctrl><ctrl4b:1}<ctrl45>,b:1}": {"a": "x,<<ctrl><ctrl4b:1}", "b": 1},
    "{a:<ctrl46><ctrl46>,b:<ctrl46>x<ctrl46>y}": {"a": "", "b": "<ctrl46>x<ctrl46>y"},
    "{a:<ctrl44>,b:1}": {"a": "<ctrl44>", "b": 1},
    "[a, b:c,{d:e},f g,]": ["a", "b:c", {"d": "e"}, "f g"],
}


@pytest.mark.parametrize("text", BARE_VALUES)
def test_bare_values(text: str) -> None:
    assert read(text, bare=True) == BARE_VALUES[text]


def test_nan_is_a_number() -> None:
    assert math.isnan(parse("{'a': NaN}")["a"])


def test_an_integer_with_too_many_digits_is_its_text() -> None:
    digits = "7" * 5_000
    value = parse(f'{{"a": {digits}}}')["a"]
    assert value == digits
    assert isinstance(value, NumberText)


FAILED = {
    False: """
        a| ,| "| [| {,| {]| {:| {-| {"a",| {"a" b| {a,| {a b| {a}| {a:}| {a:,| {a:]|
        {a:b| {a:tru,| {a:nulL| {a:Nu| {a:NaM| {a:truee| {a:01| {a:+,| {a:+-| {a:-N|
        {a:.e| {a:1.2.| {a:1e,| {a:1e+-| {a:1 2| {a:1]| {a:1,,| {a:"b"c| {a:'b''| {a:`|
        {a:<| {a:[,| {a:[1,,| {a:[1}| {a:[1 2| {a:{}b| {a:/| {a:1;| {a.b\u200b| {a.b;|
        {"a":1,"b":1]| {a:"b","c":"d"]| {a:[1,2,3}|
    """,
    True: """
        a| [| {,| {b c| {a,| {"a"}| {a:"x","b" c| {a:"x","y",| {a:[,| {a:[ ,| {a:[x,,|
        {a:x,b:1,"c"}|
    """,
}
"""By syntax: objects up to the character with which they cannot go on, and a bar."""


@pytest.mark.parametrize(
    ("text", "bare"),
    [
        (text.strip(), bare)
        for bare, texts in FAILED.items()
        for text in texts.split("|")
        if text.strip()
    ],
)
def test_failing(text: str, bare: bool) -> None:
    assert scan(text + '"}]}', bare) == (len(text), "failed")
    assert scan(text[:-1], bare) == (len(text) - 1, "open")
    with pytest.raises(ValueError, match="not one whole object"):
        parse(text, bare)


@pytest.mark.parametrize("bare", [False, True])
def test_what_may_open(bare: bool) -> None:
    assert scan("[{}] x", bare, "[") == (4, "whole")
    assert scan("[{}] x", bare, "{[") == (4, "whole")
    assert scan("{} x", bare, "{[") == (2, "whole")
    assert scan("{}", bare, "[") == (1, "failed")


@pytest.mark.parametrize("bare", [False, True])
@pytest.mark.parametrize(("opener", "closer"), [("[", "]"), ("{a:", "}")])
def test_the_bracket_that_is_too_deep_fails(
    opener: str, closer: str, bare: bool
) -> None:
    deep = opener * MAX_NESTING + "[]"
    at = len(opener) * MAX_NESTING
    assert end_of([deep], bare, "{[") == (at + 1, "failed")
    text = opener * (MAX_NESTING - 1) + "[]" + closer * (MAX_NESTING - 1)
    assert read(text, bare) == parse(text, bare)
    with pytest.raises(ValueError, match="not one whole object"):
        parse("[" * 100_000, bare)


def test_a_scanner_that_is_through_reads_no_more() -> None:
    scanner = ObjectScanner()
    assert scanner.scan("x {} y", 2) == 4
    assert scanner.scan("{}", 0) == 0
    assert scanner.state == "whole"


@pytest.mark.parametrize("text", ["", "{", "{} ", " {}", "{}{}", "1", '"a"', "null"])
def test_only_one_whole_object_has_a_value(text: str) -> None:
    with pytest.raises(ValueError, match="not one whole object"):
        parse(text)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=12,
)
OBJECTS = st.lists(JSON, min_size=1) | st.dictionaries(st.text(), JSON, min_size=1)


@given(OBJECTS, st.booleans(), st.booleans(), st.sampled_from([None, 1]))
def test_json_means_what_it_means(
    value: Any, bare: bool, ascii_only: bool, indent: int | None
) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    assert end_of([text + "x"], bare, "{[") == (len(text), "whole")
    assert end_of([*text, "x"], bare, "{[") == (len(text), "whole")
    # A trailing comma is not JSON: this is what our own reader makes of it.
    for each in (text, f"{text[:-1]},{text[-1]}"):
        assert parse(each, bare) == value
        assert json.dumps(parse(each, bare)) == json.dumps(value)


FRAGMENTS = (
    *("{", "}", "[", "]", ",", ":", '"', "'", "`", "\\", " ", "\n", "}", "]", "{a:"),
    *("<ctrl46>", "<ctrl4", '<|"|>', "<escape>", "<", "escape>", "a", "b c", "key:"),
    *('"k":', "'k':", '"k}":', ",b:", ", 2", "1", "0", "-", "+", ".", "5.", "1e3", "e"),
    *("true", "tru", "None", "N", "NaN", "Infinity", "undefined", '"s"', "é", "\u0947"),
)


@given(
    st.sampled_from(["{", "[", "{a:", '{"a":']),
    st.lists(st.sampled_from(FRAGMENTS), max_size=14).map("".join),
    st.booleans(),
)
def test_what_the_scanner_calls_whole_has_a_value(
    start: str, rest: str, bare: bool
) -> None:
    text = start + rest
    end, state = end_of([text], bare, "{[")
    assert end_of(list(text), bare, "{[") == (end, state)
    if state == "whole":
        assert isinstance(parse(text[:end], bare), dict | list)
    else:
        with pytest.raises(ValueError, match="not one whole object"):
            parse(text[:end], bare)


HOSTILE: dict[str, Callable[[int], str]] = {
    "a string": lambda n: '{a:"' + "b" * n + '"}',
    "escapes": lambda n: '{a:"' + "\\n" * (n // 2) + '"}',
    "members": lambda n: "{" + "a:1," * (n // 4) + "}",
    "members with strings": lambda n: "{" + '"a":"b",' * (n // 8) + "}",
    "objects": lambda n: "[" + "{a:{}}," * (n // 7) + "]",
    "numbers": lambda n: "[" + "1.5e3," * (n // 6) + "]",
    "digits": lambda n: "[." + "1" * n + "]",
    "blanks": lambda n: "{" + " " * n + "}",
    "blanks between commas": lambda n: "{a:x" + ",    " * (n // 5) + "}",
    "commas": lambda n: "{a:x" + "," * n + "}",
    "names that are none": lambda n: "{a:x" + ",b c" * (n // 4) + "}",
    "names in quotes that are none": lambda n: "{a:x" + ',"b"c' * (n // 5) + "}",
    "half tokens": lambda n: "{a:<ctrl46>" + "<ctrl4" * (n // 6) + "<ctrl46>}",
    "a long half token": lambda n: "{a:<ctrl46><ctrl" + "4" * n + "<ctrl46>}",
    "openers": lambda n: "{a:x" + "{" * n + "}",
    "a broken object": lambda n: "{a:1" + "x" * n,
}


@pytest.mark.parametrize("bare", [False, True])
@pytest.mark.parametrize("name", HOSTILE)
def test_linear_work(name: str, bare: bool) -> None:
    def work(text: str) -> None:
        end, state = end_of(in_slices(text), bare, "{[")
        assert (end, state) == end_of([text], bare, "{[")
        if state == "whole":
            parse(text[:end], bare)

    few, many = (lines_of(lambda n=n: work(HOSTILE[name](n))) for n in (400, 4_000))
    assert many < 11 * few + 2_000
