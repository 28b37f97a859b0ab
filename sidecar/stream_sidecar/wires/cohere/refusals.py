"""What Cohere refuses in a single message: the wire's cleaner.

Reasoning is in two places, the plan before calls and thoughts in the content.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stream_sidecar.wires.cohere.reader import PLAN, THINKING
from stream_sidecar.wires.shared.fields import type_of
from stream_sidecar.wires.shared.reasoning_fields import ReasoningFields
from stream_sidecar.wires.shared.request_shapes import changed, same

if TYPE_CHECKING:
    from stream_sidecar.parts import Json, JsonObject
    from stream_sidecar.wires.shared.item_cleaning import Cleaning


class CohereCleaner(ReasoningFields):
    """Cleans the messages of one request."""

    def __init__(self, cleaning: Cleaning) -> None:
        super().__init__(cleaning, (PLAN,))

    def clean(self, message: JsonObject) -> JsonObject:
        content, cleaning = message.get("content"), self.cleaning
        why = cleaning.why_no_reasoning(has_calls=bool(message.get("tool_calls")))
        if why and isinstance(content, list):
            kept: list[Json] = []
            for number, part in enumerate(content):
                if isinstance(part, dict) and type_of(part) == THINKING:
                    cleaning.lose(f"/content/{number}", "reasoning", why)
                else:
                    kept.append(part)
            message = changed(message, {"content": same(content, kept)})
        return super().clean(message)
