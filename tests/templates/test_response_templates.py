"""Templates that are refused, patterns of strangers, and templates made by chance."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import Any

import pytest
from checking import check
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from template_texts import FAMILIES, template, texts

from stream_sidecar.forms.grammar import Context, Cursor, EndedError, MismatchError
from stream_sidecar.templates.anchors import TemplateError
from stream_sidecar.templates.response_template import template_of
from stream_sidecar.templates.stranger_patterns import StrangerPattern, parsed

_CALL = {
    "open_pattern": "<do (?P<name>\\w+)>",
    "transform": {"name": "{name}", "arguments": "{content}"},
}
_THINK = {"open": "<a>", "close": "</a>"}


def _fields(**fields: Any) -> dict[str, Any]:
    return {"fields": fields}


def _pattern(source: str) -> dict[str, Any]:
    return _fields(thinking={"open_pattern": source, "close": "</a>"})


_AT = ".fields.thinking.open_pattern"

_REFUSED: list[tuple[Any, str, str]] = [
    ([], "", "must be an object"),
    ({"fields": {}}, ".fields", "must have a field"),
    ({"fields": []}, ".fields", "must be an object"),
    ({"version": 2, **_fields(a=_THINK)}, ".version", "must be 1"),
    ({"version": True, **_fields(a=_THINK)}, ".version", "must be 1"),
    ({"model": "m", **_fields(a=_THINK)}, ".model", "is not known"),
    ({"start_anchor": [5], **_fields(a=_THINK)}, ".start_anchor[0]", "empty"),
    (_fields(a=5), ".fields.a", "must be an object"),
    (_fields(a={"opens": "x"}), ".fields.a.opens", "is not known"),
    (_fields(a={"open": 5}), ".fields.a.open", "must be a string"),
    (_fields(a={"open": ""}), ".fields.a.open", "not empty"),
    (_fields(a={"open": []}), ".fields.a.open", "must not be empty"),
    (_fields(a={"open": "x" * 257}), ".fields.a.open", "256 characters"),
    (_fields(a={**_THINK, "close": ["x", "y" * 257]}), ".fields.a.close[1]", "256"),
    (_fields(a={"open": "x", "open_pattern": "x"}), ".fields.a.open_pattern", "beside"),
    (_fields(a={"open": "\n", "close": "x"}), ".fields.a", "white space"),
    (_fields(a={**_THINK, "repeats": 1}), ".fields.a.repeats", "true or false"),
    (_fields(a={**_THINK, "join": ""}), ".fields.a.join", "needs repeats"),
    (_fields(a={**_THINK, "content": "yaml"}), ".fields.a.content", "is not known"),
    (
        _fields(a={**_THINK, "content_args": {"trim": True}}),
        ".fields.a.content_args.trim",
        "is not known",
    ),
    (_fields(content={}, a={}), ".fields.a", "lacks open"),
    (_fields(tool_calls={"close": "x"}), ".fields.tool_calls", "nothing opens"),
    (
        _fields(tool_calls={**_CALL, "transform": {"a": "{name}"}}),
        ".fields.tool_calls.transform",
        "shape of a call",
    ),
    (
        _fields(tool_calls={**_CALL, "transform": None}),
        ".fields.tool_calls",
        "without a transform",
    ),
    (
        _fields(tool_calls={**_CALL, "transform": {"name": "a {name}"}}),
        ".fields.tool_calls.transform.name",
        "mixes",
    ),
    (
        _fields(tool_calls={**_CALL, "transform": {"name": ["{who}"]}}),
        ".fields.tool_calls.transform.name.0",
        "neither content nor a group",
    ),
    (
        _fields(tool_calls={**_CALL, "content": "xml-inline"}),
        ".fields.tool_calls.content_args.tag_pattern",
        "is missing",
    ),
    *(
        (
            _fields(
                tool_calls={
                    **_CALL,
                    "content": "xml-inline",
                    "content_args": {"tag_pattern": tag},
                }
            ),
            ".fields.tool_calls.content_args.tag_pattern",
            reason,
        )
        for tag, reason in (
            ("<(?P<value>.*?)=(?P<key>\\w+)>", "must have a key"),
            ("<(?P<key>\\w+)=(?P<value>(?:ab)*)>", "must have a key"),
            ("<(?P<key>\\w+)=(?P<value>.*)", "after its value"),
            ("<(?P<key>\\w+)>(?P<value>.*?)</(?P=key)>", "reference"),
        )
    ),
    *(
        (
            _fields(tool_calls={**_CALL, "content": content, "content_args": args}),
            f".fields.tool_calls.content_args.{at}",
            reason,
        )
        for content, args, at, reason in (
            ("json", {"string_delims": ["x"]}, "string_delims[0]", "a pair"),
            ("kv-lines", {"kv_sep": ""}, "kv_sep", "not be empty"),
            (
                "kv-lines",
                {"value_parser": {"name": "yaml"}},
                "value_parser.name",
                "is not known",
            ),
        )
    ),
    (_pattern("(<a>)\\1"), _AT, "reference to a group"),
    (_pattern("(<a>)?(?(1)b|c)"), _AT, "reference to a group"),
    (_pattern("<a(?=>)"), _AT, "looks around"),
    (_pattern("<a(?<!b)>"), _AT, "looks around"),
    (_pattern("<(?:a*)*>"), _AT, "unbounded repeat in another"),
    (_pattern("<(?:a+b?)+>"), _AT, "unbounded repeat in another"),
    (_pattern("<(?:(?:ab)*?c){2,}>"), _AT, "unbounded repeat in another"),
    (_pattern("<a\\b>"), _AT, "place in its middle"),
    (_pattern("(?i)<a>"), _AT, "flags"),
    (_pattern("<(?i:a)>"), _AT, "flags"),
    (_pattern("<(?>a+)>"), _AT, "has atomic_group"),
    (_pattern("<a++>"), _AT, "has possessive_repeat"),
    (_pattern("\\w+<a>"), _AT, "must begin with a literal"),
    (_pattern(f"<(?:{'|'.join(map(str, range(99)))})>"), "", ""),
    (_pattern(f"(?:{'>|'.join(map(chr, range(256, 355)))}>)a"), _AT, "too many ways"),
    (_pattern("<a{2000}>"), _AT, "is too long"),
    (_pattern("<(?:(?:a{40}){40}){40}>"), _AT, "is too long"),
    (_pattern("<(?:){4294967294}>"), _AT, "is too long"),
    (_pattern("<" + "a" * 2048), _AT, "is too long"),
    (_pattern("<" + "(" * 900 + ")" * 900), _AT, ""),
    (_pattern("<a"), "", ""),
    (_pattern("<(a"), _AT, "is no pattern"),
    (_pattern("<\\p{L}>"), _AT, "is no pattern"),
]


@pytest.mark.parametrize(("given", "path", "reason"), _REFUSED)
def test_a_template_that_is_not_understood(given: Any, path: str, reason: str) -> None:
    if not (path or reason):
        template_of(given)
        return
    with pytest.raises(TemplateError) as refused:
        template_of(given)
    assert refused.value.path == path
    assert reason in refused.value.reason


def _read(source: str, text: str) -> Any:
    """What a pattern reads by character at a text's beginning: its end and groups."""
    cursor = Cursor("", Context(), inside=False)
    reading = StrangerPattern(*parsed(source)).read(cursor)
    try:
        for at, character in enumerate(text):
            cursor.feed(character, final=at == len(text) - 1)
            next(reading)
        next(reading)
    except StopIteration as over:
        return cursor.position, over.value
    except (MismatchError, EndedError):
        return None
    raise AssertionError("it waits for more than there is")


