"""Which keys of a chat.completions document mean that nothing else is looked for.

Not a wire: a part of ``reader``. Keys of the many servers that say nothing to us stand
here, too (wires/README.md, "Chat Completions").
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sidecar.parts import DocumentPlace, JsonObject

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

_REASONING = frozenset(("reasoning_content", "reasoning", "reasoning_text", "thinking"))


def texts(document: JsonObject) -> tuple[DocumentPlace, ...]:
    """Where the text stands of a ``document`` that says one thing, in one choice; none
    where it may say more, or it is more than a string."""
    choices = document.get("choices")
    choice = choices[0] if isinstance(choices, list) and len(choices) == 1 else {}
    if not (_says_only(document, DOCUMENT) and _says_only(choice, CHOICE)):
        return ()
    delta = choice.get("delta")
    said = delta if isinstance(delta, dict) else {}
    names = {name for name, value in said.items() if value and name not in _QUIET}
    if names == {"tool_calls"}:
        return _arguments(said["tool_calls"])
    if names == {"content"} or (names and names <= {*_REASONING, DETAILS}):
        more = _detail(said[DETAILS]) if DETAILS in names else ()
        if bool(more) == (DETAILS in names):
            names.discard(DETAILS)
            return (*more, *((*_DELTA, name) for name in said if name in names))
    return ()


def _detail(details: Any) -> tuple[DocumentPlace, ...]:
    """Where the text of the only detail stands."""
    detail = details[0] if isinstance(details, list) and len(details) == 1 else {}
    names = [name for name in ("text", "summary") if name in detail]
    return tuple((*_DELTA, DETAILS, 0, name) for name in names)


def _arguments(calls: Any) -> tuple[DocumentPlace, ...]:
    """Where a fragment of a call's arguments stands; the first one has a name, too, and
    nothing comes that is like it."""
    call = calls[0] if isinstance(calls, list) and len(calls) == 1 else None
    function = call.get("function") if isinstance(call, dict) else None
    said = function if isinstance(function, dict) else {}
    is_there = "arguments" in said and not said.get("name")
    return ((*_DELTA, "tool_calls", 0, "function", "arguments"),) if is_there else ()


_DELTA = ("choices", 0, "delta")
_QUIET = DELTA - {"content"}


def _says_only(value: Any, keys: frozenset[str]) -> bool:
    """Fields that are null are absent."""
    return isinstance(value, dict) and all(
        item is None or key in keys for key, item in value.items()
    )
