"""The words that writers use for finish reasons.

The way back from ``REASONS`` in ``usage``: one word a reason and wire. The provider's
own word stays where it means the same on that wire.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stream_sidecar.wires.shared.usage import finish_reason

if TYPE_CHECKING:
    from stream_sidecar.events import Finish

WORDS: dict[str, dict[str, str]] = {
    "openai-chat": {
        "stop": "stop",
        "tool-calls": "tool_calls",
        "length": "length",
        "context-length": "length",
        "content-filter": "content_filter",
        "refusal": "content_filter",
        "pause": "length",
        "unknown": "stop",
    },
    "openai-responses": {
        "stop": "completed",
        "tool-calls": "completed",
        "length": "max_output_tokens",
        "context-length": "max_output_tokens",
        "content-filter": "content_filter",
        "refusal": "content_filter",
        "pause": "max_output_tokens",
        "cancelled": "cancelled",
        "unknown": "completed",
    },
    "anthropic": {
        "stop": "end_turn",
        "tool-calls": "tool_use",
        "length": "max_tokens",
        "context-length": "model_context_window_exceeded",
        "content-filter": "refusal",
        "refusal": "refusal",
        "pause": "pause_turn",
        "unknown": "end_turn",
    },
    "gemini": {
        "stop": "STOP",
        "tool-calls": "STOP",
        "length": "MAX_TOKENS",
        "context-length": "MAX_TOKENS",
        "content-filter": "SAFETY",
        "refusal": "PROHIBITED_CONTENT",
        "pause": "MAX_TOKENS",
        "unknown": "FINISH_REASON_UNSPECIFIED",
        "malformed": "MALFORMED_FUNCTION_CALL",
        "error": "OTHER",
        "cancelled": "OTHER",
    },
}
"""Wire -> our reason -> its word. What a wire has no word for is an error there."""

_FAILED = {
    "openai-chat": "error",
    "openai-responses": "failed",
    "anthropic": "error",
    "gemini": "OTHER",
}


def finish_word(finish: Finish, wire: str, *, is_own: bool) -> str:
    """The wire's word for how a choice ended; ``is_own``: the raw one is of this wire.

    A raw ``stop`` beside calls is ``tool_calls`` on a wire that has a word for that.
    """
    raw = finish.raw or ""
    if is_own and raw and finish_reason(raw, wire) == finish.reason:
        return raw
    return WORDS[wire].get(finish.reason, _FAILED[wire])
