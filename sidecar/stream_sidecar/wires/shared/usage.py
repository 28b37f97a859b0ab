"""Token counts and finish reasons: what each provider calls them, as tables.

`read_usage` gives inclusive counts: input with cached tokens, output with reasoning
(protocol.md, "usage"). Usage is told in pieces and again and again, always as totals,
so pieces are merged per field (`merge_usage`) before they are read, and never added up.
Sources: wires/README.md, "Usage" and "Finish reasons".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from stream_sidecar.parts import UsagePart
from stream_sidecar.records import field, frozen
from stream_sidecar.values.jsontext import dumps, portable

if TYPE_CHECKING:
    from stream_sidecar.events import Usage
    from stream_sidecar.parts import Json, JsonObject

Paths: TypeAlias = tuple[str, ...]
"""Dotted paths of one count: the first that is there counts."""


@frozen
class UsageShape:
    """Where one wire puts its counts.

    ``more_input`` and ``more_output`` are counts that the one before does not include.
    For output the total, where it is told, decides whether that is so in this response:
    xAI's chat leaves reasoning out and OpenAI's does not; Gemini's mostly does.
    """

    input: Paths
    output: Paths
    total: Paths = ()
    cache_read: Paths = ()
    cache_write: Paths = ()
    reasoning: Paths = ()
    more_input: tuple[Paths, ...] = ()
    reasoning_is_more: bool = False

    counts: tuple[Paths, ...] = field(init=False)
    """All paths in the order of `read_usage`, what is added to the input last."""
    places: dict[str, list[int]] = field(init=False)
    """Names of fields -> those of ``counts`` that look there."""

    @counts.default
    def _counts(self) -> tuple[Paths, ...]:
        told = self.input, self.output, self.total, self.cache_read, self.cache_write
        return *told, self.reasoning, *self.more_input

    @places.default
    def _places(self) -> dict[str, list[int]]:
        places = dict[str, list[int]]()
        for place, paths in enumerate(self.counts):
            for name in {each for path in paths for each in (path, path.split(".")[0])}:
                places.setdefault(name, []).append(place)
        return places


USAGE_SHAPES: dict[str, UsageShape] = {
    "openai-chat": UsageShape(
        input=("prompt_tokens",),
        output=("completion_tokens",),
        total=("total_tokens",),
        cache_read=(
            "prompt_tokens_details.cached_tokens",
            "prompt_cache_hit_tokens",
            "cached_prompt_text_tokens",
            "cache_read_input_tokens",
            "cached_tokens",
        ),
        cache_write=(
            "prompt_tokens_details.cache_write_tokens",
            "prompt_tokens_details.cache_creation_tokens",
            "prompt_tokens_details.cache_creation_input_tokens",
            "cache_creation_input_tokens",
        ),
        reasoning=("completion_tokens_details.reasoning_tokens", "reasoning_tokens"),
    ),
    "openai-responses": UsageShape(
        input=("input_tokens",),
        output=("output_tokens",),
        total=("total_tokens",),
        cache_read=(
            "input_tokens_details.cached_tokens",
            "input_tokens_details.cache_read_input_tokens",
        ),
        cache_write=(
            "input_tokens_details.cache_write_tokens",
            "input_tokens_details.cache_creation_input_tokens",
        ),
        reasoning=("output_tokens_details.reasoning_tokens",),
    ),
    "anthropic": UsageShape(
        input=("input_tokens",),
        more_input=(("cache_creation_input_tokens",), ("cache_read_input_tokens",)),
        output=("output_tokens",),
        cache_read=("cache_read_input_tokens",),
        cache_write=("cache_creation_input_tokens",),
        reasoning=("output_tokens_details.thinking_tokens",),
    ),
    "gemini": UsageShape(
        input=("promptTokenCount", "total_input_tokens"),
        more_input=(("toolUsePromptTokenCount", "total_tool_use_tokens"),),
        output=("candidatesTokenCount", "responseTokenCount", "total_output_tokens"),
        total=("totalTokenCount", "total_tokens"),
        cache_read=("cachedContentTokenCount", "total_cached_tokens"),
        reasoning=("thoughtsTokenCount", "total_thought_tokens"),
        reasoning_is_more=True,
    ),
    "bedrock": UsageShape(
        input=("inputTokens",),
        more_input=(
            ("cacheReadInputTokens", "cacheReadInputTokenCount"),
            ("cacheWriteInputTokens", "cacheWriteInputTokenCount"),
        ),
        output=("outputTokens",),
        total=("totalTokens",),
        cache_read=("cacheReadInputTokens", "cacheReadInputTokenCount"),
        cache_write=("cacheWriteInputTokens", "cacheWriteInputTokenCount"),
    ),
    "cohere": UsageShape(
        input=("tokens.input_tokens", "billed_units.input_tokens"),
        output=("tokens.output_tokens", "billed_units.output_tokens"),
        cache_read=("cached_tokens",),
        reasoning=("tokens.reasoning_tokens",),
    ),
    "ollama": UsageShape(input=("prompt_eval_count",), output=("eval_count",)),
}


_NOTHING = (None,) * 6
"""What a usage object tells that has none of the counts."""


def read_usage(value: Json, shape: str) -> UsagePart | None:
    """The counts of a provider's usage object; None when it holds none.

    ``shape`` is a key of `USAGE_SHAPES`. Cohere's is the ``usage`` object with
    ``tokens``, Ollama's the last document itself.
    """
    if not isinstance(value, dict):
        return None
    row = USAGE_SHAPES[shape]
    counts = _with_compaction(value) if shape == "anthropic" else value
    inputs, output, total, reads, writes, reasoning, *more = _counts_of(counts, row)
    if inputs is not None:
        for each in more:
            inputs += each or 0
    if reasoning is not None:
        output = _with_reasoning(row, inputs, output, total, reasoning)
    told = inputs, output, total, reads, writes, reasoning
    return None if told == _NOTHING else UsagePart(value, *told)


def _counts_of(value: JsonObject, row: UsageShape) -> list[int | None]:
    """What ``row.counts`` find, by one look at each field of ``value``: some providers
    tell counts in every chunk. All but plain numbers of one name is left to `_count`.
    """
    found: list[int | None] = [None] * len(row.counts)
    places = row.places
    for name, count in value.items():
        for place in places.get(name, ()):
            paths = row.counts[place]
            is_plain = type(count) is int and count >= 0 and name in paths
            if is_plain and found[place] is None:
                found[place] = count
            elif count is not None:
                found[place] = _count(value, paths)
    return found


def merge_usage(old: Json, new: Json) -> Json:
    """``new`` laid over ``old``: per field, and per detail, the last non-null value."""
    if not isinstance(old, dict) or not isinstance(new, dict):
        return old if new is None else new
    if _NESTED.isdisjoint(map(type, new.values())):
        return new if [*old] == [*new] else {**old, **new}
    merged = dict(old)
    for name, value in new.items():
        if value is None:
            continue
        known = merged.get(name) if isinstance(value, dict) else None
        if isinstance(known, dict):
            told = {key: detail for key, detail in value.items() if detail is not None}
            value = {**known, **told}
        merged[name] = value
    return merged


_NESTED = frozenset((dict, type(None)))
"""Types of what is not just laid over what was known."""


def own_usage(merged: Json, new: Json) -> Json:
    """The usage object to tell: ``merged``, or ``new`` alone where that is much less.

    What was told once would else be told again with every count.
    """
    if merged is new or merged == new:
        return merged
    size = len(dumps(merged))
    is_short = size <= _INHERITED or size <= len(dumps(new)) + _INHERITED
    return merged if is_short else new


_INHERITED = 1024
"""Code points of earlier usage that are told again with a later one."""


def _with_reasoning(
    row: UsageShape,
    inputs: int | None,
    output: int | None,
    total: int | None,
    reasoning: int,
) -> int | None:
    """Output with reasoning; where both readings are possible the total decides."""
    if output is None:
        return reasoning if row.reasoning_is_more else None
    is_more = row.reasoning_is_more
    if inputs is not None and total == inputs + output + reasoning:
        is_more = True
    elif inputs is not None and total == inputs + output:
        is_more = False
    return output + reasoning if is_more else output


_SAMPLED = (
    "input_tokens",
    "output_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
)


def _with_compaction(value: dict[str, Any]) -> dict[str, Any]:
    """Anthropic's counts with those of the sampling that made a compaction summary.

    The top level leaves them out; they are among ``iterations`` (Anthropic,
    "Compaction", "Understanding usage").
    """
    items = value.get("iterations")
    if not isinstance(items, list):
        return value
    made = [
        item
        for item in items
        if isinstance(item, dict) and item.get("type") == "compaction"
    ]
    if not made:
        return value
    sums = {
        name: sum(_count(item, (name,)) or 0 for item in (value, *made))
        for name in _SAMPLED
    }
    return {**value, **sums}


def _count(value: dict[str, Any], paths: Paths) -> int | None:
    for path in paths:
        found: Any = value.get(path)
        if found is None and "." in path:
            first, _, name = path.partition(".")
            holder = value.get(first)
            found = holder.get(name) if isinstance(holder, dict) else None
        if type(found) is float and found.is_integer():
            found = int(found)
        if type(found) is int and found >= 0:
            return found
    return None


REASONS = {
    "stop": "stop completed complete end_turn stop_sequence eos eos_token reason_stop",
    "tool-calls": "tool_calls tool_call function_call tool_use requires_action"
    " reason_tool_calls",
    "length": "length max_tokens max_output_tokens model_length reason_max_len",
    "context-length": "model_context_window_exceeded context_length_exceeded"
    " error_limit reason_max_context",
    "content-filter": "content_filter content_filtered sensitive safety recitation"
    " language blocklist prohibited_content spii image_safety image_recitation"
    " image_prohibited_content image_other no_image model_armor escalation jailbreak"
    " pup_limited_disabled guardrail_intervened error_toxic",
    "refusal": "refusal",
    "pause": "pause_turn compaction continuation too_many_tool_calls steered"
    " reason_time_limit",
    "malformed": "malformed_function_call unexpected_tool_call malformed_response"
    " missing_thought_signature malformed_model_output malformed_tool_use",
    "error": "error failed network_error abort insufficient_system_resource timeout"
    " reason_invalid",
    "cancelled": "cancelled canceled user_cancel",
}
_REASON_OF = {
    word: reason for reason, words in REASONS.items() for word in words.split()
}

_WIRE_REASONS = {
    ("gemini", "other"): "error",
    ("ollama", "load"): "pause",
    ("ollama", "unload"): "pause",
}
"""Words that say something on one wire only."""


def finish_reason(raw: str | None, wire: str) -> str:
    """Our word for a provider's finish reason, in any case; ``unknown`` without one.

    For Responses ``raw`` is ``incomplete_details.reason``, else the status. Whether a
    stop with calls is ``tool-calls`` is decided by who ran them, not here. A word may
    have its cause behind a colon, which says more: ``content_filter: RECITATION``.
    """
    word = (raw or "").lower()
    known, _, cause = word.partition(":")
    for each in (word, cause.strip(), known):
        if reason := _WIRE_REASONS.get((wire, each)) or _REASON_OF.get(each):
            return reason
    return "unknown"


def write_usage(usage: Usage, wire: str) -> JsonObject:
    """Counts as ``wire`` names them: the way back of `read_usage`.

    What else the provider's own object says is kept where it is read the same: xAI's
    leaves reasoning out of its output, and there the number is ours.
    """
    written = _named(usage, wire)
    raw: JsonObject = portable(usage.raw) if isinstance(usage.raw, dict) else {}
    told = _counts(usage)
    for whole in (merge_usage(raw, written), raw):
        own = read_usage(whole, wire)
        if own is not None and _own_counts(raw, wire) == told == _counts(own):
            return dict(whole)
    return written


def _own_counts(raw: JsonObject, wire: str) -> dict[str, int | None] | None:
    """What the provider's own object says; None where it is of another wire."""
    own = read_usage(raw, wire)
    return None if own is None else _counts(own)


