"""Calls as hosts write them into the history, and models imitate.

A host that shows earlier calls as ``[Called function "f" with args: {..}]`` gets new
ones in these words. All of them count on lines of their own, for declared tools only
(text rule 11.6).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stream_sidecar import patterns
from stream_sidecar.dialects.tokens import json_part
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
    """``[Called function "f" with args: {..}]``."""
    name = yield from cursor.before('"')
    yield from cursor.literal(" with args: ", " with arguments: ")
    part = yield from cursor.scan(ObjectScanner())
    yield from cursor.literal("]")
    yield from cursor.line_end()
    return Found(PieceKind.CALL, json_part(name, part, cursor.position))


def _requested(cursor: Cursor) -> Reading[Found]:
    """``Tool calls requested:`` and a list item for each: ``- f({..}) [id: ..]``."""
    found: list[Callable[[str], Calls]] = []
    yield from cursor.space()
    while (yield from cursor.optional("- ")) or not found:
        name = yield from cursor.word(NAME)
        yield from cursor.literal("(")
        part = yield from cursor.scan(ObjectScanner())
        yield from cursor.literal(")")
        yield from cursor.blanks()
        id = ""
        if (yield from cursor.optional("[id: ")):
            id = yield from cursor.word(_ID)
            yield from cursor.literal("]")
        found.append(json_part(name, part, cursor.position, id))
        yield from cursor.line_end()
        yield from cursor.optional("\r\n", "\n")

    def read(raw: str) -> Calls:
        return [call for each in found for call in each(raw)]

    return Found(PieceKind.CALL, read)


def _keyed(cursor: Cursor) -> Reading[Found]:
    """``name: f`` and ``input: {..}``, a line each."""
    name = cursor.opener.removeprefix("name: ").removesuffix("\ninput: ")
    part = yield from cursor.scan(ObjectScanner())
    yield from cursor.line_end()
    return Found(PieceKind.CALL, json_part(name, part, cursor.position))


def _functionary(cursor: Cursor) -> Reading[Found]:
    """Functionary 3.2: ``>>>f`` and JSON on the next line; ``>>>all`` is the answer."""
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
        Form(('[Called function "',), _called, "C", "line", vague=True),
        Form(("Tool calls requested:",), _requested, "C", "line", vague=True),
        Form(*(("name: %s\ninput: ",), _keyed, "C", "line"), vague=True, per_tool=True),
    ),
    "functionary": (Form((">>>",), _functionary, "C", "line", vague=True),),
}
