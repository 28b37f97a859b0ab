"""Which events the official SDKs can join to those before them.

The SDKs keep the blocks of the one message in a list, in the order in which they begin,
and find them by ``index`` (anthropic-sdk-python, ``lib/streaming/_messages.py``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stream_sidecar.wires.shared.row import SdkRules

if TYPE_CHECKING:
    from stream_sidecar.parts import Json, JsonObject

_DELTAS = {
    "text_delta": ("text",),
    "citations_delta": ("text",),
    "thinking_delta": ("thinking",),
    "signature_delta": ("thinking",),
    "input_json_delta": ("tool_use", "server_tool_use", "mcp_tool_use"),
}
"""The deltas that the SDKs join -> the types of the blocks to which they join them."""


class MessagesSdkRules(SdkRules):
    """Looks at all events of one stream, in their order."""

    def __init__(self) -> None:
        self._has_begun = False
        self._blocks: list[str] = []  # the type of each

    def allows(self, event: JsonObject) -> bool:
        """Whether the SDKs read from ``event`` what it says."""
        kind = event.get("type")
        if kind in ("error", "ping"):
            return True
        if kind == "message_start":
            has_begun, self._has_begun = self._has_begun, True
            message = event.get("message")
            return not has_begun and _is_counted(message)
        if not self._has_begun:
            return False
        if kind == "content_block_start":
            return self._begins(event)
        if kind == "content_block_delta":
            return self._goes_on(event)
        if kind == "content_block_stop":
            return self._block_of(event) is not None
        return kind != "message_delta" or (
            type(event.get("delta")) is dict and _is_counted(event)
        )

    def _begins(self, event: JsonObject) -> bool:
        block, number = event.get("content_block"), len(self._blocks)
        kind = block.get("type") if type(block) is dict else None
        self._blocks.append(str(kind))
        return kind is not None and event.get("index") == number

    def _goes_on(self, event: JsonObject) -> bool:
        delta, block = event.get("delta"), self._block_of(event)
        kind = delta.get("type") if type(delta) is dict else None
        return block is not None and block in _DELTAS.get(str(kind), (block,))

    def _block_of(self, event: JsonObject) -> str | None:
        index = event.get("index")
        if type(index) is not int or not 0 <= index < len(self._blocks):
            return None
        return self._blocks[index]


def _is_counted(holder: Json) -> bool:
    """Whether the counts are there, and are counts: the SDKs take them as they are."""
    usage = holder.get("usage") if type(holder) is dict else None
    return type(usage) is dict and not any(
        type(count) is int and count < 0 for count in usage.values()
    )
