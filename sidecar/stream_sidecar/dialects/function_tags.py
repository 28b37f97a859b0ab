"""``<function=f>`` with ``<parameter=k>`` or a JSON body, with or without a wrapper.

The syntax of Qwen3-Coder and related models, Seed-OSS and Functionary 3.1. Values have
no escapes: a value ends at the first closer with the next tag after it (text rule
11.8). One line break on each side of a value belongs to the markup.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stream_sidecar import patterns
from stream_sidecar.forms.call_bodies import Parameter, arguments_of, properties, typed
from stream_sidecar.forms.form import Form, Found, MalformedError, WrittenCall
from stream_sidecar.forms.kinds import PieceKind
from stream_sidecar.forms.shared_grammars import CallTags, prose, tagged_value
from stream_sidecar.values.relaxed import ObjectScanner

if TYPE_CHECKING:
    from collections.abc import Callable

    from stream_sidecar.forms.call_bodies import Calls
    from stream_sidecar.forms.grammar import Cursor, Extent, Reading

_TAGS = CallTags(
    *(("<function=",), ("<parameter=",), ("</parameter>",), ("</function>",)),
    again=patterns.compile(r"\n[ \t]*+<parameter=(?P<key>[^<>\n]++)>"),
)


_AGAIN = ("</function>", "</function_invocation>")
"""What Qwen3.6 writes after ``</function>`` (ollama/ollama#16383)."""


def bare_value(text: str) -> str:
    """A value without the line break on each side that belongs to the markup."""
    text = (
        text.removeprefix("\r\n") if text.startswith("\r") else text.removeprefix("\n")
    )
    return text.removesuffix("\n").removesuffix("\r") if text.endswith("\n") else text


def framed_value(text: str) -> str:
    """A value without the line breaks that put it on lines of its own. They are removed
    only if there is one at each end; otherwise they are part of the value (a file may
    end with one)."""
    on_lines = text.startswith(("\n", "\r\n")) and text.endswith("\n")
    return bare_value(text) if on_lines else text


class _Function:
    """One function tag that was read: its name and the places of its parameters."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.parameters: list[tuple[str, Extent]] = []
        self.body: Extent | None = None
        self.end = 0

    def call(self, raw: str, cursor: Cursor) -> WrittenCall:
        if not self.name:
            raise MalformedError("a call has a name")
        if self.body is not None:
            start, end = self.body
            return WrittenCall(self.name, arguments_of(raw[start:end]), self.end)
        known = properties(self.name, cursor.context)
        parameters = [
            Parameter(key, bare_value(text))
            for key, part in self.parameters
            for key, _, text in _TAGS.apart(raw, key, part, known)
        ]
        arguments = typed(self.name, parameters, cursor.context)
        return WrittenCall(self.name, arguments, self.end)


def _function(cursor: Cursor, *closers: str) -> Reading[_Function]:
    """Reads one call after ``<function=``: its name, then parameters or a JSON body.

    ``closers`` belong to the wrapper: before one of them ``</function>`` may be
    missing.
    """
    function = _Function((yield from cursor.label(">")).strip("\"'"))
    tags = ("</function>", *closers)
    yield from cursor.space()
    if (yield from cursor.need()) == "{":
        function.body = yield from cursor.scan(ObjectScanner())
        function.end = cursor.position
        if not cursor.whole:
            cursor.whole = function.end, lambda raw: [function.call(raw, cursor)]
        yield from cursor.space()
    else:
        tags = ("<parameter=", *tags)
    while (end := (yield from cursor.literal(*tags))) == "<parameter=":
        key = (yield from cursor.label(">")).strip("\"'")
        part = yield from tagged_value(cursor, _TAGS, *tags)
        function.parameters.append((key, part))
        yield from cursor.space()
    cursor.at -= len(end) * (end in closers)
    function.end = cursor.position
    return function


def _bare(cursor: Cursor) -> Reading[Found]:
    function = yield from _function(cursor)
    return Found(PieceKind.CALL, _reader(cursor, [function]))


def _wrapped(closer: str) -> Callable[[Cursor], Reading[Found]]:
    def grammar(cursor: Cursor) -> Reading[Found]:
        functions: list[_Function] = []
        yield from prose(cursor)
        yield from cursor.literal("<function=")
        while True:
            functions.append((yield from _function(cursor, closer)))
            cursor.whole = cursor.position, _reader(cursor, functions)
            yield from prose(cursor)
            while (yield from cursor.optional(*_AGAIN)):
                yield from prose(cursor)
            if not (yield from cursor.optional("<function=")):
                break
        yield from cursor.literal(closer)
        return Found(PieceKind.CALL, _reader(cursor, functions))

    return grammar


def _reader(cursor: Cursor, functions: list[_Function]) -> Callable[[str], Calls]:
    """A reader of the functions found so far; later ones do not change it."""
    count = len(functions)
    return lambda raw: [function.call(raw, cursor) for function in functions[:count]]


def _wrapper(name: str) -> Form:
    closer = f"</{name}>"
    return Form((f"<{name}>",), _wrapped(closer), "B", closers=(closer,))


BARE = Form(("<function=",), _bare, "B")

FORMS: dict[str, tuple[Form, ...]] = {
    "qwen3-xml": (_wrapper("tool_call"), BARE),
    "seed-oss": (_wrapper("seed:tool_call"),),
    "functionary": (BARE,),
}
