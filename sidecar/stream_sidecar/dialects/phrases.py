"""Plain words that begin reasoning, an answer or a call, because there are no tokens.

Granite begins its reasoning with ``Here is my thought process:``. Functionary's prompt
ends with the opening token of a call, so the model writes only ``f`` and an object.
These words count only where they can mean nothing else: at the answer's start, or in
reasoning that they began.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stream_sidecar.forms.call_bodies import json_part
from stream_sidecar.forms.form import Form, Found, mark
from stream_sidecar.forms.kinds import PieceKind
from stream_sidecar.forms.shared_grammars import begin_reasoning, end_reasoning
from stream_sidecar.values.relaxed import ObjectScanner

if TYPE_CHECKING:
    from stream_sidecar.forms.grammar import Cursor, Reading


def _answer(_cursor: Cursor) -> Reading[Found]:
    """Removes ``all``, which stands in a tool's place and announces the answer."""
    yield from ()
    return mark()


def _functionary(cursor: Cursor) -> Reading[Found]:
    """Reads the arguments after a declared name, which is the first line."""
    yield from cursor.space()
    part = yield from cursor.scan(ObjectScanner())
    name = cursor.opener.rstrip("\n")
    return Found(PieceKind.CALL, json_part(name, part, cursor.position))


_HERE = ("Here is my", "Here's my")

FORMS: dict[str, tuple[Form, ...]] = {
    "granite-phrases": (
        Form(
            openers=tuple(f"{here} thought process:" for here in _HERE),
            grammar=begin_reasoning,
            tier="B",
            place="start",
            vague=True,
            about="leftovers",
        ),
        Form(
            openers=tuple(f"{here} response:" for here in _HERE),
            grammar=end_reasoning,
            tier="B",
            vague=True,
            about="leftovers",
        ),
    ),
    "functionary-begun": (
        Form(
            ("%s\n",), _functionary, tier="B", place="start", vague=True, per_tool=True
        ),
        Form(("all\n",), _answer, tier="B", place="start", vague=True),
    ),
}
