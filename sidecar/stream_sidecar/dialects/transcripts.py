"""Calls in the words in which hosts write earlier calls into the history.

If a host shows earlier calls as ``[Called function "f" with args: {..}]``, the model
may write new calls in the same words. If a prompt asks for ``Action:``, the model
writes ``Action:``. These calls count only on lines of their own and for declared tools
(text rule 11.6).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stream_sidecar import patterns
from stream_sidecar.forms.call_bodies import json_part
from stream_sidecar.forms.form import Form, Found, mark
from stream_sidecar.forms.kinds import PieceKind
from stream_sidecar.forms.shared_grammars import NAME
from stream_sidecar.values.relaxed import ObjectScanner

if TYPE_CHECKING:
    from collections.abc import Callable

    from stream_sidecar.forms.call_bodies import Calls
    from stream_sidecar.forms.grammar import Cursor, Reading

_ID = patterns.compile(r"[\w.:-]*+")


def _called(cursor: Cursor) -> Reading[Found]:
    """Reads ``[Called function "f" with args: {..}]``."""
    name = yield from cursor.before('"')
    yield from cursor.literal(" with args: ", " with arguments: ")
    part = yield from cursor.scan(ObjectScanner())
    yield from cursor.literal("]")
    yield from cursor.line_end()
    return Found(PieceKind.CALL, json_part(name, part, cursor.position))


def _requested(cursor: Cursor) -> Reading[Found]:
    """Reads ``Tool calls requested:`` and items ``- f({..}) [id: ..]``."""
    readers: list[Callable[[str], Calls]] = []
    yield from cursor.space()
    while (yield from cursor.optional("- ")) or not readers:
        name = yield from cursor.word(NAME)
        yield from cursor.literal("(")
        part = yield from cursor.scan(ObjectScanner())
        yield from cursor.literal(")")
        yield from cursor.blanks()
        id = ""
        if (yield from cursor.optional("[id: ")):
            id = yield from cursor.word(_ID)
            yield from cursor.literal("]")
        readers.append(json_part(name, part, cursor.position, id))
        yield from cursor.line_end()
        yield from cursor.optional("\r\n", "\n")

    def read(raw: str) -> Calls:
        return [call for read_call in readers for call in read_call(raw)]

    return Found(PieceKind.CALL, read)


_BRACKETS = (
    "[Calling tool: ",
    "[tool_call: ",
    "[TOOL_CALL: ",
    "[Tool call: ",
    "[Tool Call: ",
    "[TOOL CALL: ",
)


def _bracketed(cursor: Cursor) -> Reading[Found]:
    """Reads ``[Calling tool: f({..})]``, or ``[Tool Call: f (ID: c1)]`` and JSON."""
    name, id = (yield from cursor.word(NAME)), ""
    if (yield from cursor.optional(" (ID: ")):
        id = yield from cursor.before(")")
    separator = yield from cursor.optional("(", " with ")
    if not separator:
        yield from cursor.literal("]")
        yield from cursor.space()
        yield from cursor.optional("Arguments:", "Input:")
        yield from cursor.space()
    part = yield from cursor.scan(ObjectScanner())
    if separator:
        yield from cursor.literal(")]" if separator == "(" else "]")
    yield from cursor.line_end()
    return Found(PieceKind.CALL, json_part(name, part, cursor.position, id))


def _keyed(cursor: Cursor) -> Reading[Found]:
    """Reads the object after ``name: f`` and ``input:``, or after ReAct's lines."""
    name = cursor.opener.partition(": ")[2].partition("\n")[0]
    part = yield from cursor.scan(ObjectScanner())
    yield from cursor.line_end()
    return Found(PieceKind.CALL, json_part(name, part, cursor.position))


_KEYED = (
    "name: %s\ninput: ",
    "Action: %s\nAction Input: ",
    "Tool: %s\nInput: ",
)


def _functionary(cursor: Cursor) -> Reading[Found]:
    """Reads Functionary 3.2's ``>>>f`` and JSON; ``>>>all`` is removed."""
    name = yield from cursor.word(NAME)
    yield from cursor.blanks()
    yield from cursor.literal("\n", "\r\n")
    if name == "all":
        return mark()
    yield from cursor.space()
    part = yield from cursor.scan(ObjectScanner())
    return Found(PieceKind.CALL, json_part(name, part, cursor.position))


FORMS: dict[str, tuple[Form, ...]] = {
    "transcript": (
        Form(('[Called function "',), _called, tier="C", place="line", vague=True),
        Form(
            ("Tool calls requested:",), _requested, tier="C", place="line", vague=True
        ),
        Form(_BRACKETS, _bracketed, tier="C", place="line", vague=True),
        Form(_KEYED, _keyed, tier="C", place="line", vague=True, per_tool=True),
    ),
    "functionary": (Form((">>>",), _functionary, tier="C", place="line", vague=True),),
}
