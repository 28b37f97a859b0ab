"""Calls as ``<function=f>`` with ``<parameter=k>`` or a JSON body, perhaps in a
wrapper.

This is the syntax of Qwen3-Coder and related models, Seed-OSS and Functionary 3.1.
Values have no escapes: a value ends at the first closer with the next tag after it
(text rule 11.8). One line break on each side of a value is not part of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stream_sidecar import patterns
from stream_sidecar.forms.call_bodies import Parameter, arguments_of, properties, typed
from stream_sidecar.forms.form import (
    Form,
    Found,
    MalformedError,
    WrittenCall,
    between_tags,
)
from stream_sidecar.forms.grammar import LONGEST_NAME
from stream_sidecar.forms.kinds import PieceKind
from stream_sidecar.forms.shared_grammars import CallTags, prose, tagged_value
from stream_sidecar.values.relaxed import ObjectScanner

if TYPE_CHECKING:
    from collections.abc import Callable

    from stream_sidecar.forms.call_bodies import Calls
    from stream_sidecar.forms.grammar import Cursor, Extent, Reading

_TAGS = CallTags(
    call=("<function=",),
    value=("<parameter=", "<parameter name=", "<param=", "<param name="),
    value_ends=("</parameter>", "</param>"),
    call_ends=("</function>",),
    again=patterns.compile(
        r"""\n[ \t]*+<param(?:eter)?(?: name)?=["']?(?P<key>[^<>"'\n]++)[^<>\n]*+>"""
    ),
)


_ENDS = ("</function>", "</function_invocation>")
"""Closers of a call. Qwen3.6 writes several of them (ollama/ollama#16383)."""

_HEAD = patterns.compile(r"[^<>{}\r\n]*+")


def bare_value(text: str) -> str:
    """``text`` without one line break at each end."""
    text = (
        text.removeprefix("\r\n") if text.startswith("\r") else text.removeprefix("\n")
    )
    return text.removesuffix("\n").removesuffix("\r") if text.endswith("\n") else text


def framed_value(text: str) -> str:
    """``text`` without one line break at each end, if both ends have one. A line break
    at one end only is part of the value, because a file may end with one."""
    on_lines = text.startswith(("\n", "\r\n")) and text.endswith("\n")
    return bare_value(text) if on_lines else text


class _Function:
    """A call that was read: its name, and the extents of its parameters or of its JSON
    ``body``. ``end``: where the call ends in the candidate."""

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
        declared = properties(self.name, cursor.context)
        parameters = [
            Parameter(key, bare_value(text))
            for key, part in self.parameters
            for key, _, text in _TAGS.apart(raw, key, part, declared)
        ]
        arguments = typed(self.name, parameters, cursor.context)
        return WrittenCall(self.name, arguments, self.end)


def _key(label: str) -> str:
    """The parameter's name in a tag: ``a``, ``"a"`` or ``"a" type="string"``."""
    quote = label[:1]
    return label[1:].partition(quote)[0] if quote and quote in "\"'" else label


def _function(cursor: Cursor, *closers: str) -> Reading[_Function]:
    """Reads one call after ``<function=``: the name, then parameters or a JSON body.
    Before one of ``closers``, the wrapper's, ``</function>`` may be missing."""
    name = yield from cursor.run(_HEAD, LONGEST_NAME)
    function = _Function(name.strip().strip("\"'"))
    tags = (*_ENDS, *closers)
    is_closed = yield from cursor.optional(">")
    yield from cursor.space()
    if (yield from cursor.need()) == "{":
        function.body = yield from cursor.scan(ObjectScanner())
        function.end = cursor.position
        if not cursor.closed_body:
            cursor.closed_body = function.end, lambda raw: [function.call(raw, cursor)]
        yield from cursor.space()
    elif is_closed:
        tags = (*_TAGS.value, *tags)
    else:
        raise cursor.mismatch()
    while (end := (yield from cursor.literal(*tags))) in _TAGS.value:
        key = _key((yield from cursor.label(">")))
        part = yield from tagged_value(cursor, _TAGS, *tags)
        function.parameters.append((key, part))
        yield from cursor.space()
    cursor.index -= len(end) * (end in closers)
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
            cursor.closed_body = cursor.position, _reader(cursor, functions)
            yield from prose(cursor)
            while (yield from cursor.optional(*_ENDS)):
                yield from prose(cursor)
            if not (yield from cursor.optional("<function=")):
                break
        yield from cursor.literal(closer)
        return Found(PieceKind.CALL, _reader(cursor, functions))

    return grammar


def _reader(cursor: Cursor, functions: list[_Function]) -> Callable[[str], Calls]:
    """A function that makes the calls of the ``functions`` found until now."""
    count = len(functions)
    return lambda raw: [function.call(raw, cursor) for function in functions[:count]]


BARE = Form(("<function=",), _bare, tier="B", closers=_ENDS[1:])

FORMS: dict[str, tuple[Form, ...]] = {
    "qwen3-xml": (between_tags("tool_call", _wrapped), BARE),
    "seed-oss": (between_tags("seed:tool_call", _wrapped),),
    "functionary": (BARE,),
}
