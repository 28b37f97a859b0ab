"""The writer of Chat Completions: a turn as an assistant's message and tool messages.

Reasoning goes back in the fields in which it came, unless the provider's rule names
another place: Mistral has it in the content, MiniMax in tags. A gateway's state goes
back with its call or with the message (wires/README.md, "Requests"). Never raises.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stream_sidecar.wires.openai_chat.reasoning import (
    MESSAGE_STATES,
    TEXTS,
    fields_that_hold,
)
from stream_sidecar.wires.openai_chat.tools import CALL_STATE
from stream_sidecar.wires.requests.issuers import BLOCKS, issuers_in
from stream_sidecar.wires.requests.seals import redacted_in
from stream_sidecar.wires.shared.reasoning_fields import CHUNKS

if TYPE_CHECKING:
    from stream_sidecar.message.turn import TurnBlock, TurnResult
    from stream_sidecar.parts import Json, JsonObject
    from stream_sidecar.wires.shared.rendering import Rendering

_BLOCKS = frozenset(fields_that_hold("blocks"))
_PLACES = _BLOCKS.union(MESSAGE_STATES, CALL_STATE)
"""Fields of a message or call in which state goes back."""

_NO_PLACE = "this wire has no place for its state"


def write(turn: Rendering) -> list[JsonObject]:
    thoughts = [block for block in turn.thoughts() if _has_place(turn, block)]
    message: JsonObject = {"role": "assistant", "content": _content(turn, thoughts)}
    refusal = turn.text(refusal=True)
    if refusal and turn.rule.has_refusals:
        message["refusal"] = refusal
    turn.lose_server_tools()
    for block in turn.blocks:
        if _has_homeless_state(turn, block):
            turn.lose(block, "state", _NO_PLACE)
    if calls := [_call(turn, call) for call in turn.calls]:
        message["tool_calls"] = calls
        if turn.rule.stand_in:
            google = {"google": {"thought_signature": turn.rule.stand_in}}
            calls[0].setdefault("extra_content", google)
    is_answer = bool(calls or turn.text())
    for block in () if is_answer else thoughts:
        turn.lose(block, "reasoning", "a turn of reasoning alone is refused")
    messages = [message | _reasoning(turn, thoughts)] if is_answer else []
    return messages + [_answer(turn, *pair) for pair in turn.answers]


def _has_place(turn: Rendering, block: TurnBlock) -> bool:
    """Whether a block of reasoning has a field to go back in. Reasoning from tags in
    the text has none, unless the provider's rule names a field."""
    is_lost = block.source == "tag" and not (turn.rule.tags or turn.rule.field)
    if is_lost:
        turn.lose(block, "reasoning", "it stood in tags in the text, not in a field")
    return not is_lost


def _has_homeless_state(turn: Rendering, block: TurnBlock) -> bool:
    """Whether a block has state of another wire, for which a message has no field."""
    if block.signature:
        is_placed = not _PLACES.isdisjoint(block.fields)
        return turn.rule.field != CHUNKS and not is_placed
    opaque = block.opaque if isinstance(block.opaque, dict) else {}
    is_placed = not _PLACES.isdisjoint(opaque) or bool(redacted_in(opaque))
    is_signed = bool(turn.rule.stand_in and opaque.get("thoughtSignature"))
    return bool(issuers_in(opaque)) and not is_placed and not is_signed


def _content(turn: Rendering, thoughts: list[TurnBlock]) -> Json:
    """The message's content; null if there is no answer."""
    if turn.rule.field == CHUNKS and thoughts:
        return _chunks(turn, thoughts)
    text = turn.text(refusal=False if turn.rule.has_refusals else None)
    tagged = [block.text for block in thoughts if block.source == "tag"]
    if turn.rule.tags and tagged:
        opener, closer = turn.rule.tags
        text = "".join([opener, *tagged, closer, "\n\n", text])
    return text or None


