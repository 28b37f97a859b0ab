"""The sessions of Kimi Code as requests of Chat Completions.

The log of an agent (``wire.jsonl``) has the messages of users and, event by event, the
steps of the model: the begin of a step, its parts, its calls and their results. Which
messages a record changes is read as Kimi Code itself reads its log on resume.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stream_sidecar.records import define, field
from stream_sidecar.resume.conversation import LeftOut, ResumedConversation, SentItem
from stream_sidecar.resume.kimi_messages import content_of, parts_of
from stream_sidecar.resume.records import members
from stream_sidecar.resume.stored import Stored, call_places
from stream_sidecar.values.jsontext import dumps

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from stream_sidecar.parts import Json, JsonObject
    from stream_sidecar.resume.records import StoredRecord

KIMI_READS = {
    "": members(
        *("type", "model", "modelAlias", "message", "event", "summary", "count"),
        *("contextSummary", "keptUserMessageCount", "compactedCount"),
    )
}

_INTERRUPTED = "Kimi Code sends a result that says it was interrupted"
_AGAIN = "Kimi Code sends the refused request again without it"
KIMI_HEALS = {
    "call-without-result": _INTERRUPTED,
    "repeated-id": _AGAIN,
}

_RESULT_ALONE = (
    "Kimi Code does not send a result whose call is gone",
    "result-without-call",
)
_UNREAD = (
    "Kimi Code reads nothing behind a broken line, so it sends nothing from here on"
)
_NO_STEP = "the begin of its step is in no record, so Kimi Code does not send it"


def fits(value: Json) -> bool:
    kind = value.get("type") if isinstance(value, dict) else None
    return str(kind).startswith("context.") or (
        kind == "metadata" and "protocol_version" in value
    )


def conversations(records: Sequence[StoredRecord]) -> Iterator[ResumedConversation]:
    log = _Log()
    model = ""
    end = _end(records)
    for record in map(Stored.of, records[:end]):
        kind = record.at("type").text
        if change := _CHANGES.get(kind):
            change(log, record)
        named = (record.at(name).text for name in ("model", "modelAlias"))
        model = next(filter(None, named), model)
    unread = (LeftOut(Stored.of(each).source, _UNREAD) for each in records[end:][:1])
    yield ResumedConversation(
        wire="openai-chat",
        model=model,
        items=tuple(item for each in log.messages if (item := each.item())),
        left_out=(*log.left, *unread),
    )


def _end(records: Sequence[StoredRecord]) -> int:
    """How many of the records Kimi Code reads: those before the first broken line, of
    which there is no record. It writes no empty lines."""
    lines = [record.place.get("line", 0) for record in records]
    gaps = (
        number
        for number in range(1, len(lines))
        if lines[number] > lines[number - 1] + 1
    )
    return next(gaps, len(lines))


@define(eq=False)
class _Message:
    """``calls``: objects with ``name``, and the id and arguments under the names in
    ``names``. ``answers``: the id of the call whose result this is."""

    stored: Stored
    role: str
    content: list[Stored] = field(factory=list)
    calls: list[Stored] = field(factory=list)
    names: tuple[str, str] = ("id", "arguments")
    answers: str = ""

    @property
    def output(self) -> Stored:
        """What a call gave: the message's content, or the output of an event."""
        event = self.stored.at("result", "output")
        return self.stored.at("content") if event.value is None else event

    @property
    def origin(self) -> JsonObject:
        return self.stored.at("origin").members

    @property
    def is_asked(self) -> bool:
        """Whether a user asked it."""
        kind = self.origin.get("kind", "user")
        return self.role == "user" and (
            kind == "user" or self.origin.get("trigger") == "user-slash"
        )

    def item(self) -> SentItem | None:
        if self.answers:
            content, _, places = content_of(self.output)
            answer = {"role": "tool", "tool_call_id": self.answers, "content": content}
            return SentItem(answer, self.stored.source, places=places)
        spoken = [part for part in self.content if not _is_blank(part)]
        content, reasoning, places = parts_of(spoken)
        if not (content or reasoning or self.calls):
            return None
        calls: list[JsonObject] = []
        for call in self.calls:
            places.update(call_places(len(calls), call, *self.names))
            calls.append(_call(call, *self.names))
        item: JsonObject = {"role": self.role, "content": content or None, **reasoning}
        if calls:
            item["tool_calls"] = calls
        return SentItem(item, self.stored.source, places=places)


