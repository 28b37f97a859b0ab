"""What Google refuses in a single content: the wire's cleaner."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stream_sidecar.wires.gemini.content import SIGNATURES
from stream_sidecar.wires.shared.fields import first_text
from stream_sidecar.wires.shared.item_cleaning import NO_BASE64, ItemCleaner
from stream_sidecar.wires.shared.reasoning_fields import without
from stream_sidecar.wires.shared.rendering import is_base64
from stream_sidecar.wires.shared.request_shapes import changed, held, same

if TYPE_CHECKING:
    from stream_sidecar.parts import Json, JsonObject


class GeminiCleaner(ItemCleaner):
    def clean(self, content: JsonObject) -> JsonObject:
        if content.get("role") == "function":
            content = {**content, "role": "user"}
        parts = content.get("parts")
        if not isinstance(parts, list):
            return content
        new_parts = [new_part for part in parts if (new_part := self._part(part)) != {}]
        if self.cleaning.shape.role(content) == "model":
            new_parts = self._signed(new_parts)
        return changed(content, {"parts": same(parts, new_parts)})

    def _part(self, part: Json) -> Json:
        signature = first_text(part, SIGNATURES) if isinstance(part, dict) else ""
        if not isinstance(part, dict) or not signature or is_base64(signature):
            return part
        self.cleaning.lose("", "state", NO_BASE64)
        return without(part, [*SIGNATURES])

    def _signed(self, parts: list[Json]) -> list[Json]:
        """The parts with the rule's stand-in on the first call without a signature."""
        stand_in, word = self.cleaning.rule.stand_in, self.cleaning.shape.call
        calls = (number for number, part in enumerate(parts) if held(part, word))
        number = next(calls, None)
        if number is None or not stand_in:
            return parts
        call = parts[number]
        assert isinstance(call, dict)
        if first_text(call, SIGNATURES):
            return parts
        signed = {**call, "thoughtSignature": stand_in}
        return [*parts[:number], signed, *parts[number + 1 :]]
