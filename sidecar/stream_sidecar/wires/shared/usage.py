"""Token counts and finish reasons: what each provider calls them, as tables.

`read_usage` returns inclusive counts: input with cached tokens, output with reasoning
(protocol.md, "usage"). Providers send usage in pieces and repeatedly, always as totals.
So pieces are merged field by field (`merge_usage`) before they are read, and are never
added up. Sources: wires/README.md, "Usage" and "Finish reasons".
"""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeAlias

from stream_sidecar.parts import UsagePart
from stream_sidecar.records import field, frozen
from stream_sidecar.values.jsontext import dumps, portable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from stream_sidecar.events import Usage
    from stream_sidecar.parts import Json, JsonObject

Paths: TypeAlias = tuple[str, ...]
"""Dotted paths of one count; the first path that exists counts."""


@frozen
class UsageShape:
    """Where one wire has its counts; without paths if it sends none.

    ``more_input``: counts to add to the input. ``reasoning_is_more``: the output leaves
    reasoning out, so it has to be added. But if a response has a total, the total
    decides this: xAI's chat leaves reasoning out, OpenAI's does not, and Gemini mostly
    does. ``complete``: a function that adds counts that stand elsewhere in the object.
    """

    input: Paths = ()
    output: Paths = ()
    total: Paths = ()
    cache_read: Paths = ()
    cache_write: Paths = ()
    reasoning: Paths = ()
    more_input: tuple[Paths, ...] = ()
    reasoning_is_more: bool = False
    complete: Callable[[JsonObject], JsonObject] = field(default=lambda value: value)

    counts: tuple[Paths, ...] = field(init=False)
    """All paths in the order of `read_usage`, with additions to the input last."""
    places: dict[str, list[int]] = field(init=False)
    """Name of a field -> the indexes of ``counts`` that look there."""

    @counts.default
    def _counts(self) -> tuple[Paths, ...]:
        paths = self.input, self.output, self.total, self.cache_read, self.cache_write
        return *paths, self.reasoning, *self.more_input

    @places.default
    def _places(self) -> dict[str, list[int]]:
        places = dict[str, list[int]]()
        for place, paths in enumerate(self.counts):
            for name in {part for path in paths for part in (path, path.split(".")[0])}:
                places.setdefault(name, []).append(place)
        return places


_NOTHING = (None,) * 6
"""The counts of a usage object that has none."""


def read_usage(value: Json, shape: UsageShape) -> UsagePart | None:
    """The counts of a provider's usage object; None if it has none."""
    if not isinstance(value, dict):
        return None
    all_counts = _counts_of(shape.complete(value), shape)
    inputs, output, total, reads, writes, reasoning, *additions = all_counts
    if inputs is not None:
        inputs += sum(count or 0 for count in additions)
    if reasoning is not None:
        output = _with_reasoning(shape, inputs, output, total, reasoning)
    counts = inputs, output, total, reads, writes, reasoning
    return None if counts == _NOTHING else UsagePart(value, *counts)


def with_counts(usage: JsonObject, shape: UsageShape) -> JsonObject:
    """``usage`` with the three counts that a wire's clients expect: input and output, 0
    if they are missing or no integer, and a total, by default their sum."""
    names = (shape.input[0], shape.output[0], shape.total[0])
    integers = {name: usage[name] for name in names if type(usage.get(name)) is int}
    counts = {name: integers.get(name, 0) for name in names[:2]}
    total = integers.get(names[2], sum(counts.values()))
    return {**usage, **counts, names[2]: total}


def _counts_of(value: JsonObject, shape: UsageShape) -> list[int | None]:
    """The counts of ``value``, in the order of ``shape.counts``. It looks at each field
    of ``value`` once, because some providers send counts in every chunk. `count_of`
    reads fields that are no plain numbers."""
    counts: list[int | None] = [None] * len(shape.counts)
    places = shape.places
    for name, count in value.items():
        for place in places.get(name, ()):
            paths = shape.counts[place]
            is_plain = type(count) is int and count >= 0 and name in paths
            if is_plain and counts[place] is None:
                counts[place] = count
            elif count is not None:
                counts[place] = count_of(value, paths)
    return counts


def merge_usage(old: Json, new: Json) -> Json:
    """``new`` laid over ``old``: of each field and detail the last value not null."""
    if not isinstance(old, dict) or not isinstance(new, dict):
        return old if new is None else new
    if _NESTED.isdisjoint(map(type, new.values())):
        return new if [*old] == [*new] else {**old, **new}
    merged = dict(old)
    for name, value in new.items():
        if value is None:
            continue
        details_so_far = merged.get(name) if isinstance(value, dict) else None
        if isinstance(details_so_far, dict):
            details = {key: item for key, item in value.items() if item is not None}
            value = {**details_so_far, **details}
        merged[name] = value
    return merged


