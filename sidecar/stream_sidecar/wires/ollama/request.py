"""The writer of Ollama's /api/chat: a turn as messages of the next request.

Reasoning goes back in ``thinking``. Arguments are objects, and a result has the name of
its tool (wires/README.md, "Requests"). Never raises.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stream_sidecar.message.turn import TurnBlock, TurnResult
    from stream_sidecar.parts import JsonObject
    from stream_sidecar.wires.shared.rendering import Rendering


def write(turn: Rendering) -> list[JsonObject]:
    turn.lose_server_tools()
    message: JsonObject = {"role": "assistant", "content": turn.text()}
    thoughts = [block.text for block in turn.thoughts()]
    if any(thoughts):
        message["thinking"] = "".join(thoughts)
    if calls := [_call(turn, call) for call in turn.calls]:
        message["tool_calls"] = calls
    messages = [message] if message["content"] or len(message) > 2 else []
    if messages and turn.must_think:
        message.setdefault("thinking", "")
    return messages + [_answer(turn, *pair) for pair in turn.answers]


def _call(turn: Rendering, call: TurnBlock) -> JsonObject:
    id = {} if call.id_synthetic else {"id": call.tool_call_id}
    function = {"name": call.name, "arguments": turn.input(call)}
    return id | {"type": "function", "function": function}


def _answer(turn: Rendering, call: TurnBlock, result: TurnResult) -> JsonObject:
    id = {} if call.id_synthetic else {"tool_call_id": call.tool_call_id}
    return {"role": "tool", "tool_name": call.name, "content": turn.says(result)} | id
