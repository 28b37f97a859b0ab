"""Calls in Python's syntax: lists, lines, fences, tags and bare ``print(...)``.

Only literals are read (``sidecar.pythonic``); a program stays text (contract 7.7).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from sidecar.call_bodies import ARGUMENT_KEYS, calls_of, properties
from sidecar.call_parts import NAME, ahead, optional
from sidecar.delimiters import Literals
from sidecar.forms import Form, Found, MalformedError, WrittenCall
from sidecar.grammar import (
    blanks,
    line_end,
    literal,
    need,
    peek,
    run,
    scan,
    space,
    until,
    word,
)
from sidecar.jsontext import dumps
from sidecar.pieces import Kind
from sidecar.pythonic import CallScanner, Declaration, parse_calls
from sidecar.relaxed import ObjectScanner, parse

if TYPE_CHECKING:
    from collections.abc import Callable

    from sidecar.call_bodies import Calls
    from sidecar.grammar import Cursor, Part, Reading

_TICKS = re.compile(r"`*+")
_TILDES = re.compile(r"~*+")
_INFO = re.compile(r"[\w-]*+")
_CODE_INFO = ("tool_code", "tool_call")
_RESULT_INFO = ("tool_outputs", "tool_output")
_OWN = ("print(default_api.", "default_api.")


def _calls(cursor: Cursor, raw: str, part: Part) -> Calls:
    """The calls of ``part``, each with its place in the candidate."""
    start, end = part

    def positional(name: str) -> list[str]:
        return list(properties(name, cursor.context))

    return [
        WrittenCall(name, dumps(_plain(name, arguments, cursor)), start + place[1])
        for name, arguments, place in parse_calls(raw[start:end], positional)
    ]


_CUT_NAME = re.compile(r"[\s\[,]*([\w.]{1,256})\(")


def _cut(cursor: Cursor, raw: str, at: int) -> Calls:
    """The calls of a list that the text's end cut off: the whole ones and the last."""
    calls: Calls = []
    while name := _CUT_NAME.match(raw, at):
        scanner = CallScanner()
        at = scanner.scan(raw, name.start(1))
        if scanner.state != "whole":
            return [*calls, WrittenCall(name[1], raw[name.end() :], len(raw))]
        try:
            calls += _calls(cursor, raw, (name.start(1), at))
        except ValueError:
            break
    return calls


def _plain(name: str, arguments: dict[str, Any], cursor: Cursor) -> dict[str, Any]:
    """Arguments that were handed over as one: ``f(parameters={..})``."""
    if len(arguments) == 1:
        ((key, value),) = arguments.items()
        own = key in properties(name, cursor.context)
        if key in ARGUMENT_KEYS and isinstance(value, dict) and not own:
            return value
    return arguments


def _reader(cursor: Cursor, part: Part) -> Found:
    return Found(Kind.CALL, lambda raw: _calls(cursor, raw, part))


def _list(cursor: Cursor) -> Reading[Found]:
    """``[f(a=1), g()]`` on lines of its own."""
    cursor.again()
    part = yield from scan(cursor, CallScanner(opener="["))
    yield from line_end(cursor)
    return _reader(cursor, part)


def _framed(*closers: str, closes: bool = True) -> Callable[[Cursor], Reading[Found]]:
    """A list between tokens; the closer may be missing where ``closes`` is False."""

    def grammar(cursor: Cursor) -> Reading[Found]:
        yield from space(cursor)
        start = cursor.position
        cursor.partial = lambda raw: _cut(cursor, raw, start)
        part = yield from scan(cursor, CallScanner(opener="["))
        yield from space(cursor)
        yield from (literal if closes else optional)(cursor, *closers)
        return _reader(cursor, part)

    return grammar


def _lines(cursor: Cursor) -> Reading[Found]:
    """Olmo 3: a call a line, up to the wrapper's closer."""
    start = end = cursor.position
    yield from space(cursor)
    while (yield from need(cursor)) != "<":
        _, end = yield from scan(cursor, CallScanner())
        yield from space(cursor)
    yield from literal(cursor, "</function_calls>")
    return _reader(cursor, (start, end))


def _bare(cursor: Cursor) -> Reading[Found]:
    """``f(..)``, ``default_api.f(..)`` or ``print(..)`` of that on its own line."""
    cursor.again()
    part = yield from scan(cursor, CallScanner())
    yield from line_end(cursor)
    return _reader(cursor, part)


def _noise(cursor: Cursor) -> Reading[Found]:
    """``call`` alone on the line before ``print(default_api...``."""
    own = yield from literal(cursor, _OWN[0])
    cursor.at -= len(own)
    part = yield from scan(cursor, CallScanner())
    yield from line_end(cursor)
    return _reader(cursor, part)


