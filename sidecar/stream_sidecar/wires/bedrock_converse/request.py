"""The writer of Bedrock Converse: a turn as messages of the next request.

What Bedrock would refuse is lost: blank text, and reasoning without a signature if the
model's rule says so (wires/README.md, "Requests"). Never raises.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stream_sidecar.wires.bedrock_converse.reader import REASONING
from stream_sidecar.wires.requests.seals import redacted_in
from stream_sidecar.wires.shared.rendering import in_blocks, parts_of, text_of

if TYPE_CHECKING:
    from stream_sidecar.message.turn import TurnBlock, TurnResult
    from stream_sidecar.parts import Json, JsonObject
    from stream_sidecar.wires.shared.rendering import BlockWriters, Rendering

_OWN_FIELDS = ((REASONING,), ("thinking",))
"""Fields whose reasoning a model of Bedrock signed; Anthropic signs alike."""

_OWN_IDS = "tooluse_"
_SERVER = {"type": "server_tool_use"}


def write(turn: Rendering) -> list[JsonObject]:
    return in_blocks(turn, _BLOCKS, _answer)


def _text(turn: Rendering, block: TurnBlock) -> JsonObject | None:
    if block.text.strip():
        return {"text": block.text}
    turn.lose(block, "text", "blank text is refused")
    return None


def _thought(turn: Rendering, block: TurnBlock) -> JsonObject | None:
    if not turn.thinks(block):
        return None
    if isinstance(block.opaque, dict) and REASONING in block.opaque:
        return {REASONING: block.opaque[REASONING]}
    if redacted := redacted_in(block.opaque):
        return {REASONING: {"redactedContent": redacted}}
    thought: JsonObject = {"text": block.raw_text or block.text}
    if block.fields in _OWN_FIELDS and turn.signs(block):
        return {REASONING: {"reasoningText": thought | {"signature": block.signature}}}
    if turn.rule.unsigned and thought["text"] and block.source != "tag":
        return {REASONING: {"reasoningText": thought}}
    turn.lose(block, "reasoning", "reasoning without a signature is refused")
    return None


def _call(turn: Rendering, block: TurnBlock) -> JsonObject | None:
    is_server = block.executor == "server"
    if is_server and not (block.tool_call_id or "").startswith(_OWN_IDS):
        turn.lose(block, "tool-call", "it is no call of a tool of Bedrock's")
        return None
    call: JsonObject = {"toolUseId": block.tool_call_id, "name": block.name}
    call["input"] = turn.input(block)
    return {"toolUse": call | (_SERVER if is_server else {})}


def _result(turn: Rendering, block: TurnBlock) -> JsonObject | None:
    if isinstance(block.raw, dict) and "toolUseId" in block.raw:
        return {"toolResult": block.raw}
    turn.lose(block, "tool-result", "it is no result of a tool of Bedrock's")
    return None


def _answer(turn: Rendering, call: TurnBlock, result: TurnResult) -> JsonObject:
    """The block for a result. Blank text, and a failure without content, would be
    refused: an empty object takes their place."""
    content: Json = result.content
    if not isinstance(content, dict):
        is_text = parts_of(content) is None
        text = text_of(content) if is_text else turn.says(result)
        content = text if text.strip() else {}
    kind = "text" if isinstance(content, str) else "json"
    answer: JsonObject = {"toolUseId": call.tool_call_id, "content": [{kind: content}]}
    return {"toolResult": answer | ({"status": "error"} if result.is_error else {})}


_BLOCKS: BlockWriters = {
    "text": _text,
    "reasoning": _thought,
    "tool-call": _call,
    "tool-result": _result,
}
