"""Calls with one tag for each parameter, named after it: MiniMax-M3, Roo Code and
others.

MiniMax-M3 puts a token before every tag and nests ``<item>`` tags. Prompts in the style
of Roo Code have the tool's name as the outer tag: ``<f><a>1</a></f>``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stream_sidecar import patterns
from stream_sidecar.dialects.function_tags import framed_value
from stream_sidecar.forms.call_bodies import Parameter, properties, typed, typed_tree
from stream_sidecar.forms.form import Form, Found, MalformedError, WrittenCall, mark
from stream_sidecar.forms.grammar import LONGEST_NAME, literals
from stream_sidecar.forms.kinds import PieceKind
from stream_sidecar.forms.literals import Literals
from stream_sidecar.forms.shared_grammars import closed_object, value

if TYPE_CHECKING:
    from stream_sidecar.forms.call_bodies import Calls
    from stream_sidecar.forms.grammar import Cursor, Extent, Reading

TOKEN = "]<]minimax[>["
_INVOKE = patterns.compile(r'<invoke\s++name\s*+=\s*+"([^"]++)"\s*+>')
_TOKEN = Literals((TOKEN,))
_INSIDE = patterns.compile(r"[^<>]*+")
_KEY = patterns.compile(r"[\w.-]*+")
_TAG = patterns.compile(r"<(/?)([^<>\s/]++)[^<>]*+>")


def _minimax(cursor: Cursor) -> Reading[Found]:
    """Reads the tag after MiniMax's token: a call, or the border of a section."""
    tag = yield from cursor.literal("<")
    tag += yield from cursor.run(_INSIDE, LONGEST_NAME)
    tag += yield from cursor.literal(">")
    invoke = _INVOKE.fullmatch(tag)
    if invoke is None:
        if _TAG.fullmatch(tag) is None:
            raise cursor.mismatch(0)
        return mark()
    start = cursor.position
    name = invoke[1]
    cursor.partial = lambda raw: [WrittenCall(name, "", len(raw))]
    while True:
        yield from cursor.until(_TOKEN)
        cursor.index += len(TOKEN)
        if (yield from cursor.ahead("</invoke>")):
            break
    end = cursor.position - len(TOKEN)
    cursor.index += len("</invoke>")
    place = cursor.position

    def read(raw: str) -> Calls:
        arguments = typed_tree(name, _tree(raw[start:end]), cursor.context)
        return [WrittenCall(name, arguments, place)]

    return Found(PieceKind.CALL, read)


def _tree(text: str) -> dict[str, Any]:
    """The parameters in ``text``, a tree of tags; ``<item>`` tags make a list."""
    stack: list[tuple[str, list[tuple[str, Any]], list[str]]] = [("", [], [])]
    lead, *pieces = text.split(TOKEN)
    if lead.strip():
        raise MalformedError("text before the first parameter")
    for piece in pieces:
        tag = _TAG.match(piece)
        if tag is None:
            raise MalformedError("no tag")
        text_after = piece[tag.end() :]
        if not tag[1]:
            stack.append((tag[2], [], [text_after]))
            continue
        if len(stack) == 1 or stack[-1][0] != tag[2]:
            raise MalformedError("tags do not nest")
        name, members, texts = stack.pop()
        stack[-1][1].append((name, _value_of(members, texts)))
    if len(stack) > 1:
        raise MalformedError("a tag is open")
    return dict(stack[0][1])


def _value_of(members: list[tuple[str, Any]], texts: list[str]) -> Any:
    if not members:
        return framed_value("".join(texts))
    if all(name == "item" for name, _ in members):
        return [item for _, item in members]
    return dict(members)


def _by_tool(cursor: Cursor) -> Reading[Found]:
    """Reads ``<tool>`` with parameters in tags, or as JSON, for a declared tool."""
    name = cursor.opener[1:-1]
    closer = f"</{name}>"
    extents: dict[str, Extent] = {}
    declared = properties(name, cursor.context)
    yield from cursor.space()
    if (yield from cursor.peek()) == "{":
        return (yield from closed_object(cursor, name, closer))
    while not (yield from cursor.ahead(closer)):
        yield from cursor.literal("<")
        key = yield from cursor.word(_KEY)
        yield from cursor.literal(">")
        if key in extents or not (extents or not declared or key in declared):
            raise cursor.mismatch(0)  # the tags are ordinary XML
        extents[key] = yield from value(cursor, literals(f"</{key}>"), "<")
        yield from cursor.space()
    cursor.index += len(closer)
    place = cursor.position

    def read(raw: str) -> Calls:
        parameters = [
            Parameter(key, framed_value(raw[slice(*part)]))
            for key, part in extents.items()
        ]
        return [WrittenCall(name, typed(name, parameters, cursor.context), place)]

    return Found(PieceKind.CALL, read)


FORMS: dict[str, tuple[Form, ...]] = {
    "minimax-m3": (Form((TOKEN,), _minimax, tier="A"),),
    "named-tags": (
        Form(
            ("<%s>",),
            _by_tool,
            tier="B",
            place="line",
            vague=True,
            per_tool=True,
            element=True,
        ),
    ),
}
