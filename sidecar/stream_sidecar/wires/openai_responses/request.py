"""The writer of Responses: a turn as items of the next request's input.

Reasoning items go back whole, with their encrypted content, before the items that they
led to. Items of the server's tools go back with their results. A call or message keeps
its item's id only if all reasoning goes back: otherwise the id would be refused
(wires/README.md, "Requests"). Never raises.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, TypeAlias

from stream_sidecar.wires.openai_responses.content import GONE
from stream_sidecar.wires.openai_responses.refusals import (
    REFUSED_ID,
    TORN,
    WITHOUT_CALL,
    in_shape,
)
from stream_sidecar.wires.openai_responses.tools import CALL, OUTPUT, is_tool_item
from stream_sidecar.wires.shared.fields import is_responses_state, type_of
from stream_sidecar.wires.shared.item_ids import (
    BOUND_TO_ID,
    LONGEST_ITEM_ID,
    is_accepted,
    is_made,
)
from stream_sidecar.wires.shared.rendering import (
    caller_of,
    parts_of,
    text_of,
    without_last_thoughts,
)
from stream_sidecar.wires.shared.request_shapes import CLIENTS_OUTPUTS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from stream_sidecar.message.turn import TurnBlock, TurnResult
    from stream_sidecar.parts import Json, JsonObject
    from stream_sidecar.wires.shared.rendering import Rendering, What, WrittenBlock

    Items: TypeAlias = dict[str | None, JsonObject]

_FUNCTION = "function_call"
_THOUGHT = "reasoning"
_TEXT, _REFUSAL = ("output_text", "text"), ("refusal", "refusal")
"""Types of a message's parts, each with the member that has the text."""
_CALL_STATE = ("namespace",)
"""Members of a call's item that must go back (earendil-works/pi#7709)."""

_NO_ITEM = "it is no reasoning item, or one neither stored nor encrypted"
_FOREIGN = "it is no item of a Responses server"
_NO_CALL = "no call of this turn is the same item"


def write(turn: Rendering) -> list[JsonObject]:
    thoughts, is_whole, is_torn = _thoughts(turn)
    refused = _refused(turn, is_torn=is_torn)
    calls, outcomes = (_whole(turn, kind) for kind in ("tool-call", "tool-result"))
    written: list[WrittenBlock] = []
    allowed = [block for block in turn.blocks if id(block) not in refused]
    for kind, group in groupby(allowed, key=lambda block: block.type):
        blocks = list(group)
        if kind == "reasoning":
            written += [(b, item) for b in blocks for item in thoughts.get(id(b), ())]
            continue
        items = (
            _messages(turn, blocks, with_id=is_whole)
            if kind == "text"
            else _tools(turn, blocks, calls, outcomes, with_id=is_whole)
        )
        written += [(blocks[0], item) for item in items]
    to_send = without_last_thoughts(turn, written)
    for answers, shape in ((turn.approvals, _approval), (turn.answers, _answer)):
        for call, result in answers:
            if id(call) in refused:
                turn.lose(None, "tool-result", WITHOUT_CALL)
            else:
                to_send.append(shape(turn, call, result))
    return [in_shape(turn.rule, item) for item in to_send]


def _refused(turn: Rendering, *, is_torn: bool) -> set[int]:
    """The blocks (by ``id(block)``) whose items cannot go without an id that would be
    refused, and those that name such an item."""
    refused: set[int] = set()
    missing_ids: set[Json] = set()
    for block in turn.blocks:
        item, caller = _item(block), block.caller
        reason = _why_not(turn, item, is_torn=is_torn)
        names = {caller.get("caller_id")} if isinstance(caller, dict) else set()
        if block.type == "tool-result":
            names |= {block.tool_call_id}
        if reason or names & missing_ids:
            kind: What = "tool-call" if block.type == "tool-call" else "tool-result"
            turn.lose(block, kind, reason or WITHOUT_CALL)
            refused.add(id(block))
            missing_ids |= {block.tool_call_id} - {None}
    return refused