def _chunks(turn: Rendering, thoughts: list[TurnBlock]) -> list[JsonObject]:
    """Mistral's content: chunks of reasoning and of the answer, in their order."""
    chunks: list[JsonObject] = []
    thought_ids = {id(block) for block in thoughts}
    for block in turn.blocks:
        if id(block) in thought_ids and block.text:
            thinking = [{"type": "text", "text": block.raw_text or block.text}]
            signed = {"signature": block.signature} if block.signature else {}
            chunks.append({"type": "thinking", "thinking": thinking} | signed)
        elif block.type == "text" and block.text:
            chunks.append({"type": "text", "text": block.text})
    return chunks


def _reasoning(turn: Rendering, thoughts: list[TurnBlock]) -> JsonObject:
    """The message's fields of reasoning; only the rule's field, if it names one."""
    rule = turn.rule
    if rule.field == CHUNKS:
        return {}
    native = [b for b in thoughts if b.source != "tag" or not rule.tags]
    text = "".join(block.raw_text or block.text for block in native)
    if rule.field in TEXTS:
        return {rule.field: text} if text or turn.must_think else {}
    fields = _as_it_came(native, text)
    if rule.field in fields:
        return {rule.field: fields[rule.field]}
    return fields or ({TEXTS[0]: ""} if turn.must_think else {})


def _as_it_came(thoughts: list[TurnBlock], text: str) -> JsonObject:
    names = {name for b in thoughts if not _is_anthropics(b) for name in b.fields}
    fields: JsonObject = {name: text for name in TEXTS if name in names}
    fields |= _state(thoughts)
    if blocks := _thinking_blocks(thoughts):
        fields[BLOCKS] = blocks
    if text and not fields:
        fields[TEXTS[0]] = text
    return fields


def _is_anthropics(block: TurnBlock) -> bool:
    """Whether a block came from Anthropic's own wire. Some servers here have the field
    ``thinking``, too, but only Anthropic's has a signature in the block."""
    return block.signature is not None and block.fields == ("thinking",)


def _state(thoughts: list[TurnBlock]) -> JsonObject:
    states = [block.opaque for block in thoughts if isinstance(block.opaque, dict)]
    return {
        name: state[name]
        for state in states
        for name in MESSAGE_STATES
        if state.get(name)
    }


def _thinking_blocks(thoughts: list[TurnBlock]) -> list[JsonObject]:
    """LiteLLM's ``thinking_blocks``: signed blocks, and redacted ones as they came."""
    blocks: list[JsonObject] = []
    for block in thoughts:
        opaque = block.opaque if isinstance(block.opaque, dict) else {}
        redacted = opaque.get(BLOCKS)
        if isinstance(redacted, list):
            blocks += redacted
        elif data := redacted_in(opaque):
            blocks.append({"type": "redacted_thinking", "data": data})
        elif block.signature and not _BLOCKS.isdisjoint(block.fields):
            text = block.raw_text or block.text
            signed = {"thinking": text, "signature": block.signature}
            blocks.append({"type": "thinking"} | signed)
    return blocks


def _call(turn: Rendering, call: TurnBlock) -> JsonObject:
    state = call.opaque if isinstance(call.opaque, dict) else {}
    members = {name: state[name] for name in CALL_STATE if name in state}
    if turn.rule.stand_in and not members and state.get("thoughtSignature"):
        google = {"thought_signature": state["thoughtSignature"]}
        members = {"extra_content": {"google": google}}
    kind, input_name, arguments = "function", "arguments", call.arguments
    if call.arguments_format == "text":
        kind, input_name = "custom", "input"
    else:
        arguments = turn.arguments(call)
    body = {"name": call.name, input_name: arguments}
    return {"id": call.tool_call_id, "type": kind, kind: body} | members


def _answer(turn: Rendering, call: TurnBlock, result: TurnResult) -> JsonObject:
    answer = {"role": "tool", "tool_call_id": call.tool_call_id}
    return answer | {"content": turn.says(result)}
