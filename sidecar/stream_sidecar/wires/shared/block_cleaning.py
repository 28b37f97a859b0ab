"""Cleans content blocks of Messages and Bedrock: blank texts, and unsigned thinking."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stream_sidecar.wires.shared.fields import first_text, type_of
from stream_sidecar.wires.shared.item_cleaning import NO_BASE64, UNSIGNED, ItemCleaner
from stream_sidecar.wires.shared.rendering import is_base64
from stream_sidecar.wires.shared.request_shapes import changed, same

if TYPE_CHECKING:
    from stream_sidecar.parts import Json, JsonObject

BLANK = "blank text is refused"


class BlockCleaner(ItemCleaner):
    def clean(self, message: JsonObject) -> JsonObject:
        """A message without the refused blocks. If all are refused, the content stays,
        unless a later step removes empty turns."""
        content = message.get("content")
        if not isinstance(content, list):
            return message
        blocks: list[Json] = []
        for number, block in enumerate(content):
            kind, reason = self.why_not(block) if isinstance(block, dict) else ("", "")
            if not reason:
                blocks.append(block)
                continue
            assert isinstance(block, dict)
            self.cleaning.lose(f"/content/{number}", kind, reason)
            # The cache's mark is about all before it, so the block before gets it.
            mark = block.get("cache_control")
            if mark and blocks and isinstance(blocks[-1], dict):
                blocks[-1] = {"cache_control": mark} | blocks[-1]
        if not blocks and "empty-turns" not in self.cleaning.rule.refuses:
            blocks = content
        return changed(message, {"content": same(content, blocks)})

    def why_not(self, block: JsonObject) -> tuple[str, str]:
        """The kind of loss of a refused block, and why it is refused; else ""."""
        if is_blank_text(block):
            return "text", BLANK
        return "reasoning", self._why_no_thought(block)

    def _why_no_thought(self, block: JsonObject) -> str:
        rule = self.cleaning.rule
        if type_of(block) == "redacted_thinking" and rule.one_model:
            return "" if is_base64(first_text(block, ("data",)) or "!") else NO_BASE64
        inner = block.get("reasoningContent")
        if type_of(block) != "thinking" and not isinstance(inner, dict):
            return ""
        if reason := self.cleaning.why_no_reasoning(has_calls=True):
            return reason
        signature = first_text(block, ("signature",)) or _signature(inner)
        if rule.one_model and signature and not is_base64(signature):
            return NO_BASE64
        return "" if signature or rule.unsigned else UNSIGNED

    def clean_end(self, item: JsonObject) -> JsonObject | None:
        """The item without unsigned thinking; None if nothing else is in it."""

        def why_not(block: Json) -> str:
            is_block = isinstance(block, dict)
            reason = self._why_no_thought(block) if is_block else ""
            return reason if reason == UNSIGNED else ""

        new_item = self.cleaning.without_reasoning(item, "content", why_not)
        return None if new_item is not item and new_item["content"] == [] else new_item


def is_blank_text(part: Json) -> bool:
    text = part.get("text") if isinstance(part, dict) else None
    return isinstance(text, str) and not text.strip()


def _signature(inner: Json) -> str:
    """The signature in Bedrock's reasoning, "redacted" for redacted content, or ""."""
    if not isinstance(inner, dict):
        return ""
    thought = inner.get("reasoningText")
    signature = first_text(thought, ("signature",)) if isinstance(thought, dict) else ""
    return signature or ("" if inner.get("redactedContent") is None else "redacted")
