"""Cleans messages of content blocks: blank texts, and thinking by its signature.

The part of a cleaner of requests (`item_cleaning`) that Messages and Bedrock share.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stream_sidecar.wires.shared.fields import type_of
from stream_sidecar.wires.shared.item_cleaning import (
    NO_BASE64,
    UNSIGNED,
    ItemCleaner,
    first_text,
)
from stream_sidecar.wires.shared.rendering import is_base64
from stream_sidecar.wires.shared.request_shapes import changed, same

if TYPE_CHECKING:
    from stream_sidecar.parts import Json, JsonObject

BLANK = "blank text is refused"


class BlockCleaner(ItemCleaner):
    """Cleans the messages of one request."""

    def clean(self, message: JsonObject) -> JsonObject:
        """A message without the refused blocks. If all are refused, the content stays,
        unless a later step removes empty turns."""
        content = message.get("content")
        if not isinstance(content, list):
            return message
        kept: list[Json] = []
        for number, block in enumerate(content):
            what, why = self.why_not(block) if isinstance(block, dict) else ("", "")
            if not why:
                kept.append(block)
                continue
            assert isinstance(block, dict)
            self.cleaning.lose(f"/content/{number}", what, why)
            # The cache's mark is about all before it, so the block before gets it.
            mark = block.get("cache_control")
            if mark and kept and isinstance(kept[-1], dict):
                kept[-1] = {"cache_control": mark} | kept[-1]
        if not kept and "empty-turns" not in self.cleaning.rule.refuses:
            kept = content
        return changed(message, {"content": same(content, kept)})

    def why_not(self, block: JsonObject) -> tuple[str, str]:
        """What kind of loss a refused block is, and why it is refused. The reason is ""
        if the block may be sent."""
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
        if why := self.cleaning.why_no_reasoning(has_calls=True):
            return why
        signature = first_text(block, ("signature",)) or _signature(inner)
        if rule.one_model and signature and not is_base64(signature):
            return NO_BASE64
        return "" if signature or rule.unsigned else UNSIGNED

    def clean_end(self, item: JsonObject) -> JsonObject | None:
        """The item without unsigned thinking; None if nothing else is in it. The rest
        stays."""

        def why_not(block: Json) -> str:
            is_block = isinstance(block, dict)
            why = self._why_no_thought(block) if is_block else ""
            return why if why == UNSIGNED else ""

        new = self.cleaning.without_reasoning(item, "content", why_not)
        return None if new is not item and new["content"] == [] else new


def is_blank_text(part: Json) -> bool:
    text = part.get("text") if isinstance(part, dict) else None
    return isinstance(text, str) and not text.strip()


def _signature(inner: Json) -> str:
    """The signature in Bedrock's reasoning, or "redacted" for redacted content; "" if
    it has neither."""
    if not isinstance(inner, dict):
        return ""
    thought = inner.get("reasoningText")
    signature = first_text(thought, ("signature",)) if isinstance(thought, dict) else ""
    return signature or ("" if inner.get("redactedContent") is None else "redacted")
