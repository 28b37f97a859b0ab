"""Folds events into the message, one by one, so that a snapshot needs no history.

`MessageBuilder.push` adds an event, ``build`` returns the message of all events so far.
Of the deltas the builder keeps only the text, in blocks. With ``parts=False`` it keeps
only the latest text, because decisions of the stream may still need it. Example:
reasoning that never closes turns out to be text, and its block must be found again.
"""

from __future__ import annotations

from collections import defaultdict
from operator import attrgetter, itemgetter
from typing import Any

from attrs import fields

from stream_sidecar import events
from stream_sidecar.message.message import Block, Message, ReasoningBlock, TextBlock
from stream_sidecar.message.sources import sources_of
from stream_sidecar.records import define, evolve, field


@define
class _Building:
    """A block of text or reasoning so far.

    The text is kept as UTF-8 in one growing piece of memory. A ``StringIO`` of Python
    3.11 would keep every piece that was written.
    """

    channel: events.ChannelName
    body: bytearray = field(factory=bytearray)
    source: str | None = None
    refusal: bool | None = None
    #: fields of the block's ends, by name
    state: dict[str, Any] = field(factory=dict)

    @property
    def text(self) -> str:
        return self.body.decode("utf-8", "surrogatepass")

    def build(self, number: int) -> TextBlock | ReasoningBlock:
        """The block in its final channel: reasoning is no refusal."""
        if self.channel == "text":
            opaque = self.state.get("opaque")
            return TextBlock(number, self.text, opaque, self.refusal)
        return ReasoningBlock(number, self.text, self.source, **self.state)


MOST_RECENT = 1 << 20
"""With ``parts=False``, the blocks of text have at most this many bytes (UTF-8, and
`_OF_A_BLOCK` for each). Above it, at least the older half of them is forgotten."""

_OF_A_BLOCK = 256

_STATE = ("signature", "opaque", "raw_text", "fields", "seal_broken")
"""Fields of a ``BlockEnd`` that are stored in its block."""

_state_of = attrgetter(*_STATE)
_number_of = attrgetter("block")


def _is_sealed(block: _Building) -> bool:
    is_native = block.channel == "reasoning"
    return is_native and not {"signature", "opaque"}.isdisjoint(block.state)


class _Choice:
    """The blocks, citations, errors and end of one choice so far."""

    def __init__(self) -> None:
        self.texts: dict[int, _Building] = {}
        self.calls: dict[int, events.ToolCall] = {}
        self.results: dict[int, events.ToolResult] = {}
        self.citations: list[events.Citation] = []
        self.errors: list[events.ProviderError] = []
        self.finish: events.Finish | None = None

    def blocks(self) -> list[Block]:
        """All blocks that were not retracted, sorted by number."""
        blocks: list[Block] = [
            building.build(number) for number, building in self.texts.items()
        ]
        blocks += self.calls.values()
        blocks += self.results.values()
        blocks.sort(key=_number_of)
        return blocks


