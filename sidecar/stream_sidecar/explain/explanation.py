"""An explanation: every character that came in, with its owners and their reasons.

A `Lane` is one text of the input: what a field of the wire said, joined, or a part that
has a structure (a call, a result, an error). Its `InputPiece`s, joined, are that text.
A piece came in one step and has had one owner at a time since; before its first `Fate`
it was held. A step is a chunk, or several in a row that gave nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from stream_sidecar.records import frozen

if TYPE_CHECKING:
    from stream_sidecar.events import Event
    from stream_sidecar.message.message import Message

Owner: TypeAlias = Literal[
    "answer",
    "reasoning",
    "call",
    "result",
    "delimiter",
    "citation",
    "error",
    "dropped",
]

OWNERS: dict[Owner, str] = {
    "answer": "visible text",
    "reasoning": "the model's reasoning",
    "call": "a tool call",
    "result": "a tool's result, or what the model takes for one",
    "delimiter": "tags and tokens, removed",
    "citation": "a source, or a marker, removed",
    "error": "an error of the provider",
    "dropped": "unused: white space, repeated, unreadable",
}
"""Whose a character can be, in the order of the legend."""


_ABOUT = {"diagnostic", "finish", "metadata", "usage"}
"""Types of the events of an input in which nothing was understood."""

_NOT_UNDERSTOOD = {"unknown-chunk", "malformed-chunk", "document-limit"}

UNKNOWN = (
    "Nothing in it was understood: it is no stream or response of a known provider, "
    "no plain text, and no stored session with messages of a model."
)
"""What is said of such an input."""


@frozen
class Reason:
    """Why characters have their owner: in ``words``, by which ``rule`` of
    text/README.md, under which diagnostic's ``code``, in whose ``dialect``, as
    which ``wire`` has it."""

    words: str
    rule: str = ""
    code: str = ""
    dialect: str = ""
    wire: str = ""


@frozen
class Fate:
    """From ``step`` on the characters are the ``owner``'s, as the event ``seq`` says;
    0: no event does."""

    step: int
    owner: Owner
    reason: Reason
    seq: int = 0


@frozen
class InputPiece:
    """Characters that came in ``step``, with their fates in the order of these."""

    text: str
    step: int
    fates: tuple[Fate, ...]

    @property
    def owner(self) -> Owner:
        """Whose they are in the end."""
        return self.fates[-1].owner


@frozen
class Lane:
    """One text of the input, of ``choice``. ``usual``: whose its characters are where
    nothing leaked; None: it is a part, and no field's text."""

    title: str
    choice: int
    pieces: tuple[InputPiece, ...]
    usual: Owner | None = None

    @property
    def is_part(self) -> bool:
        return self.usual is None


@frozen
class Step:
    """A ``chunk`` as it came, or the beginning of it, and the events that it caused."""

    chunk: str
    events: tuple[Event, ...]


@frozen
class Explanation:
    """All of a stream. ``wire`` and ``framing``: as they were decided on."""

    name: str
    wire: str
    framing: str
    profile: str
    lanes: tuple[Lane, ...]
    steps: tuple[Step, ...]
    message: Message

    @property
    def is_unknown(self) -> bool:
        """Whether there was something, and none of it was understood."""
        events = [event for step in self.steps for event in step.events]
        codes = {getattr(event, "code", "") for event in events}
        kinds = {event.type for event in events}
        return kinds <= _ABOUT and not codes.isdisjoint(_NOT_UNDERSTOOD)
