"""The sessions of qwen-code as requests of Chat Completions.

Records (``{"uuid", "parentUuid", "message": {"role", "parts"}}``) form a tree. What
leads from the last record to the root is sent, from the last compaction on. Records of
one ``uuid`` are one turn. Calls without a result and results without a call stay out.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from stream_sidecar.resume.conversation import LeftOut, ResumedConversation, SentItem
from stream_sidecar.resume.findings import FileEdit
from stream_sidecar.resume.gemini_turns import (
    GeminiTurn,
    one_of,
    turn_of,
    without_empty,
)
from stream_sidecar.resume.records import StoredPlace, members
from stream_sidecar.resume.stored import Stored, call_places
from stream_sidecar.values.jsontext import dumps

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from stream_sidecar.parts import Json, JsonObject
    from stream_sidecar.resume.gemini_turns import TurnPart
    from stream_sidecar.resume.records import StoredRecord
    from stream_sidecar.values.json_places import Path

QWEN_READS = {
    "": members(
        *("type", "subtype", "uuid", "parentUuid", "sessionId", "message", "model"),
        systemPayload=members("compressedHistory"),
    )
}

_TITLE = "qwen-code"
_CALL_ALONE = (f"{_TITLE} does not send a call without a result", "call-without-result")
_RESULT_ALONE = (
    f"{_TITLE} does not send a result without a call",
    "result-without-call",
)


def fits(value: Json) -> bool:
    if not isinstance(value, dict) or "parentUuid" not in value:
        return False
    message = value.get("message")
    is_content = isinstance(message, dict) and "parts" in message
    return is_content or "systemPayload" in value


def conversations(records: Sequence[StoredRecord]) -> Iterator[ResumedConversation]:
    stored = [Stored.of(record) for record in records]
    chain, cut = _chain(stored)
    turns, left = without_empty(_turns(chain), _TITLE)
    paired, unpaired = _paired(turns)
    models = [record.at("model").text for record in chain]
    yield ResumedConversation(
        wire="openai-chat",
        model=next(filter(None, reversed(models)), ""),
        items=tuple(item for turn in paired for item in _items(turn)),
        left_out=(*cut, *left, *unpaired),
    )


def _chain(records: Sequence[Stored]) -> tuple[list[Stored], list[LeftOut]]:
    """The records from the root to the last one, and the place where the way to the
    root is broken off, if messages before it are lost by that."""
    named = [record for record in records if record.at("uuid").text]
    found: dict[str, list[Stored]] = {}
    for record in named:
        found.setdefault(record.at("uuid").text, []).append(record)
    chain: list[list[Stored]] = []
    id = named[-1].at("uuid").text if named else ""
    while same := found.pop(id, None):
        chain.append(same)
        id = same[0].at("parentUuid").text
    kept = [record for same in reversed(chain) for record in same]
    if not (id and kept) or any(record.at("uuid").text == id for record in kept):
        return kept, []
    before = [each for each in named if each.record.number < kept[0].record.number]
    if not any("message" in each.members for each in before):
        return kept, []
    link = kept[0].at("parentUuid").source
    why = f"its parent is in no record, so {_TITLE} sends nothing that came before it"
    edit = FileEdit(link, dumps(before[-1].at("uuid").text))
    return kept, [LeftOut(link, why, edits=(edit,))]


def _turns(chain: Sequence[Stored]) -> Iterator[GeminiTurn]:
    begin = 0
    for number, record in enumerate(chain):
        kept = record.at("systemPayload", "compressedHistory")
        if record.at("subtype").value == "chat_compression" and kept.value:
            begin, summary = number + 1, kept
    if begin:
        yield from map(turn_of, summary.items())
    said = [
        record
        for record in chain[begin:]
        if record.at("message").members and record.at("type").value != "system"
    ]
    for _, same in groupby(said, key=lambda record: record.at("uuid").text):
        yield one_of([turn_of(record.at("message")) for record in same])


def _items(turn: GeminiTurn) -> Iterator[SentItem]:
    """The items that a turn becomes: results, then what else it says."""
    if turn.role == "model":
        yield from _answer(turn)
        return
    said: list[JsonObject] = []
    sources: list[StoredPlace] = []
    for each in turn.parts:
        if "functionResponse" in each.part:
            yield _result(Stored(each.source.record, each.source.path, each.part))
        elif not each.part.get("thought") and (part := _content(each.part)):
            said.append(part)
            sources.append(each.source)
    if said:
        item = {"role": "user", "content": said}
        yield SentItem(item, turn.source, tuple(sources))


def _result(part: Stored) -> SentItem:
    result = part.at("functionResponse")
    texts = [result.at("response", name) for name in ("output", "error")]
    text = next((each for each in texts if each.text), texts[0])
    item = {"role": "tool", "tool_call_id": result.at("id").value, "content": text.text}
    return SentItem(item, part.source, places={("content",): text.source})


def _content(part: JsonObject) -> JsonObject | None:
    if part.get("text"):
        return {"type": "text", "text": part["text"]}
    data = part.get("inlineData")
    if not isinstance(data, dict):
        return None
    url = f"data:{data.get('mimeType')};base64,{data.get('data')}"
    return {"type": "image_url", "image_url": {"url": url}}


def _answer(turn: GeminiTurn) -> Iterator[SentItem]:
    texts = [each for each in turn.parts if isinstance(each.part.get("text"), str)]
    spoken = [each for each in texts if not each.part.get("thought")]
    thoughts = "".join(each.part["text"] for each in texts if each.part.get("thought"))
    calls: list[JsonObject] = []
    places: dict[Path, StoredPlace] = {}
    for each in turn.parts:
        stored = Stored(each.source.record, each.source.path, each.part)
        call = stored.at("functionCall")
        if call.members:
            places.update(call_places(len(calls), call, "id", "args"))
            calls.append(_call(call.members, len(calls)))
    text = "".join(each.part["text"] for each in spoken)
    if len(spoken) == 1:
        source = spoken[0].source
        places["content",] = StoredPlace(source.record, (*source.path, "text"))
    if not (text or thoughts or calls):
        return
    said = text or ("" if thoughts else None)
    item: JsonObject = {"role": "assistant", "content": said}
    if calls:
        item["tool_calls"] = calls
    if thoughts:
        item["reasoning_content"] = thoughts
    yield SentItem(item, turn.source, places=places)


def _call(call: JsonObject, number: int) -> JsonObject:
    function = {
        "name": call.get("name") or "",
        "arguments": dumps(call.get("args") or {}),
    }
    id = call.get("id") or f"call_{number}"
    return {"id": id, "type": "function", "function": function}


def _paired(turns: Sequence[GeminiTurn]) -> tuple[list[GeminiTurn], list[LeftOut]]:
    """The turns without calls that no result in the conversation answers, and without
    results that answer no call in it. Calls of the last turn wait for their results."""
    calls, results = (
        {_id(part, name) for turn in turns for part in turn.parts} - {None}
        for name in ("functionCall", "functionResponse")
    )
    sent: list[GeminiTurn] = []
    left: list[LeftOut] = []
    for turn in turns:
        judged = [(part, _why_lost(part, calls, results)) for part in turn.parts]
        lost = [LeftOut(part.source, *why) for part, why in judged if why]
        if turn is not turns[-1]:
            left.extend(lost)
        parts = tuple(part for part, why in judged if not why)
        says = any(not part.part.get("thought") for part in parts)
        if says or not lost:
            sent.append(GeminiTurn(turn.role, turn.source, parts))
    return sent, left


def _why_lost(
    part: TurnPart, calls: set[str | None], results: set[str | None]
) -> tuple[str, str] | None:
    if "functionCall" in part.part and _id(part, "functionCall") not in results:
        return _CALL_ALONE
    if "functionResponse" in part.part and _id(part, "functionResponse") not in calls:
        return _RESULT_ALONE
    return None


def _id(part: TurnPart, name: str) -> str | None:
    """The id of the part's call or result."""
    holder = part.part.get(name)
    id = holder.get("id") if isinstance(holder, dict) else None
    return id if isinstance(id, str) else None
