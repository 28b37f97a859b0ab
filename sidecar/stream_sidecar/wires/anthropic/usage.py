"""Adds the token counts of Messages that are in a list beside the other counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stream_sidecar.wires.shared.usage import count_of

if TYPE_CHECKING:
    from stream_sidecar.parts import JsonObject

_INPUT = "input_tokens"
_CACHED = ("cache_read_input_tokens", "cache_creation_input_tokens")
_SAMPLED = (_INPUT, "output_tokens", *_CACHED)


def with_late_cache(before: JsonObject | None, counts: JsonObject) -> JsonObject:
    """``counts``, from the end of a stream, without what the start has counted already.
    A start without counts of the cache has the whole prompt as ``input_tokens``; the
    tokens of the cache, which are told at the end alone, are part of it (DashScope,
    jeremychone/rust-genai#258)."""
    total = count_of(before or {}, (_INPUT,))
    cached = sum(count_of(counts, (name,)) or 0 for name in _CACHED)
    is_late = cached > 0 and total is not None and _INPUT not in counts
    if not is_late or any(name in (before or {}) for name in _CACHED):
        return counts
    return {**counts, _INPUT: max((total or 0) - cached, 0)}


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
