"""The sessions of Copilot CLI as requests of Chat Completions.

A session is a log of events (``{"type", "data", "id", "parentId"}``) in the order in
which they are sent; ``parentId`` is not read. Events with an ``agentId`` are of a
sub-agent. Which API the model has, the log does not say.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stream_sidecar.resume.conversation import ResumedConversation, SentItem
from stream_sidecar.resume.records import members
from stream_sidecar.resume.stored import Stored, call_places
from stream_sidecar.values.jsontext import dumps

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from stream_sidecar.parts import Json, JsonObject
    from stream_sidecar.resume.records import StoredRecord

COPILOT_HEALS = {
    "call-without-result": "Copilot CLI sends a result that says it was interrupted",
    "result-without-call": "Copilot CLI does not send it",
    "two-results": "Copilot CLI sends one of them",
    "blank-text": "Copilot CLI does not send it",
}

COPILOT_READS = {
    "": members(
        *("type", "parentId", "agentId"),
        data=members(
            *("agentId", "newModel", "selectedModel", "model", "summaryContent"),
            *("content", "transformedContent", "sessionId"),
            *("toolCallId", "toolRequests"),
            result=members("content"),
        ),
    )
}

_KINDS = ("session.", "user.message", "assistant.", "tool.execution_")


def fits(value: Json) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("data"), dict):
        return False
    return "parentId" in value and str(value.get("type")).startswith(_KINDS)


def conversations(records: Sequence[StoredRecord]) -> Iterator[ResumedConversation]:
    items: list[SentItem] = []
    summarized: set[str] = set()
    model = ""
    for event in map(Stored.of, records):
        kind, data = event.at("type").value, event.at("data")
        if event.at("agentId").text or data.at("agentId").text:
            continue
        named = (data.at(name).text for name in ("newModel", "selectedModel", "model"))
        model = next(filter(None, named), model)
        summary = data.at("summaryContent")
        if kind == "session.compaction_complete" and summary.text:
            asked = (call for each in items for call in each.item.get("tool_calls", ()))
            summarized.update(call["id"] for call in asked)
            items = [_said("user", summary)]
        elif kind == "user.message":
            shown = data.at("transformedContent")
            items.append(_said("user", shown if shown.text else data.at("content")))
        elif kind == "assistant.message":
            items.append(_answer(data))
        elif kind == "tool.execution_complete":
            id = data.at("toolCallId").text
            if id in summarized:
                continue
            said = _said("tool", data.at("result", "content"))
            item = {**said.item, "tool_call_id": id}
            items.append(SentItem(item, data.source, places=said.places))
    yield ResumedConversation(wire="openai-chat", model=model, items=tuple(items))


def _said(role: str, content: Stored) -> SentItem:
    item = {"role": role, "content": content.text}
    return SentItem(item, content.source, places={("content",): content.source})


def _answer(data: Stored) -> SentItem:
    said = _said("assistant", data.at("content"))
    places = dict(said.places)
    calls: list[JsonObject] = []
    for call in data.at("toolRequests").items():
        arguments = call.members.get("arguments")
        is_text = isinstance(arguments, str)
        function = {
            "name": call.members.get("name"),
            "arguments": arguments if is_text else dumps(arguments or {}),
        }
        id = call.at("toolCallId").text
        places.update(call_places(len(calls), call, "toolCallId", "arguments"))
        calls.append({"id": id, "type": "function", "function": function})
    if not calls:
        return SentItem(said.item, data.source, places=places)
    content = said.item["content"] or None
    item = {"role": "assistant", "content": content, "tool_calls": calls}
    return SentItem(item, data.source, places=places)
