"""Which events the official SDKs can join to those before them.

The SDKs ask for ``response.created`` before all others, find an item by its
``output_index`` and a part of its content by ``content_index``, and fail if an item or
the response gets another id (openai-python, ``lib/streaming/responses``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stream_sidecar.records import define, field
from stream_sidecar.wires.shared.row import SdkRules

if TYPE_CHECKING:
    from stream_sidecar.parts import Json, JsonObject

_LIFE = frozenset(
    (
        "response.created",
        "response.queued",
        "response.in_progress",
        "response.completed",
        "response.failed",
        "response.incomplete",
    )
)
_OF_A_TYPE = {
    "response.output_text.": "message",
    "response.refusal.": "message",
    "response.function_call_arguments.": "function_call",
    "response.custom_tool_call_input.": "custom_tool_call",
    "response.reasoning_": "reasoning",
}
"""How events of an item begin -> the item's type."""


@define
class _Item:
    """An item that has begun: its type, id and call's id, and how many parts of content
    it has."""

    kind: str
    id: Json
    call_id: Json
    parts: int = 0
    is_done: bool = False


@define
class ResponsesSdkRules(SdkRules):
    """Looks at all events of one stream, in their order."""

    _id: Any = None  # of the response, once it is created
    _has_begun: bool = False
    _items: dict[int, _Item] = field(factory=dict)

    def allows(self, event: JsonObject) -> bool:
        """Whether the SDKs read from ``event`` what it says."""
        kind, response = str(event.get("type")), event.get("response")
        if kind in _LIFE:
            return type(response) is dict and self._lives(kind, response)
        if event.get("error"):
            return True
        if not self._has_begun:
            return False
        if kind == "response.output_item.added":
            return self._begins(event)
        if "output_index" not in event:
            return not kind.startswith(tuple(_OF_A_TYPE))
        return self._goes_on(kind, event)

    def _lives(self, kind: str, response: JsonObject) -> bool:
        if kind == "response.created":
            self._id, had_begun = response.get("id"), self._has_begun
            self._has_begun = True
            return not had_begun and not response.get("output")
        if not self._has_begun or response.get("id") != self._id:
            return False
        return kind != "response.completed" or self._is_whole(response.get("output"))

    def _is_whole(self, output: Json) -> bool:
        """Whether the final items are those that were streamed."""
        finals = output if type(output) is list else []
        known = {_identity(item) for item in finals}
        return output is None or all(
            (each.kind, each.id, each.call_id) in known for each in self._items.values()
        )

    def _begins(self, event: JsonObject) -> bool:
        index, item = event.get("output_index"), event.get("item")
        if type(index) is not int or type(item) is not dict or index in self._items:
            return False
        content = item.get("content")
        parts = len(content) if type(content) is list else 0
        self._items[index] = _Item(*_identity(item), parts)
        kind, _, call = _identity(item)
        alike = [each for each in self._items.values() if each.kind == kind]
        is_repeated = call is not None and [*(e.call_id for e in alike)].count(call) > 1
        return bool(item.get("id")) and not is_repeated

    def _goes_on(self, kind: str, event: JsonObject) -> bool:
        index = event.get("output_index")
        item = self._items.get(index) if type(index) is int else None
        if item is None:
            return False
        if kind == "response.output_item.done":
            item.is_done = True
            return _identity(event.get("item")) == (item.kind, item.id, item.call_id)
        if event.get("item_id", item.id) != item.id:
            return False
        if kind == "response.content_part.added":
            item.parts += 1
            return event.get("content_index") == item.parts - 1
        if kind.startswith(("response.output_text.", "response.refusal.")):
            part = event.get("content_index")
            if type(part) is not int or not 0 <= part < item.parts:
                return False
        begins = (start for start in _OF_A_TYPE if kind.startswith(start))
        return all(_OF_A_TYPE[start] == item.kind for start in begins)


def _identity(item: Json) -> tuple[str, Json, Json]:
    """Type, id and id of the call of an item."""
    if type(item) is not dict:
        return "", None, None
    return str(item.get("type")), item.get("id"), item.get("call_id")
