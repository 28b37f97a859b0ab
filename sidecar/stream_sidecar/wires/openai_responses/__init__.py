"""The Responses API: the row of the wire."""

from __future__ import annotations

from stream_sidecar.wires.openai_responses.reader import OpenAIResponsesWire, fits
from stream_sidecar.wires.openai_responses.request import write
from stream_sidecar.wires.openai_responses.writer import OpenAIResponsesWriter
from stream_sidecar.wires.shared.request_rules import Rule
from stream_sidecar.wires.shared.row import WireRow
from stream_sidecar.wires.shared.usage import UsageShape

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
    writer=OpenAIResponsesWriter,
    request=write,
    rules=(
        Rule(
            "as the next row; Invalid 'input[95].call_id': string too long. Expected a"
            " string with maximum length 64 (AnswerDotAI/fastllm#45)",
            provider="openai|azure|chatgpt|codex",
            raw_arguments=True,
            no_ids="^.{65}",
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
