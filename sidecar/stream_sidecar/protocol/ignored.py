"""Members of params that this version does not know: misspelt ones, and those of later
versions. They have no effect; `ignored` and `unwritten` say where they are.

`ignored` and `refuse_ignored` search only options. What a host passes on (a chunk, a
stored message, ``metadata``) may have any members, and so may a tool that a provider
supplies itself.
"""

from __future__ import annotations

from functools import cache
from types import NoneType
from typing import TYPE_CHECKING, Any, TypeAlias, get_args, get_origin, get_type_hints

from attrs import fields, has

from stream_sidecar.errors import InvalidParamsError
from stream_sidecar.message.message import Block, Message
from stream_sidecar.message.turn import Turn, TurnResult
from stream_sidecar.options import Tool
from stream_sidecar.protocol.converter import camel
from stream_sidecar.protocol.reading_options import PATCHES

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

_PASSED_ON = frozenset((Turn, TurnResult))
"""Classes of what a host passes on, which `unwritten` searches."""

_WITH_MEMBERS = frozenset((dict, list, tuple))
"""Only values of these classes are searched: most options are names and numbers."""

_WRAPPERS = ("function", "custom")

_TOOL_MEMBERS = frozenset(
    (
        *(camel(each.name) for each in fields(Tool)),
        "type",
        *_WRAPPERS,
        "parameters",
        "input_schema",
        # OpenAI
        "strict",
        "format",
        "defer_loading",
        "allowed_callers",
        # Anthropic
        "cache_control",
        "input_examples",
        "eager_input_streaming",
        # Model Context Protocol
        "title",
        "outputSchema",
        "icons",
        "execution",
        "_meta",
        # AI SDK
        "inputExamples",
        "providerOptions",
    )
)
"""All members that a declared tool may have, in any of the spellings that are read. The
sidecar needs only some of them; to name the others would hide a misspelt one."""


def ignored(given: Any, kind: type) -> tuple[str, ...]:
    """The paths of the members of ``given`` that no field of ``kind`` reads
    (``policy.toolResult``, ``tools[0].xyz``). ``given`` is JSON that fits ``kind``."""
    return tuple(path.removeprefix(".") for path, _ in _ignored(given, kind))


def refuse_ignored(given: Any, kind: type) -> None:
    """Raises a `UsageError` for the first member that no field of ``kind`` reads, for
    hosts that speak to no other version than their own."""
    for path, known in _ignored(given, kind):
        # Imported here: only a mistake needs it.
        from difflib import get_close_matches

        near = get_close_matches(path.rpartition(".")[2], known, n=1)
        hint = f"; did you mean {near[0]}?" if near else ""
        full_path = f"params{path}"
        raise InvalidParamsError(f"{full_path}: is not known{hint}", path=full_path)


def known_members(tool: dict[str, Any]) -> dict[str, Any]:
    """``tool`` without the members that only its provider knows; `refuse_ignored`
    accepts the rest. For tools that the host declared to the provider, not to us."""
    return {
        name: known_members(item)
        if name in _WRAPPERS and isinstance(item, dict)
        else item
        for name, item in tool.items()
        if name in _TOOL_MEMBERS
    }


_UnknownMember: TypeAlias = tuple[str, "Collection[str]"]
"""A path, with a point or a bracket in front, and the names that are known in its
place."""


def _ignored(value: Any, hint: Any) -> Iterator[_UnknownMember]:
    if value is None or hint in _PASSED_ON:
        return
    if hint is Tool:
        yield from _of_tool(value)
    elif has(hint):
        members = _members(hint)
        yield from _unknown_members(value, members)
        for name, item in value.items():
            if name in members and type(item) in _WITH_MEMBERS:
                yield from _prefixed(f".{name}", _ignored(item, members[name]))
    elif get_origin(hint) in (tuple, list) and type(value) in (tuple, list):
        part = get_args(hint)[0]
        for number, item in enumerate(value):
            yield from _prefixed(f"[{number}]", _ignored(item, part))


def _of_tool(tool: Any) -> Iterator[_UnknownMember]:
    """A tool of another ``type`` than a function is the provider's own."""
    if tool.get("type", "function") not in (*_WRAPPERS, None):
        return
    yield from _unknown_members(tool, _TOOL_MEMBERS)
    for name in _WRAPPERS:
        inner = tool.get(name)
        if isinstance(inner, dict):
            yield from _prefixed(f".{name}", _unknown_members(inner, _TOOL_MEMBERS))


def _prefixed(
    place: str, members: Iterator[_UnknownMember]
) -> Iterator[_UnknownMember]:
    return ((place + path, known) for path, known in members)


def unwritten(given: Any) -> Iterator[str]:
    """The paths of the members of a message, its blocks and the results of its calls
    that no message has. ``given`` is JSON that fits ``message/render``."""
    message = given["message"]
    yield from _unknown_paths("message", message, _names((Message, Turn)))
    names = ("blocks",) if message.get("blocks") else tuple(TYPES)
    for part in names:
        for number, block in enumerate(message.get(part) or ()):
            kind = _BLOCKS.get(TYPES.get(part) or block["type"])
            known = block if kind is None else _names((kind,))
            yield from _unknown_paths(f"message.{part}[{number}]", block, known)
    for number, result in enumerate(given.get("results") or ()):
        yield from _unknown_paths(f"results[{number}]", result, _names((TurnResult,)))


TYPES = {"toolCalls": "tool-call", "toolResults": "tool-result"}
"""A list of a message -> the type of its entries."""

_BLOCKS: dict[str, type] = {vars(kind)["type"]: kind for kind in get_args(Block)}


def _unknown_paths(place: str, value: dict[str, Any], known: Any) -> Iterator[str]:
    return (place + path for path, _ in _unknown_members(value, known))


@cache
def _names(kinds: tuple[type, ...]) -> frozenset[str]:
    """The names of all members that objects of ``kinds`` have."""
    return frozenset(camel(name) for kind in kinds for name in get_type_hints(kind))


def _unknown_members(
    value: dict[str, Any], known: Collection[str]
) -> Iterator[_UnknownMember]:
    return (
        (f".{name}", known)
        for name, item in value.items()
        if name not in known and item is not None
    )


@cache
def _members(kind: Any) -> dict[str, Any]:
    """The members of an object of ``kind``, with their types without None."""
    types = get_type_hints(kind)
    return {camel(each.name): _without_none(types[each.name]) for each in fields(kind)}


def _without_none(hint: Any) -> Any:
    parts = [part for part in get_args(hint) if part is not NoneType]
    only = parts[0] if len(parts) == 1 and NoneType in get_args(hint) else hint
    return PATCHES.get(only, only)
