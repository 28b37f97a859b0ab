"""Stored messages: everything that is known of one before the engine reads its text.

`read_message` makes a `StoredMessage`. Its fields of text are lists of items in the
order in which the model wrote them: strings and content parts of Chat Completions,
Messages, Gemini (``parts``), Bedrock, Cohere, the AI SDK and items of Responses, and
the records of agents (``shapes``). `results_of` finds the results of tools in an item
of a session, whoever wrote the item.
Both accept any JSON value. This module knows no delimiters.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, TypeAlias

from attrs import evolve

from stream_sidecar.history.paths import at, list_at
from stream_sidecar.history.shapes import GENERAL_PARTS, MESSAGE
from stream_sidecar.records import frozen
from stream_sidecar.wires.requests.issuers import models_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stream_sidecar.history.shapes import PartForm, RecordShape
    from stream_sidecar.parts import Json
    from stream_sidecar.values.json_places import Path

_TOOL_ROLES = frozenset(("tool", "function", "tool_result", "toolResult"))

_TEXT_TYPES = frozenset((None, "text", "output_text"))
"""Types of parts whose ``text`` is the answer."""

_PLAIN = frozenset(("type", "text"))
"""The members of most parts of text."""

_STATE = (
    "signature",
    "thoughtSignature",
    "thought_signature",
    "reasoning_opaque",
    "encrypted_content",
    "encryptedContent",
    "redactedContent",
    "opaque",
)
"""Names of provider state: an object that has some must go back unchanged."""

_STATE_HOLDERS = (
    "extra_content",
    "providerMetadata",
    "provider_metadata",
    "providerOptions",
    "provider_specific_fields",
    "provider_details",
    "metadata",
    "extras",
)
"""Objects in which libraries keep provider state, directly or one level deeper, perhaps
among other data."""

_MAY_HAVE_STATE = frozenset((*_STATE, *_STATE_HOLDERS))

_THOUGHTS = (
    "reasoning_content",
    "reasoning",
    "thinking",
    "reasoning_text",
    "reasoningText",
)
"""A message's own fields of reasoning. They mirror each other: the first one counts."""

_CALLS = ("tool_calls", "toolCalls", "toolRequests")
"""A message's own lists of calls."""

_BESIDE = frozenset((*_THOUGHTS, *_CALLS, "function_call"))
"""Names of a message's own fields of reasoning and of calls."""

_CALL_TYPES = frozenset(
    (
        "tool_use",
        "server_tool_use",
        "mcp_tool_use",
        "tool-call",
        "tool_call",
        "toolCall",
        "function_call",
        "custom_tool_call",
        "dynamic-tool",
        "server_tool_call",
    )
)
_CALL_KEYS = ("functionCall", "function_call", "toolUse")
_RESULT_TYPES = frozenset(
    (
        "tool_result",
        "tool-result",
        "toolResult",
        "function_call_output",
        "custom_tool_call_output",
        "local_shell_call_output",
        "dynamic-tool",
        "tool_call_response",
    )
)
_RESULT_KEYS = ("functionResponse", "function_response", "toolResult")
_RESULT_BODIES = ("content", "output", "result", "response")


@frozen
class Text:
    """Text of the answer at ``path``. ``part`` is the path of the part that holds the
    text; None for a string that is the whole field. ``locked``: the text is bound to
    provider state and must not change."""

    path: Path
    text: str
    part: Path | None = None
    locked: bool = False


@frozen
class Thought:
    """Reasoning, in a part of its own or in a field ``beside`` the content."""

    text: str
    beside: bool = False


@frozen
class StoredCall:
    """A structured call as its provider spells it, in a part or beside the content."""

    item: dict[str, Json]


@frozen
class Border:
    """A part of another kind, for example an image or a result."""


StoredItem: TypeAlias = Text | Thought | StoredCall | Border


