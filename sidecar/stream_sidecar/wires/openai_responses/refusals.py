"""What providers of Responses refuse in an item, after those before it: the cleaner.

What a reasoning item led to needs that item, if it goes by its id; a result needs its
call. An item that cannot go without its id goes whole, and with it what names it. The
others lose only the id (wires/README.md, "Requests"). Never raises for any JSON value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from stream_sidecar.wires.openai_responses.nulls import item_without_nulls
from stream_sidecar.wires.shared.fields import type_of
from stream_sidecar.wires.shared.item_cleaning import NOT_WANTED, ItemCleaner
from stream_sidecar.wires.shared.item_ids import BOUND_TO_ID, is_accepted, is_made
from stream_sidecar.wires.shared.request_shapes import changed, held, same

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stream_sidecar.parts import Json, JsonObject
    from stream_sidecar.wires.shared.item_cleaning import Cleaning
    from stream_sidecar.wires.shared.request_rules import Rule

UNKNOWN_ITEM = "it is no reasoning item, or one neither stored nor encrypted"
UNKNOWN_ID = "the sidecar made this id, so the server has no such item"
NO_CONTENT = "a reasoning item without content is refused"
TWICE = "an item can be sent only once"
TORN = "its reasoning is missing, and it cannot go without its id"
NO_ID = "it cannot go without an id, and has none"
REFUSED_ID = "this provider refuses its id, and it cannot go without one"
WITHOUT_CALL = "the item that it belongs to does not go"

_REASONING, _REFERENCE = "reasoning", "item_reference"
_BY_NAME = ("local_shell_call_output", _REFERENCE)
"""Types of items whose ``id`` names another item."""

_RESULTS = ("_output", "_response")


class ResponsesCleaner(ItemCleaner):
    """Cleans the items of one request. ``_thought``: whether the reasoning of the
    current turn is there. ``absent``: none has come, though the model thinks; ``gone``:
    it was removed. ``_sent``: id -> the item that was sent with it. ``_gone``: what may
    name an item that went whole."""

    def __init__(self, cleaning: Cleaning) -> None:
        super().__init__(cleaning)
        self._thought: Literal["there", "absent", "gone"] = "there"
        self._sent: dict[str, JsonObject] = {}
        self._gone: set[str] = set()

    def note_removed(self) -> None:
        self._thought = "gone"

    def clean(self, item: JsonObject) -> JsonObject | None:
        rule = self.cleaning.rule
        if self.cleaning.shape.role(item) == "user":
            thinks = rule.thinks.search(self.cleaning.model)
            self._thought = "absent" if thinks else "there"
        item = in_shape(rule, item)
        if type_of(item) == _REASONING:
            return self._reasoning(item)
        if type_of(item) == _REFERENCE and is_made(item.get("id")):
            self.cleaning.lose("", "state", UNKNOWN_ID)
            return None
        if not rule.is_closed:
            return item
        if type_of(item) == _REFERENCE and _id(item).startswith("rs_"):
            self._thought = "there"
        return self._other(self._message(item))

    def _other(self, item: JsonObject) -> JsonObject | None:
        kind, id = type_of(item) or "message", _id(item)
        is_bound, has_id = kind in BOUND_TO_ID, isinstance(item.get("id"), str)
        is_led = is_bound or self.cleaning.shape.role(item) == "model"
        if any(name in self._gone for name in _names(item)):
            self._drop(item, WITHOUT_CALL)
            return None
        if is_bound:
            if reason := self._why_not(item, kind, id):
                self._drop(item, reason)
                return None
        elif has_id and kind not in _BY_NAME:
            is_torn = is_led and self._thought != "there"
            if is_torn or id in self._sent or not is_accepted(kind, id):
                item, id = _without_id(item), ""
        elif kind == _REFERENCE and id in self._sent:
            self.cleaning.lose("", "reasoning", TWICE)
            self.note_removed()
            return None
        if id and kind not in _BY_NAME[:1]:
            self._sent[id] = item
        self._gone.discard(_text(item, "call_id"))
        return item

    def _why_not(self, item: JsonObject, kind: str, id: str) -> str:
        if not id:  # OpenAI requires it of a hosted call, not of what belongs to a call
            return NO_ID if kind.endswith("_call") else ""
        if self._thought == "gone":
            return TORN
        if id in self._sent:
            return TWICE
        return "" if is_accepted(kind, id) else REFUSED_ID

    def _drop(self, item: JsonObject, reason: str) -> None:
        """Leaves out an item that cannot go, and notes what may name it."""
        is_result = type_of(item).endswith(_RESULTS)
        self.cleaning.lose("", "tool-result" if is_result else "tool-call", reason)
        self._gone |= {_text(item, "call_id"), _id(item)} - {""}

    def _message(self, item: JsonObject) -> JsonObject:
        """A message with content, and with the model's types of parts in its turns."""
        content = item.get("content", "")
        if type_of(item) not in ("", "message"):
            return item
        if content is None:
            return {**item, "content": ""}
        if not isinstance(content, list) or self.cleaning.shape.role(item) != "model":
            return item
        news: list[Json] = [
            {**part, "type": "output_text"} if held(part, "input_text") else part
            for part in content
        ]
        return changed(item, {"content": same(content, news)})

    def _reasoning(self, item: JsonObject) -> JsonObject | None:
        """A reasoning item, which goes by its encrypted content, or by its id if the
        server has it. Servers of open models send plain content, and no seal."""
        id, is_plain = _id(item), bool(item.get("content"))
        if item.get("summary") is None:
            item = {**item, "summary": []}
        if reason := self._refusal(item, id, is_plain=is_plain):
            self.cleaning.lose("", "reasoning", reason)
            if not is_made(id):
                self.note_removed()
            return None
        self._thought = "there"
        if not self.cleaning.rule.is_closed:
            return item
        if is_plain:
            item = {name: item[name] for name in item if name != "content"}
        if id in self._sent or not _is_own(id):
            return _without_id(item)
        self._sent[id] = item
        return item

    def _refusal(self, item: JsonObject, id: str, *, is_plain: bool) -> str:
        """Why a reasoning item may not be sent; "" if it may."""
        seal, previous = item.get("encrypted_content"), self._sent.get(id, {})
        is_stored = self.cleaning.stores and bool(id) and not is_made(id)
        if self.cleaning.reasoning == "none":
            return NOT_WANTED
        if self.cleaning.rule.is_closed:
            is_stored = is_stored and _is_own(id) and not is_plain and seal != ""
            if id in self._sent and seal == previous.get("encrypted_content"):
                return TWICE
            return "" if seal or (is_stored and id not in self._sent) else UNKNOWN_ITEM
        if "empty-reasoning" in self.cleaning.rule.refuses and not is_plain:
            return NO_CONTENT
        return "" if seal or is_stored or is_plain else UNKNOWN_ITEM


