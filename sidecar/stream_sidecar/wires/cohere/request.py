"""The writer of Cohere's Chat: a turn as messages of the next request.

The plan before calls goes back in ``tool_plan``, thinking in the content
(wires/README.md, "Requests"). Never raises.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stream_sidecar.wires.cohere.reader import PLAN, THINKING
from stream_sidecar.wires.shared.rendering import parts_of

if TYPE_CHECKING:
    from stream_sidecar.message.turn import TurnBlock, TurnResult
    from stream_sidecar.parts import Json, JsonObject
    from stream_sidecar.wires.shared.rendering import Rendering

_OWN_PARTS = {"text", "document"}


def write(turn: Rendering) -> list[JsonObject]:
    turn.lose_server_tools()
    plans = [block for block in turn.blocks if block.fields == (PLAN,)]
    plan = "".join(block.text for block in plans if turn.thinks(block))
    parts = [_part(turn, block) for block in turn.blocks if block.fields != (PLAN,)]
    fields: JsonObject = {
        PLAN: plan,
        "content": [part for part in parts if part],
        "tool_calls": [_call(turn, call) for call in turn.calls],
    }
    filled = {name: value for name, value in fields.items() if value}
    if filled and turn.must_think:
        filled.setdefault(PLAN, "")
    messages: list[JsonObject] = [{"role": "assistant"} | filled] if filled else []
    return messages + [_answer(turn, *pair) for pair in turn.answers]


def _part(turn: Rendering, block: TurnBlock) -> JsonObject | None:
    if block.type == "text" and block.text:
        return {"type": "text", "text": block.text}
    if block.type != "reasoning" or not turn.thinks(block):
        return None
    if block.fields == (THINKING,):
        return {"type": "thinking", "thinking": block.text}
    turn.lose(block, "reasoning", "it is neither a plan nor a thought of Cohere's")
    return None


def _call(turn: Rendering, call: TurnBlock) -> JsonObject:
    function = {"name": call.name, "arguments": turn.arguments(call)}
    return {"id": call.tool_call_id, "type": "function", "function": function}


def _answer(turn: Rendering, call: TurnBlock, result: TurnResult) -> JsonObject:
    """The message with a result. An object becomes a document, which can be cited."""
    content: Json = result.content
    kinds = {part["type"] for part in parts_of(content) or ()}
    if isinstance(content, dict):
        content = [{"type": "document", "document": {"data": content}}]
    elif not kinds or not kinds <= _OWN_PARTS:
        content = turn.says(result)
    return {"role": "tool", "tool_call_id": call.tool_call_id, "content": content}
