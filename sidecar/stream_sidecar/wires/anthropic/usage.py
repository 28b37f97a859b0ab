"""Adds the token counts of Messages that are in a list beside the other counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stream_sidecar.wires.shared.usage import count_of

if TYPE_CHECKING:
    from stream_sidecar.parts import JsonObject

_SAMPLED = (
    "input_tokens",
    "output_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
)


def with_compaction(value: JsonObject) -> JsonObject:
    """The counts of ``value`` with the tokens for a compaction summary, which are only
    in ``iterations`` (Anthropic, "Compaction", "Understanding usage")."""
    items = value.get("iterations")
    items = items if isinstance(items, list) else []
    objects = [item for item in items if isinstance(item, dict)]
    summaries = [item for item in objects if item.get("type") == "compaction"]
    if not summaries:
        return value
    sums = {
        name: sum(count_of(item, (name,)) or 0 for item in (value, *summaries))
        for name in _SAMPLED
    }
    return {**value, **sums}
