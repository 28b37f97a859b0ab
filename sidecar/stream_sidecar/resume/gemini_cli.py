"""The sessions of Gemini CLI as requests.

A chat is a log of messages (``{"id", "type", "content", "toolCalls"}``), of ``$set``
and of ``$rewindTo``, or in older versions one document with ``messages``. A checkpoint
is a document with ``history``, turns of the API. In a chat a result is stored twice: in
the call and as a message of its own. Current versions send both
(google-gemini/gemini-cli#29365), in every session with a call. That is no fault of the
file: the result is read once here, and ``request/prepare`` removes the second.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stream_sidecar.resume.conversation import ResumedConversation
from stream_sidecar.resume.gemini_turns import (
    GeminiTurn,
    TurnPart,
    joined,
    parts_of,
    turn_of,
    without_empty,
)
from stream_sidecar.resume.records import members
from stream_sidecar.resume.stored import Stored

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from stream_sidecar.parts import Json
    from stream_sidecar.resume.records import StoredPlace, StoredRecord
    from stream_sidecar.values.json_places import Path

GEMINI_READS = {
    "": members(
        *("id", "type", "content", "toolCalls", "model", "history", "messages"),
        *("$set", "$rewindTo", "sessionId"),
    )
}

_TITLE = "Gemini CLI"
_MARKS = frozenset(("$set", "$rewindTo"))
_NOT_SENT = ("/", "?", "<session_context>", "<hook_context>")
"""What the texts of a user begin with that are not sent again: commands, context."""


def fits(value: Json) -> bool:
    if not isinstance(value, dict):
        return False
    history = value.get("history")
    is_checkpoint = isinstance(history, list) and any(map(_is_content, history))
    messages = value.get("messages")
    is_meta = isinstance(value.get("sessionId"), str) and "projectHash" in value
    listed = messages if isinstance(messages, list) else [value]
    is_chat = any(map(_is_answer, listed)) or not _MARKS.isdisjoint(value)
    return is_checkpoint or is_meta or is_chat


def conversations(records: Sequence[StoredRecord]) -> Iterator[ResumedConversation]:
    stored = [Stored.of(record) for record in records]
    kept = [each for record in stored for each in record.at("history").items()]
    turns = [turn_of(content) for content in kept if _is_content(content.value)]
    messages = _messages(stored)
    repeats: list[StoredPlace] = []
    turns.extend(_turns(messages, repeats))
    sent, left = without_empty(turns, _TITLE)
    models = [message.at("model").text for message in messages]
    yield ResumedConversation(
        wire="gemini",
        provider="google",
        model=next(filter(None, reversed(models)), ""),
        items=tuple(turn.item() for turn in joined(sent)),
        left_out=tuple(left),
        repeats=tuple(repeats),
    )


def _is_content(value: Json) -> bool:
    if not isinstance(value, dict) or value.get("role") not in ("user", "model"):
        return False
    return isinstance(value.get("parts"), list)


def _is_answer(value: Json) -> bool:
    return isinstance(value, dict) and value.get("type") == "gemini"


def _messages(records: Iterable[Stored]) -> list[Stored]:
    """The messages that the log leaves: a later one replaces one with its id."""
    messages: dict[str, Stored] = {}

    def keep(listed: Stored) -> None:
        for message in listed.items():
            if id := message.at("id").text:
                messages[id] = message

    for record in records:
        if rewound := record.at("$rewindTo").text:
            ids = [*messages]
            first = ids.index(rewound) if rewound in messages else 0
            for id in ids[first:]:
                del messages[id]
        elif id := record.at("id").text:
            messages[id] = record
        elif (news := record.at("$set", "messages")).value is not None:
            messages.clear()
            keep(news)
        else:
            keep(record.at("messages"))
    return [*messages.values()]


def _turns(
    messages: Iterable[Stored], repeats: list[StoredPlace]
) -> Iterator[GeminiTurn]:
    """The turns. ``repeats`` gets the results that an earlier call has, too."""
    answered: set[Json] = set()
    for message in messages:
        kind = message.at("type").value
        parts = parts_of(message.at("content"))
        if kind == "user" and _is_sent(parts):
            news = tuple(each for each in parts if _answered(each) not in answered)
            repeats.extend(each.source for each in parts if each not in news)
            yield GeminiTurn("user", message.source, news)
        elif kind == "gemini":
            calls = [*message.at("toolCalls").items()]
            yield from _answer(message, parts, calls)
            answered.update(map(_answered, _results(calls)))
            answered.discard(None)


def _answer(
    message: Stored, parts: tuple[TurnPart, ...], calls: Sequence[Stored]
) -> Iterator[GeminiTurn]:
    """An answer of the model, and the results of its calls. Its calls are in its
    content, or beside it if nothing of this kind is there."""
    if message.at("content").value == "":
        parts = ()
    is_whole = any(
        each.part.get("functionCall") or each.part.get("thought") for each in parts
    )
    if not is_whole:
        parts = (*parts, *map(_call, calls))
    if parts:
        yield GeminiTurn("model", message.source, parts)
        if results := tuple(_results(calls)):
            yield GeminiTurn("user", message.source, results)


def _call(call: Stored) -> TurnPart:
    members = {name: call.members.get(name) for name in ("id", "name", "args")}
    places: dict[Path, StoredPlace] = {("functionCall",): call.source}
    return TurnPart({"functionCall": members}, call.source, places)


def _results(calls: Iterable[Stored]) -> Iterator[TurnPart]:
    for call in calls:
        result = call.at("result")
        if result.text:
            names = {name: call.members.get(name) for name in ("id", "name")}
            response = {**names, "response": {"output": result.value}}
            name = "functionResponse"
            places: dict[Path, StoredPlace] = {
                (name,): call.source,
                (name, "response", "output"): result.source,
            }
            yield TurnPart({name: response}, result.source, places)
        elif result.value:
            yield from parts_of(result)


def _answered(part: TurnPart) -> Json:
    """The id of the call that a part answers; None if it answers none."""
    response = part.part.get("functionResponse")
    id = response.get("id") if isinstance(response, dict) else None
    return id if isinstance(id, str) else None


def _is_sent(parts: Iterable[TurnPart]) -> bool:
    texts = (each.part.get("text", "[part]") for each in parts)
    text = "".join(each for each in texts if isinstance(each, str)).strip()
    return bool(text) and not text.startswith(_NOT_SENT)