_NESTED = frozenset((dict, type(None)))
"""Values of these types need merging."""


def own_usage(merged: Json, new: Json) -> Json:
    """The usage object to report: ``merged``, or ``new`` alone if that is much shorter.
    Else everything reported once would be reported again with every count."""
    if merged is new or merged == new:
        return merged
    size = len(dumps(merged))
    is_short = size <= _INHERITED or size <= len(dumps(new)) + _INHERITED
    return merged if is_short else new


_INHERITED = 1024
"""At most so many code points of earlier usage are reported again with later usage."""


def _with_reasoning(
    shape: UsageShape,
    inputs: int | None,
    output: int | None,
    total: int | None,
    reasoning: int,
) -> int | None:
    """The output including reasoning; the total decides if it is not clear."""
    if output is None:
        return reasoning if shape.reasoning_is_more else None
    is_more = shape.reasoning_is_more
    if inputs is not None and total == inputs + output + reasoning:
        is_more = True
    elif inputs is not None and total == inputs + output:
        is_more = False
    return output + reasoning if is_more else output


def count_of(value: dict[str, Any], paths: Paths) -> int | None:
    """The first count at one of ``paths`` that is an integer and not negative."""
    for path in paths:
        count: Any = value.get(path)
        if count is None and "." in path:
            outer, _, name = path.partition(".")
            holder = value.get(outer)
            count = holder.get(name) if isinstance(holder, dict) else None
        if type(count) is float and count.is_integer():
            count = int(count)
        if type(count) is int and count >= 0:
            return count
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


def finish_reason(raw: str | None, own: Mapping[str, str]) -> str:
    """Our word for a provider's finish reason ``raw``; ``unknown`` without one. Case
    does not matter.

    For Responses ``raw`` is ``incomplete_details.reason``, else the status. Whether a
    stop with calls is ``tool-calls`` depends on who ran them and is not decided here. A
    word may have a cause after a colon, which counts first: ``content_filter:
    RECITATION``. ``own``: words in lower case that have a meaning only on this wire.
    """
    word = (raw or "").lower()
    known_word, _, cause = word.partition(":")
    for key in (word, cause.strip(), known_word):
        if reason := own.get(key) or _REASON_OF.get(key):
            return reason
    return "unknown"


def write_usage(usage: Usage, shape: UsageShape) -> JsonObject:
    """Counts under a wire's names: the reverse of `read_usage`. Other members of the
    provider's own object are kept, if `read_usage` then still returns the same counts.
    xAI leaves reasoning out of its output: our number, with reasoning, replaces it."""
    counts_written, counts = _named(usage, shape), _counts(usage)
    raw: JsonObject = portable(usage.raw) if isinstance(usage.raw, dict) else {}
    if _read_counts(raw, shape) != counts:
        return counts_written
    merged = merge_usage(raw, counts_written)
    return dict(merged if _read_counts(merged, shape) == counts else raw)


_counts = attrgetter(
    "input_tokens",
    "output_tokens",
    "total_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "reasoning_tokens",
)


def _read_counts(raw: JsonObject, shape: UsageShape) -> Any:
    """The counts in a provider's usage object; None if it is of another wire."""
    usage = read_usage(raw, shape)
    return None if usage is None else _counts(usage)


def _named(usage: Usage, shape: UsageShape) -> JsonObject:
    members = dict[str, Any]()
    reads, writes = usage.cache_read_tokens, usage.cache_write_tokens
    inputs, output = usage.input_tokens, usage.output_tokens
    reasoning = usage.reasoning_tokens
    if inputs is not None and reads is not None:
        reads = min(reads, inputs)
    if inputs is not None and shape.more_input and shape.cache_write:
        inputs = max(0, inputs - (reads or 0) - (writes or 0))
    if shape.reasoning_is_more and output is not None:
        reasoning = None if reasoning is None else min(reasoning, output)
        output -= reasoning or 0
    for paths, count in (
        (shape.input, inputs),
        (shape.output, output),
        (shape.total, usage.total_tokens or _total(usage)),
        (shape.cache_read, reads),
        (shape.cache_write, writes),
        (shape.reasoning, reasoning),
    ):
        if paths and count is not None:
            _put(members, paths[0], count)
    return members


def _total(usage: Usage) -> int | None:
    if usage.input_tokens is None or usage.output_tokens is None:
        return None
    return usage.input_tokens + usage.output_tokens


def _put(holder: JsonObject, path: str, count: int) -> None:
    *outer, name = path.split(".")
    for key in outer:
        holder = holder.setdefault(key, {})
    holder[name] = count
