"""Calls in Python's syntax: lists, lines, calls between tokens, and bare calls.

``[f(a=1), g()]`` is a list of two calls. Arguments are read as literals (by
``stream_sidecar.values.pythonic``), so a program stays text (text rule 11.9).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stream_sidecar import patterns
from stream_sidecar.forms.call_bodies import properties, python_calls
from stream_sidecar.forms.form import Form, Found, WrittenCall
from stream_sidecar.forms.kinds import PieceKind
from stream_sidecar.forms.shared_grammars import json_calls
from stream_sidecar.values.pythonic import CallScanner

if TYPE_CHECKING:
    from collections.abc import Callable

    from stream_sidecar.forms.call_bodies import Calls
    from stream_sidecar.forms.grammar import Cursor, Extent, Reading


_CUT_NAME = patterns.compile(r"[\s\[,]*+([\w.]{1,256}+)\(")


def _cut(cursor: Cursor, raw: str, index: int) -> Calls:
    """The complete calls of a list that is cut off, and the last if it has a name."""
    calls: Calls = []
    while name := _CUT_NAME.match(raw, index):
        scanner = CallScanner(breaks=True)
        index = scanner.scan(raw, name.start(1))
        if scanner.state != "whole":
            return [*calls, WrittenCall(name[1], raw[name.end() :], len(raw))]
        try:
            calls += python_calls(cursor, raw, (name.start(1), index))
        except ValueError:
            break
    return calls


def call_reader(cursor: Cursor, part: Extent) -> Found:
    return Found(PieceKind.CALL, lambda raw: python_calls(cursor, raw, part))


def _list(cursor: Cursor) -> Reading[Found]:
    """Reads ``[f(a=1), g()]`` on lines of its own."""
    cursor.rewind()
    part = yield from cursor.scan(CallScanner(opener="["))
    yield from cursor.line_end()
    return call_reader(cursor, part)


def _framed(closer: str, *, closes: bool) -> Callable[[Cursor], Reading[Found]]:
    """The grammar of a list or JSON between tokens. ``closes``: both are there."""

    def grammar(cursor: Cursor) -> Reading[Found]:
        yield from cursor.space()
        if (yield from cursor.need()) == "{":
            return (yield from json_calls(*((closer,) if closes else ()))(cursor))
        start = cursor.position
        cursor.partial = lambda raw: _cut(cursor, raw, start)
        part = yield from cursor.scan(CallScanner(opener="[", breaks=True))

        def read(raw: str) -> Calls:
            return python_calls(cursor, raw, part)

        cursor.closed_body = cursor.position, read
        yield from cursor.space()
        yield from (cursor.literal if closes else cursor.optional)(closer)
        return Found(PieceKind.CALL, read)

    return grammar


def _lines(cursor: Cursor) -> Reading[Found]:
    """Reads Olmo 3's calls, one on each line, up to the wrapper's closer."""
    start = end = cursor.position
    yield from cursor.space()
    while (yield from cursor.need()) != "<":
        _, end = yield from cursor.scan(CallScanner(breaks=True))
        yield from cursor.space()
    yield from cursor.literal("</function_calls>")
    return call_reader(cursor, (start, end))


_VALUES = frozenset("\"'0123456789[{(-")


def bare(cursor: Cursor) -> Reading[Found]:
    """Reads ``f(..)`` or ``default_api.f(..)``, perhaps in ``print(..)``, on its own
    line. Raises if the first argument has no name and the tool ``f`` declares no
    parameter for it."""
    name = cursor.opener.removesuffix("(")
    nameless = name in (cursor.context.tools or ()) and (yield from cursor.peek())
    if nameless in _VALUES and not properties(name, cursor.context):
        raise cursor.mismatch()
    cursor.rewind()
    part = yield from cursor.scan(CallScanner())
    yield from cursor.line_end()
    return call_reader(cursor, part)


def _form(opener: str, closer: str, *, closes: bool = True) -> Form:
    return Form((opener,), _framed(closer, closes=closes), tier="A", closers=(closer,))


FORMS: dict[str, tuple[Form, ...]] = {
    "pythonic": (
        _form("<|python_start|>", "<|python_end|>", closes=False),
        Form(("[",), _list, tier="C", place="line", vague=True),
        Form(("%s(",), bare, tier="C", place="line", vague=True, per_tool=True),
    ),
    "olmo3": (
        Form(("<function_calls>",), _lines, tier="B", closers=("</function_calls>",)),
    ),
    "lfm2": (_form("<|tool_call_start|>", "<|tool_call_end|>"),),
}
