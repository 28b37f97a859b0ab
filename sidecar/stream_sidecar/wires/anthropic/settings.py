"""Settings of a request to Messages that its provider would refuse.

`mended_settings` changes what loses nothing of the conversation, `HOST_MENDS` reports
what only the host can mend (wires/README.md, "Requests"). Never raises for any JSON.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stream_sidecar.values.jsontext import dumps
from stream_sidecar.wires.anthropic.blocks import SHAPE
from stream_sidecar.wires.shared.fields import type_of
from stream_sidecar.wires.shared.rendering import LostPart
from stream_sidecar.wires.shared.request_shapes import sum_of
from stream_sidecar.wires.shared.row import HostMend

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stream_sidecar.parts import Json, JsonObject
    from stream_sidecar.wires.shared.request_rules import Rule

LOOP = "calls without thinking are refused while it is on, so it was switched off"

_MOST_MARKS = 4


def mended_settings(
    rule: Rule, body: JsonObject, items: list[Json], lost: list[LostPart]
) -> JsonObject:
    """The settings that have to change, with new values. A system's turn at the start
    moves from ``items`` into the setting ``system``."""
    news: JsonObject = {}
    if "first-system" in rule.refuses and items and SHAPE.role(items[0]) == "system":
        system = items.pop(0)
        content = system.get("content") if isinstance(system, dict) else None
        news["system"] = sum_of([body.get("system"), content])
    if "unsigned-loops" in rule.refuses and _loops_without_thinking(body, items):
        news["thinking"] = {"type": "disabled"}
        lost.append(LostPart("/thinking", "reasoning", LOOP))
    return news


def _loops_without_thinking(body: JsonObject, items: list[Json]) -> bool:
    """Whether thinking is switched on, but the running tool loop began without it."""
    thinking = body.get("thinking")
    is_on = isinstance(thinking, dict) and thinking.get("type") == "enabled"
    if not is_on or not SHAPE.answers(_last(items)):
        return False
    start: Json = None
    for item in reversed(items):
        if SHAPE.role(item) == "user" and not SHAPE.answers(item):
            break
        start = item if SHAPE.role(item) == "model" else start
    content = start.get("content") if isinstance(start, dict) else None
    return isinstance(content, list) and content != [] and not _is_thinking(content[0])


def _thinks_last(body: JsonObject, items: list[Json]) -> bool:
    thinking, turn = body.get("thinking"), _last(items)
    is_on = isinstance(thinking, dict) and thinking.get("type") != "disabled"
    content = turn.get("content") if isinstance(turn, dict) else None
    blocks = content if isinstance(content, list) else []
    is_models = SHAPE.role(turn) == "model"
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
    calls = (call for item in items[-2:] for call in SHAPE.calls(item))
    callers = (call.get("caller") for call in calls)
    is_called = any(isinstance(c, dict) and "tool_id" in c for c in callers)
    return is_called and "container" not in body


def _refers_to_a_tool(body: JsonObject, items: list[Json]) -> bool:
    tools = body.get("tools")
    if not isinstance(tools, list):
        return False
    names = [tool.get("name") for tool in tools if isinstance(tool, dict)]
    return any(name not in names for item in items for name in _references(item))


def _references(value: Json) -> Iterator[Json]:
    if isinstance(value, dict) and value.get("type") == "tool_reference":
        yield value.get("tool_name")
    inner = value.values() if isinstance(value, dict) else value
    for item in inner if isinstance(value, dict | list) else ():
        yield from _references(item)


def _has_many_marks(body: JsonObject, items: list[Json]) -> bool:
    members = [items, body.get("tools"), body.get("system")]
    return dumps(members).count('"cache_control":{') > _MOST_MARKS


def _last(items: list[Json]) -> Json:
    return items[-1] if items else None


HOST_MENDS = (
    HostMend(
        is_due=_waits_in_a_container,
        path="/container",
        what="state",
        why="its program waits for it in a container, which the request must name",
    ),
    HostMend(
        is_due=_thinks_last,
        path="/messages",
        what="reasoning",
        why="the last turn has thinking, which is refused where it is not on",
    ),
    HostMend(
        is_due=_thinks_late,
        path="/messages",
        what="reasoning",
        why="thinking after something else is refused; only the host knows the order",
    ),
    HostMend(
        is_due=_refers_to_a_tool,
        path="/tools",
        what="tool-result",
        why="the tool is not in the request, which is refused",
    ),
    HostMend(
        is_due=_has_many_marks,
        path="/messages",
        what="state",
        why="more than four marks of the cache are refused",
    ),
)
