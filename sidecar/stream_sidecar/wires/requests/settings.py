"""Changes the settings of a request that its provider would refuse, and checks its end.

A setting is changed if nothing of the conversation is lost by that. What only the host
can mend is reported (wires/README.md, "Requests"). Never raises for any JSON value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stream_sidecar.values.jsontext import dumps
from stream_sidecar.wires.shared.fields import type_of
from stream_sidecar.wires.shared.rendering import LostPart
from stream_sidecar.wires.shared.request_shapes import SHAPES, sum_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from stream_sidecar.parts import Json, JsonObject
    from stream_sidecar.wires.shared.request_rules import Rule

ALONE_AT_END = "nothing follows it, so it is refused"
OPEN_END = (
    "it ends the request, and is sent as it is; it has no result, which is refused"
)
PREFIX = (
    "the model's turn ends the request and goes as it is; this provider refuses that,"
    " some do while thinking is on"
)
BLANK_END = "the request ends with white space, which is refused; it is sent as it is"
LOOP = "calls without thinking are refused while it is on, so it was switched off"
THINKING_OFF = "the last turn has thinking, which is refused where it is not on"
NOT_FIRST = "thinking after something else is refused; only the host knows the order"
NOT_STORED = "what is not stored is gone with its connection, and then refused"
CONTAINER = "its program waits for it in a container, which the request must name"
NOT_OFFERED = "the tool is not in the request, which is refused"
NO_TOOLS = "calls are refused in a request without tools"
MARKS = "more than four marks of the cache are refused"


def refused_settings(
    wire: str, rule: Rule, body: JsonObject, items: list[Json], lost: list[LostPart]
) -> JsonObject:
    """The settings of the request ``body`` that have to change, with new values.

    ``items``: its turns, from which a system's turn at the start is removed. Adds to
    ``lost`` what is refused and only the host can mend.
    """
    news: JsonObject = {}
    if "first-system" in rule.refuses and SHAPES[wire].role(_at(items, 0)) == "system":
        news |= _system(body, items.pop(0))
    if "unsigned-loops" in rule.refuses and _loops_without_thinking(body, items):
        news["thinking"] = {"type": "disabled"}
        lost.append(LostPart("/thinking", "reasoning", LOOP))
    for objects, path, what, why in _ONLY_HOST_MENDS.get(wire, ()):
        if rule.refuses and objects(body, items):
            lost.append(LostPart(path, what, why))
    return news


def refused_at_end(
    wire: str, rule: Rule, model: str, prefix: list[tuple[int, Json]]
) -> Iterator[LostPart]:
    """Reports of what the provider refuses in ``prefix``: the items of the model's turn
    at the request's end, which is sent all the same."""
    shape = SHAPES[wire]
    for number, item in prefix:
        path = f"/{shape.items}/{number}"
        if "broken-pairs" in rule.refuses and shape.calls(item):
            yield LostPart(path, "tool-result", OPEN_END)
        is_thought = isinstance(item, dict) and type_of(item) == "reasoning"
        if "lonely-reasoning" in rule.refuses and is_thought and item is prefix[-1][1]:
            yield LostPart(path, "reasoning", ALONE_AT_END)
        is_marked = isinstance(item, dict) and item.get("prefix")
        if rule.no_prefix.search(model) and not is_marked:
            yield LostPart(path, "text", PREFIX)
        if rule.no_end and _ends_blank(item):
            yield LostPart(path, "text", BLANK_END)


def _ends_blank(item: Json) -> bool:
    content = item.get("content") if isinstance(item, dict) else None
    last = _at(content, -1) if isinstance(content, list) else {"text": content}
    text = last.get("text") if isinstance(last, dict) else None
    return isinstance(text, str) and text != text.rstrip()


def _at(items: list[Json], place: int) -> Json:
    return items[place] if items else None


def _system(body: JsonObject, item: Json) -> JsonObject:
    """The member ``system`` of Anthropic's request, with the content of a system's turn
    added at its end."""
    content = item.get("content") if isinstance(item, dict) else None
    return {"system": sum_of([body.get("system"), content])}


