"""Bedrock Converse: the row of the wire."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stream_sidecar.wires.bedrock_converse.reader import BedrockConverseWire, fits
from stream_sidecar.wires.bedrock_converse.refusals import BedrockCleaner
from stream_sidecar.wires.bedrock_converse.request import write
from stream_sidecar.wires.shared.request_rules import Rule
from stream_sidecar.wires.shared.request_shapes import RequestShape
from stream_sidecar.wires.shared.row import HostMend, SealDropper, WireRow
from stream_sidecar.wires.shared.usage import UsageShape

if TYPE_CHECKING:
    from stream_sidecar.parts import Json, JsonObject
    from stream_sidecar.wires.shared.request_rules import Refused

_NO_IDS = "[^a-z0-9_.:-]|^.{65}"
_REFUSED: frozenset[Refused] = frozenset(
    ("broken-pairs", "repeated-ids", "empty-turns", "neighbours")
)
_OTHERS: dict[str, Any] = {
    "no_ids": _NO_IDS,
    "longest_name": 64,
    "refuses": _REFUSED | {"user-after-results"},
}
"""The rule for models other than Claude: "Conversation blocks and tool use blocks
cannot be provided in the same turn" (quarkiverse/quarkus-langchain4j#1983)."""

_SHAPE = RequestShape(
    parts="content",
    call="toolUse",
    answer="toolResult",
    id="toolUseId",
    answered="toolUseId",
    input="input",
    is_parsed=True,
    is_in_parts=True,
)


def _has_no_tools(body: JsonObject, items: list[Json]) -> bool:
    is_used = any(_SHAPE.calls(item) or _SHAPE.answers(item) for item in items)
    return is_used and not body.get("toolConfig")


ROW = WireRow(
    name="bedrock-converse",
    title="Bedrock Converse",
    reader=BedrockConverseWire,
    fits=fits,
    usage=UsageShape(
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
    request=write,
    shape=_SHAPE,
    cleaner=BedrockCleaner,
    host_mends=(
        HostMend(
            is_due=_has_no_tools,
            path="/toolConfig",
            what="tool-call",
            why="calls are refused in a request without tools",
        ),
    ),
    drops_seals=(SealDropper(provider="", beta="body"),),
    rules=(
        Rule(
            "User messages cannot contain reasoning content"
            " (aws-samples/bedrock-chat/pull/851)",
            model="deepseek",
            reasoning="never",
            **_OTHERS,
        ),
        Rule(
            "thinking.signature: Field required without one; Nova and MiniMax refuse an"
            " empty one and take none (maximhq/bifrost/pull/6942)",
            model="nova|minimax",
            unsigned=True,
            **_OTHERS,
        ),
        Rule(
            "messages.1.content.0.thinking.signature: Field required"
            " (run-llama/llama_index#20851); ids as Claude itself wants them"
            " (anomalyco/opencode#1279), of 64 characters"
            " (run-llama/llama_index#22775); Expected toolResult blocks"
            " (agno-agi/agno#6698); a conversation must alternate"
            " (aws-samples/bedrock-access-gateway#25); the content field is empty"
            " (langchain-ai/langchain#26968)",
            model="claude|anthropic|^$",
            refuses=_REFUSED,
            no_ids="[^a-z0-9_-]|^.{65}",
            no_names="[^a-z0-9_-]",
            longest_name=64,
            issuers="bedrock|aws|amazon|anthropic|vertex|google",
            one_model=True,
        ),
        Rule("as the rows above for Llama, Mistral and others", **_OTHERS),
    ),
)