@frozen
class StoredMessage:
    """A message of a session, and everything that is known of it before its text is
    read. It is made once, by `read_message`.

    ``fields``: the text of a model's message, each field the whole of it; a message of
    the AI SDK may have it twice, in ``content`` and in ``parts``. Empty for a message
    without text, and if the message is not a model's: then ``shape`` is None.
    ``results``: the results of tools in it. ``has_calls``: it has calls beside its
    content. ``own_model``: the model that it names as its own. ``path`` is its place in
    its document, which names ``model`` and ``provider`` in it or around it.
    """

    message: Json
    shape: RecordShape | None
    fields: tuple[tuple[StoredItem, ...], ...]
    results: tuple[Json, ...]
    has_calls: bool
    role: str | None
    own_model: str | None
    path: Path = ()
    model: str | None = None
    provider: str | None = None


def read_message(
    value: Json,
    shape: RecordShape | None,
    path: Path = (),
    model: str | None = None,
    provider: str | None = None,
) -> StoredMessage:
    """Reads ``value``. ``shape``: its row, None if it is not a model's."""
    holders = [
        each
        for each in (at(value, holder) for holder in (shape or MESSAGE).holders)
        if isinstance(each, dict) and not _BESIDE.isdisjoint(each)
    ]
    calls = [StoredCall(item) for item in _calls(holders)]
    fields = []
    if shape is not None:
        thoughts = [Thought(text, beside=True) for text in _thoughts(holders)]
        for body in shape.bodies:
            items = list(_field(value, body, shape.parts))
            if any(isinstance(item, Text) for item in items):
                fields.append((*thoughts, *items, *calls))
    is_object = isinstance(value, dict)
    return StoredMessage(
        message=value,
        shape=shape,
        fields=tuple(fields),
        results=tuple(results_of(value)),
        has_calls=bool(calls),
        role=role_of(value) if is_object else None,
        own_model=next(models_in(value), None) if is_object else None,
        path=path,
        model=model,
        provider=provider,
    )


def role_of(message: dict[str, Json]) -> str | None:
    """The role of a message, from its ``role`` or from the type ``ai`` (LangChain)."""
    role = message.get("role")
    if role is None and message.get("type") == "ai":
        return "ai"
    return role if isinstance(role, str) else None


def _thoughts(holders: list[dict[str, Json]]) -> list[str]:
    texts = (holder.get(name) for holder in holders for name in _THOUGHTS)
    return [text for text in texts if isinstance(text, str) and text][:1]


def _calls(holders: list[dict[str, Json]]) -> list[dict[str, Json]]:
    """The calls of the first holder that has any; other holders mirror them."""
    for holder in holders:
        lists = (list_at(holder, (name,)) for name in _CALLS)
        items = (*chain.from_iterable(lists), holder.get("function_call"))
        calls = [item for item in items if isinstance(item, dict)]
        if calls:
            return calls
    return []


def _field(
    message: Json, body: Path, forms: tuple[PartForm, ...]
) -> Iterator[StoredItem]:
    value = at(message, body)
    if isinstance(value, str):
        yield Text(body, value, None, _has_state(at(message, body[:-1])))
    elif isinstance(value, dict):
        item = _item(value, body, forms)
        yield evolve(item, part=None) if isinstance(item, Text) else item
    elif isinstance(value, list):
        for number, part in enumerate(value):
            yield _item(part, (*body, number), forms)


def _item(part: Json, path: Path, forms: tuple[PartForm, ...]) -> StoredItem:
    if isinstance(part, str):
        return Text(path, part, path)
    if not isinstance(part, dict):
        return Border()
    is_plain = part.keys() == _PLAIN and part["type"] == "text" and not forms
    if is_plain and isinstance(part["text"], str):  # the rest would find the same
        return Text((*path, "text"), part["text"], path)
    form = next((each for each in (*forms, *GENERAL_PARTS) if each.fits(part)), None)
    if form is not None:
        text = at(part, form.text)
        if form.reasons:
            return Thought(text)
        return Text((*path, *form.text), text, path, _has_state(part))
    return _general_item(part, path)