def _loops_without_thinking(body: JsonObject, items: list[Json]) -> bool:
    """Whether thinking is switched on, but the running tool loop began without it."""
    thinking, shape = body.get("thinking"), SHAPES["anthropic"]
    is_on = isinstance(thinking, dict) and thinking.get("type") == "enabled"
    if not is_on or not shape.answers(_at(items, -1)):
        return False
    first: Json = None
    for item in reversed(items):
        if shape.role(item) == "user" and not shape.answers(item):
            break
        first = item if shape.role(item) == "model" else first
    content = first.get("content") if isinstance(first, dict) else None
    begun = content[:1] if isinstance(content, list) else []
    return bool(begun) and not _is_thinking(begun[0])


def _thinks_last(body: JsonObject, items: list[Json]) -> bool:
    thinking, last = body.get("thinking"), _at(items, -1)
    is_on = isinstance(thinking, dict) and thinking.get("type") != "disabled"
    content = last.get("content") if isinstance(last, dict) else None
    blocks = content if isinstance(content, list) else []
    is_models = SHAPES["anthropic"].role(last) == "model"
    return is_models and not is_on and any(map(_is_thinking, blocks))


def _is_thinking(block: Json) -> bool:
    return isinstance(block, dict) and type_of(block).endswith("thinking")


def _thinks_late(body: JsonObject, items: list[Json]) -> bool:
    """Whether thinking is switched on, and a turn has something before its thinking."""
    thinking = body.get("thinking")
    if not isinstance(thinking, dict) or thinking.get("type") != "enabled":
        return False
    contents = [item.get("content") for item in items if isinstance(item, dict)]
    turns = [content for content in contents if isinstance(content, list) and content]
    return any(not _is_thinking(t[0]) and any(map(_is_thinking, t)) for t in turns)


def _waits_in_a_container(body: JsonObject, items: list[Json]) -> bool:
    calls = (call for item in items[-2:] for call in SHAPES["anthropic"].calls(item))
    callers = (call.get("caller") for call in calls)
    is_called = any(isinstance(each, dict) and "tool_id" in each for each in callers)
    return is_called and "container" not in body


def _refers_to_a_tool(body: JsonObject, items: list[Json]) -> bool:
    tools = body.get("tools")
    if not isinstance(tools, list):
        return False
    named = [tool.get("name") for tool in tools if isinstance(tool, dict)]
    return any(each not in named for item in items for each in _references(item))


def _references(value: Json) -> Iterator[Json]:
    if isinstance(value, dict) and value.get("type") == "tool_reference":
        yield value.get("tool_name")
    inner = value.values() if isinstance(value, dict) else value
    for each in inner if isinstance(value, dict | list) else ():
        yield from _references(each)


def _was_not_stored(body: JsonObject, _items: list[Json]) -> bool:
    return bool(body.get("previous_response_id")) and body.get("store") is False


def _has_many_marks(body: JsonObject, items: list[Json]) -> bool:
    held = [items, body.get("tools"), body.get("system")]
    return dumps(held).count('"cache_control":{') > _MOST_MARKS


_MOST_MARKS = 4


def _has_no_tools(body: JsonObject, items: list[Json]) -> bool:
    shape = SHAPES["bedrock-converse"]
    is_used = any(shape.calls(item) or shape.answers(item) for item in items)
    return is_used and not body.get("toolConfig")


_ONLY_HOST_MENDS: dict[
    str, tuple[tuple[Callable[[JsonObject, list[Json]], bool], str, str, str], ...]
] = {
    "anthropic": (
        (_waits_in_a_container, "/container", "state", CONTAINER),
        (_thinks_last, "/messages", "reasoning", THINKING_OFF),
        (_thinks_late, "/messages", "reasoning", NOT_FIRST),
        (_refers_to_a_tool, "/tools", "tool-result", NOT_OFFERED),
        (_has_many_marks, "/messages", "state", MARKS),
    ),
    "openai-responses": (
        (_was_not_stored, "/previous_response_id", "state", NOT_STORED),
    ),
    "bedrock-converse": ((_has_no_tools, "/toolConfig", "tool-call", NO_TOOLS),),
}
"""Wire -> what only the host can mend: a test that finds it, the path in the request
where it is mended, the kind of loss, and the reason."""
