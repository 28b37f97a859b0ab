"""The sessions of Continue as requests of Chat Completions.

A session is a document with ``history``. An item has a message and, if it has calls, a
state of each of them (``toolCallStates``), from which Continue makes the result: its
output, else "Tool cancelled".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stream_sidecar.resume.conversation import ResumedConversation, SentItem
from stream_sidecar.resume.stored import Stored

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from stream_sidecar.parts import Json
    from stream_sidecar.resume.records import StoredPlace, StoredRecord
    from stream_sidecar.values.json_places import Path

_MEMBERS = {
    "role": "role",
    "content": "content",
    "toolCalls": "tool_calls",
    "toolCallId": "tool_call_id",
}
"""A member of a stored message -> that of the message that is sent."""


def fits(value: Json) -> bool:
    history = value.get("history") if isinstance(value, dict) else None
    return isinstance(history, list) and any(
        isinstance(each, dict) and isinstance(each.get("message"), dict)
        for each in history
    )


def conversations(records: Sequence[StoredRecord]) -> Iterator[ResumedConversation]:
    history = [
        each for record in records for each in Stored.of(record).at("history").items()
    ]
    models = [each.at("message", "usage", "model").text for each in history]
    yield ResumedConversation(
        wire="openai-chat",
        model=next(filter(None, reversed(models)), ""),
        items=tuple(item for each in history for item in _items(each)),
    )


def _items(stored: Stored) -> Iterator[SentItem]:
    message = stored.at("message")
    members = message.members.items()
    item = {_MEMBERS[name]: value for name, value in members if name in _MEMBERS}
    places: dict[Path, StoredPlace] = {
        (sent,): message.at(name).source
        for name, sent in _MEMBERS.items()
        if name in message.members
    }
    if not item.get("tool_calls"):
        item.pop("tool_calls", None)
    yield SentItem(item, message.source, places=places)
    for state in stored.at("toolCallStates").items():
        yield _result(state)


def _result(state: Stored) -> SentItem:
    outputs = [each.at("content") for each in state.at("output").items()]
    text = "\n".join(each.text for each in outputs) or "Tool cancelled"
    id = state.at("toolCallId").value
    item = {"role": "tool", "tool_call_id": id, "content": text}
    places: dict[Path, StoredPlace] = {}
    if len(outputs) == 1:
        places["content",] = outputs[0].source
    return SentItem(item, state.source, places=places)
