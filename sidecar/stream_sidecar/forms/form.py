"""Forms: the syntaxes in which models write protocol into text. Dialects consist of
them.

A `Form` begins with one of its literal openers, such as ``<tool_call>``. Its grammar
(see `stream_sidecar.forms.grammar`) reads on from there and returns a `Found`. The tier
decides whether that is taken out of the text. Tier A: anywhere outside code (text rule
11.2). Tier B: if it is complete and its tools are declared (text rule 11.4). Tier C:
only on lines of its own, with declared tools (text rule 11.6). See
``dialects/README.md``.
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
    """The form is complete, but its content is no call."""


class TornError(MalformedError):
    """A value lacks its closer: another call begins inside it, before ``position``."""

    def __init__(self, position: int) -> None:
        super().__init__(position)
        self.position = position


@frozen
class WrittenCall:
    """A call as a model wrote it.

    ``arguments`` is JSON text; with ``text`` it is free text. ``end``: where the next
    call of the same candidate begins, in code points from the candidate's start.
    ``cut``: the model's text ended inside the call. ``schema``: the arguments stand
    under the key that holds the schema in a tool's definition. ``beside``: if an object
    has no arguments, its other keys beside the name. ``spoiled``: the text of a list's
    member that is no call.
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
    """What a grammar found, from the candidate's start to its cursor.

    The kinds: CALL, RESULT (``content``: what the model wrote as a tool's result), MARK
    (protocol without meaning), CITE (``content``: references), ENTER (reasoning begins;
    with ``content``, the place of reasoning that is complete here), EXIT (open
    reasoning ends). ``read`` returns the calls of a CALL or the content of a RESULT
    from the candidate's text; it may raise ValueError.
    """

    kind: PieceKind
    read: Callable[[str], Any] | None = None
    content: Any = None


@frozen(eq=False)
class Form:
    """One form: a row of a dialect's table.

    - ``openers``: literals with which it begins.
    - ``place``: where an opener counts: anywhere, or at the start of a line, the start
      of the answer or its end.
    - ``called``: the opener counts only right after a call and at the answer's start.
    - ``vague``: the opener may stand in any text (``{``), so a failure needs no
      diagnostic.
    - ``closers``: literals to take out where no opener came before (text rule 12.3).
    - ``per_tool``: ``%s`` in the openers stands for the name of each declared tool.
    - ``about``: the policy that switches the form off. No policy does for ``leftovers``
      and ``channels``. ``reserved``: leftovers that no person writes into a string.
    - ``pending_closers``: literals that are text once this opener was shown as text:
      ``</s>`` after ``<s>``.
    - ``element``: it is ordinary XML, and no call inside an open element.
    - ``needs``: all text that the grammar accepts has one of these literals, so text
      without any is not read. Empty: there is no such literal.
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
        """Whether it is text if nothing follows it, as a result in a tag is."""
        return self.called and self.place == "anywhere"

    @property
    def may_be_call(self) -> bool:
        """Whether the limit for calls holds for it. A channel's header may begin a
        call."""
        return self.about in ("calls", "channels")


@frozen(eq=False)
class Dialect:
    """The syntaxes of one family of models.

    ``pairs``: (opener, closer) of reasoning. ``marks``: borders of call sections,
    removed wherever they stand outside code. ``ends``: removed as well, and they end
    reasoning. ``safe``: no other model writes these by chance, so they are read for any
    model. ``ends_reasoning``: a call in open reasoning ends the reasoning, if the
    dialect was named (text rule 11.11).
    """

    name: str
    pairs: tuple[Pair, ...] = ()
    marks: tuple[str, ...] = ()
    ends: tuple[str, ...] = ()
    forms: tuple[Form, ...] = ()
    safe: bool = True
    ends_reasoning: bool = False


def mark(*, ends: bool = False) -> Found:
    """Protocol that has a meaning only for a chat template."""
    return Found(PieceKind.EXIT if ends else PieceKind.MARK)
