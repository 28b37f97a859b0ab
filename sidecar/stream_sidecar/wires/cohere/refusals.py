"""What Cohere refuses in a single message: the wire's cleaner."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stream_sidecar.wires.cohere.reader import PLAN, THINKING
from stream_sidecar.wires.shared.fields import type_of
from stream_sidecar.wires.shared.reasoning_fields import ReasoningFields

if TYPE_CHECKING:
    from stream_sidecar.parts import Json, JsonObject
    from stream_sidecar.wires.shared.item_cleaning import Cleaning


class CohereCleaner(ReasoningFields):
    def __init__(self, cleaning: Cleaning) -> None:
        super().__init__(cleaning, (PLAN,))

    def clean(self, message: JsonObject) -> JsonObject:
        has_calls = bool(message.get("tool_calls"))
        reason = self.cleaning.why_no_reasoning(has_calls=has_calls)

        def why_not(part: Json) -> str:
            is_thought = isinstance(part, dict) and type_of(part) == THINKING
            return reason if is_thought else ""

        message = self.cleaning.without_reasoning(message, "content", why_not)
        return super().clean(message)
