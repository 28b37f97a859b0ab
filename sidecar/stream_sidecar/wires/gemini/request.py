"""The writer of Gemini's generateContent: a turn as contents of the next request.

A signature (``thoughtSignature``) goes back on the part on which it came. One that came
alone gets its own part with an empty text. The server's tools go back unchanged. A
call's id goes back if Google gave it (wires/README.md, "Requests"). Never raises.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stream_sidecar.wires.gemini.content import (
    PART_READERS,
    SIGNATURE,
    THOUGHT,
    signature_of,
)
from stream_sidecar.wires.shared.rendering import is_base64, parts_of

if TYPE_CHECKING:
    from stream_sidecar.message.turn import TurnBlock, TurnResult
    from stream_sidecar.parts import Json, JsonObject
    from stream_sidecar.wires.shared.rendering import Rendering

_FOREIGN = "it is no part of a tool of Google's"


def write(turn: Rendering) -> list[JsonObject]:
    parts = [part for block in turn.blocks if (part := _part(turn, block)) is not None]
    call = next((part for part in parts if "functionCall" in part), None)
    if call is not None and turn.rule.stand_in:  # it counts for all calls of the turn
        call.setdefault(SIGNATURE, turn.rule.stand_in)
    answers = [_answer(turn, call, result) for call, result in turn.answers]
    contents = ({"role": "model", "parts": parts}, {"role": "user", "parts": answers})
    return [content for content in contents if content["parts"]]


def _part(turn: Rendering, block: TurnBlock) -> JsonObject | None:
    if block.type == "text":
        return {"text": block.text} if block.text else None
    if block.type == "reasoning":
        return _thought(turn, block)
    if block.type == "tool-call" and block.executor != "server":
        return _call(turn, block)
    if isinstance(block.raw, dict) and not PART_READERS.keys().isdisjoint(block.raw):
        return block.raw
    is_call = block.type == "tool-call"
    turn.lose(block, "tool-call" if is_call else "tool-result", _FOREIGN)
    return None


def _thought(turn: Rendering, block: TurnBlock) -> JsonObject | None:
    """The part for a thought, or for a lone signature; None if it is not sent."""
    if not turn.thinks(block):
        return None
    signature = _signature(turn, block, block.opaque)
    if signature:
        return {"text": ""} | signature
    if block.fields != (THOUGHT,):
        turn.lose(block, "reasoning", "it is no thought of Google's")
        return None
    thought: JsonObject = {"text": block.raw_text or block.text, "thought": True}
    return thought | _signature(turn, block, {SIGNATURE: block.signature})


def _signature(turn: Rendering, block: TurnBlock, state: Json) -> JsonObject:
    signature = signature_of(state)
    if signature and not is_base64(signature[SIGNATURE]):
        turn.lose(block, "state", "its signature is no base64")
        return {}
    return signature


def _call(turn: Rendering, block: TurnBlock) -> JsonObject:
    call = _named(block) | {"args": turn.input(block)}
    return {"functionCall": call} | _signature(turn, block, block.opaque)


def _named(call: TurnBlock) -> JsonObject:
    id = {} if call.id_synthetic else {"id": call.tool_call_id}
    return id | {"name": call.name}


def _answer(turn: Rendering, call: TurnBlock, result: TurnResult) -> JsonObject:
    """The part for a result. If the result is an object, it is the ``response``; other
    values become a member ``output`` or ``error`` of the response."""
    content: Json = result.content
    if parts_of(content) is not None or content is None:
        content = turn.says(result)
    if not isinstance(content, dict) or result.is_error:
        content = {"error" if result.is_error else "output": content}
    return {"functionResponse": _named(call) | {"response": content}}