class MessageBuilder:
    """Folds events into a message. ``parts``: whether the message has texts and blocks.

    Without parts, the texts of old blocks are forgotten (`MOST_RECENT`). All methods
    treat a forgotten block like one that was retracted.
    """

    def __init__(self, *, parts: bool = True) -> None:
        self.parts = parts
        self._choices = defaultdict(_Choice, {0: _Choice()})
        self._last: _Building | None = None
        self._last_block = -1
        self._size = 0  # of the texts, as `MOST_RECENT` counts them
        self._most = float("inf") if parts else MOST_RECENT
        self._first_kept = 0  # the blocks before this number may be forgotten
        self._usage: events.Usage | None = None
        self.metadata: events.Metadata | None = None
        #: the provider and the model that the host named
        self.provider: str | None = None
        self.model: str | None = None

    def push(self, event: events.Event) -> None:
        fold = _FOLDS.get(type(event))
        if fold is not None:
            fold(self, event)

    def block_text(self, choice: int, block: int) -> str | None:
        """The text so far of ``block``, a block of text. None if the block is of
        another kind, was retracted or forgotten."""
        building = self._choices[choice].texts.get(block)
        if building is None or building.channel != "text":
            return None
        return building.text

    def any_text(self, choice: int, block: int) -> str | None:
        """The text so far of a block of text or reasoning; None if it was retracted or
        forgotten."""
        building = self._choices[choice].texts.get(block)
        return None if building is None else building.text

    def tagged_text(self, choice: int, block: int) -> str:
        """The text so far of a block that was found between tags; "" for any other."""
        building = self._choices[choice].texts.get(block)
        if building is None or building.source != "tag":
            return ""
        return building.text

    def last_reasoning(self, choice: int) -> int | None:
        """The number of the last block of reasoning that is not blank. None if there is
        no such block, or a block was forgotten."""
        if self._first_kept:
            return None
        for number, building in sorted(self._choices[choice].texts.items())[::-1]:
            if building.channel == "reasoning" and not building.text.isspace():
                return number
        return None

    def text_with(self, choice: int, block: int) -> str:
        """The visible text as if ``block`` belonged to it; only if nothing of it was
        forgotten (see `last_reasoning`)."""
        texts = (
            building.text
            for number, building in sorted(self._choices[choice].texts.items())
            if building.channel == "text" or number == block
        )
        return "".join(texts)

    def sealed_behind(self, choice: int, block: int) -> list[int]:
        """The blocks with provider state behind ``block``."""
        texts = self._choices[choice].texts
        return [n for n in texts if n > block and _is_sealed(texts[n])]

    def calls(self, choice: int) -> list[tuple[int, events.ToolCall]]:
        """The calls of a choice in the order of arrival, with their blocks' numbers."""
        return list(self._choices[choice].calls.items())

    def build(self) -> Message:
        message = self._build(0)
        if len(self._choices) == 1:
            return message
        return evolve(message, choices=tuple(map(self._build, sorted(self._choices))))

    def _build(self, number: int) -> Message:
        choice = self._choices[number]
        blocks = choice.blocks() if self.parts else []
        return Message(
            text=self._joined(blocks, TextBlock),
            reasoning=self._joined(blocks, ReasoningBlock),
            blocks=tuple(blocks) if self.parts else None,
            tool_calls=tuple(sorted(choice.calls.values(), key=_number_of)),
            tool_results=tuple(sorted(choice.results.values(), key=_number_of)),
            citations=tuple(choice.citations),
            sources=sources_of(choice.citations) if choice.citations else (),
            errors=tuple(choice.errors),
            usage=self._usage,
            finish=choice.finish,
            metadata=self._metadata(),
            choice=number,
        )

    def _metadata(self) -> events.Metadata | None:
        if not self.provider and not self.model:
            return self.metadata
        metadata = self.metadata or events.Metadata(1)  # no event brought any
        model = metadata.model or self.model
        return evolve(metadata, model=model, host_provider=self.provider)

    def _joined(
        self, blocks: list[Block], kind: type[TextBlock | ReasoningBlock]
    ) -> str | None:
        if not self.parts:
            return None
        return "".join([block.text for block in blocks if isinstance(block, kind)])

    def _building(
        self, choice: int, block: int, channel: events.ChannelName
    ) -> _Building | None:
        """The block, which begins now if it is new; None if it was forgotten."""
        texts = self._choices[choice].texts
        building = texts.get(block)
        if building is None and block >= self._first_kept:
            self._size += _OF_A_BLOCK
            if self._size > self._most:
                self._forget()
            building = texts[block] = _Building(channel)
        return building

    def _forget(self) -> None:
        """Forgets all blocks but the latest ones of half the size. A text that is
        longer alone is forgotten, and nothing more of its block is kept."""
        blocks = [
            (number, choice.texts)
            for choice in self._choices.values()
            for number in choice.texts
        ]
        blocks.sort(key=itemgetter(0), reverse=True)
        self._size = size = 0
        for number, texts in blocks:
            size += _OF_A_BLOCK + len(texts[number].body)
            if size <= MOST_RECENT // 2:
                self._size = size
            else:
                del texts[number]
                self._first_kept = max(self._first_kept, number + 1)
        self._last_block = -1

    def _delta(self, event: events.TextDelta | events.ReasoningDelta) -> None:
        building = self._last
        if event.block != self._last_block:
            building = self._begin(event)
        if building is not None:
            self._append(building, event.text)

    def _append(self, building: _Building, text: str) -> None:
        data = text.encode("utf-8", "surrogatepass")
        building.body += data
        self._size += len(data)
        if self._size > self._most:
            self._forget()

    def extend(self, choice: int, block: int, text: str) -> None:
        """Adds text to a block that has begun."""
        building = self._choices[choice].texts.get(block)
        if building is not None:
            self._append(building, text)

    def _begin(
        self, event: events.TextDelta | events.ReasoningDelta
    ) -> _Building | None:
        """The block of a delta, remembered because most deltas continue it."""
        is_reasoning = isinstance(event, events.ReasoningDelta)
        channel: events.ChannelName = "reasoning" if is_reasoning else "text"
        building = self._building(event.choice, event.block, channel)
        if building is None:
            pass
        elif isinstance(event, events.ReasoningDelta):
            building.source = event.source
        else:
            building.refusal = building.refusal or event.refusal
        self._last, self._last_block = building, event.block
        return building

    def _block_end(self, event: events.BlockEnd) -> None:
        has_state = event.signature is not None or event.opaque is not None
        if not has_state and event.block not in self._choices[event.choice].texts:
            return  # the end of a block that was retracted
        building = self._building(event.choice, event.block, event.channel)
        if building is None:
            return
        for name, value in zip(_STATE, _state_of(event), strict=True):
            if value is not None:  # without parts it is enough to know that it came
                building.state[name] = value if self.parts else None

    def _reclassify(self, event: events.Reclassify) -> None:
        texts = self._choices[event.choice].texts
        for building in filter(None, map(texts.get, event.blocks)):
            building.channel = event.to

    def _retract(self, event: events.Retract) -> None:
        choice = self._choices[event.choice]
        for block in event.blocks:
            choice.texts.pop(block, None)
            choice.calls.pop(block, None)

    def replace_call(self, event: events.ToolCall) -> None:
        """Adds a call, or replaces a provisional call with its final state."""
        assert event.block is not None
        self._choices[event.choice].calls[event.block] = event

    def _result(self, event: events.ToolResult) -> None:
        self._choices[event.choice].results[event.block] = event

    def _citation(self, event: events.Citation) -> None:
        self._choices[event.choice].citations.append(event)

    def _error(self, event: events.ProviderError) -> None:
        self._choices[event.choice].errors.append(event)

    def _count(self, event: events.Usage) -> None:
        self._usage = event

    def _describe(self, event: events.Metadata) -> None:
        if self.metadata is None:
            self.metadata = event
            return
        values = {
            field.name: value
            for field in fields(events.Metadata)
            if (value := getattr(event, field.name)) is not None
        }
        self.metadata = evolve(self.metadata, **values)

    def _finish(self, event: events.Finish) -> None:
        self._choices[event.choice].finish = event


_FOLDS: dict[type, Any] = {
    events.TextDelta: MessageBuilder._delta,
    events.ReasoningDelta: MessageBuilder._delta,
    events.BlockEnd: MessageBuilder._block_end,
    events.Reclassify: MessageBuilder._reclassify,
    events.Retract: MessageBuilder._retract,
    events.ToolCall: MessageBuilder.replace_call,
    events.ToolResult: MessageBuilder._result,
    events.Citation: MessageBuilder._citation,
    events.ProviderError: MessageBuilder._error,
    events.Usage: MessageBuilder._count,
    events.Metadata: MessageBuilder._describe,
    events.Finish: MessageBuilder._finish,
}