def _why_not(turn: Rendering, item: JsonObject, *, is_torn: bool) -> str:
    """Why an item that must have an id cannot go; "" if it can. A server that nobody
    knows may check that its reasoning is there."""
    kind, id = type_of(item), item.get("id")
    if kind not in BOUND_TO_ID or not isinstance(id, str):
        return ""
    if is_torn and (turn.rule.is_closed or not turn.rule.provider.pattern):
        return TORN
    return "" if _is_fit(turn, kind, id) else REFUSED_ID


def _thoughts(turn: Rendering) -> tuple[dict[int, list[JsonObject]], bool, bool]:
    """The items to send for each block of reasoning (by ``id(block)``), whether all
    reasoning goes back with its id, and whether some does not go back. Each part of a
    summary is a block, and the last of these blocks has the item."""
    items: dict[int, list[JsonObject]] = {}
    goes_back, is_whole, is_torn = False, True, False
    is_stored = all(block.opaque != GONE for block in turn.blocks)
    for block in reversed(turn.blocks):
        if block.type != "reasoning":
            goes_back = False
            continue
        item = block.opaque if isinstance(block.opaque, dict) else {}
        is_item = _is_state(item)
        can_go = is_item and _can_go(turn, item, is_stored=is_stored)
        goes_back = can_go if type_of(item) else goes_back
        is_thought = not is_item or type_of(item) == _THOUGHT
        if is_thought and not turn.thinks(block):
            is_torn = True
        elif goes_back:
            items[id(block)] = [_as_sent(turn, item)] if is_item else []
            is_whole = is_whole and (not item.get("id") or _is_own(turn, item))
        else:
            turn.lose(block, "reasoning", _NO_ITEM)
            is_torn = True
    return items, is_whole and not is_torn, is_torn


def _is_own(turn: Rendering, item: JsonObject) -> bool:
    """Whether the id of an item is one that the provider may have given to it."""
    id = item.get("id")
    is_given = isinstance(id, str) and not is_made(id)
    return is_given and _is_fit(turn, type_of(item), str(id))


def _as_sent(turn: Rendering, item: JsonObject) -> JsonObject:
    """``item`` as it is sent. A reasoning item must have a summary
    (newo-ether/Agora#141), and for OpenAI no content (openai/codex#36551)."""
    is_bare = turn.rule.is_closed and type_of(item) == _THOUGHT
    dropped = ("status", "content") if is_bare else ("status",)
    members = {name: item[name] for name in item if name not in dropped}
    if not _is_own(turn, item):
        members.pop("id", None)
    return {"summary": []} | members if type_of(item) == _THOUGHT else members


def _can_go(turn: Rendering, item: JsonObject, *, is_stored: bool) -> bool:
    """Whether ``item`` can go back. A reasoning item needs encrypted content, or an id
    if the server keeps items. Servers of open models take plain content."""
    seal, is_plain = item.get("encrypted_content"), bool(item.get("content"))
    is_stored = is_stored and _is_own(turn, item)
    if type_of(item) != _THOUGHT:
        return True
    if turn.rule.is_closed:
        return bool(seal) or (is_stored and not is_plain and seal != "")
    if "empty-reasoning" in turn.rule.refuses:
        return is_plain
    return bool(seal) or is_stored or is_plain


def _is_state(item: JsonObject) -> bool:
    """Whether an object is reasoning or other state of a Responses server."""
    kind = type_of(item)
    return kind == _THOUGHT or (bool(kind) and is_responses_state(item))


def _messages(
    turn: Rendering, blocks: Iterable[TurnBlock], *, with_id: bool
) -> Iterator[JsonObject]:
    """Yields a message for each item in ``blocks``; its last block has its state."""
    content: list[JsonObject] = []
    for block in blocks:
        kind, name = _REFUSAL if block.refusal else _TEXT
        content.append({"type": kind, name: block.text})
        if isinstance(block.opaque, dict):
            yield _message(turn, content, block.opaque, with_id=with_id)
            content = []
    if content:
        yield _message(turn, content, {}, with_id=with_id)


