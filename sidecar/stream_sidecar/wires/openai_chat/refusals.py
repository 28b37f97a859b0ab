"""What providers of Chat Completions refuse in a single message: the wire's cleaner."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stream_sidecar.wires.openai_chat.reasoning import (
    REASONING_FIELDS,
    TEXTS,
    fields_that_hold,
)
from stream_sidecar.wires.requests.issuers import BLOCKS
from stream_sidecar.wires.requests.seals import is_thought, signature_of
from stream_sidecar.wires.shared.item_cleaning import (
    UNSIGNED,
    ItemCleaner,
    without_nulls,
)
from stream_sidecar.wires.shared.reasoning_fields import ReasoningFields, without
from stream_sidecar.wires.shared.request_shapes import changed, same

if TYPE_CHECKING:
    from stream_sidecar.parts import Json, JsonObject
    from stream_sidecar.wires.shared.item_cleaning import Cleaning

_STATES = (*fields_that_hold("state"), *fields_that_hold("blocks"))
_ROUTERS = frozenset(row.name for row in REASONING_FIELDS if row.is_routers)

_MAY_BE_NULL = frozenset(("content", "refusal", "audio", "function_call"))
"""Members of OpenAI's messages that may be null (openai-python, types/chat/
chat_completion_assistant_message_param.py). Other providers know the first alone."""

TEXT_ALONE = "this provider accepts only text"


class ChatCleaner(ItemCleaner):
    def __init__(self, cleaning: Cleaning) -> None:
        super().__init__(cleaning)
        self._reasoning = ReasoningFields(cleaning, TEXTS, _STATES, _ROUTERS)

    def clean(self, message: JsonObject) -> JsonObject:
        rule = self.cleaning.rule
        refuses = rule.refuses
        if "nulls" in refuses:
            names = _MAY_BE_NULL if rule.has_refusals else frozenset(("content",))
            message = without_nulls(message, names, {"tool_calls": ()})
        if "null-content" in refuses:  # such servers want strings for ids, too
            message = _without_null_ids(message)
        content = message.get("content")
        is_models = self.cleaning.shape.role(message) == "model"
        is_refused = "lists" in refuses or ("models-lists" in refuses and is_models)
        is_refused = is_refused or ("empty-lists" in refuses and not content)
        if isinstance(content, list) and is_refused:
            message = {**message, "content": self._joined(content)}
        is_bare = content is None and not is_models
        is_missing = "missing-content" in refuses and "content" not in message
        if ("null-content" in refuses and is_bare) or is_missing:
            message = {**message, "content": ""}
        if not is_models:
            return message
        message = self._reasoning.clean(self._signed_thinking(message))
        if "empty-calls" in refuses and message.get("tool_calls") == []:
            message = without(message, ["tool_calls"])
        return self._stand_in(message)

    def _joined(self, content: list[Json]) -> str:
        values = [part.get("text") for part in content if isinstance(part, dict)]
        texts = [text for text in values if isinstance(text, str)]
        if len(texts) < len(content):
            self.cleaning.lose("/content", "text", TEXT_ALONE)
        return "\n".join(texts)

    def _signed_thinking(self, message: JsonObject) -> JsonObject:
        """A message without blocks of LiteLLM's that Claude refuses unsigned."""
        if self.cleaning.maker != "anthropic":
            return message
        message = self.cleaning.without_reasoning(message, BLOCKS, _why_unsigned)
        return without(message, [BLOCKS] if message.get(BLOCKS) == [] else [])

    def _stand_in(self, message: JsonObject) -> JsonObject:
        """Adds the rule's stand-in signature to the first call, if it has none."""
        stand_in, calls = self.cleaning.rule.stand_in, message.get("tool_calls")
        if not stand_in or not isinstance(calls, list) or not calls:
            return message
        call, *others = calls
        if not isinstance(call, dict) or call.get("extra_content"):
            return message
        signed = {**call, "extra_content": {"google": {"thought_signature": stand_in}}}
        return {**message, "tool_calls": [signed, *others]}


def _why_unsigned(block: Json) -> str:
    return UNSIGNED if is_thought(block) and not signature_of(block) else ""


def _without_null_ids(message: JsonObject) -> JsonObject:
    """A message whose calls, or whose result, have no ``null`` for an id."""
    if message.get("tool_call_id", "") is None:
        message = without(message, ["tool_call_id"])
    calls = message.get("tool_calls")
    if not isinstance(calls, list):
        return message
    news = [
        without(call, ["id"])
        if isinstance(call, dict) and call.get("id", "") is None
        else call
        for call in calls
    ]
    return changed(message, {"tool_calls": same(calls, news)})
