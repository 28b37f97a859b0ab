"""The blocks of one choice: which block is open, and what ends it.

A block ends when the channel (or the source of reasoning) changes, and where the caller
ends it. Provider state of native reasoning (signatures, encrypted reasoning) is sent in
the ``block-end`` of its block. If the state comes late, it is sent in a further
``block-end``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from stream_sidecar.events import BlockEnd, ReasoningDelta, TextDelta
from stream_sidecar.records import define, field

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from stream_sidecar.events import ChannelName, Span
    from stream_sidecar.message.outlet import Outlet

ReasoningSource: TypeAlias = Literal["native", "tag"]


_MOST_REMOVED = 1 << 20
"""The most code points of `Removals`; each removal counts for `_OF_ONE` more."""

_OF_ONE = 128


@define
class Removals:
    """What cleaning took out of a block, with its positions in the cleaned text. Too
    many removals are forgotten: ``places`` is None."""

    places: list[tuple[int, str]] | None = field(factory=list)
    _size: int = 0

    def add(self, position: int, text: str) -> None:
        self._size += len(text) + _OF_ONE
        if self._size > _MOST_REMOVED:
            self.places = None
        elif self.places is not None:
            self.places.append((position, text))

    def undo(self, text: str | None) -> str | None:
        """The original of the cleaned ``text``; None if a part of it was forgotten."""
        if text is None or self.places is None:
            return None
        parts, end = [], 0
        for position, removed in self.places:
            parts += [text[end:position], removed]
            end = position
        return "".join([*parts, text[end:]])


@define
class OpenBlock:
    """A block that is or was open. ``size``: its code points so far. ``fields``: the
    provider's fields in which its text came. ``sent_opaque``: the last ``opaque`` that
    was sent.

    ``removed``: what cleaning took out of the block, until the original text is sent.
    """

    number: int
    channel: ChannelName
    source: ReasoningSource | None
    fields: Collection[str] = ()
    size: int = 0
    signature: str | None = None
    opaque: Any = None
    sent_opaque: Any = None
    removed: Removals | None = None


class Blocks:
    """Sends the deltas of a choice; begins and ends its blocks."""

    def __init__(self, choice: int, outlet: Outlet) -> None:
        self.choice = choice
        self.outlet = outlet
        self.open: OpenBlock | None = None
        #: the text belongs to a refusal
        self.refuses: bool | None = None
        self._native: OpenBlock | None = None  # the last block of native reasoning
        self._removed: Removals | None = None  # before the block began

    def text(self, text: str, span: Span | None) -> int:
        block = self._ready("text", None)
        block.size += len(text)
        seq = self.outlet.seq + 1
        values = seq, self.choice, block.number, text, span, self.refuses
        self.outlet.delta(TextDelta(*values))
        return block.number

    def reasoning(
        self,
        text: str,
        source: ReasoningSource,
        span: Span | None,
        fields: Collection[str] = (),
    ) -> int:
        """Sends a reasoning delta, and returns the number of its block. ``fields``: the
        provider's fields in which the text came; the collection may still grow."""
        block = self._ready("reasoning", source, fields)
        block.size += len(text)
        seq, number = self.outlet.seq + 1, block.number
        self.outlet.delta(ReasoningDelta(seq, self.choice, number, text, source, span))
        return number

    @property
    def native(self) -> Callable[[int, str], ReasoningDelta]:
        """Makes a delta of the open block, native reasoning, from ``seq`` and text."""
        assert self.open is not None  # a run belongs to it
        choice, number = self.choice, self.open.number
        return lambda seq, text: ReasoningDelta(seq, choice, number, text, "native")

    def extend(self, text: str) -> None:
        """Adds ``text``, which has been sent, to the open block."""
        block = self.open
        assert block is not None  # a run belongs to it
        block.size += len(text)
        self.outlet.builder.extend(self.choice, block.number, text)

    def _ready(
        self,
        channel: ChannelName,
        source: ReasoningSource | None,
        fields: Collection[str] = (),
    ) -> OpenBlock:
        block = self.open
        if block is not None:
            if block.channel == channel and block.source == source:
                return block
            self.end()
        outlet = self.outlet
        number = outlet.native_block() if source == "native" else outlet.block()
        block = self.open = OpenBlock(number, channel, source, fields)
        if source == "native":
            block.removed, self._removed = self._removed, None
            self._native = block
        return block

    def removed(self, text: str) -> None:
        """Notes that cleaning took ``text`` out of the native reasoning."""
        block = self.open
        if block is not None and block.source == "native":
            block.removed = block.removed or Removals()
            block.removed.add(block.size, text)
        else:
            self._removed = self._removed or Removals()
            self._removed.add(0, text)

    def end(self) -> None:
        block, self.open = self.open, None
        if block is not None:
            self._send_end(block)

    def end_native(self) -> None:
        if self.is_native_open:
            self.end()

    def begin_native(self) -> None:
        """Lets the next native reasoning begin a new block."""
        self.end_native()
        self._native = None

    def state(self, signature: str | None, opaque: Any, field: str | None) -> None:
        """Adds provider state to the last block of native reasoning. If there is no
        such block, or it has an ``opaque`` already, adds the state to a new block
        without text, which came in ``field``."""
        block = self._native
        if block is None or (opaque is not None and block.opaque is not None):
            self.end()
            fields = () if field is None else (field,)
            number = self.outlet.native_block()
            block = OpenBlock(number, "reasoning", "native", fields)
            self._native = block
        block.signature = signature or block.signature
        if opaque is not None:
            block.opaque = opaque
        if block is not self.open:
            self._send_end(block)

    @property
    def is_native_open(self) -> bool:
        return self.open is not None and self.open.source == "native"

    @property
    def signed(self) -> bool:
        """Whether the open block is native reasoning and has its signature."""
        block = self.open
        return block is not None and block is self._native and bool(block.signature)

    def _send_end(self, block: OpenBlock) -> None:
        """Sends the end of ``block``. State may come late and repeatedly, so a further
        end has no ``opaque`` that was sent before."""
        opaque = None if block.opaque is block.sent_opaque else block.opaque
        block.sent_opaque = block.opaque
        has_state = bool(block.signature or opaque is not None)
        raw_text = None
        if block.signature and block.removed is not None:
            raw_text = self._raw_text(block, block.removed)
            block.removed = None
        self.outlet.send(
            BlockEnd,
            self.choice,
            block.number,
            block.channel,
            block.signature,
            opaque,
            raw_text,
            tuple(block.fields) or None,
            (has_state and block.number in self.outlet.broken) or None,
        )

    def _raw_text(self, block: OpenBlock, removed: Removals) -> str | None:
        """The text of ``block`` with all that cleaning took out of it. None if that was
        forgotten: then nobody can show the provider what it signed."""
        raw_text = removed.undo(self.outlet.builder.any_text(self.choice, block.number))
        if raw_text is None and self.outlet.binds():
            self.outlet.broken.add(block.number)
        return raw_text
