"""An explanation: every character of the input, with its owners and their reasons.

A `Lane` is one text of the input: all that one field of the wire sent, or one part that
has a structure (a call, a result, an error). The text is cut into `InputPiece`s. A
piece arrived in one step and has one owner at a time; before its first `Fate` it is
held. A step is a chunk, after any earlier chunks that changed nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from stream_sidecar.records import frozen

if TYPE_CHECKING:
    from stream_sidecar.events import Event
    from stream_sidecar.message.message import Message

Owner: TypeAlias = Literal[
    "answer", "reasoning", "call", "result", "delimiter", "citation", "error", "dropped"
]

OWNERS: tuple[Owner, ...] = get_args(Owner)
"""The owners in the order of the legend."""

STORED = "stored messages"
"""The wire of a stored session."""


_ABOUT = {"diagnostic", "finish", "metadata", "usage"}
"""If nothing in an input was understood, all its events have one of these types."""

_NOT_UNDERSTOOD = {"unknown-chunk", "malformed-chunk", "document-limit"}

UNKNOWN = (
    "Nothing in it was understood: it is not a stream or response of a known provider, "
    "not plain text, and not a stored session with a model's messages."
)
"""The message for an input in which nothing was understood."""


@frozen
class Reason:
    """Why characters have their owner, in ``words``.

    ``rule``: the number of the rule in text/README.md; ``code``: the code of the
    diagnostic; ``dialect``: the dialect of the call; ``wire``: the wire that sent the
    characters as a part. Each is empty if there is none.
    """

    words: str
    rule: str = ""
    code: str = ""
    dialect: str = ""
    wire: str = ""


@frozen
class Fate:
    """The owner of characters from ``step`` on. ``seq`` is the number of the event that
    says so, 0 if no event does."""

    step: int
    owner: Owner
    reason: Reason
    seq: int = 0


@frozen
class InputPiece:
    """Characters that arrived in ``step``, with their fates in the order of steps."""

    text: str
    step: int
    fates: tuple[Fate, ...]

    @property
    def owner(self) -> Owner:
        """The last owner."""
        return self.fates[-1].owner


@frozen
class Lane:
    """One text of the input, which belongs to ``choice``. ``usual``: the owner of the
    field's characters when nothing leaked; None for a part."""

    title: str
    choice: int
    pieces: tuple[InputPiece, ...]
    usual: Owner | None = None

    @property
    def is_part(self) -> bool:
        return self.usual is None


@frozen
class Step:
    """A ``chunk`` as it arrived (its first 2,000 characters), and its events."""

    chunk: str
    events: tuple[Event, ...]


@frozen
class Explanation:
    """The explanation of one stream; ``wire`` and ``framing`` are those detected.
    ``seals``: sentences about state, and what it is bound to."""

    name: str
    wire: str
    framing: str
    profile: str
    lanes: tuple[Lane, ...]
    steps: tuple[Step, ...]
    message: Message
    seals: tuple[str, ...] = ()

    @property
    def is_stored(self) -> bool:
        """Whether the input is a stored session."""
        return self.wire == STORED

    @property
    def is_unknown(self) -> bool:
        """Whether there was input, and none of it was understood."""
        return self.has_no_answer and "error" not in self._kinds

    @property
    def has_no_answer(self) -> bool:
        """Whether some input was not understood, and the rest has at most an error."""
        codes = {getattr(event, "code", "") for event in self._events}
        is_answered = self._kinds - _ABOUT - {"error"}
        return not is_answered and not codes.isdisjoint(_NOT_UNDERSTOOD)

    @property
    def _events(self) -> list[Event]:
        return [event for step in self.steps for event in step.events]

    @property
    def _kinds(self) -> set[str]:
        return {event.type for event in self._events}
