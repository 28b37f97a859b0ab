"""Cohere's calls since Command A+: tags under ``cofl:``, each value with its type.

In ``<cofl:tool_call id="0" name="f"><cofl:value name="a" type="raw">x</cofl:value>``
values may be nested: ``dict`` and ``list`` contain further values, ``json`` and ``raw``
are leaves. An older template has ``<cofl:tool_param name="a" string="true">`` instead,
which is never nested. Names are escaped as in XML, values are not (cohere-ai/melody).
"""

from __future__ import annotations

from html import unescape
from typing import TYPE_CHECKING, Any

from stream_sidecar import patterns
from stream_sidecar.forms.form import Form, Found, MalformedError, WrittenCall
from stream_sidecar.forms.grammar import literals
from stream_sidecar.forms.kinds import PieceKind
from stream_sidecar.forms.shared_grammars import value
from stream_sidecar.records import field, frozen
from stream_sidecar.values.jsontext import dumps, loads

if TYPE_CHECKING:
    from stream_sidecar.forms.call_bodies import Calls
    from stream_sidecar.forms.grammar import Cursor, Extent, Reading

_CALL, _CALL_END = "<cofl:tool_call ", "</cofl:tool_call>"
_VALUE, _PARAMETER = "cofl:value", "cofl:tool_param"
_OPENERS = f"<{_VALUE} ", f"<{_PARAMETER} "
_NEXT = _CALL, "</cofl:tool_calls>"
"""What may follow a call, so that the call's closer may be missing."""

_FOLLOWS = (*_OPENERS, f"</{_VALUE}>", f"</{_PARAMETER}>", _CALL_END, *_NEXT)
_ATTRIBUTE = patterns.compile(r'(?<![a-z])([a-z]++)="([^"]*+)"')
_DEEPEST = 64
"""A call whose values are nested deeper than this is text."""


@frozen
class _Node:
    """A value with its ``key`` ("" in a list) and its type ``kind``. ``leaf``: the
    extent of its text; ``members``: the values in it, if it is a dict or a list."""

    key: str
    kind: str
    leaf: Extent = (0, 0)
    members: list[_Node] = field(factory=list)

    def read(self, raw: str) -> Any:
        if self.kind == "dict":
            return {node.key: node.read(raw) for node in self.members}
        if self.kind == "list":
            return [node.read(raw) for node in self.members]
        text = raw[slice(*self.leaf)]
        if self.kind != "json":
            return text
        try:
            return loads(text) if text.strip() else None
        except ValueError as error:
            raise MalformedError("a value is no JSON") from error


def _call(cursor: Cursor) -> Reading[Found]:
    """Reads one call, after the first word of its tag."""
    name = (yield from _attributes(cursor)).get("name")
    if not name:
        raise cursor.mismatch(0)
    cursor.partial = lambda raw: [WrittenCall(name, "", len(raw))]
    arguments = _Node("", "dict")
    yield from _members(cursor, arguments, _CALL_END, 1)
    place = cursor.position

    def read(raw: str) -> Calls:
        return [WrittenCall(name, dumps(arguments.read(raw)), place)]

    return Found(PieceKind.CALL, read)


def _members(cursor: Cursor, node: _Node, closer: str, depth: int) -> Reading[None]:
    """Reads the values in ``node``, ``depth`` deep, and its ``closer``."""
    if depth > _DEEPEST:
        raise cursor.mismatch(0)
    yield from cursor.space()
    ends = (closer, *_NEXT) if depth == 1 else (closer,)
    while (opener := (yield from cursor.literal(*_OPENERS, *ends))) not in ends:
        attributes = yield from _attributes(cursor)
        key, end = attributes.get("name", ""), f"</{opener[1:-1]}>"
        kind = attributes.get("type", "raw")
        if attributes.get("string") == "false":
            kind = "json"
        if kind in ("dict", "list"):
            node.members.append(inner := _Node(key, kind))
            yield from _members(cursor, inner, end, depth + 1)
        else:
            leaf = yield from value(cursor, literals(end), *_FOLLOWS)
            node.members.append(_Node(key, kind, leaf))
        yield from cursor.space()
    cursor.index -= len(opener) * (opener != closer)


def _attributes(cursor: Cursor) -> Reading[dict[str, str]]:
    """Reads the rest of an opening tag and returns its attributes."""
    text = yield from cursor.before(">")
    return {name: unescape(value) for name, value in _ATTRIBUTE.findall(text)}


FORMS: dict[str, tuple[Form, ...]] = {
    "cohere": (Form((_CALL,), _call, tier="A", closers=(_CALL_END,)),)
}
