"""Chat Completions of OpenAI and compatible servers: the row of the wire."""

from __future__ import annotations

from stream_sidecar.wires.openai_chat.reader import CHAT_WRITTEN, OpenAIChatWire, fits
from stream_sidecar.wires.openai_chat.refusals import ChatCleaner
from stream_sidecar.wires.openai_chat.request import write
from stream_sidecar.wires.openai_chat.rules import RULES
from stream_sidecar.wires.openai_chat.sdk_rules import ChatSdkRules
from stream_sidecar.wires.openai_chat.writer import (
    PASSED,
    OpenAIChatWriter,
    with_states,
    without_later,
)
from stream_sidecar.wires.shared.row import PassedStates, WireRow
from stream_sidecar.wires.shared.usage import UsageShape

ROW = WireRow(
    name="openai-chat",
    title="Chat Completions",
    reader=OpenAIChatWire,
    fits=fits,
    usage=UsageShape(
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
    writer=OpenAIChatWriter,
    sdk_rules=ChatSdkRules,
    writer_members=CHAT_WRITTEN,
    states=PassedStates(PASSED, with_states, without_later),
    stands_alone=True,
    is_extra=lambda value: not (value.get("choices") or value.get("usage")),
    request=write,
    unsigned_field="reasoning_content",
    cleaner=ChatCleaner,
    is_of_many=True,
    rules=RULES,
)
