"""Stored messages: where the model's own text is in the shapes that hosts keep.

`read_message` reads an assistant's message into a `Stored`: its fields of text, each a
list of items in the order in which the model wrote them. For anything else it returns
None. It reads strings and content parts of Chat Completions, Messages, Gemini
(``parts``), Bedrock, Cohere, the AI SDK and items of Responses, and the records of
agents (``shapes``).
`results_of` finds the results of tools in an item of a session, whoever wrote the item.
Both accept any JSON value; a value of another shape has no text. This module knows no
delimiters but those that one program writes itself (`Text`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from attrs import evolve

from stream_sidecar import patterns
from stream_sidecar.history.shapes import GENERAL_PARTS, at, shape_of
from stream_sidecar.records import frozen
from stream_sidecar.wires.requests.issuers import models_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stream_sidecar.history.shapes import PartForm, RecordShape
    from stream_sidecar.parts import Json
    from stream_sidecar.values.json_places import Path

_TOOL_ROLES = frozenset(("tool", "function", "tool_result", "toolResult"))

_FIELDS = ("content", "parts")
"""Where a message may have parts that hold results of tools."""

STAND_IN = "\ufffc"
"""The engine reads this character, which has no meaning, in place of each character
that may not be edited."""

_OWN_OPENER = patterns.compile(r'<details type="reasoning"[^<>]*+>')
_OWN_CLOSER = "</details>"
"""The delimiters around reasoning that Open WebUI moved out of the answer, and shows
folded."""

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
    provider state and must not change.

    Blocks of reasoning that the host's own program wrote into the text stay: ``read``
    is the text for the engine, with `STAND_IN` in place of them.
    """

    path: Path
    text: str
    part: Path | None = None
    locked: bool = False

    @property
    def read(self) -> str:
        if _OWN_CLOSER not in self.text:
            return self.text
        pieces: list[str] = []
        read_to = 0
        for start, end in _own_blocks(self.text):
            pieces += (self.text[read_to:start], STAND_IN * (end - start))
            read_to = end
        return "".join((*pieces, self.text[read_to:]))


def _own_blocks(text: str) -> Iterator[tuple[int, int]]:
    """The spans of the blocks of reasoning that the host's program wrote. An opener
    without a closer ends the search: after it there is no block either, however many
    openers follow."""
    end = 0
    while opener := _OWN_OPENER.search(text, end):
        closer = text.find(_OWN_CLOSER, opener.end())
        if closer < 0:
            return
        end = closer + len(_OWN_CLOSER)
        yield opener.start(), end


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
class Stored:
    """A model's message. Each list of ``fields`` is the whole text of the message; a
    message of the AI SDK may have it twice, in ``content`` and in ``parts``."""

    message: Json
    fields: tuple[tuple[StoredItem, ...], ...]


def read_message(value: Json, shape: RecordShape | None = None) -> Stored | None:
    """The model's message in ``value``; None if it is not a model's or has no text.

    ``shape`` is the shape of the value, if its document determines it.
    """
    shape = shape or shape_of(value)
    if shape is None:
        return None
    holders = [
        each
        for each in (at(value, path) for path in shape.holders)
        if isinstance(each, dict) and not _BESIDE.isdisjoint(each)
    ]
    before = [Thought(text, beside=True) for text in _thoughts(holders)]
    calls = [StoredCall(item) for item in _calls(holders)]
    fields = []
    for body in shape.bodies:
        items = list(_field(value, body, shape.parts))
        if any(isinstance(item, Text) for item in items):
            fields.append((*before, *items, *calls))
    return Stored(value, tuple(fields)) if fields else None


def role_of(message: dict[str, Json]) -> str | None:
    """The role of a message, from its ``role`` or from the type ``ai`` (LangChain)."""
    role = message.get("role")
    if role is None and message.get("type") == "ai":
        return "ai"
    return role if isinstance(role, str) else None


def model_of(message: Json) -> str | None:
    """The model that a message names as its own."""
    return next(models_in(message), None) if isinstance(message, dict) else None


def has_calls(message: Json, shape: RecordShape) -> bool:
    """Whether a message has calls beside its content."""
    holders = (at(message, path) for path in shape.holders)
    return any(True for e in holders if isinstance(e, dict) for _ in _calls_in(e))


def _thoughts(holders: list[dict[str, Json]]) -> list[str]:
    texts = (holder.get(name) for holder in holders for name in _THOUGHTS)
    return [text for text in texts if isinstance(text, str) and text][:1]


def _calls(holders: list[dict[str, Json]]) -> list[dict[str, Json]]:
    """The calls of the first holder that has any; other holders mirror them."""
    return next(filter(None, (list(_calls_in(holder)) for holder in holders)), [])


def _calls_in(holder: dict[str, Json]) -> Iterator[dict[str, Json]]:
    for name in _CALLS:
        calls = holder.get(name)
        for item in calls if isinstance(calls, list) else []:
            if isinstance(item, dict):
                yield item
    call = holder.get("function_call")
    if isinstance(call, dict):
        yield call


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
        return _text(part, "text")
    if isinstance(part.get("reasoningContent"), dict):
        inner = part["reasoningContent"].get("reasoningText")
        return _text(inner, "text") if isinstance(inner, dict) else ""
    if part.get("type") in ("thinking", "redacted_thinking"):
        return _text(part, "thinking")
    if part.get("type") == "reasoning":
        return _text(part, "text") or _text(part, "reasoning")
    return None


def _text(holder: dict[str, Json], name: str) -> str:
    return _word(holder, name) or ""


def _word(holder: dict[str, Json], name: str) -> str | None:
    """A string; None if the member is absent, "" for a value of another type."""
    value = holder.get(name)
    return value if isinstance(value, str | None) else ""


def _has_state(holder: Json) -> bool:
    if not isinstance(holder, dict) or _MAY_HAVE_STATE.isdisjoint(holder):
        return False
    if any(holder.get(name) for name in _STATE):
        return True
    return any(_has_state_within(holder.get(name)) for name in _STATE_HOLDERS)


def _has_state_within(value: Json) -> bool:
    if not isinstance(value, dict):
        return False
    inner = [each for each in value.values() if isinstance(each, dict)]
    return any(each.get(name) for each in (value, *inner) for name in _STATE)


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
    for result in _observed(item):
        yield from _result(result)
    for name in _FIELDS:
        parts = item.get(name)
        for part in parts if isinstance(parts, list) else []:
            if isinstance(part, dict) and part.keys() != _PLAIN:
                yield from _part_results(part)


def _observed(item: dict[str, Json]) -> list[dict[str, Json]]:
    """The results in a step of ATIF."""
    results = at(item, ("observation", "results"))
    known = results if isinstance(results, list) else []
    return [each for each in known if isinstance(each, dict)]


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
