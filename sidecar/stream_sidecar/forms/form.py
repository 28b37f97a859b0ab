"""The forms in which models write protocol into text: what a dialect is made of.

A `Form` begins with one of its literal openers, as ``<tool_call>``; its grammar (see
`stream_sidecar.forms.grammar`) reads on from there and gives a `Found`. What becomes of
that depends on the tier: A is taken out wherever it stands outside code (text rule
11.2), B when it is complete and its tools are declared (text rule 11.4), C only on
lines of its own and declared (text rule 11.6). ``dialects/README.md`` tells more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from stream_sidecar.forms.kinds import PieceKind
from stream_sidecar.records import field, frozen

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from stream_sidecar.forms.grammar import Cursor, Reading
    from stream_sidecar.forms.literals import Pair

Tier: TypeAlias = Literal["A", "B", "C"]
About: TypeAlias = Literal[
    "calls", "channels", "results", "echoes", "leftovers", "reserved"
]


class MalformedError(ValueError):
    """The form is whole, but what it says is no call."""


class TornError(MalformedError):
    """Another call begins in a value that lacks its closer, before ``position``."""

    def __init__(self, position: int) -> None:
        super().__init__(position)
        self.position = position


@frozen
class WrittenCall:
    """A call as a model wrote it.

    ``arguments`` is JSON text, or with ``text`` free text. ``end``: where the next call
    of the same candidate begins, in code points from the candidate's beginning.
    ``cut``: the model's text ended in it. ``schema``: its arguments stand under the key
    under which the definition of a tool has its schema. ``beside``: what else an object
    without arguments has beside the name. ``spoiled``: the text of a member of a list
    that is no call.
    """

    name: str
    arguments: str
    end: int
    id: str = ""
    cut: bool = False
    text: bool = False
    schema: bool = False
    beside: Mapping[str, Any] = field(factory=dict)
    spoiled: str = ""


@frozen
class Found:
    """What a grammar found: it reaches from the candidate's beginning to its cursor.

    ``kind``: CALL, RESULT (``content``, what a model wrote as a tool's result), MARK
    (protocol without meaning), CITE (``content``: references), ENTER (reasoning begins,
    or with ``content``, which says where, is all there) or EXIT (reasoning is over, if
    there is any). ``read`` gives the calls of a CALL or
    the content of a RESULT from the candidate's text; it may raise ValueError.
    """

    kind: PieceKind
    read: Callable[[str], Any] | None = None
    content: Any = None


@frozen(eq=False)
class Form:
    """One form: a row of a dialect's table.

    ``openers`` are literals; ``place`` is where one counts: anywhere, at a line's
    start, at the answer's start or at its end. ``called``: there only right behind a
    call and at the answer's start. ``vague``: the opener may stand in any
    text (``{``), so its failure is not worth a diagnostic. ``closers`` are literals
    that are taken out where nothing of the form was opened (text rule 12.3).
    ``per_tool``: in the openers ``%s`` stands for the name of each declared tool.
    ``about``: which policy switches the form off; none does for leftovers and for the
    headers of channels. ``reserved`` are leftovers that nobody writes into a string.
    ``pending_closers``: literals that are text after this opener was shown as text:
    ``</s>`` after ``<s>``. ``element``: it is ordinary XML, and no call inside an open
    element. ``needs``: everything that the grammar accepts has one of these literals,
    so a whole text without them is not read. Empty: there is no such literal.
    """

    openers: tuple[str, ...]
    grammar: Callable[[Cursor], Reading[Found]]
    tier: Tier
    place: Literal["anywhere", "line", "start", "end"] = "anywhere"
    vague: bool = False
    closers: tuple[str, ...] = ()
    per_tool: bool = False
    about: About = "calls"
    pending_closers: tuple[str, ...] = ()
    element: bool = False
    called: bool = False
    needs: tuple[str, ...] = ()

    @property
    def waits(self) -> bool:
        """Whether it is text where nothing follows it: a result in a tag."""
        return self.called and self.place == "anywhere"

    @property
    def may_be_call(self) -> bool:
        """Whether it has the room of a call: the header of a channel may begin one."""
        return self.about in ("calls", "channels")


@frozen(eq=False)
class Dialect:
    """One family's way of writing.

    ``pairs`` are (opener, closer) of reasoning; ``marks``, the borders of call
    sections, go wherever they stand outside code; ``ends`` go, too, and end reasoning.
    ``safe``: no other model writes these by chance, so they are read whatever the model
    is. ``ends_reasoning``: a call in open reasoning ends it, if the dialect was named
    (text rule 11.11).
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
