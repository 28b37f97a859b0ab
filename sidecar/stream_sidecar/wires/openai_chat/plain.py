"""Which keys of a chat.completions document mean that nothing else is looked for.

Not a wire: a part of ``reader``. Keys of the many servers that say nothing to us stand
here, too (wires/README.md, "Chat Completions").
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stream_sidecar.wires.openai_chat.delta import PROVIDER, READERS
from stream_sidecar.wires.openai_chat.reasoning import is_fragment
from stream_sidecar.wires.openai_chat.sources import SOURCE_KEYS

if TYPE_CHECKING:
    from collections.abc import Callable

    from stream_sidecar.parts import DocumentPlace, JsonObject

DOCUMENT = frozenset(
    (
        *("id", "object", "created", "model", "provider", "choices", "usage"),
        *("system_fingerprint", "service_tier", "obfuscation", "p"),
        "prompt_filter_results",
    )
)
CHOICE = frozenset(
    (
        *("index", "delta", "finish_reason", "native_finish_reason", "logprobs"),
        *("stop_reason", "matched_stop", "token_ids", "content_filter_results"),
    )
)
DELTA = frozenset(("content", "role", "channel", "phase"))


UNREAD = frozenset(
    (
        *((name,) for name in ("id", "created", "system_fingerprint", "service_tier")),
        *((name,) for name in ("obfuscation", "p")),
        *(("choices", 0, name) for name in ("logprobs", "token_ids")),
        ("choices", 0, "content_filter_results"),
    )
)
"""Places of which nothing is read once it is known who answers."""

DETAILS = "reasoning_details"
"""Reasoning of which more is remembered than its text."""

ERROR_KEYS = frozenset(
    (
        *("error", "errors", "detail", "base_resp", "x_groq", "type", "event_type"),
        *("message", "human_readable_message", "code", "success", "error_message"),
    )
)
"""Keys of a document with choices that may hold an error."""


def texts(document: JsonObject) -> tuple[DocumentPlace, ...]:
    """Where the text stands of a ``document`` that says one thing, in one choice; none
    where it may say more, or it is more than a string. Keys that nothing reads say
    nothing; several fields of reasoning are mirrors."""
    choice = _only(document.get("choices"))
    if _says(document, _MORE) or _says(choice, _ENDS):
        return ()
    delta = choice.get("delta")
    said = delta if isinstance(delta, dict) else {}
    names = [name for name, value in said.items() if value and name in _READ]
    if len(names) > 1 and not _REASONING.issuperset(names):
        return ()
    found = [_PLACES[name](said[name]) if name in _PLACES else () for name in names]
    if not all(found):
        return ()
    those = zip(names, found, strict=True)
    return tuple((*_DELTA, name, *place) for name, places in those for place in places)


def _says(value: JsonObject, keys: frozenset[str]) -> bool:
    """Whether one of the ``keys`` is there; fields that are null are absent, and lists
    of sources that are empty."""
    return not keys.isdisjoint(value) and any(
        value[key] or (value[key] is not None and key not in SOURCE_KEYS)
        for key in keys.intersection(value)
    )


def _only(items: Any) -> JsonObject:
    """The only object of a list, or an empty one."""
    is_one = isinstance(items, list) and len(items) == 1 and isinstance(items[0], dict)
    return items[0] if is_one else {}


def _itself(_text: Any) -> tuple[DocumentPlace, ...]:
    """A field that is a text."""
    return ((),)


def _detail(details: Any) -> tuple[DocumentPlace, ...]:
    """Where the text of the only detail stands, if that is all there is."""
    detail = _only(details)
    names = ("text", "summary") if is_fragment(detail) else ()
    return tuple((0, name) for name in names if name in detail)


def _thinking(blocks: Any) -> tuple[DocumentPlace, ...]:
    """Where the text of the only block stands, if it is not redacted. What its
    signature tells was told by the block before, or it would be a part."""
    block = _only(blocks)
    is_text = "thinking" in block and block.get("data") is None
    return ((0, "thinking"),) if is_text else ()


def _provider(fields: Any) -> tuple[DocumentPlace, ...]:
    """Where the text of the mirrored block stands, if that is all there is."""
    said = fields if isinstance(fields, dict) else {}
    if [name for name, value in said.items() if value] != [_BLOCKS]:
        return ()
    return tuple((_BLOCKS, *place) for place in _thinking(said[_BLOCKS]))


def _arguments(calls: Any) -> tuple[DocumentPlace, ...]:
    """Where a fragment of a call's arguments stands; the first one has a name, too, and
    nothing comes that is like it."""
    function = _only(calls).get("function")
    said = function if isinstance(function, dict) else {}
    is_there = "arguments" in said and not said.get("name")
    return ((0, "function", "arguments"),) if is_there else ()


_BLOCKS = "thinking_blocks"
_DELTA = ("choices", 0, "delta")
_ENDS = frozenset(("usage", "error"))
_MORE = ERROR_KEYS | SOURCE_KEYS
_READ = frozenset(name.partition(".")[0] for name, _ in READERS)
_PLACES: dict[str, Callable[[Any], tuple[DocumentPlace, ...]]] = {
    "content": _itself,
    "tool_calls": _arguments,
    "reasoning_content": _itself,
    "reasoning": _itself,
    "reasoning_text": _itself,
    "thinking": _itself,
    DETAILS: _detail,
    _BLOCKS: _thinking,
    PROVIDER: _provider,
}
"""Fields of a delta with a text, and where it stands in them."""

_REASONING = frozenset(_PLACES) - {"content", "tool_calls"}
