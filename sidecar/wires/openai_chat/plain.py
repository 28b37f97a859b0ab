"""Which keys of a chat.completions document mean that nothing else is looked for.

Not a wire: a part of ``reader``. Keys of the many servers that say nothing to us stand
here, too (wires/README.md, "Chat Completions").
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sidecar.parts import JsonObject

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


def is_plain(document: JsonObject) -> bool:
    """Whether a ``document`` that gave text has nothing else that may count later."""
    choices = document.get("choices")
    return isinstance(choices, list) and (
        _says_only(document, DOCUMENT)
        and all(_says_only(choice, CHOICE) for choice in choices)
        and all(_says_only(choice.get("delta"), DELTA) for choice in choices)
        and all(isinstance(choice["delta"].get("content"), str) for choice in choices)
    )


def _says_only(value: Any, keys: frozenset[str]) -> bool:
    """Fields that are null are absent."""
    return isinstance(value, dict) and all(
        item is None or key in keys for key, item in value.items()
    )
