"""The writer of Anthropic's Messages: a turn as the next request must carry it.

Blocks go back in their order. Signed thinking goes back as it came, with the original
text if it was cleaned. Blank text and thinking without a signature would be refused, so
they are lost (wires/README.md, "Requests"). Never raises.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stream_sidecar.wires.anthropic.blocks import (
    CALL_MEMBERS,
    REDACTED,
    RESULT,
    SERVER_IDS,
    THINKING,
    is_location,
)
from stream_sidecar.wires.requests.issuers import BLOCKS
from stream_sidecar.wires.requests.seals import redacted_in
from stream_sidecar.wires.shared.fields import is_responses_state, type_of
from stream_sidecar.wires.shared.rendering import (
    caller_of,
    in_blocks,
    is_blank,
    parts_of,
    text_of,
)

if TYPE_CHECKING:
    from stream_sidecar.message.turn import TurnBlock, TurnResult
    from stream_sidecar.parts import JsonObject
    from stream_sidecar.wires.shared.rendering import BlockWriters, Rendering

_UNSIGNED = (
    "thinking without Anthropic's signature is refused; where thinking is on, calls"
    " without it are, too"
)

_OWN_FIELDS = ((THINKING,), ("reasoningContent",))
"""Fields whose thinking Anthropic signed, also through Bedrock."""

_CONTAINER = (
    "it continues in the container of this response, which the request must name"
)


def write(turn: Rendering) -> list[JsonObject]:
    messages = in_blocks(turn, _BLOCKS, _answer)
    blocks = messages[0]["content"] if messages else []
    if turn.rule.no_end and blocks and "text" in blocks[-1]:
        blocks[-1]["text"] = blocks[-1]["text"].rstrip()
    is_due = turn.rule.required and turn.calls and turn.reasoning != "none"
    if is_due and not any(item["type"] == THINKING for item in blocks):
        blocks.insert(0, {"type": THINKING, THINKING: ""})
    return messages


def _text(turn: Rendering, block: TurnBlock) -> JsonObject | None:
    if not block.text.strip():
        turn.lose(block, "text", "blank text is refused")
        return None
    cited = [item for item in turn.cited(block) if is_location(item)]
    written: JsonObject = {"type": "text", "text": block.text}
    return written | {"citations": cited} if cited else written


def _thought(turn: Rendering, block: TurnBlock) -> JsonObject | None:
    state: JsonObject = block.opaque if isinstance(block.opaque, dict) else {}
    is_state = bool(type_of(state)) and not is_responses_state(state)
    if (not is_state or type_of(state) == REDACTED) and not turn.thinks(block):
        return None
    if is_state:
        return state
    if redacted := redacted_in(state):
        return {"type": REDACTED, "data": redacted}
    thought = {"type": THINKING, THINKING: block.raw_text or block.text}
    if _is_anthropics(block) and turn.signs(block):
        return thought | {"signature": block.signature}
    if turn.rule.unsigned and thought[THINKING]:
        return thought
    turn.lose(block, "reasoning", _UNSIGNED)
    return None


def _is_anthropics(block: TurnBlock) -> bool:
    """Whether a signature in ``block`` may be Anthropic's: of its own wires, or in
    LiteLLM's copies of its blocks, beside fields that only repeat the text."""
    is_own = block.fields in _OWN_FIELDS
    return is_own or any(name.split(".")[-1] == BLOCKS for name in block.fields)


def _call(turn: Rendering, block: TurnBlock) -> JsonObject | None:
    is_server = block.executor == "server"
    if is_server and not SERVER_IDS.fullmatch(block.tool_call_id or ""):
        turn.lose(block, "tool-call", "it is no call of a tool of Anthropic's")
        return None
    kind = "server_tool_use" if is_server else "tool_use"
    item: JsonObject = {"type": kind}
    if isinstance(block.raw, dict) and type_of(block.raw).endswith("tool_use"):
        names = CALL_MEMBERS if turn.rule.is_closed else block.raw
        item = {name: block.raw[name] for name in names if name in block.raw}
    item |= {"id": block.tool_call_id, "name": block.name}
    item["input"] = turn.input(block)
    if caller := caller_of(turn, block, "tool_id"):
        turn.lose(block, "state", _CONTAINER)
    return item | caller


def _result(turn: Rendering, block: TurnBlock) -> JsonObject | None:
    raw = block.raw if isinstance(block.raw, dict) else {}
    if type_of(raw).endswith(RESULT) and "tool_use_id" in raw:
        is_closed = turn.rule.is_closed
        return {n: raw[n] for n in raw if n != "citations" or not is_closed}
    turn.lose(block, "tool-result", "it is no result of a tool of Anthropic's")
    return None


def _answer(turn: Rendering, call: TurnBlock, result: TurnResult) -> JsonObject:
    tool_result: JsonObject = {"type": "tool_result", "tool_use_id": call.tool_call_id}
    parts = parts_of(result.content)
    texts = [_part(part) for part in parts or () if not is_blank(part)]
    tool_result["content"] = text_of(result.content) if parts is None else texts or ""
    return tool_result | {"is_error": True} if result.is_error else tool_result


def _part(part: JsonObject) -> JsonObject:
    """A part of a result as Messages has it. MCP has an image's data elsewhere."""
    if part.get("type") != "image" or "data" not in part:
        return part
    source = {"media_type": part.get("mimeType"), "data": part["data"]}
    return {"type": "image", "source": {"type": "base64"} | source}


_BLOCKS: BlockWriters = {
    "text": _text,
    "reasoning": _thought,
    "tool-call": _call,
    "tool-result": _result,
}
