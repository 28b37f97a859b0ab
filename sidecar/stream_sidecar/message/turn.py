"""The turn: what the next request needs from a message and the results of its tools.

A host passes a message as ``stream/close`` returned it, perhaps from a store. `Turn`
has the fields from which requests are written; missing ones have defaults (protocol.md,
"message/render").
"""

from __future__ import annotations

from typing import Any, Literal

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
    seal_broken: bool | None = None
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
    """A citation of the message; ``source`` is the number of its source."""

    raw: Any = None
    source: int = 0
    blocks: tuple[int, ...] = ()


@frozen
class TurnMetadata:
    """The model that wrote the message, the provider that the response names, and the
    one that the host asked. If the host asked a router, ``host_provider`` is the
    router, and ``provider`` the one that it asked."""

    model: str | None = None
    provider: str | None = None
    host_provider: str | None = None


@frozen
class TurnFinish:
    """How the message ended."""

    reason: str | None = None


@frozen
class Turn:
    """The message. Without ``blocks`` it consists of its ``reasoning``, its ``text``,
    its calls and its results. It has no other ``role``."""

    role: Literal["assistant"] = "assistant"
    text: str = ""
    reasoning: str = ""
    blocks: tuple[TurnBlock, ...] | None = None
    tool_calls: tuple[TurnBlock, ...] = ()
    tool_results: tuple[TurnBlock, ...] = ()
    citations: tuple[TurnCitation, ...] = ()
    metadata: TurnMetadata = TurnMetadata()
    finish: TurnFinish = TurnFinish()

    def all_blocks(self) -> tuple[TurnBlock, ...]:
        """The blocks in their order; without ``blocks``, those of the other fields."""
        if self.blocks:
            return self.blocks
        texts = [TurnBlock("reasoning", text=self.reasoning)] if self.reasoning else []
        texts += [TurnBlock("text", text=self.text)] if self.text else []
        typed = [evolve(call, type="tool-call") for call in self.tool_calls]
        typed += [evolve(result, type="tool-result") for result in self.tool_results]
        return (*texts, *sorted(typed, key=lambda block: block.block or 0))


@frozen
class TurnResult:
    """The result of a tool of the host; ``content`` is text, a list of parts or any
    other JSON value."""

    tool_call_id: str
    content: Any
    is_error: bool | None = None
