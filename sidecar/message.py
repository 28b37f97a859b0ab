"""The message: what the events of a stream add up to.

`MessageBuilder` folds events one by one (``push(event)``), so that a snapshot needs no
history, and ``build()`` gives the message of all events so far (contract section 5):
blocks sorted by number with their final channel, retracted ones left out.
"""

from __future__ import annotations

import io
from typing import Any, ClassVar, TypeAlias

from attrs import define, evolve, fields, frozen

from sidecar.events import (
    BlockEnd,
    Channel,
    Citation,
    Event,
    Finish,
    Metadata,
    ProviderError,
    ReasoningDelta,
    Reclassify,
    Retract,
    TextDelta,
    ToolCall,
    ToolResult,
    Usage,
)


@frozen
class TextBlock:
    """A block of the visible answer."""

    type: ClassVar[str] = "text"
    block: int
    text: str


@frozen
class ReasoningBlock:
    """A block of reasoning with the provider state that belongs to it."""

    type: ClassVar[str] = "reasoning"
    block: int
    text: str
    source: str | None = None
    signature: str | None = None
    opaque: object = None
    raw_text: str | None = None


Block: TypeAlias = TextBlock | ReasoningBlock | ToolCall | ToolResult


@frozen
class Message:
    """The message of ``choice``; with several choices the first also has ``choices``.

    ``text``, ``reasoning`` and ``blocks`` are None under ``message.parts: false``.
    """

    role: ClassVar[str] = "assistant"
    text: str | None
    reasoning: str | None
    blocks: tuple[Block, ...] | None
    tool_calls: tuple[ToolCall, ...]
    tool_results: tuple[ToolResult, ...]
    citations: tuple[Citation, ...]
    errors: tuple[ProviderError, ...]
    usage: Usage | None
    finish: Finish | None
    metadata: Metadata | None
    choice: int = 0
    choices: tuple[Message, ...] | None = None


@frozen
class Stats:
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


@define
class _Building:
    """A block of text or reasoning so far; ``body`` is None when texts are not kept."""

    channel: Channel
    body: io.StringIO | None
    source: str | None = None
    signature: str | None = None
    opaque: Any = None
    raw_text: str | None = None

    def build(self, number: int) -> TextBlock | ReasoningBlock:
        text = self.body.getvalue() if self.body else ""
        if self.channel == "text":
            return TextBlock(number, text)
        return ReasoningBlock(
            number, text, self.source, self.signature, self.opaque, self.raw_text
        )


class _Choice:
    """What the events of one choice add up to."""

    def __init__(self) -> None:
        self.texts: dict[int, _Building] = {}
        self.calls: dict[int, ToolCall] = {}
        self.results: dict[int, ToolResult] = {}
        self.citations: list[Citation] = []
        self.errors: list[ProviderError] = []
        self.finish: Finish | None = None

    def blocks(self) -> list[Block]:
        """All live blocks, sorted by number."""
        blocks: dict[int, Block] = {
            number: building.build(number) for number, building in self.texts.items()
        }
        blocks.update(self.calls)
        blocks.update(self.results)
        return [blocks[number] for number in sorted(blocks)]


