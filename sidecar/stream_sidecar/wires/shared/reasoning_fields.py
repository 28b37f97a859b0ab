"""Reasoning in the fields of a turn's message, as its provider accepts it.

The text moves to the field that the rule names. An empty field is added if the rule
requires one.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from stream_sidecar.wires.shared.fields import first_text
from stream_sidecar.wires.shared.item_cleaning import ItemCleaner
from stream_sidecar.wires.shared.request_rules import seller

if TYPE_CHECKING:
    from stream_sidecar.parts import Json, JsonObject
    from stream_sidecar.wires.shared.item_cleaning import Cleaning

CHUNKS = "content.thinking"
"""The "field" of a rule whose provider has reasoning as parts of the content."""


class ReasoningFields(ItemCleaner):
    """Cleans the reasoning of the model's messages. ``plain``: the wire's fields with
    reasoning as text; ``states``: those with state; ``routers``: those that only
    routers send, and take back. ``_has_called``: a message so far has calls."""

    def __init__(
        self,
        cleaning: Cleaning,
        plain: tuple[str, ...],
        states: tuple[str, ...] = (),
        routers: frozenset[str] = frozenset(),
    ) -> None:
        super().__init__(cleaning)
        self.plain, self.states, self.routers = plain, states, routers
        self._has_called = False

    def clean(self, message: JsonObject) -> JsonObject:
        if self.cleaning.shape.role(message) != "model":
            return message
        return self._with_required(self._in_allowed_fields(message))

    def _in_allowed_fields(self, message: JsonObject) -> JsonObject:
        """The message with its reasoning only in the fields that may be sent."""
        if self._is_of_router and not self.routers.isdisjoint(message):
            return message
        names = [name for name in (*self.plain, *self.states) if name in message]
        has_calls = bool(message.get("tool_calls"))
        if reason := self.cleaning.why_no_reasoning(has_calls=has_calls):
            for name in names:
                if message[name]:
                    self.cleaning.lose(f"/{name}", "reasoning", reason)
            return without(message, names)
        rule, text = self.cleaning.rule, first_text(message, self.plain)
        if rule.field != CHUNKS and rule.field not in self.plain:
            return message
        dropped = [name for name in names if name != rule.field]
        dropped = [name for name in dropped if rule.is_only or name in self.plain]
        if not dropped:
            return message
        body = without(message, dropped)
        if rule.field == CHUNKS:
            return body | ({"content": _thinking(text, body)} if text else {})
        return body if rule.field in body or not text else body | {rule.field: text}

    @cached_property
    def _is_of_router(self) -> bool:
        """Whether the server may be a router: the model's row does not bind it."""
        is_known = self.cleaning.rule.provider.pattern or seller(self.cleaning.provider)
        return not is_known and self.cleaning.reasoning != "none"

    def _with_required(self, message: JsonObject) -> JsonObject:
        """Adds an empty field of reasoning if the rule requires it in this turn."""
        rule, has_calls = self.cleaning.rule, bool(message.get("tool_calls"))
        self._has_called = self._has_called or has_calls
        is_due = has_calls or (rule.required == "turns" and self._has_called)
        is_due = is_due and bool(rule.required) and self.cleaning.reasoning != "none"
        names = (*self.plain, rule.field or "")
        if not is_due or any(message.get(name) is not None for name in names):
            return message
        name = rule.field if rule.field in self.plain else self.plain[0]
        return {**message, name: ""}


def without(message: JsonObject, names: list[str]) -> JsonObject:
    """``message`` without its members ``names``; the same object if there are none."""
    return {n: message[n] for n in message if n not in names} if names else message


def _thinking(text: str, message: JsonObject) -> list[Json]:
    """Mistral's content: a chunk with the reasoning ``text`` before the answer."""
    content = message.get("content")
    chunks: list[Json] = [{"type": "text", "text": content}] if content else []
    chunks = content if isinstance(content, list) else chunks
    thought = {"type": "thinking", "thinking": [{"type": "text", "text": text}]}
    return [thought, *chunks]
