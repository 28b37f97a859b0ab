"""Words that have a meaning if a template lost its tokens or has none.

Granite begins with ``Here is my thought process:``. Functionary's prompt ends with the
opening token of a call, so its answer is only ``f`` and an object. Such words count
only if they can mean nothing else: at the answer's start, or in reasoning that they
began.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stream_sidecar.dialects.tokens import json_part
from stream_sidecar.forms.form import Form, Found, mark
from stream_sidecar.forms.kinds import PieceKind
from stream_sidecar.forms.shared_grammars import begin_reasoning, end_reasoning
from stream_sidecar.values.relaxed import ObjectScanner

if TYPE_CHECKING:
    from stream_sidecar.forms.grammar import Cursor, Reading


def _answer(_cursor: Cursor) -> Reading[Found]:
    """The name that stands for the answer where a tool's name could stand."""
    yield from ()
    return mark()


def _functionary(cursor: Cursor) -> Reading[Found]:
    """A declared name on the first line, followed by its arguments."""
    yield from cursor.space()
    part = yield from cursor.scan(ObjectScanner())
    name = cursor.opener.rstrip("\n")
    return Found(PieceKind.CALL, json_part(name, part, cursor.position))


_HERE = ("Here is my", "Here's my")

FORMS: dict[str, tuple[Form, ...]] = {
    "granite-phrases": (
        Form(
            tuple(f"{here} thought process:" for here in _HERE),
            *(begin_reasoning, "B", "start"),
            vague=True,
            about="leftovers",
        ),
        Form(
            tuple(f"{here} response:" for here in _HERE),
            *(end_reasoning, "B"),
            vague=True,
            about="leftovers",
        ),
    ),
    "functionary-begun": (
        Form(("%s\n",), _functionary, "B", "start", vague=True, per_tool=True),
        Form(("all\n",), _answer, "B", "start", vague=True),
    ),
}
