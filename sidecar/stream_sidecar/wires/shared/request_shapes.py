"""Where the requests of each wire have turns, calls and the answers to calls.

An answer is a tool's result from the client. A call or an answer is the object with the
call's id: a part of a turn, the only member of a part (``{"toolUse": {"toolUseId":
"a"}}``), or an item of its own. Never raises for any JSON value.
"""

from __future__ import annotations

from operator import is_
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from stream_sidecar.records import frozen
from stream_sidecar.wires.shared.fields import type_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from stream_sidecar.parts import Json, JsonObject

    Change: TypeAlias = Callable[[JsonObject], JsonObject | None]

Author: TypeAlias = Literal["model", "user", "tool", "system", ""]

_ROLES: dict[str, Author] = {
    "user": "user",
    "tool": "tool",
    "system": "system",
    "developer": "system",
}
_FUNCTIONS = ("function", "custom")
_CLIENTS = (
    "function_call",
    "custom_tool_call",
    "shell_call",
    "local_shell_call",
    "apply_patch_call",
    "computer_call",
    "tool_search_call",
)
"""Types of items that are calls for the client to answer."""

CLIENTS_OUTPUTS = (*(f"{kind}_output" for kind in _CLIENTS), "tool_search_output")


@frozen
class RequestShape:
    """How a wire's request is built. ``items``: the member with the list of turns.
    ``model``: the model's role.

    ``parts``: the member of a turn with the list of its calls; without it, each call is
    an item. ``call`` and ``answer``: the type, or the only member, of parts that are
    calls or answers. ``id``: the member of a call with its id; ``answered``: the same
    of an answer. ``input``: the member with the arguments, which are text unless
    ``is_parsed``.

    ``content``: the member of a turn with what it says; ``is_in_parts``: that is never
    a text, but a list of parts. ``named_calls``: the types of calls that must have a
    name; without any, all must. ``call_members``: all members that a call may have.
    ``signatures``: members of a part that sign it with its call, so that it is never
    edited. ``pairs_by_name``: ids may be missing; an answer then finds its call by the
    name. ``answers_first``: in their turn, answers stand before all else.
    """

    items: str = "messages"
    model: str = "assistant"
    parts: str = "tool_calls"
    call: str = ""
    answer: str = ""
    id: str = "id"
    answered: str = "tool_call_id"
    input: str = "arguments"
    is_parsed: bool = False
    content: str = "content"
    is_in_parts: bool = False
    named_calls: tuple[str, ...] = ()
    call_members: tuple[str, ...] = ()
    signatures: tuple[str, ...] = ()
    pairs_by_name: bool = False
    answers_first: bool = False

    def turn(self, role: Literal["user", "model"], text: str) -> JsonObject:
        """A turn that says ``text``."""
        said = [{"text": text}] if self.is_in_parts else text
        name = self.model if role == "model" else role
        return {"role": name, self.content: said}

    def role(self, item: Json) -> Author:
        """The author of an item: by its role, or without one, by its type."""
        if not isinstance(item, dict):
            return ""
        kind = type_of(item)
        if not self.parts and kind and kind != "message":
            is_models = kind == "reasoning" or kind.endswith("_call")
            return "model" if is_models else "tool" if kind in CLIENTS_OUTPUTS else ""
        role = item.get("role")
        if role == self.model:
            return "model"
        if role is None and self.answer and self.parts in item:
            return "user"
        return _ROLES.get(role, "") if isinstance(role, str) else ""

    def change_calls(self, item: JsonObject, change: Change) -> JsonObject | None:
        """The item with its calls changed; those that become None are removed."""
        if not self.parts:
            return change(item) if self.calls(item) else item
        return _each(item, self.parts, self.call, change)

    def change_answers(self, item: JsonObject, change: Change) -> JsonObject | None:
        if not self.answers(item):
            return item
        if self.answer:
            return _each(item, self.parts, self.answer, change)
        return change(item)

    def calls(self, item: Json) -> list[JsonObject]:
        """The calls that the client answers."""
        if not isinstance(item, dict):
            return []
        if self.parts:
            calls = (held(part, self.call) for part in self._parts(item))
            return [call for call in calls if call and not _is_servers(call)]
        is_call = type_of(item) in _CLIENTS and isinstance(item.get(self.id), str)
        return [item] if is_call and self.role(item) == "model" else []

    def answers(self, item: Json) -> list[JsonObject]:
        """The answers of the client's tools; a turn of the model has the server's."""
        if not isinstance(item, dict) or (self.answer and self.role(item) == "model"):
            return []
        if self.answer:
            return [a for part in self._parts(item) if (a := held(part, self.answer))]
        is_answer = self.parts or isinstance(item.get(self.id, item.get("id")), str)
        return [item] if is_answer and self.role(item) == "tool" else []

    def _parts(self, item: JsonObject) -> list[Json]:
        parts = item.get(self.parts)
        return parts if isinstance(parts, list) else []


def _is_servers(call: JsonObject) -> bool:
    """Whether the server answers a call that looks like one for the client: Bedrock."""
    return type_of(call) == "server_tool_use"


def held(part: Json, word: str) -> JsonObject | None:
    """The object in a part: the part itself of type ``word``, or a member ``word``."""
    if not isinstance(part, dict):
        return None
    if not word or part.get("type") == word:
        return part
    inner = part.get(word)
    return inner if isinstance(inner, dict) else None


def _each(item: JsonObject, name: str, word: str, change: Change) -> JsonObject:
    """The item with its parts changed; those that become None are removed."""
    parts = item.get(name)
    if not isinstance(parts, list):
        return item
    news: list[Json] = []
    for part in parts:
        inner = held(part, word)
        new_inner = change(inner) if inner and not _is_servers(inner) else inner
        if new_inner is inner:
            news.append(part)
        elif new_inner is not None:
            news.append(new_inner if inner is part else {**part, word: new_inner})
    return changed(item, {name: same(parts, news)})


def name_of(call: JsonObject) -> Json:
    """The name of a call. In Chat Completions it stands in the called function."""
    return function_of(call).get("name")


def function_of(call: JsonObject) -> JsonObject:
    """The object with a call's name and arguments."""
    inner = (call.get(word) for word in _FUNCTIONS)
    return next((function for function in inner if isinstance(function, dict)), call)


def with_function(call: JsonObject, **members: Any) -> JsonObject:
    """``call`` with new members in its function."""
    function = function_of(call)
    new_function = changed(function, members)
    if new_function is function or function is call:
        return call if new_function is function else new_function
    word = next(word for word in _FUNCTIONS if call.get(word) is function)
    return {**call, word: new_function}


def changed(holder: JsonObject, news: dict[str, Any]) -> JsonObject:
    """``holder`` with the members ``news``; the same object if nothing changes."""
    changes = {name: new for name, new in news.items() if holder.get(name) is not new}
    return holder | changes if changes else holder


def same(old: list[Json], new: list[Json]) -> list[Json]:
    """``old`` if ``new`` has the same items, else ``new``."""
    return old if len(old) == len(new) and all(map(is_, old, new)) else new


def sum_of(values: list[Json]) -> Json:
    """The joined content of turns with one role: texts, or lists of parts."""
    contents = [value for value in values if value]
    if all(isinstance(value, str) for value in contents):
        return "\n\n".join(contents) if contents else values[-1]
    if all(isinstance(value, str | list) for value in contents):
        return [part for value in contents for part in _listed(value)]
    return contents[-1]


def _listed(content: str | list[Json]) -> list[Json]:
    is_text = isinstance(content, str)
    return [{"type": "text", "text": content}] if is_text else list(content)
