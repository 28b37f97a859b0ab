"""What the wires share whose answers are content blocks: open blocks and calls.

Not a wire: a helper of ``anthropic``, ``bedrock-converse`` and ``cohere``. A wire is a
`BlockWire` with a table of readers.
"""

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
"""The provider's number of a block, with a name where there are several counts."""

_BARE = frozenset(("message", "__type", "code", "id"))
"""Bodies of AWS's and Cohere's errors have no more than this (4.1)."""


@define
class ContentBlock:
    """A content block while it is open.

    ``key`` is its number in the stream: a provider's index starts again with every
    message, and some gateways give all blocks the same. ``item`` is what the wire has
    to give at its end. ``after``: the key of a call that ended at the same place.
    """

    key: int
    after: int | None = None
    is_call: bool = False
    #: its arguments came whole: what follows can only repeat them
    is_full: bool = False
    item: JsonObject = field(factory=dict)


class BlockWire(DocumentWire):
    """Knows which blocks are open.

    Of blocks that are no calls one at most is: when another begins, it is over, with or
    without a word of the provider.
    """

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
        """The message is over: calls that are still open were cut off."""
        for index, block in list(self._open.items()):
            if block.is_call:
                del self._open[index]
                self.parts.append(CallEndPart(key=block.key, cut=True))
            else:
                self.stop(index)
        self._ended.clear()

    def last(self, _block: ContentBlock) -> list[Part]:
        """What is to be given of a block that is over and no call."""
        return []

    # Blocks

    def index(self, holder: JsonObject, name: str = "index") -> int:
        """The provider's index; without one it can only be the latest block."""
        index = self.number(holder, name)
        if index is not None:
            return index
        return self._latest if isinstance(self._latest, int) else self._latest[1]

    def block(self, index: Index) -> ContentBlock:
        """The block at ``index``; some providers do not say that it begins."""
        block = self._open.get(index)
        return self.start(index) if block is None else block

    def start(self, index: Index) -> ContentBlock:
        """A block begins; the one at its place, and one of text, is over."""
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

    def call(self, block: ContentBlock, arguments: Json, **reported: Json) -> None:
        """A call begins (with what is ``reported`` of it) or goes on.

        ``arguments`` are a fragment of text, or the whole as a value; ``{}`` stands
        before fragments and says nothing.
        """
        if not (block.is_call or reported) and block.after is not None and arguments:
            # Behind the end of its block: the call with that key knows it, or not.
            again = arguments if isinstance(arguments, str) else dumps(arguments)
            self.parts.append(CallPart(key=block.after, arguments=again))
            return
        block.is_call = True
        is_text = isinstance(arguments, str)
        if arguments and block.is_full:
            message = "arguments after the whole arguments of a call"
            part = DiagnosticPart("duplicate-tool-call", message, "info", arguments)
            self.parts.append(part)
        elif arguments or reported:
            block.is_full = bool(arguments) and not is_text
            given = arguments if is_text else arguments or None
            self.parts.append(CallPart(key=block.key, arguments=given, **reported))
        if reported.get("id") and reported.get("name"):
            self.tools[reported["id"]] = reported["name"]

    def finish(self, holder: JsonObject, name: str) -> None:
        """The raw reason of the end, where ``holder`` has one."""
        if reason := self.text(holder, name):
            self.parts.append(FinishPart(reason, self.row.reason_of(reason)))

    # Access

    def each(self, holder: JsonObject, name: str) -> Iterator[JsonObject]:
        """The one object that ``holder[name]`` is, or the objects of that list."""
        value = holder.get(name)
        if isinstance(value, dict):
            yield value
        else:
            yield from self.objects(holder, name)
