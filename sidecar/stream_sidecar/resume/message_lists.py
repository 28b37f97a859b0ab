"""Lists of plain messages, in the order of their file: Cline's, Roo Code's, anybody's.

Cline and Roo Code keep messages of Anthropic's API. Roo Code keeps what a summary or a
cut has replaced, and sends what is left: from the last summary on, without results of
calls before it, and without what a cut has hidden. All other lists are sent as they
are, to the API whose shape they have.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stream_sidecar.resume.conversation import ResumedConversation, SentItem
from stream_sidecar.resume.kimi_messages import message_of
from stream_sidecar.resume.stored import Stored

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from stream_sidecar.parts import Json, JsonObject
    from stream_sidecar.resume.records import StoredRecord

CLINE_HEALS = {
    "call-without-result": 'Cline sends the result "result missing"',
    "results-apart": "Cline puts the results first, in the order of the calls",
}

_ROLES = ("system", "developer", "user", "assistant", "tool", "model", "function")
_ROO = ("isSummary", "condenseId", "condenseParent", "truncationId", "truncationParent")
_CLINE = ("ts", "modelInfo")
_ANTHROPICS = {"tool_use", "tool_result", "thinking", "redacted_thinking", "image"}
"""Types of parts that only messages of Anthropic's API have."""

_CHATS = {"text", "image_url", "input_audio", "file", "refusal"}
_KIMIS = {"think", "audio_url", "video_url"}
"""Types of parts that messages of Chat Completions have, and kimi-cli's."""


def fits(value: Json) -> bool:
    return any(map(_is_message, _listed(value)))


def fits_roo(value: Json) -> bool:
    return _has(value, _ROO)


def fits_cline(value: Json) -> bool:
    return _has(value, _CLINE)


def conversations(records: Sequence[StoredRecord]) -> Iterator[ResumedConversation]:
    stored = [Stored.of(record) for record in records]
    lines = [each for each in stored if _is_message(each.value)]
    for messages in (lines, *map(_messages, stored)):
        if wire := _wire(messages):
            yield _conversation(messages, wire)


def _conversation(messages: Sequence[Stored], wire: str) -> ResumedConversation:
    items: Iterable[SentItem] = [_item(each, wire) for each in _left_by_roo(messages)]
    if any(each.members.get("isSummary") for each in messages):
        items = _without_stray_results(items)
    named = [each.at("modelInfo") for each in messages]
    return ResumedConversation(
        wire=wire,
        provider="google" if wire == "gemini" else _last(named, "providerId"),
        model=_last(named, "modelId") or _last(messages, "model"),
        items=tuple(items),
    )


def _listed(value: Json) -> list[Json]:
    """The messages in a record: the record, or those of the list that it is or has."""
    if isinstance(value, dict) and isinstance(value.get("messages"), list):
        value = value["messages"]
    return value if isinstance(value, list) else [value]


def _messages(record: Stored) -> list[Stored]:
    """The messages of the list that a record is or has."""
    named = record.at("messages")
    listed = named if isinstance(named.value, list) else record
    return [each for each in listed.items() if _is_message(each.value)]


def _is_message(value: Json) -> bool:
    if not isinstance(value, dict) or value.get("role") not in _ROLES:
        return False
    return not {"content", "parts", "tool_calls"}.isdisjoint(value)


def _has(value: Json, marks: Sequence[str]) -> bool:
    """Whether a message in a list with content in parts has one of the ``marks``."""
    return isinstance(value, (list, dict)) and any(
        _is_message(each) and "content" in each and any(mark in each for mark in marks)
        for each in _listed(value)
    )


def _wire(messages: Sequence[Stored]) -> str:
    """The API whose shape the messages have; "" if it is none of the three."""
    if any("parts" in each.members for each in messages):
        parts = [part for each in messages for part in each.at("parts").items()]
        is_typed = any({"type", "kind"} & part.members.keys() for part in parts)
        return "" if is_typed else "gemini"
    contents = [each.at("content") for each in messages]
    kinds = {part.at("type").text for each in contents for part in each.items()}
    marks = (*_ROO, *_CLINE)
    is_agents = any(mark in each.members for each in messages for mark in marks)
    if is_agents or kinds & _ANTHROPICS:
        return "anthropic"
    results = [each for each in messages if each.at("role").value == "tool"]
    is_chat = kinds <= _CHATS | _KIMIS and all(
        each.at("tool_call_id").text for each in results
    )
    return "openai-chat" if messages and is_chat else ""


def _item(message: Stored, wire: str) -> SentItem:
    if wire == "openai-chat":
        return message_of(message)
    names = ("role", "parts") if wire == "gemini" else ("role", "content")
    item = {name: message.members[name] for name in names if name in message.members}
    parts = message.at(names[1]).items()
    return SentItem(item, message.source, tuple(part.source for part in parts))


def _last(stored: Sequence[Stored], name: str) -> str:
    return next(filter(None, (each.at(name).text for each in reversed(stored))), "")


def _left_by_roo(messages: Sequence[Stored]) -> list[Stored]:
    """The messages that no summary and no cut of Roo Code has replaced."""
    summaries = [
        number for number, each in enumerate(messages) if each.members.get("isSummary")
    ]
    sent = messages[summaries[-1] if summaries else 0 :]
    cuts = {each.at("truncationId").text for each in sent} - {""}
    return [each for each in sent if each.at("truncationParent").text not in cuts]


def _without_stray_results(items: Iterable[SentItem]) -> Iterator[SentItem]:
    """The items without results whose calls are not among them."""
    items = [*items]
    calls = [part.get("id") for each in items for part in _objects(each)]
    for each in items:
        kept = [
            number
            for number, part in enumerate(_objects(each))
            if part.get("type") != "tool_result" or part.get("tool_use_id") in calls
        ]
        if len(kept) == len(each.parts):
            yield each
        elif kept:
            content = [each.item["content"][number] for number in kept]
            sources = tuple(each.parts[number] for number in kept)
            yield SentItem({**each.item, "content": content}, each.source, sources)


def _objects(item: SentItem) -> list[JsonObject]:
    """The parts of the item's content; {} for one that is no object."""
    content = item.item.get("content") if item.parts else ()
    return [part if isinstance(part, dict) else {} for part in content or ()]
