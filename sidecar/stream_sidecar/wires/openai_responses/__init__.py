"""The Responses API: the row of the wire."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stream_sidecar.wires.openai_responses.reader import OpenAIResponsesWire, fits
from stream_sidecar.wires.openai_responses.refusals import ResponsesCleaner
from stream_sidecar.wires.openai_responses.request import write
from stream_sidecar.wires.openai_responses.sdk_rules import ResponsesSdkRules
from stream_sidecar.wires.openai_responses.writer import DEFAULTS, OpenAIResponsesWriter
from stream_sidecar.wires.shared.fields import type_of
from stream_sidecar.wires.shared.request_rules import Rule
from stream_sidecar.wires.shared.request_shapes import RequestShape
from stream_sidecar.wires.shared.row import HostMend, WireRow
from stream_sidecar.wires.shared.usage import UsageShape

if TYPE_CHECKING:
    from stream_sidecar.parts import Json, JsonObject

_OPENAI: dict[str, Any] = {
    "raw_arguments": True,
    "no_ids": "^.{65}",
    "no_names": "[^a-z0-9_-]",
    "longest_key": 256,
    "is_closed": True,
    "thinks": r"gpt-[5-9]|\bo[134]\b|codex",
    "refuses": frozenset(("broken-pairs", "lonely-reasoning")),
}
"""Rules from these refusals: "No tool output found for function call"
(openai/codex#620); reasoning "without its required following item"
(continuedev/continue#8933); a longer name of an argument (openai/codex#26402)."""


def _was_not_stored(body: JsonObject, _items: list[Json]) -> bool:
    return bool(body.get("previous_response_id")) and body.get("store") is False


ROW = WireRow(
    name="openai-responses",
    title="Responses",
    reader=OpenAIResponsesWire,
    fits=fits,
    usage=UsageShape(
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
    writer_members=frozenset(("output", "output_text", "error", "incomplete_details")),
    defaults={"response": DEFAULTS},
    is_extra=lambda value: (
        "type" in value and not type_of(value).startswith(("response.", "error"))
    ),
    writer=OpenAIResponsesWriter,
    sdk_rules=ResponsesSdkRules,
    request=write,
    shape=RequestShape(
        items="input",
        parts="",
        id="call_id",
        answered="call_id",
        named_calls=("function_call", "custom_tool_call"),
    ),
    cleaner=ResponsesCleaner,
    is_of_many=True,
    host_mends=(
        HostMend(
            is_due=_was_not_stored,
            path="/previous_response_id",
            what="state",
            why="what is not stored is gone with its connection, and then refused",
        ),
    ),
    rules=(
        Rule(
            "as the last row; Invalid 'input[95].call_id': string too long. Expected a"
            " string with maximum length 64 (AnswerDotAI/fastllm#45); names:"
            " openai/codex#24369; Encrypted content could not be decrypted or parsed"
            " (caozhiyuan/copilot-api#363)",
            provider="azure",
            issuers="azure",
            **_OPENAI,
        ),
        Rule(
            "as the row above (openai/codex#8119)",
            provider="openai|chatgpt|codex",
            issuers="^(?!.*azure).*(openai|chatgpt|codex)",
            **_OPENAI,
        ),
        Rule(
            "as the row above, for what it issued itself (caozhiyuan/copilot-api#363)",
            provider="copilot",
            issuers="copilot",
            **_OPENAI,
        ),
        Rule(
            "Could not decode the compaction blob, without a summary"
            " (chenyme/grok2api#688)",
            provider="xai|grok",
            issuers="xai|grok",
            raw_arguments=True,
        ),
        Rule(
            "No tool output found for tool call (openai/codex#620); missing field"
            " `queries` (lidge-jun/opencodex#929)",
            provider="deepseek",
            raw_arguments=True,
            refuses=frozenset(("broken-pairs", "one-query")),
        ),
        Rule(
            "item['content'] is empty (ggml-org/llama.cpp#29159); Failed to parse tool"
            " call arguments as JSON (ggml-org/llama.cpp#25510)",
            provider=r"llama[._-]?(cpp|server)|^llama$",
            refuses=frozenset(("empty-reasoning",)),
        ),
        Rule(
            "Item 'fc_...' of type 'function_call' was provided without its required"
            " 'reasoning' item (VRSEN/agency-swarm#367); Item with id 'rs_...' not"
            " found. Items are not persisted when `store` is set to false"
            " (vercel/ai#7543)",
            raw_arguments=True,
        ),
    ),
)
