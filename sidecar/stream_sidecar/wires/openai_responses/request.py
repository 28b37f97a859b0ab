"""The writer of Responses: a turn as items of the next request's input.

Reasoning items go back whole, with what is encrypted in them, before what they led to;
so do the items of the server's tools, with what came out. State and tools of another
wire are no items, whatever their types, and are lost. A call or a message keeps its
item's id only beside all of the reasoning: without that the id would be refused
(wires/README.md, "Requests"). Never raises.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, TypeAlias

from stream_sidecar.wires.openai_responses.tools import CALL, OUTPUT, is_tool_item
from stream_sidecar.wires.shared.fields import is_responses_state, type_of
from stream_sidecar.wires.shared.rendering import caller_of, parts_of, text_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from stream_sidecar.message.turn import TurnBlock, TurnResult
    from stream_sidecar.parts import Json, JsonObject
    from stream_sidecar.wires.shared.rendering import Rendering, What

    Items: TypeAlias = dict[str | None, JsonObject]

_FUNCTION = "function_call"
_THOUGHT = "reasoning"
_TEXT, _REFUSAL = ("output_text", "text"), ("refusal", "refusal")
"""Types of a message's parts, and the field with their text."""

_NO_ITEM = "it is no reasoning item, or one neither stored nor encrypted"
_FOREIGN = "it is no item of a Responses server"
_NO_CALL = "no call of this turn is the same item"


def write(turn: Rendering) -> list[JsonObject]:
    thoughts, is_whole = _thoughts(turn)
    calls, outcomes = (_whole(turn, kind) for kind in ("tool-call", "tool-result"))
    items: list[JsonObject] = []
    for kind, blocks in groupby(turn.blocks, key=lambda block: block.type):
        if kind == "text":
            items += _messages(blocks, with_id=is_whole)
        elif kind == "reasoning":
            items += [item for block in blocks for item in thoughts.get(id(block), ())]
        else:
            items += _tools(turn, blocks, calls, outcomes, with_id=is_whole)
    return items + [_answer(turn, *pair) for pair in turn.answered()]


def _thoughts(turn: Rendering) -> tuple[dict[int, list[JsonObject]], bool]:
    """The items of each block of reasoning that goes back; was that all of it?

    The parts of a summary are blocks of their own: the last of them has the item.
    """
    found: dict[int, list[JsonObject]] = {}
    is_told, is_whole = False, True
    for block in reversed(turn.blocks):
        if block.type != "reasoning":
            is_told = False
            continue
        item = block.opaque if isinstance(block.opaque, dict) else {}
        is_item = _is_state(item)
        is_told = is_item if type_of(item) else is_told
        is_thought = not is_item or type_of(item) == _THOUGHT
        if is_thought and not turn.thinks(block):
            is_whole = False
        elif is_told:
            told = {name: item[name] for name in item if name != "status"}
            found[id(block)] = [told] if is_item else []
        else:
            turn.lose(block, "reasoning", _NO_ITEM)
            is_whole = False
    return found, is_whole


def _is_state(item: JsonObject) -> bool:
    """Whether an object is reasoning or other state of a Responses server."""
    kind = type_of(item)
    return kind == _THOUGHT or (bool(kind) and is_responses_state(item))


def _messages(blocks: Iterable[TurnBlock], *, with_id: bool) -> Iterator[JsonObject]:
    """One for each item: its last block has what is to be known of it."""
    content: list[JsonObject] = []
    for block in blocks:
        kind, name = _REFUSAL if block.refusal else _TEXT
        content.append({"type": kind, name: block.text})
        if isinstance(block.opaque, dict):
            yield _message(content, block.opaque, with_id=with_id)
            content = []
    if content:
        yield _message(content, {}, with_id=with_id)


def _message(
    content: list[JsonObject], state: JsonObject, *, with_id: bool
) -> JsonObject:
    kept = {
        n: state[n] for n in ("id", "phase") if n in state and (with_id or n != "id")
    }
    message = {"type": "message", "role": "assistant", "content": content}
    return message | kept | ({"status": "completed"} if "id" in kept else {})


def _call(turn: Rendering, block: TurnBlock, *, with_id: bool) -> JsonObject:
    """A call that is no function goes back as the item that it was."""
    if raw := _item(block):
        return raw
    is_text = block.arguments_format == "text"
    name = "input" if is_text else "arguments"
    item: JsonObject = {"type": "custom_tool_call" if is_text else _FUNCTION}
    item |= {"call_id": turn.id_of(block), "name": block.name}
    item[name] = turn.arguments(block)
    item |= caller_of(block)
    state = block.opaque if isinstance(block.opaque, dict) else {}
    return item | {n: state[n] for n in ("id",) if n in state and with_id}


def _item(block: TurnBlock) -> JsonObject:
    """The item of a tool that a block was, empty where it was none of this wire."""
    raw: JsonObject = block.raw if isinstance(block.raw, dict) else {}
    return raw if is_tool_item(raw) else {}


def _whole(turn: Rendering, type: str) -> Items:
    """Items of the server's tools that are a call with what came of it, in blocks of a
    ``type``, by the ids of their calls."""
    found = [(b.tool_call_id, _item(b)) for b in turn.blocks if b.type == type]
    return {
        id: item for id, item in found if item and not type_of(item).endswith(OUTPUT)
    }


def _tools(
    turn: Rendering,
    blocks: Iterable[TurnBlock],
    calls: Items,
    outcomes: Items,
    *,
    with_id: bool,
) -> Iterator[JsonObject]:
    """A server's call with what came of it is one item, where that is none of its
    own."""
    for block in blocks:
        item = _item(block)
        if block.type == "tool-call" and block.executor != "server":
            yield _call(turn, block, with_id=with_id)
        elif not item:
            what: What = "tool-call" if block.type == "tool-call" else "tool-result"
            turn.lose(block, what, _FOREIGN)
        elif block.type == "tool-call":
            yield outcomes.get(block.tool_call_id, item)
        elif type_of(item).endswith(OUTPUT):
            yield item
        elif block.tool_call_id not in calls:
            turn.lose(block, "tool-result", _NO_CALL)


def _answer(turn: Rendering, call: TurnBlock, result: TurnResult) -> JsonObject:
    raw = _item(call)
    custom = "custom_tool_call" if call.arguments_format == "text" else _FUNCTION
    kind = type_of(raw) or custom
    item = {"type": kind.removesuffix(CALL) + CALL + OUTPUT}
    id = result.tool_call_id if raw else turn.id_of(call)
    return item | {"call_id": id, "output": _output(raw, result)}


def _output(raw: JsonObject, result: TurnResult) -> Json:
    """Text or parts; what a tool of the provider's gave (a screenshot) as it is."""
    if raw and isinstance(result.content, dict):
        return result.content
    parts = parts_of(result.content)
    return text_of(result.content) if parts is None else [_part(part) for part in parts]


def _part(part: JsonObject) -> JsonObject:
    """A part as this wire names it: of MCP, or its own."""
    if part["type"] == "text":
        return part | {"type": "input_text"}
    if part["type"] == "image" and "data" in part:
        url = f"data:{part.get('mimeType')};base64,{part['data']}"
        return {"type": "input_image", "image_url": url}
    return part
