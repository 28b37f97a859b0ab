"""Harmony: a header says to whom the model speaks (gpt-oss and Muse write so).

A header is ``<|start|>role to=f<|channel|>channel to=f <|constrain|>type<|message|>``,
and most of its parts may be missing. What follows the channel ``analysis`` is
reasoning, what has a recipient (``to=f``) is a call, and all else is the answer. Where
the tokens were eaten, the words ``analysis`` and ``assistantfinal`` are left. OpenAI
describes the format in the repository openai/harmony.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sidecar.dialects.tokens import cut_part, json_part
from sidecar.forms.form import Form, Found, WrittenCall, mark
from sidecar.forms.grammar import before, literal, need, peek, scan, space, until
from sidecar.forms.kinds import PieceKind
from sidecar.forms.literals import Literals
from sidecar.values.relaxed import ObjectScanner

if TYPE_CHECKING:
    from sidecar.forms.grammar import Cursor, Reading

_RECIPIENT = re.compile(r"(?:^|\s)to=(?:functions\.)?([\w.:-]++)")
_TEXT_ENDS = Literals(("<|call|>", "<|end|>"))
_NOBODY = ("user", "self", "assistant", "all")


def _header(cursor: Cursor) -> Reading[Found]:
    """A header, behind its first token and up to the message."""
    text = cursor.opener + (yield from before(cursor, "<|message|>"))
    to = _RECIPIENT.search(text.replace("<|channel|>", " ").replace("<|start|>", " "))
    recipient = to[1] if to else ""
    if recipient and recipient not in _NOBODY:
        return (yield from _call(cursor, recipient))
    if "<|channel|>analysis" in text or recipient == "self":
        return Found(PieceKind.ENTER)
    return mark(ends=True)


def _call(cursor: Cursor, name: str) -> Reading[Found]:
    """The arguments; ``<|call|>`` behind them is a stop token and a mark."""
    yield from space(cursor)
    cursor.partial = cut_part(name, cursor.position)
    if (yield from need(cursor)) != "{":
        (start, end), closer = yield from until(cursor, _TEXT_ENDS)
        cursor.at += len(closer)
        place = cursor.position
        return Found(
            PieceKind.CALL,
            lambda raw: [WrittenCall(name, raw[start:end], place, text=True)],
        )
    part = yield from scan(cursor, ObjectScanner())
    return Found(PieceKind.CALL, json_part(name, part, cursor.position))


def _border(cursor: Cursor) -> Reading[Found]:
    """``<|end|>`` and its like end reasoning, or stand before a header or the end."""
    if not cursor.inside:
        end = cursor.position
        yield from space(cursor)
        if (yield from peek(cursor)):
            yield from literal(cursor, "<|start|>", "<|channel|>")
        cursor.at -= cursor.position - end
    return mark(ends=True)


def _eaten(cursor: Cursor) -> Reading[Found]:
    """``analysis`` glued to a sentence (``analysisWe need``) begins reasoning."""
    character = yield from need(cursor)
    if not character.isupper():
        raise cursor.mismatch()
    return Found(PieceKind.ENTER)


def _ended(cursor: Cursor) -> Reading[Found]:
    """``assistantfinal`` ends reasoning; where none is open it is text."""
    if not cursor.inside:
        raise cursor.mismatch(0)
    yield from ()
    return mark(ends=True)


def _recipient(cursor: Cursor) -> Reading[Found]:
    """A call that lost its tokens: ``to=functions.f {..}`` on a line of its own."""
    head = cursor.opener + (yield from before(cursor, "{"))
    cursor.at -= 1
    match = re.fullmatch(r"to=functions\.([\w.-]++)\s*+(?:\(?json\)?\s*+)?", head)
    if match is None:
        raise cursor.mismatch(0)
    part = yield from scan(cursor, ObjectScanner())
    return Found(PieceKind.CALL, json_part(match[1], part, cursor.position))


FORMS: dict[str, tuple[Form, ...]] = {
    "harmony": (
        Form(("<|channel|>", "<|start|>"), _header, "A"),
        Form(("<|end|>", "<|return|>", "<|call|>"), _border, "B", vague=True),
        Form(("to=functions.",), _recipient, "C", "line", vague=True),
    ),
    "harmony-eaten": (
        Form(("analysis",), _eaten, "B", "start", vague=True),
        Form(("assistantfinal",), _ended, "B", vague=True),
    ),
}
