"""Forms: the syntaxes in which models write calls, results and tokens into text. A
dialect consists of forms.

A `Form` begins with one of its openers, which are literals such as ``<tool_call>``. Its
grammar (see `stream_sidecar.forms.grammar`) reads the text after the opener and returns
a `Found`. The form's tier decides when the form is taken out of the text. Tier A:
anywhere outside code (text rule 11.2). Tier B: if it is complete and its tools are
declared (text rule 11.4). Tier C: only on lines of its own, with declared tools (text
rule 11.6). See ``dialects/README.md``.
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
Grammar: TypeAlias = "Callable[[Cursor], Reading[Found]]"
About: TypeAlias = Literal[
    "calls", "channels", "results", "echoes", "leftovers", "reserved"
]


class MalformedError(ValueError):
    """The form is complete, but its content is no call."""


class TornError(MalformedError):
    """A value lacks its closer: another call begins inside it, right before
    ``position`` in the candidate."""

    def __init__(self, position: int) -> None:
        super().__init__(position)
        self.position = position


@frozen
class WrittenCall:
    """A call as a model wrote it.

    ``arguments``: JSON text, or free text if ``text`` is set. ``end``: where the call
    ends and the candidate's next call begins, in code points from the candidate's
    start. ``cut``: the model's text ended inside the call. ``key``: the arguments' key
    in the call's object; "" if there is none. ``beside``: the members beside the name,
    such as ``"path"`` in ``{"name": "f", "path": "a"}``. ``unclear``: it is not clear
    which of these members are the arguments. ``spoiled``: if not "", this is no call,
    but a member of a list of calls, and this is the member's text.
    """

    name: str
    arguments: str
    end: int
    id: str = ""
    cut: bool = False
    text: bool = False
    key: str = ""
    beside: Mapping[str, Any] = field(factory=dict)
    unclear: bool = False
    spoiled: str = ""


@frozen
class Found:
    """What a grammar found between the candidate's start and its cursor.

    The kinds, with their ``content``:

    - CALL
    - RESULT: what the model wrote as a tool's result
    - MARK: a token without meaning
    - CITE: the references of a citation
    - ENTER: reasoning begins. With content, the form is a complete block of reasoning,
      and the content is the start and end of the block's text.
    - EXIT: open reasoning ends

    ``read`` makes the calls of a CALL or the content of a RESULT from the candidate's
    text. If the text is no form, it raises ValueError.
    """

    kind: PieceKind
    read: Callable[[str], Any] | None = None
    content: Any = None


@frozen(eq=False)
class Form:
    """One form: a row of a dialect's table.

    - ``openers``: literals with which the form begins.
    - ``grammar``: reads the text after the opener.
    - ``tier``: see the docstring of this module.
    - ``place``: where an opener counts: anywhere, only at a line's start, only at the
      answer's start, or only at the answer's end; with ``sentence-end``, only there,
      at a line's start or after the end of a sentence.
    - ``called``: an opener counts only right after a call and at the answer's start.
    - ``vague``: an opener may be ordinary text (``{``), so text that is no form needs
      no diagnostic.
    - ``closers``: literals that are removed if no opener came before (text rule 12.3).
    - ``per_tool``: the openers contain ``%s``, which stands for each declared tool's
      name.
    - ``about``: what the form is. A policy can switch off ``calls``, ``results`` and
      ``echoes``. ``reserved`` are leftovers that no person writes into a string.
    - ``pending_closers``: literals that are text once an opener was shown as text:
      ``</s>`` after ``<s>``.
    - ``element``: the form is ordinary XML, and no call inside an open element.
    - ``needs``: each text that the grammar accepts has one of these literals after the
      opener's first character, so other text need not be read. Empty: there is no such
      literal.
    """

    openers: tuple[str, ...]
    grammar: Grammar
    tier: Tier
    place: Literal["anywhere", "line", "start", "end", "sentence-end"] = "anywhere"
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
        """Whether the form is a result in a tag: it is text if nothing follows it."""
        return self.called and self.place == "anywhere"

    @property
    def may_be_call(self) -> bool:
        """Whether calls' size limit applies: a Harmony header may begin a call."""
        return self.about in ("calls", "channels")


def between_tags(name: str, calls: Callable[[str], Grammar]) -> Form:
    """The form from ``<name>`` to ``</name>``; ``calls`` makes its grammar."""
    closers = (f"</{name}>",)
    grammar = calls(*closers)
    return Form((f"<{name}>",), grammar, tier="B", closers=closers, needs=closers)


@frozen(eq=False)
class Dialect:
    """The syntaxes of one family of models.

    - ``pairs``: the (opener, closer) pairs of its reasoning.
    - ``marks``: tokens around calls, removed anywhere outside code.
    - ``ends``: wrappers of the answer, which are removed and end reasoning.
    - ``headers``: those of them that begin the answer after a closer of ``pairs``.
    - ``safe``: no other model writes these forms by chance, so they are read for every
      model.
    - ``ends_reasoning``: a call ends open reasoning, if the host or the profile named
      the dialect (text rule 11.11).
    """

    name: str
    pairs: tuple[Pair, ...] = ()
    marks: tuple[str, ...] = ()
    ends: tuple[str, ...] = ()
    headers: tuple[str, ...] = ()
    forms: tuple[Form, ...] = ()
    safe: bool = True
    ends_reasoning: bool = False


def mark(*, ends: bool = False) -> Found:
    """A token that only a chat template understands. ``ends``: it ends reasoning."""
    return Found(PieceKind.EXIT if ends else PieceKind.MARK)
