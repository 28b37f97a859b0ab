"""The base of wires whose answers are content blocks: open blocks and calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from stream_sidecar.parts import (
    BlockEndPart,
    CallEndPart,
    CallPart,
    DiagnosticPart,
    FinishPart,
    JsonObject,
)
from stream_sidecar.records import define, field
from stream_sidecar.values.jsontext import dumps
from stream_sidecar.wires.shared.document_wire import DocumentWire

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stream_sidecar.parts import Json, Part
    from stream_sidecar.wires.shared.row import WireRow

Index: TypeAlias = int | tuple[str, int]
"""The provider's number of a block; with a name if it counts each kind separately."""

_BARE = frozenset(("message", "__type", "code", "id"))
"""Error bodies of AWS and Cohere have only these members."""


@define
class ContentBlock:
    """An open content block.

    ``key``: its number in the stream. The provider's index is no key: it starts again
    with every message, and some gateways send the same index for all blocks. ``item``:
    collects what the wire reports at the block's end. ``after``: the key of a call with
    the same index that ended before.
    """

    key: int
    after: int | None = None
    is_call: bool = False
    #: its arguments came whole: later ones only repeat them
    is_full: bool = False
    item: JsonObject = field(factory=dict)


class BlockWire(DocumentWire):
    """Tracks the open blocks: calls, and at most one other block. This one is over when
    another begins, whether or not the provider says so."""

    def __init__(self, row: WireRow, provider: str | None) -> None:
        super().__init__(row, provider)
        #: id of a call -> its name, for the result that has only the id
        self.tools: dict[str, str] = {}
        self._open: dict[Index, ContentBlock] = {}
        self._ended: dict[Index, int] = {}
        self._latest: Index = 0
        self._count = 0

    def unread(self, value: Json, event: str | None) -> None:
        is_bare = isinstance(value, dict) and value.keys() <= _BARE
        if is_bare and "message" in value and event is None:
            self.fail(value)
        else:
            super().unread(value, event)

    def end(self) -> None:
        """The message is over: any call still open was cut off."""
        for index, block in list(self._open.items()):
            if block.is_call:
                del self._open[index]
                self.parts.append(CallEndPart(key=block.key, cut=True))
            else:
                self.stop(index)
        self._ended.clear()

    def last(self, _block: ContentBlock) -> list[Part]:
        """The parts to add at the end of a block that is no call."""
        return []

    # Blocks

    def index(self, holder: JsonObject, name: str = "index") -> int:
        """The provider's index; without one, that of the latest block."""
        index = self.number(holder, name)
        if index is not None:
            return index
        return self._latest if isinstance(self._latest, int) else self._latest[1]

    def block(self, index: Index) -> ContentBlock:
        """The block at ``index``; begins it if the provider did not say that."""
        block = self._open.get(index)
        return self.start(index) if block is None else block

    def start(self, index: Index) -> ContentBlock:
        """Begins a block. Ends the one at its place, and an open block of text."""
        latest = self._open.get(self._latest)
        if latest is not None and not latest.is_call:
            self.stop(self._latest)
        self.stop(index)
        block = ContentBlock(self._count, self._ended.pop(index, None))
        self._open[index] = block
        self._count += 1
        self._latest = index
        return block

    def stop(self, index: Index) -> None:
        block = self._open.pop(index, None)
        if block is None:
            return
        if block.is_call:
            self._ended[index] = block.key
            self.parts.append(CallEndPart(key=block.key))
        else:
            self.parts += [*self.last(block), BlockEndPart(block=block.key)]

    # Parts that all have

    def call(self, block: ContentBlock, arguments: Json, **fields: Json) -> None:
        """Begins or continues a call. ``fields``: what is known of it. ``arguments``:
        a fragment of text, or a value; ``{}`` before fragments has no meaning."""
        if not (block.is_call or fields) and block.after is not None and arguments:
            # The fragment comes after the end of its call.
            text = arguments if isinstance(arguments, str) else dumps(arguments)
            self.parts.append(CallPart(key=block.after, arguments=text))
            return
        block.is_call = True
        is_text = isinstance(arguments, str)
        if arguments and block.is_full:
            message = "arguments after the whole arguments of a call"
            part = DiagnosticPart("duplicate-tool-call", message, "info", arguments)
            self.parts.append(part)
        elif arguments or fields:
            block.is_full = bool(arguments) and not is_text
            value = arguments if is_text else arguments or None
            self.parts.append(CallPart(key=block.key, arguments=value, **fields))
        if fields.get("id") and fields.get("name"):
            self.tools[fields["id"]] = fields["name"]

    def finish(self, holder: JsonObject, name: str) -> None:
        """Adds the provider's finish reason if ``holder`` has one."""
        if reason := self.text(holder, name):
            self.parts.append(FinishPart(reason, self.row.reason_of(reason)))

    # Access

    def each_object(self, holder: JsonObject, name: str) -> Iterator[JsonObject]:
        """The objects of ``holder[name]``, which is one object or a list of them."""
        value = holder.get(name)
        if isinstance(value, dict):
            yield value
        else:
            yield from self.objects(holder, name)