_PIECES = ("a", "b", "ab", "[ab]", "[^b]", ".", "\\w", "(?P<g>a|b+)", "(?:ab|a)", "\\s")
_TIMES = ("", "?", "*", "+", "??", "*?", "+?", "{2}", "{1,2}", "{,2}?")
_SOURCES = st.lists(
    st.tuples(st.sampled_from(_PIECES), st.sampled_from(_TIMES)), min_size=1, max_size=4
)


@settings(max_examples=300, deadline=None)
@given(_SOURCES, st.text("ab c", max_size=8))
def test_a_pattern_reads_what_re_reads(
    pieces: list[tuple[str, str]], text: str
) -> None:
    named = [piece for piece, _ in pieces if "?P" in piece]
    nested = any("+" in piece and times[:1] in ("*", "+") for piece, times in pieces)
    if len(named) > 1 or nested:
        return
    source = "<" + "".join(piece + times for piece, times in pieces) + ">?"
    match = re.compile(source, re.DOTALL).match(f"<{text}")
    known = None
    if match:
        groups = {name: each for name, each in match.groupdict().items() if each}
        known = match.end(), groups
    found = _read(source, f"<{text}")
    if found:
        found = found[0], {name: each for name, each in found[1].items() if each}
    assert found == known


def test_a_pattern_that_would_take_for_ever() -> None:
    """Eight repeats in a row, each of which may read what the next one does."""
    source = "<" + "\\w*" * 8 + "!"
    assert _read(source, "<" + "w" * 2000) is None
    assert _read("<(?:a|a|a)*!", "<" + "a" * 256 + "!") == (258, {})
    assert _read("<a*!", "<" + "a" * 257 + "!") is None