def _general_item(part: dict[str, Json], path: Path) -> StoredItem:
    call = _call_of(part)
    if call is not None:
        return StoredCall(call)
    thought = _thought_of(part)
    if thought is not None:
        return Thought(thought)
    text = part.get("text")
    if _word(part, "type") in _TEXT_TYPES and isinstance(text, str):
        return Text((*path, "text"), text, path, _has_state(part))
    return Border()


def _call_of(part: dict[str, Json]) -> dict[str, Json] | None:
    for key in _CALL_KEYS:
        if isinstance(part.get(key), dict):
            return dict(part[key])
    kind = part.get("type")
    if not isinstance(kind, str):
        return None
    if kind in _CALL_TYPES:
        return part
    # The AI SDK names the tool in the type and keeps its result in the same part.
    if kind.startswith("tool-") and "toolCallId" in part and kind not in _RESULT_TYPES:
        return {"name": kind.removeprefix("tool-"), **part}
    return None


def _thought_of(part: dict[str, Json]) -> str | None:
    """The text of a part of reasoning, "" if it is encrypted; None for another part."""
    if part.get("thought") is True:
        return _word(part, "text") or ""
    if isinstance(part.get("reasoningContent"), dict):
        text = at(part, ("reasoningContent", "reasoningText", "text"))
        return text if isinstance(text, str) else ""
    if part.get("type") in ("thinking", "redacted_thinking"):
        return _word(part, "thinking") or ""
    if part.get("type") == "reasoning":
        return _word(part, "text") or _word(part, "reasoning") or ""
    return None


def _word(holder: dict[str, Json], name: str) -> str | None:
    """A string; None if the member is absent, "" for a value of another type."""
    value = holder.get(name)
    return value if isinstance(value, str | None) else ""


def _has_state(holder: Json) -> bool:
    if not isinstance(holder, dict) or _MAY_HAVE_STATE.isdisjoint(holder):
        return False
    objects = [holder]
    for name in _STATE_HOLDERS:
        if isinstance(value := holder.get(name), dict):
            members = (member for member in value.values() if isinstance(member, dict))
            objects += [value, *members]
    return any(item.get(name) for item in objects for name in _STATE)


# Tool results


def results_of(item: Json) -> Iterator[Json]:
    """The results of tools in an item of a session: text or JSON, as the model got
    them.

    A result that a provider wraps is returned twice: with the wrapper and without it.
    """
    if not isinstance(item, dict):
        return
    if _word(item, "role") in _TOOL_ROLES or _word(item, "type") == "tool":
        yield from _bodies(item.get("content"))
    elif _word(item, "type") in _RESULT_TYPES and "role" not in item:
        yield from _result(item)
    for result in list_at(item, ("observation", "results")):  # a step of ATIF
        if isinstance(result, dict):
            yield from _result(result)
    for name in ("content", "parts"):
        for part in list_at(item, (name,)):
            if isinstance(part, dict) and part.keys() != _PLAIN:
                yield from _part_results(part)


def _part_results(part: dict[str, Json]) -> Iterator[Json]:
    for key in _RESULT_KEYS:
        if isinstance(part.get(key), dict):
            yield from _result(part[key])
    kind = part.get("type")
    if isinstance(kind, str) and (
        kind in _RESULT_TYPES
        or kind.endswith("_tool_result")
        or (kind.startswith("tool-") and "output" in part)
    ):
        yield from _result(part)


def _result(holder: dict[str, Json]) -> Iterator[Json]:
    for name in _RESULT_BODIES:
        if name in holder:
            yield from _bodies(holder[name])


def _bodies(body: Json) -> Iterator[Json]:
    """A result as text or JSON; for a list of parts, the text or JSON of each part."""
    if isinstance(body, str):
        if body:
            yield body
    elif isinstance(body, list):
        for part in body:
            yield from _body_part(part)
    elif isinstance(body, dict):
        yield body
        for name in ("value", "result", "output"):
            if isinstance(body.get(name), str | dict):
                yield body[name]


def _body_part(part: Json) -> Iterator[Json]:
    if isinstance(part, str):
        yield part
    elif isinstance(part, dict):
        for name in ("text", "json"):
            if part.get(name):
                yield part[name]
