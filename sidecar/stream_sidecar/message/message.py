"""The message that the events of a stream make (protocol.md, "The message").

Blocks are sorted by number and have their final channel; retracted blocks are left out.
``builder`` folds the events.
"""

from __future__ import annotations

from typing import ClassVar, Literal, TypeAlias

from stream_sidecar import events
from stream_sidecar.message.sources import Source
from stream_sidecar.records import PublicRecord, define, evolve, hot


@hot
class TextBlock(PublicRecord):
    """A block of the visible answer, with its provider state if there is any.
    ``refusal``: it is the model's refusal to answer."""

    type: ClassVar[Literal["text"]] = "text"
    block: int
    text: str
    opaque: object = None
    refusal: bool | None = None


@hot
class ReasoningBlock(PublicRecord):
    """A block of reasoning with the provider state that belongs to it.

    ``fields``: the provider's fields in which native reasoning came. ``seal_broken``:
    the state is bound to text before it that was changed.
    """

    type: ClassVar[Literal["reasoning"]] = "reasoning"
    block: int
    text: str
    source: str | None = None
    signature: str | None = None
    opaque: object = None
    raw_text: str | None = None
    fields: tuple[str, ...] | None = None
    seal_broken: bool | None = None


Block: TypeAlias = TextBlock | ReasoningBlock | events.ToolCall | events.ToolResult


@hot
class Message(PublicRecord):
    """The message of ``choice``; with several choices the first also has ``choices``.

    ``choices`` has all choices, the first included. ``sources`` are the sources of the
    citations, each once, in the order of their numbers.
    ``text``, ``reasoning`` and ``blocks`` are None under ``message.parts: false``.
    """

    role: ClassVar[Literal["assistant"]] = "assistant"
    text: str | None
    reasoning: str | None
    blocks: tuple[Block, ...] | None
    tool_calls: tuple[events.ToolCall, ...]
    tool_results: tuple[events.ToolResult, ...]
    citations: tuple[events.Citation, ...]
    sources: tuple[Source, ...]
    errors: tuple[events.ProviderError, ...]
    usage: events.Usage | None
    finish: events.Finish | None
    metadata: events.Metadata | None
    choice: int = 0
    choices: tuple[Message, ...] | None = None


def without_parts(message: Message) -> Message:
    """The message as it is under ``message.parts: false``."""
    choices = message.choices and tuple(map(without_parts, message.choices))
    return evolve(message, text=None, reasoning=None, blocks=None, choices=choices)


@define
class TextCounters:
    """Counters of what was done to a stream's texts; the names are those of `Stats`."""

    delimiters_stripped: int = 0
    reasoning_extracted: int = 0
    tool_results_stripped: int = 0
    tool_calls_from_text: int = 0
    held_peak: int = 0


@hot
class Stats(PublicRecord):
    """Counters of one stream; ``chars`` and ``held_peak`` in code points."""

    pushes: int = 0
    chunks: int = 0
    chars: int = 0
    events: int = 0
    delimiters_stripped: int = 0
    reasoning_extracted: int = 0
    tool_results_stripped: int = 0
    tool_calls_from_text: int = 0
    malformed_chunks: int = 0
    held_peak: int = 0
