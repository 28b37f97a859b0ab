"""The forms in which models write protocol into text: what a dialect is made of.

A `Form` begins with one of its literal openers; its grammar (`grammar`) reads
on from there and gives a `Found`. What becomes of that depends on the tier (contract
7.7): A is taken out wherever it stands outside code, B when it is complete and its
tools are declared, C only on lines of its own and declared.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from attrs import frozen

from sidecar.forms.kinds import PieceKind

if TYPE_CHECKING:
    from collections.abc import Callable

    from sidecar.forms.grammar import Cursor, Reading
    from sidecar.forms.literals import Pair

Tier: TypeAlias = Literal["A", "B", "C"]


class MalformedError(ValueError):
    """The form is whole, but what it says is no call."""


@frozen
class WrittenCall:
    """A call as a model wrote it.

    ``arguments`` is JSON text. ``end``: code points from the candidate's beginning,
    where the next call of the same candidate begins; ``cut``: the text ended in it;
    ``text``: the arguments are free text.
    """

    name: str
    arguments: str
    end: int
    id: str = ""
    cut: bool = False
    text: bool = False


@frozen
class Found:
    """What a grammar found, from the candidate's beginning up to its cursor.

    ``kind``: CALL, RESULT (``content``, what a model wrote as a tool's result), MARK
    (protocol without meaning), CITE (``content``: references), ENTER (reasoning begins)
    or EXIT (reasoning is over, if there is any). ``read`` gives the calls of a CALL or
    the content of a RESULT from the candidate's text; it may raise ValueError.
    ``tier`` replaces the form's where what was read says more than the opener.
    """

    kind: PieceKind
    read: Callable[[str], Any] | None = None
    content: Any = None
    tier: Tier | None = None


@frozen(eq=False)
class Form:
    """``openers`` are literals; ``place``: anywhere, at a line's start, at the answer's
    start or at its end.

    ``vague``: the opener alone says nothing, so a failure is no news. ``closers`` are
    literals which go where nothing of them was opened (contract 7.8). ``per_tool``: in
    the openers ``%s`` stands for the name of each declared tool. ``about``: the policy
    that switches it; leftovers have none. ``owes``: openers that are text where this
    one was shown as text.
    """

    openers: tuple[str, ...]
    grammar: Callable[[Cursor], Reading[Found]]
    tier: Tier
    place: Literal["anywhere", "line", "start", "end"] = "anywhere"
    vague: bool = False
    closers: tuple[str, ...] = ()
    per_tool: bool = False
    about: Literal["calls", "results", "leftovers"] = "calls"
    owes: tuple[str, ...] = ()


@frozen(eq=False)
class Dialect:
    """One family's way of writing.

    ``pairs`` are (opener, closer) of reasoning; ``marks``, the borders of call
    sections, go wherever they stand outside code; ``ends`` go, too, and end reasoning.
    ``safe``: no other model writes these by chance, so they are read whatever the model
    is. ``ends_reasoning``: a call in open reasoning ends it (dialects.md 2.1), if the
    dialect was named.
    """

    name: str
    pairs: tuple[Pair, ...] = ()
    marks: tuple[str, ...] = ()
    ends: tuple[str, ...] = ()
    forms: tuple[Form, ...] = ()
    safe: bool = True
    ends_reasoning: bool = False


def mark(*, ends: bool = False) -> Found:
    """Protocol without meaning for anybody but a template."""
    return Found(PieceKind.EXIT if ends else PieceKind.MARK)
