"""The turn: what the next request needs of a message, and of what its tools answered.

A host hands over a message as ``stream/close`` gave it, perhaps out of a store. Of that
`Turn` is the part from which requests are written; everything else in it is ignored,
and what is missing has a default (protocol.md, "message/render").
"""

from __future__ import annotations

from typing import Any

from attrs import evolve

from stream_sidecar.records import frozen


@frozen
class TurnBlock:
    """A block of a message, of any ``type``; fields of other types have defaults."""

    type: str
    block: int | None = None
    text: str = ""
    refusal: bool | None = None
    source: str | None = None
    signature: str | None = None
    opaque: Any = None
    raw_text: str | None = None
    fields: tuple[str, ...] = ()
    tool_call_id: str | None = None
    id_synthetic: bool = False
    name: str | None = None
    arguments: str = ""
    arguments_format: str = "json"
    executor: str = "client"
    awaits: str | None = None
    origin: str = "structured"
    caller: Any = None
    raw: Any = None
    content: Any = None


@frozen
class TurnCitation:
    """A citation of the message; ``source`` is the number of what it cites."""

    raw: Any = None
    source: int = 0
    blocks: tuple[int, ...] = ()


@frozen
class TurnMetadata:
    """Who gave the message: the model, and the provider that the host asked; the one
    that a router names stands behind that."""

    model: str | None = None
    host_provider: str | None = None


@frozen
class TurnFinish:
    """How the message ended."""

    reason: str | None = None


@frozen
class Turn:
    """The message; without ``blocks`` (``message.parts: false``) its tools alone."""

    blocks: tuple[TurnBlock, ...] | None = None
    tool_calls: tuple[TurnBlock, ...] = ()
    tool_results: tuple[TurnBlock, ...] = ()
    citations: tuple[TurnCitation, ...] = ()
    metadata: TurnMetadata = TurnMetadata()
    finish: TurnFinish = TurnFinish()

    def all_blocks(self) -> tuple[TurnBlock, ...]:
        """What there is of the message, in its order."""
        if self.blocks is not None:
            return self.blocks
        typed = [evolve(call, type="tool-call") for call in self.tool_calls]
        typed += [evolve(result, type="tool-result") for result in self.tool_results]
        return tuple(sorted(typed, key=lambda block: block.block or 0))


@frozen
class TurnResult:
    """What the host's tool answered; ``content`` is text, a list of parts or any other
    JSON value."""

    tool_call_id: str
    content: Any = None
    is_error: bool | None = None