class MessageBuilder:
    """Folds events: ``push(event)``, ``build()``. ``parts``: keep texts and blocks."""

    def __init__(self, *, parts: bool = True) -> None:
        self.parts = parts
        self._choices: dict[int, _Choice] = {0: _Choice()}
        self._usage: Usage | None = None
        self._metadata: Metadata | None = None

    def push(self, event: Event) -> None:
        fold = _FOLDS.get(type(event))
        if fold is not None:
            fold(self, event)

    def block_text(self, choice: int, block: int) -> str | None:
        """The text of a live text block so far; None when it is none or not kept."""
        building = self._choice(choice).texts.get(block)
        if building is None or building.channel != "text" or building.body is None:
            return None
        return building.body.getvalue()

    def any_text(self, choice: int, block: int) -> str | None:
        """The text of a block of either channel so far; None when it is not kept."""
        building = self._choice(choice).texts.get(block)
        return building.body.getvalue() if building and building.body else None

    def replace_call(self, call: ToolCall) -> None:
        """The final word on a call that was sent as provisional."""
        calls = self._choice(call.choice).calls
        if call.block in calls:
            calls[call.block] = call

    def calls(self, choice: int) -> list[tuple[int, ToolCall]]:
        """The live calls of a choice with their blocks, as they came."""
        return list(self._choice(choice).calls.items())

    def build(self) -> Message:
        messages = {
            number: self._build(number, choice)
            for number, choice in sorted(self._choices.items())
        }
        first = messages[0]
        if len(messages) == 1:
            return first
        return evolve(first, choices=tuple(messages.values()))

    def _build(self, number: int, choice: _Choice) -> Message:
        blocks = choice.blocks()
        return Message(
            text=self._joined(blocks, TextBlock),
            reasoning=self._joined(blocks, ReasoningBlock),
            blocks=tuple(blocks) if self.parts else None,
            tool_calls=tuple(choice.calls[n] for n in sorted(choice.calls)),
            tool_results=tuple(choice.results[n] for n in sorted(choice.results)),
            citations=tuple(choice.citations),
            errors=tuple(choice.errors),
            usage=self._usage,
            finish=choice.finish,
            metadata=self._metadata,
            choice=number,
        )

    def _joined(self, blocks: list[Block], kind: type) -> str | None:
        if not self.parts:
            return None
        return "".join(
            block.text
            for block in blocks
            if isinstance(block, (TextBlock, ReasoningBlock)) and type(block) is kind
        )

    def _choice(self, number: int) -> _Choice:
        choice = self._choices.get(number)
        if choice is None:
            choice = self._choices[number] = _Choice()
        return choice

    def _building(self, choice: int, block: int, channel: Channel) -> _Building:
        texts = self._choice(choice).texts
        building = texts.get(block)
        if building is None:
            body = io.StringIO(newline="") if self.parts else None
            building = texts[block] = _Building(channel, body)
        return building

    def _delta(self, event: TextDelta | ReasoningDelta) -> None:
        channel: Channel = "text" if isinstance(event, TextDelta) else "reasoning"
        building = self._building(event.choice, event.block, channel)
        if isinstance(event, ReasoningDelta):
            building.source = event.source
        if building.body is not None:
            building.body.write(event.text)

    def _block_end(self, event: BlockEnd) -> None:
        state = event.signature is not None or event.opaque is not None
        if not state and event.block not in self._choice(event.choice).texts:
            return  # the end of a block that was retracted
        building = self._building(event.choice, event.block, event.channel)
        building.signature = event.signature or building.signature
        building.raw_text = event.raw_text or building.raw_text
        if event.opaque is not None:
            building.opaque = event.opaque

    def _reclassify(self, event: Reclassify) -> None:
        for block in event.blocks:
            self._choice(event.choice).texts[block].channel = event.to

    def _retract(self, event: Retract) -> None:
        choice = self._choice(event.choice)
        for block in event.blocks:
            choice.texts.pop(block, None)
            choice.calls.pop(block, None)

    def _call(self, event: ToolCall) -> None:
        assert event.block is not None
        self._choice(event.choice).calls[event.block] = event

    def _result(self, event: ToolResult) -> None:
        self._choice(event.choice).results[event.block] = event

    def _citation(self, event: Citation) -> None:
        self._choice(event.choice).citations.append(event)

    def _error(self, event: ProviderError) -> None:
        self._choice(event.choice).errors.append(event)

    def _count(self, event: Usage) -> None:
        self._usage = event

    def _describe(self, event: Metadata) -> None:
        known = self._metadata
        if known is None:
            self._metadata = event
            return
        said = {
            field.name: value
            for field in fields(Metadata)
            if (value := getattr(event, field.name)) is not None
        }
        self._metadata = evolve(known, **said)

    def _finish(self, event: Finish) -> None:
        self._choice(event.choice).finish = event


_FOLDS: dict[type, Any] = {
    TextDelta: MessageBuilder._delta,
    ReasoningDelta: MessageBuilder._delta,
    BlockEnd: MessageBuilder._block_end,
    Reclassify: MessageBuilder._reclassify,
    Retract: MessageBuilder._retract,
    ToolCall: MessageBuilder._call,
    ToolResult: MessageBuilder._result,
    Citation: MessageBuilder._citation,
    ProviderError: MessageBuilder._error,
    Usage: MessageBuilder._count,
    Metadata: MessageBuilder._describe,
    Finish: MessageBuilder._finish,
}