@define
class _Log:
    """The messages so far. ``step``: the model's turn that events still add to, and
    the id of it. ``asked``: the ids of all calls: older versions wrote a second result
    for some. ``waiting``: those without a result. ``later``: what comes after their
    results."""

    messages: list[_Message] = field(factory=list)
    left: list[LeftOut] = field(factory=list)
    step: tuple[Json, _Message] | None = None
    asked: set[str] = field(factory=set)
    waiting: list[str] = field(factory=list)
    later: list[_Message] = field(factory=list)

    def add(self, record: Stored) -> None:
        stored = record.at("message")
        answers = stored.at("toolCallId").text
        message = _Message(stored, stored.at("role").text, answers=answers)
        message.content.extend(stored.at("content").items())
        message.calls.extend(stored.at("toolCalls").items())
        (self.later if self.waiting else self.messages).append(message)

    def follow(self, record: Stored) -> None:
        event = record.at("event")
        kind = event.at("type").value
        if kind == "step.begin":
            self.settle()
            self.step = event.at("uuid").value, _Message(event, "assistant")
            self.step[1].names = "toolCallId", "args"
            self.messages.append(self.step[1])
        elif kind == "step.end":
            if event.at("finishReason").value not in ("interrupted", "error"):
                self.settle()
        elif kind == "tool.result":
            self.answer(event)
        elif self.step is None or event.at("stepUuid").value != self.step[0]:
            self.left.append(LeftOut(event.source, _NO_STEP))
        elif kind == "content.part":
            self.step[1].content.append(event.at("part"))
        elif kind == "tool.call":
            self.step[1].calls.append(event)
            self.waiting.append(event.at("toolCallId").text)
            self.asked.add(event.at("toolCallId").text)

    def answer(self, event: Stored) -> None:
        id = event.at("toolCallId").text
        if id not in self.waiting:
            if id not in self.asked:
                self.left.append(LeftOut(event.source, *_RESULT_ALONE))
            return
        self.waiting.remove(id)
        self.messages.append(_Message(event, "tool", answers=id))
        if not self.waiting:
            self.release()

    def settle(self) -> None:
        """Ends the step. Calls that still wait are answered by Kimi Code itself."""
        self.step = None
        self.waiting.clear()
        self.release()

    def release(self) -> None:
        self.messages.extend(self.later)
        self.later.clear()

    def clear(self, record: Stored) -> None:
        self.messages.clear()
        self.settle()
        self.messages.clear()

    def compact(self, record: Stored) -> None:
        """A summary in place of the messages: it follows those of users, or in older
        logs precedes those that are not in it."""
        self.settle()
        summary = record.at("summary")
        if summary.members:
            kept = _Message(summary, "user", [*summary.at("content").items()])
        else:
            whole = record.at("contextSummary")
            kept = _Message(record, "user", [whole if whole.text else summary])
        if "keptUserMessageCount" in record.members:
            self.messages = [each for each in self.messages if each.is_asked]
            self.messages.append(kept)
        else:
            count = record.at("compactedCount").value
            begin = count if isinstance(count, int) and count > 0 else 0
            self.messages = [kept, *self.messages[begin:]]

    def undo(self, record: Stored) -> None:
        self.settle()
        count = record.at("count").value
        asked = [n for n, each in enumerate(self.messages) if each.is_asked]
        if isinstance(count, int) and 0 < count <= len(asked):
            del self.messages[asked[-count] :]


_CHANGES: Mapping[str, Callable[[_Log, Stored], None]] = {
    "context.append_message": _Log.add,
    "context.append_loop_event": _Log.follow,
    "context.clear": _Log.clear,
    "context.apply_compaction": _Log.compact,
    "context.undo": _Log.undo,
}


def _is_blank(part: Stored) -> bool:
    return part.at("type").value == "text" and not part.at("text").text.strip()


def _call(call: Stored, id: str, arguments: str) -> JsonObject:
    given = call.members.get(arguments)
    function = {
        "name": call.members.get("name"),
        "arguments": given if isinstance(given, str) else dumps(given or {}),
    }
    return {"id": call.at(id).text, "type": "function", "function": function}
