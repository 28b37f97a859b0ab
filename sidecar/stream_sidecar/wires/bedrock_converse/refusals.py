"""What Bedrock refuses in a single message: the wire's cleaner."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stream_sidecar.wires.shared.block_cleaning import BlockCleaner, is_blank_text
from stream_sidecar.wires.shared.rendering import text_of
from stream_sidecar.wires.shared.request_shapes import changed, same

if TYPE_CHECKING:
    from stream_sidecar.parts import Json, JsonObject


class BedrockCleaner(BlockCleaner):
    def clean(self, message: JsonObject) -> JsonObject:
        shape = self.cleaning.shape
        return super().clean(shape.change_answers(message, _accepted) or message)


def _accepted(answer: JsonObject) -> JsonObject:
    """A tool's answer without blank texts, never empty, and with other JSON as text."""
    content = answer.get("content")
    if not isinstance(content, list):
        return answer
    parts = [_as_text(part) for part in content if not is_blank_text(part)]
    return changed(answer, {"content": same(content, parts or [{"json": {}}])})


def _as_text(part: Json) -> Json:
    if not isinstance(part, dict) or isinstance(part.get("json", {}), dict):
        return part
    return {"text": text_of(part["json"])}