def _fence(cursor: Cursor) -> Reading[Found]:
    """A fence of any length whose info word says that it holds calls or results."""
    sign = cursor.opener[0]
    more = yield from run(cursor, _TICKS if sign == "`" else _TILDES, 64)
    fence = cursor.opener + more
    info = yield from literal(cursor, *_CODE_INFO, *_RESULT_INFO, "python", "py")
    yield from blanks(cursor)
    yield from literal(cursor, "\n", "\r\n")
    if info in ("python", "py"):
        yield from space(cursor)
        own = yield from literal(cursor, *_OWN)
        cursor.at -= len(own)
    cursor.serious = True
    part = yield from _fenced(cursor, fence)
    if info in _RESULT_INFO:
        return Found(Kind.RESULT, lambda raw: raw[slice(*part)])
    return Found(Kind.CALL, lambda raw: _block(cursor, raw, part))


def _fenced(cursor: Cursor, fence: str) -> Reading[Part]:
    """Up to the line that closes ``fence``."""
    start, ends = cursor.position, Literals((f"\n{fence}",))
    sign = _TICKS if fence[0] == "`" else _TILDES
    while True:
        (_, end), closer = yield from until(cursor, ends)
        cursor.at += len(closer)
        yield from run(cursor, sign)
        yield from blanks(cursor)
        if (yield from peek(cursor)) in ("", "\n", "\r"):
            return start, end


def _block(cursor: Cursor, raw: str, part: Part) -> Calls:
    """A fence or a tag: JSON where it begins like it, else lines of Python."""
    text = raw[slice(*part)]
    if text.lstrip()[:1] in ("{", "["):
        try:
            return calls_of(text, part[0])
        except ValueError:
            pass
    calls = _calls(cursor, raw, part)
    if not calls:
        raise MalformedError("no call")
    return calls


_TAG_END = Literals(("</tool_code>",))


def _tag(cursor: Cursor) -> Reading[Found]:
    """``<tool_code>``; a stub of a function in it declares a tool and goes."""
    part, closer = yield from until(cursor, _TAG_END)
    cursor.at += len(closer)
    return (yield from _tagged(cursor, part))


def _tagged(cursor: Cursor, part: Part) -> Reading[Found]:
    yield from ()
    start, end = part

    def read(raw: str) -> Calls:
        try:
            return _block(cursor, raw, (start, end))
        except Declaration:
            return []

    return Found(Kind.CALL, read)


def _wrapped_tag(cursor: Cursor) -> Reading[Found]:
    """``<tool_code>`` within the wrapper of another dialect."""
    yield from space(cursor)
    yield from literal(cursor, "<tool_code>")
    part, closer = yield from until(cursor, _TAG_END)
    cursor.at += len(closer)
    yield from space(cursor)
    yield from literal(cursor, "</function_calls>")
    return (yield from _tagged(cursor, part))


def _bracket(cursor: Cursor) -> Reading[Found]:
    """``[tool_code:name{..}]``."""
    name = yield from word(cursor, NAME)
    part = yield from scan(cursor, ObjectScanner(bare_values=True))
    yield from space(cursor)
    yield from literal(cursor, "]")
    end = cursor.position

    def read(raw: str) -> Calls:
        value = parse(raw[slice(*part)], bare_values=True)
        return [WrittenCall(name, dumps(value), end)]

    return Found(Kind.CALL, read)


def _assigned(cursor: Cursor) -> Reading[Found]:
    """``tool_code = f(..)`` and ``print(tool_code)`` on the lines behind it."""
    start = cursor.position - len(cursor.opener)
    _, end = yield from scan(cursor, CallScanner())
    yield from line_end(cursor)
    yield from space(cursor)
    if (yield from ahead(cursor, "print(tool_code)")):
        cursor.at += len("print(tool_code)")
        end = cursor.position
    yield from line_end(cursor)
    return _reader(cursor, (start, end))


FORMS: dict[str, tuple[Form, ...]] = {
    "pythonic": (
        Form(
            ("<|python_start|>",),
            _framed("<|python_end|>", closes=False),
            "A",
            closers=("<|python_end|>",),
        ),
        Form(("[",), _list, "C", "line", vague=True),
        Form(("%s(",), _bare, "C", "line", vague=True, per_tool=True),
    ),
    "olmo3": (
        Form(("<function_calls>",), _lines, "B", closers=("</function_calls>",)),
    ),
    "lfm2": (
        Form(
            ("<|tool_call_start|>",),
            _framed("<|tool_call_end|>"),
            "A",
            closers=("<|tool_call_end|>",),
        ),
    ),
    "tool-code": (
        Form(("```", "~~~"), _fence, "B", "line", vague=True),
        Form(("<tool_code>",), _tag, "B", closers=("</tool_code>",)),
        Form(("<function_calls>",), _wrapped_tag, "B"),
        Form(("[tool_code:",), _bracket, "B"),
        Form(_OWN, _bare, "B", "line"),
        Form(("call\n",), _noise, "B", "line", vague=True),
        Form(("tool_code = ",), _assigned, "C", "line", vague=True),
    ),
}