_MARKS = ("<a>", "</a>", "<|b|>", "<|/b|>", "[c]", "[/c]", "<d ", "<d x>", "\n", "")
_LITERALS = st.sampled_from([each for each in _MARKS if each.strip()])
_PATTERNS = st.sampled_from(
    ["<d (?:x|y)*>", "<\\|b\\|>\\s*", "(?:<a>)?[^<]*<\\|b\\|>", "(?:^|<a>)", "\\[c+\\]"]
)
_OPEN = _LITERALS.map(lambda it: {"open": it}) | _PATTERNS.map(
    lambda it: {"open_pattern": it}
)
_CLOSE = (
    _LITERALS.map(lambda it: {"close": it})
    | _PATTERNS.map(lambda it: {"close_pattern": it})
    | st.just({})
)
_BODIES = st.sampled_from(
    [
        {"content": "json", "transform": {"name": "f", "arguments": "{content}"}},
        {"content": "text", "transform": {"name": "f", "arguments": "{content}"}},
        {"content": "json"},
        {"content": "kv-lines", "transform": {"name": "f", "args": "{content}"}},
        {
            "content": "xml-inline",
            "content_args": {"tag_pattern": "<d (?P<key>\\w)>(?P<value>.*?)</a>"},
            "transform": {"name": "f", "arguments": "{content}"},
        },
    ]
)


@st.composite
def _templates(draw: st.DrawFn) -> dict[str, Any]:
    fields = {
        "thinking": {**draw(_OPEN), **draw(_CLOSE)},
        "tool_calls": {**draw(_OPEN), **draw(_CLOSE), **draw(_BODIES)},
        "content": {**draw(st.just({}) | _OPEN), **draw(_CLOSE)},
        "other": {**draw(_OPEN), **draw(_CLOSE)},
    }
    names = draw(st.sets(st.sampled_from([*fields]), min_size=1))
    return {"fields": {name: fields[name] for name in fields if name in names}}


_TEXTS = st.lists(
    st.sampled_from(
        [*_MARKS, '{"a": 1}', '{"name": "f", "arguments": {}}', "x", "`", '"', "a: b"]
    ),
    max_size=10,
).map("".join)
_QUICK = settings(max_examples=25, deadline=None, suppress_health_check=[*HealthCheck])


@_QUICK
@given(_templates(), _TEXTS)
def test_any_text_by_any_template(template: dict[str, Any], text: str) -> None:
    _check_any(template, text)


@pytest.mark.thorough
@settings(_QUICK, max_examples=400)
@given(_templates(), _TEXTS)
def test_many_texts_by_any_template(template: dict[str, Any], text: str) -> None:
    _check_any(template, text)


def _check_any(template: dict[str, Any], text: str) -> None:
    try:
        template_of(template)
    except TemplateError:
        return
    check({"wire": "text", "responseTemplate": template}, [text])


@pytest.mark.thorough
@settings(_QUICK, max_examples=200)
@given(st.sampled_from(FAMILIES), st.data())
def test_pieces_of_a_familys_texts(family: str, data: st.DataObject) -> None:
    """Texts of a family, torn and put together in another way."""
    known = [*texts(family).values()]
    pieces = data.draw(st.lists(st.sampled_from(known), min_size=1, max_size=3))
    cuts = [data.draw(st.integers(0, len(each))) for each in pieces]
    text = "".join(each[:cut] for each, cut in zip(pieces, cuts, strict=True))
    check({"wire": "text", "responseTemplate": template(family)}, [text])


_OPENED = """
import sys
from stream_sidecar import Stream

def push(**options):
    Stream(wire="text", model="qwen3", **options).push("<think>Hm</think>")
    print(any(name.startswith("stream_sidecar.templates") for name in sys.modules))

push()
push(response_template={"fields": {"thinking": {"open": "<a>", "close": "</a>"}}})
"""


def test_a_stream_without_a_template_does_not_load_the_room() -> None:
    command = [sys.executable, "-c", _OPENED]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]