def in_shape(rule: Rule, item: JsonObject) -> JsonObject:
    """``item`` with the members that the provider accepts and requires."""
    if type_of(item) == "web_search_call" and "one-query" in rule.refuses:
        item = _with_queries(item)
    return item_without_nulls(item) if rule.is_closed else item


def _is_own(id: str) -> bool:
    return is_accepted(_REASONING, id) and not is_made(id)


def _text(holder: JsonObject, name: str) -> str:
    value = holder.get(name)
    return value if isinstance(value, str) else ""


def _id(item: JsonObject) -> str:
    return _text(item, "id")


def _names(item: JsonObject) -> Iterator[str]:
    """The ids by which an item names others: its call, the program that made it."""
    kind, caller = type_of(item), item.get("caller")
    if kind.endswith("_output"):
        yield _text(item, "call_id")
    if kind in _BY_NAME:
        yield _id(item)
    yield _text(item, "approval_request_id")
    if isinstance(caller, dict):
        yield _text(caller, "caller_id")


def _without_id(item: JsonObject) -> JsonObject:
    return {name: item[name] for name in item if name != "id"} if "id" in item else item


def _with_queries(item: JsonObject) -> JsonObject:
    """A search with the list that DeepSeek requires (lidge-jun/opencodex#929)."""
    action = item.get("action")
    if not isinstance(action, dict) or type_of(action) != "search":
        return item
    if isinstance(action.get("queries"), list):
        return item
    query = action.get("query")
    queries = [query] if isinstance(query, str) else []
    return {**item, "action": {**action, "queries": queries}}
