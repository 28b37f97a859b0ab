"""What a writer has begun and not ended: the bookkeeping of all writers.

An item is what the wire makes of it: a content block, an output item, a call in a list.
Text or reasoning is open until another item begins, a call until it is complete. A call
that the provider ran may stay open until its result, which may come before the call.
"""

from __future__ import annotations

from enum import Enum, auto
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from stream_sidecar.events import ToolCall, ToolCallDelta, ToolResult

Item = TypeVar("Item")
Served = TypeVar("Served")


class Arguments(Enum):
    """How much of a call's arguments was written."""

    NOTHING = auto()
    AN_EMPTY_OBJECT = auto()  # it came, and waits (`OpenItems.fragment`)
    SOME = auto()


class OpenItems(Generic[Item, Served]):
    """The items of one answer: an ``Item`` is text, reasoning or a call for the client,
    ``Served`` a call that the provider ran.

    ``count``: how many began. ``current``: the open item of text or reasoning, with its
    ``block``; None if none is open. ``calls``: block -> open call. ``served``: id ->
    the provider's call. ``whole_calls`` and ``cut_calls``: how many of the client's
    calls were complete, or were not.
    """

    def __init__(self) -> None:
        self.count = 0
        self.current: Item | None = None
        self.block = -1
        self.calls: dict[int, Item] = {}
        self.served: dict[str, Served] = {}
        self.whole_calls = self.cut_calls = 0
        self._early: dict[str, ToolResult] = {}
        self._arguments: dict[int, Arguments] = {}

    def next_index(self) -> int:
        """The index of an item that begins now."""
        self.count += 1
        return self.count - 1

    # Text and reasoning

    def current_of(self, block: int) -> Item | None:
        """The open item if it is that of ``block``."""
        return self.current if self.block == block else None

    def open_current(self, block: int, item: Item) -> None:
        self.block, self.current = block, item

    def take_current(self) -> Item | None:
        """The open item, which ends now."""
        item, self.current = self.current, None
        return item

    # Calls

    def fragment(self, event: ToolCallDelta) -> str:
        """The part of a fragment of arguments that can be written now. An empty object
        waits until the call is complete: its arguments may have been cut off."""
        block, text = event.block, event.arguments_delta
        amount = self._arguments.get(block, Arguments.NOTHING)
        if amount is Arguments.AN_EMPTY_OBJECT:
            text = "{}" + text
        if amount is not Arguments.SOME and text == "{}":
            self._arguments[block] = Arguments.AN_EMPTY_OBJECT
            return ""
        if text:
            self._arguments[block] = Arguments.SOME
        return text

    def end_call(self, call: ToolCall) -> tuple[Item | None, str]:
        """The open item of a complete call, which ends now, and further arguments."""
        assert call.block is not None  # every call of a stream has one
        if call.executor != "server" and call.state == "complete":
            self.whole_calls += 1
        elif call.executor != "server":
            self.cut_calls += 1
        is_begun = self._arguments.get(call.block) is Arguments.SOME
        arguments = "" if is_begun else arguments_of(call)
        return self.calls.pop(call.block, None), arguments

    # Calls that the provider ran

    def serve(self, id: str, item: Served) -> ToolResult | None:
        """Opens the item of such a call. Its result, if this came before."""
        self.served[id] = item
        return self._early.pop(id, None)

    def keep_early(self, result: ToolResult) -> None:
        """Keeps a result that came before its call."""
        self._early[result.tool_call_id or ""] = result


def arguments_of(call: ToolCall) -> str:
    """The raw arguments of a call. Arguments of an incomplete call must never look
    complete: empty ones become ``{``."""
    is_lost = call.state != "complete" and call.arguments in ("", "{}")
    return "{" if is_lost else call.arguments