def _counts(usage: Usage | UsagePart) -> dict[str, int | None]:
    return {name: getattr(usage, name) for name in _COUNTS}


def _named(usage: Usage, wire: str) -> JsonObject:
    row, written = USAGE_SHAPES[wire], dict[str, Any]()
    reads, writes = usage.cache_read_tokens, usage.cache_write_tokens
    inputs, output = usage.input_tokens, usage.output_tokens
    reasoning = usage.reasoning_tokens
    if inputs is not None and row.more_input and row.cache_write:
        inputs = max(0, inputs - (reads or 0) - (writes or 0))
    if row.reasoning_is_more and output is not None:
        reasoning = None if reasoning is None else min(reasoning, output)
        output -= reasoning or 0
    for paths, count in (
        (row.input, inputs),
        (row.output, output),
        (row.total, usage.total_tokens or _total(usage)),
        (row.cache_read, reads),
        (row.cache_write, writes),
        (row.reasoning, reasoning),
    ):
        if paths and count is not None:
            _put(written, paths[0], count)
    return written


_COUNTS = (
    *("input_tokens", "output_tokens", "total_tokens"),
    *("cache_read_tokens", "cache_write_tokens", "reasoning_tokens"),
)


def _total(usage: Usage) -> int | None:
    if usage.input_tokens is None or usage.output_tokens is None:
        return None
    return usage.input_tokens + usage.output_tokens


def _put(holder: JsonObject, path: str, count: int) -> None:
    *outer, name = path.split(".")
    for each in outer:
        holder = holder.setdefault(each, {})
    holder[name] = count