def _message(
    turn: Rendering, content: list[JsonObject], state: JsonObject, *, with_id: bool
) -> JsonObject:
    """A message with ``content``. Without an id it is no item of the server's, so its
    content is plain text: servers that check types require that."""
    members = {n: state[n] for n in ("phase",) if n in state}
    members |= _id_of(turn, "message", state, with_id=with_id)
    message: JsonObject = {"type": "message", "role": "assistant", "content": content}
    if "id" in members:
        return message | members | {"status": "completed"}
    if all(part["type"] == _TEXT[0] for part in content):
        text = "".join(part["text"] for part in content)
        return {"role": "assistant", "content": text} | members
    return message | members


def _call(turn: Rendering, block: TurnBlock, *, with_id: bool) -> JsonObject:
    """The item for a call. A call that is no function goes back as it was."""
    if raw := _item(block):
        is_led = with_id or type_of(raw) in BOUND_TO_ID
        members = {name: raw[name] for name in raw if is_led or name != "id"}
        call_id = {"call_id": block.tool_call_id} if raw.get("call_id") else {}
        return members | call_id
    is_text = block.arguments_format == "text"
    name = "input" if is_text else "arguments"
    item: JsonObject = {"type": "custom_tool_call" if is_text else _FUNCTION}
    item |= {"call_id": block.tool_call_id, "name": block.name}
    item[name] = turn.arguments(block)
    state = block.opaque if isinstance(block.opaque, dict) else {}
    item |= caller_of(turn, block, "caller_id")
    item |= {name: state[name] for name in _CALL_STATE if name in state}
    return item | _id_of(turn, type_of(item), state, with_id=with_id)


def _id_of(
    turn: Rendering, kind: str, state: JsonObject, *, with_id: bool
) -> JsonObject:
    """The id in ``state``, as a member, if an item of this ``kind`` may have it."""
    id = state.get("id")
    is_fit = with_id and isinstance(id, str) and bool(id)
    return {"id": id} if is_fit and _is_fit(turn, kind, str(id)) else {}


def _is_fit(turn: Rendering, kind: str, id: str) -> bool:
    """Whether the provider accepts ``id`` for an item of the type ``kind``."""
    if turn.rule.is_closed:
        return is_accepted(kind, id)
    return len(id) <= LONGEST_ITEM_ID


def _item(block: TurnBlock) -> JsonObject:
    """The tool item that a block came from; empty if it came from another wire."""
    raw: JsonObject = block.raw if isinstance(block.raw, dict) else {}
    return raw if is_tool_item(raw) else {}


def _whole(turn: Rendering, type: str) -> Items:
    """Id of a call -> its item, for items of the server's tools that contain both call
    and result. ``type``: looks only at blocks of this type."""
    items = [(b.tool_call_id, _item(b)) for b in turn.blocks if b.type == type]
    return {
        id: item for id, item in items if item and not type_of(item).endswith(OUTPUT)
    }


def _tools(
    turn: Rendering,
    blocks: Iterable[TurnBlock],
    calls: Items,
    outcomes: Items,
    *,
    with_id: bool,
) -> Iterator[JsonObject]:
    """Yields the items for calls and results in ``blocks``. A server's call and its
    result are one item, unless the result came as an item of its own."""
    for block in blocks:
        item = _item(block)
        if block.type == "tool-call" and block.executor != "server":
            yield _call(turn, block, with_id=with_id)
        elif not item:
            kind: What = "tool-call" if block.type == "tool-call" else "tool-result"
            turn.lose(block, kind, _FOREIGN)
        elif block.type == "tool-call":
            yield outcomes.get(block.tool_call_id, item)
        elif _is_stray(turn, block, item):
            turn.lose(block, "tool-result", _NO_CALL)
        elif type_of(item).endswith(OUTPUT):
            yield item
        elif block.tool_call_id not in calls:
            turn.lose(block, "tool-result", _NO_CALL)


def _is_stray(turn: Rendering, block: TurnBlock, item: JsonObject) -> bool:
    """Whether ``item`` is an answer of the client's tools without a call of its id."""
    if type_of(item) not in CLIENTS_OUTPUTS or not item.get("call_id"):
        return False
    return block.tool_call_id not in turn.call_ids


def _answer(turn: Rendering, call: TurnBlock, result: TurnResult) -> JsonObject:
    """The item with a tool's result, in the shape for the call's type."""
    raw = _item(call)
    custom = "custom_tool_call" if call.arguments_format == "text" else _FUNCTION
    kind = type_of(raw) or custom
    item: JsonObject = {"type": kind.removesuffix(CALL) + CALL + OUTPUT}
    item["call_id"] = call.tool_call_id
    shape = _ANSWERS.get(kind)
    return item | (shape(turn, result) if shape else {"output": _output(result)})


