"""Members of params that this version does not know: misspelt ones, and those of later
versions. They have no effect; `ignored` and `unwritten` say where they are.

`ignored` searches only options. What a host passes on (a chunk, a stored message,
``metadata``) may have any members, and so may a tool that a provider supplies itself.
"""

from __future__ import annotations

from functools import cache
from types import NoneType
from typing import TYPE_CHECKING, Any, get_args, get_origin, get_type_hints

from attrs import fields, has

from stream_sidecar.message.message import Block, Message
from stream_sidecar.message.turn import Turn, TurnResult
from stream_sidecar.options import Tool
from stream_sidecar.protocol.converter import camel
from stream_sidecar.protocol.reading_options import PATCHES

if TYPE_CHECKING:
    from collections.abc import Iterator

_PASSED_ON = frozenset((Turn, TurnResult))
"""Classes of what a host passes on, which `unwritten` searches."""

_WRAPPERS = ("function", "custom")

_TOOL_MEMBERS = frozenset(
    (
        *(camel(each.name) for each in fields(Tool)),
        *("type", *_WRAPPERS, "parameters", "input_schema"),
        # OpenAI
        *("strict", "format", "defer_loading", "allowed_callers"),
        # Anthropic
        *("cache_control", "input_examples", "eager_input_streaming"),
        # Model Context Protocol
        *("title", "outputSchema", "icons", "execution", "_meta"),
        # AI SDK
        *("inputExamples", "providerOptions"),
    )
)
"""All members that a declared tool may have, in any of the spellings that are read. The
sidecar needs only some of them; to name the others would hide a misspelt one."""


def ignored(given: Any, kind: type) -> tuple[str, ...]:
    """The paths of the members of ``given`` that no field of ``kind`` reads
    (``policy.toolResult``, ``tools[0].xyz``). ``given`` is JSON that fits ``kind``."""
    return tuple(path.removeprefix(".") for path in _ignored(given, kind))


def _ignored(value: Any, hint: Any) -> Iterator[str]:
    """The paths in ``value``, each with a point or a bracket in front."""
    if value is None or hint in _PASSED_ON:
        return
    if hint is Tool:
        yield from _of_tool(value)
    elif has(hint):
        members = _members(hint)
        yield from _foreign(value, members)
        for name, item in value.items():
            if name in members:
                yield from (f".{name}{rest}" for rest in _ignored(item, members[name]))
    elif get_origin(hint) in (tuple, list) and type(value) is list:
        part = get_args(hint)[0]
        for number, item in enumerate(value):
            yield from (f"[{number}]{rest}" for rest in _ignored(item, part))


def _of_tool(tool: Any) -> Iterator[str]:
    """A tool of another ``type`` than a function is the provider's own."""
    if tool.get("type", "function") not in (*_WRAPPERS, None):
        return
    yield from _foreign(tool, _TOOL_MEMBERS)
    for name in _WRAPPERS:
        inner = tool.get(name)
        if isinstance(inner, dict):
            yield from (f".{name}{rest}" for rest in _foreign(inner, _TOOL_MEMBERS))


def unwritten(given: Any) -> Iterator[str]:
    """The paths of the members of a message, its blocks and the results of its calls
    that no message has. ``given`` is JSON that fits ``message/render``."""
    message = given["message"]
    yield from _under("message", message, _names((Message, Turn)))
    parts = ("blocks",) if message.get("blocks") else ("toolCalls", "toolResults")
    for part in parts:
        for number, block in enumerate(message.get(part) or ()):
            kind = _BLOCKS.get(block["type"])
            known = block if kind is None else _names((kind,))
            yield from _under(f"message.{part}[{number}]", block, known)
    for number, result in enumerate(given.get("results") or ()):
        yield from _under(f"results[{number}]", result, _names((TurnResult,)))


_BLOCKS: dict[str, type] = {vars(kind)["type"]: kind for kind in get_args(Block)}


def _under(place: str, value: dict[str, Any], known: Any) -> Iterator[str]:
    return (place + path for path in _foreign(value, known))


@cache
def _names(kinds: tuple[type, ...]) -> frozenset[str]:
    """The names of all members that objects of ``kinds`` have."""
    return frozenset(camel(name) for kind in kinds for name in get_type_hints(kind))


def _foreign(value: dict[str, Any], known: Any) -> Iterator[str]:
    return (f".{n}" for n, item in value.items() if n not in known and item is not None)


@cache
def _members(kind: Any) -> dict[str, Any]:
    """The members that an object of ``kind`` may have, with the types of their values;
    None is not among the types."""
    types = get_type_hints(kind)
    return {camel(each.name): _without_none(types[each.name]) for each in fields(kind)}


def _without_none(hint: Any) -> Any:
    parts = [part for part in get_args(hint) if part is not NoneType]
    only = parts[0] if len(parts) == 1 and NoneType in get_args(hint) else hint
    return PATCHES.get(only, only)