_YES = frozenset(("approve", "approved", "allow", "allowed", "true", "yes"))


def _approval(turn: Rendering, call: TurnBlock, result: TurnResult) -> JsonObject:
    """The answer to a call that waits for an approval: only a clear yes approves."""
    content = result.content
    answer: JsonObject = content if isinstance(content, dict) else {"approve": content}
    word = answer.get("approve")
    is_yes = word is True or (isinstance(word, str) and word.strip().lower() in _YES)
    item: JsonObject = {"type": "mcp_approval_response"}
    item |= {"approval_request_id": call.tool_call_id}
    item["approve"] = is_yes and not result.is_error
    text = None if answer is content else turn.says(result)
    reason = answer.get("reason", text)
    has_reason = isinstance(reason, str) and reason.strip() and not item["approve"]
    return item | ({"reason": reason} if has_reason else {})


def _output(result: TurnResult) -> Json:
    """A result as text, or as a list of parts."""
    parts = parts_of(result.content)
    return text_of(result.content) if parts is None else [_part(part) for part in parts]


def _shell(turn: Rendering, result: TurnResult) -> JsonObject:
    """The members for a result of ``shell_call``: a list with the output of each
    command. Other text counts as the output of one command."""
    content = result.content
    items = content if isinstance(content, list) else [content]
    if not items or not all(isinstance(i, dict) and "outcome" in i for i in items):
        text, failed = turn.says(result), bool(result.is_error)
        items = [
            {
                "stdout": "" if failed else text,
                "stderr": text if failed else "",
                "outcome": {"type": "exit", "exit_code": int(failed)},
            }
        ]
    return {"output": items}


def _patched(turn: Rendering, result: TurnResult) -> JsonObject:
    status = "failed" if result.is_error else "completed"
    return {"status": status, "output": turn.says(result)}


def _local_shell(turn: Rendering, result: TurnResult) -> JsonObject:
    """The members for a result of ``local_shell_call``, whose call has an ``id``."""
    return {"id": result.tool_call_id, "output": turn.says(result)}


def _screenshot(turn: Rendering, result: TurnResult) -> JsonObject:
    """The members for a result of ``computer_call``: the last image, a screenshot."""
    content = result.content
    parts = [content] if isinstance(content, dict) else parts_of(content) or []
    images = [p for p in map(_part, parts) if "image_url" in p or "file_id" in p]
    if not images:
        turn.lose(None, "tool-result", "only a screenshot can go")
    image = images[-1] if images else {}
    members = {n: image[n] for n in ("image_url", "file_id") if n in image}
    return {"output": {"type": "computer_screenshot"} | members}


def _tool_search(turn: Rendering, result: TurnResult) -> JsonObject:
    """The members for a result of ``tool_search_call``: the declarations of tools."""
    content = result.content
    values = content.get("tools") if isinstance(content, dict) else content
    items = values if isinstance(values, list) else []
    tools = [tool for tool in items if isinstance(tool, dict)]
    if content and not tools:
        turn.lose(None, "tool-result", "only a list of tools can go")
    members: JsonObject = {"type": "tool_search_output", "tools": tools}
    return members | {"execution": "client", "status": "completed"}


_ANSWERS: dict[str, Callable[[Rendering, TurnResult], JsonObject]] = {
    "shell_call": _shell,
    "apply_patch_call": _patched,
    "local_shell_call": _local_shell,
    "computer_call": _screenshot,
    "tool_search_call": _tool_search,
}
"""Type of a call -> makes the members of its answer. For other types the member is
``output``, as text or parts."""


def _part(part: JsonObject) -> JsonObject:
    """A part of a result, with MCP's names or this wire's, under this wire's names."""
    if part.get("type") == "text":
        return part | {"type": "input_text"}
    if part.get("type") == "image" and "data" in part:
        url = f"data:{part.get('mimeType')};base64,{part['data']}"
        return {"type": "input_image", "image_url": url}
    return part
