"""The sessions of opencode, and of Kilo, which is built from it, as requests.

A session is rows of the tables ``message`` and ``part``, in its older store files with
the same documents, in an export one document ``{messages: [{info, parts}]}``. Messages
are in the order of their time, parts in the order of their ids. What a compaction has
replaced is not sent, nor what a revert has taken back, nor an answer that failed. A
call without a result is sent with one that says so. Metadata of another model than the
next answer's is not sent, and so no seal of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stream_sidecar.records import frozen
from stream_sidecar.resume.conversation import (
    LeftOut,
    ResumedConversation,
    StoredPlace,
)
from stream_sidecar.resume.findings import FileEdit
from stream_sidecar.resume.stored import Stored
from stream_sidecar.resume.turns import SentPiece, SentTurn, items_of, wire_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from stream_sidecar.parts import Json
    from stream_sidecar.resume.records import StoredRecord

_KINDS = ("text", "reasoning", "tool", "file", "step-start", "step-finish")
_CLEARED = "[Old tool result content cleared]"
_INTERRUPTED = "[Tool execution was interrupted]"
_SUMMARISED = "What did we do so far?"
_EXECUTED = "The following tool was executed by the user"
_NOT_SAID = frozenset(("step-start", "reasoning"))

_SEALS = (
    ("anthropic", "signature", "anthropic"),
    ("bedrock", "signature", "anthropic"),
    ("openai", "reasoningEncryptedContent", "openai-responses"),
    ("azure", "reasoningEncryptedContent", "openai-responses"),
    ("google", "thoughtSignature", "gemini"),
    ("vertex", "thoughtSignature", "gemini"),
)
"""Names in the metadata of a part: the library of a provider, the seal that it keeps
there, and the API that it talks to."""


@frozen
class _Message:
    id: str
    info: Stored
    parts: tuple[Stored, ...]

    @property
    def role(self) -> str:
        return self.info.at("role").text

    @property
    def model(self) -> tuple[str, str]:
        """Provider and model, empty if the message does not name them."""
        named = self.info.at("model") if self.role == "user" else self.info
        return named.at("providerID").text, named.at("modelID").text

    def has(self, *kinds: str) -> bool:
        return any(part.at("type").value in kinds for part in self.parts)

    @property
    def is_sent(self) -> bool:
        """Whether the message is sent: one that failed is only if the user ended it,
        and it had said something."""
        error = self.info.at("error")
        if not error.value:
            return True
        kinds = {part.at("type").value for part in self.parts}
        is_ended = error.at("name").value == "MessageAbortedError"
        return is_ended and bool(kinds - _NOT_SAID)


def fits(value: Json) -> bool:
    if not isinstance(value, dict):
        return False
    listed = value.get("messages")
    if isinstance(listed, list) and any(map(_is_exported, listed)):
        return True
    if "messageID" in value and "sessionID" in value:
        return value.get("type") in _KINDS
    data = value.get("data")
    if not isinstance(data, dict) or "session_id" not in value:
        return False
    is_part = "message_id" in value and data.get("type") in _KINDS
    return is_part or ("role" in data and "time" in data)


def _is_exported(value: Json) -> bool:
    return isinstance(value, dict) and isinstance(value.get("info"), dict)


def conversations(records: Sequence[StoredRecord]) -> Iterator[ResumedConversation]:
    stored = [Stored.of(record) for record in records]
    messages, strays = _messages(stored)
    sent = _since_compaction(_before_revert(messages, stored))
    provider, model = next(
        (each.model for each in reversed(sent) if each.model[1]), ("", "")
    )
    wire = _wire(sent, provider, model)
    turns = [turn for each in sent for turn in _turns(each, (provider, model), wire)]
    yield ResumedConversation(
        wire=wire,
        provider=provider,
        model=model,
        items=items_of(turns, wire),
        left_out=tuple(
            LeftOut(part.source, "opencode does not send it: its message is missing")
            for part in strays
        ),
        settings={"store": False} if wire == "openai-responses" else {},
    )


def without_item(source: StoredPlace) -> tuple[FileEdit, ...]:
    """What takes a part out: its row, or the part out of the list of an export.
    ``source``: of the part or of a value in it."""
    record, path = source.record, source.path
    if "row" in record.place and "message_id" in record.value:
        return (FileEdit(StoredPlace(record, ("data",))),)
    if "parts" not in path[:-1]:
        return ()
    return (FileEdit(StoredPlace(record, path[: path.index("parts") + 2])),)


def _messages(records: Iterable[Stored]) -> tuple[list[_Message], list[Stored]]:
    """The messages with their parts, in their order, and the parts without one."""
    infos: dict[str, Stored] = {}
    unread: set[str] = set()
    parts: dict[str, list[tuple[str, Stored]]] = {}
    for record in records:
        document = record.at("data") if "data" in record.members else record
        for exported in record.at("messages").items():
            id = exported.at("info", "id").text
            infos[id] = exported.at("info")
            listed = exported.at("parts").items()
            parts[id] = [(part.at("id").text, part) for part in listed]
        owner = record.at("message_id").text or record.at("messageID").text
        if owner:
            parts.setdefault(owner, []).append((record.at("id").text, document))
        elif document.at("role").text:
            infos[record.at("id").text] = document
        elif document.value is None:
            unread.add(record.at("id").text)
    messages = [
        _Message(id, info, _in_order(parts.pop(id, [])))
        for id, info in sorted(infos.items(), key=_time)
    ]
    strays = [listed for id, listed in parts.items() if id not in unread]
    return messages, [part for listed in strays for _, part in listed]


def _in_order(parts: list[tuple[str, Stored]]) -> tuple[Stored, ...]:
    return tuple(part for _, part in sorted(parts, key=lambda each: each[0]))


def _time(message: tuple[str, Stored]) -> tuple[float, str]:
    created = message[1].at("time", "created").value
    return created if isinstance(created, (int, float)) else 0, message[0]


def _before_revert(
    messages: Sequence[_Message], records: Iterable[Stored]
) -> list[_Message]:
    """The messages that a revert leaves; with the next question, opencode removes the
    others."""
    reverts = (each.at("revert") for each in records if "revert" in each.members)
    revert = next((each for each in reverts if each.at("messageID").text), None)
    if revert is None:
        return [*messages]
    first, first_part = revert.at("messageID").text, revert.at("partID").text
    kept = []
    for message in messages:
        if message.id < first:
            kept.append(message)
        elif message.id == first and first_part:
            parts = (part for part in message.parts if _part_id(part) < first_part)
            kept.append(_Message(message.id, message.info, tuple(parts)))
    return kept


def _part_id(part: Stored) -> str:
    return part.at("id").text or Stored.of(part.record).at("id").text


def _since_compaction(messages: Sequence[_Message]) -> list[_Message]:
    """The messages from the last finished compaction on: its summary, then those before
    it that it keeps, then what follows."""
    finished: dict[str, int] = {}
    for number, message in enumerate(messages):
        info = message.info
        is_summary = info.at("summary").value is True and info.at("finish").text
        if message.role == "assistant" and is_summary and not info.at("error").value:
            finished[info.at("parentID").text] = number
    for number in reversed(range(len(messages))):
        message = messages[number]
        if message.id not in finished or not message.has("compaction"):
            continue
        end = finished[message.id] + 1
        marks = (part.at("tail_start_id").text for part in message.parts)
        tail = next(filter(None, marks), "")
        ids = [each.id for each in messages[:number]]
        kept = messages[ids.index(tail) : number] if tail in ids else []
        return [*messages[number:end], *kept, *messages[end:]]
    return [*messages]


def _wire(messages: Iterable[_Message], provider: str, model: str) -> str:
    """The API of the last model: what its metadata says, else what is known of it."""
    for message in messages:
        if message.model == (provider, model):
            for part in message.parts:
                for library, _, wire in _SEALS:
                    if library in part.at("metadata").members:
                        return wire
    return wire_of(provider, model)


def _turns(message: _Message, model: tuple[str, str], wire: str) -> Iterator[SentTurn]:
    if message.role == "user":
        yield SentTurn("user", tuple(_asked(message)))
    elif message.role == "assistant" and message.is_sent:
        yield from _answer(message, is_same=message.model == model, wire=wire)


def _asked(message: _Message) -> Iterator[SentPiece]:
    for part in message.parts:
        kind = part.at("type").value
        if kind == "text" and not part.at("ignored").value and part.at("text").text:
            yield SentPiece("text", part, part.at("text"))
        elif kind == "file":
            yield from _image(part)
        elif kind in ("compaction", "subtask"):
            yield _said(part, _SUMMARISED if kind == "compaction" else _EXECUTED)


def _said(part: Stored, text: str) -> SentPiece:
    """A text that opencode sends in place of a part."""
    return SentPiece("text", part, Stored(part.record, part.path, text))


def _image(part: Stored) -> Iterator[SentPiece]:
    url, kind = part.at("url"), part.at("mime").text
    if kind.startswith("image/") and url.text.startswith("data:"):
        data = Stored(url.record, url.path, url.text.partition(",")[2])
        yield SentPiece("image", part, data, media_type=kind)


def _answer(message: _Message, wire: str, *, is_same: bool) -> Iterator[SentTurn]:
    """The steps of an answer, each with the results of its calls behind it."""
    said: list[SentPiece] = []
    results: list[SentPiece] = []
    for part in message.parts:
        kind = part.at("type").value
        if kind == "step-start":
            yield from (
                SentTurn("assistant", tuple(said)),
                SentTurn("tool", tuple(results)),
            )
            said, results = [], []
        elif kind == "text" and part.at("text").text:
            said.append(SentPiece("text", part, part.at("text")))
        elif kind == "reasoning":
            said.extend(_thinking(part, wire, is_same=is_same))
        elif kind == "tool":
            call, result = _tool(part, wire, is_same=is_same)
            said.append(call)
            results.append(result)
    yield from (SentTurn("assistant", tuple(said)), SentTurn("tool", tuple(results)))


def _thinking(part: Stored, wire: str, *, is_same: bool) -> Iterator[SentPiece]:
    seal, item = _seal(part, wire) if is_same else (None, "")
    if part.at("text").text or seal is not None:
        yield SentPiece("thinking", part, part.at("text"), seal=seal, item=item)


def _seal(part: Stored, wire: str) -> tuple[Stored | None, str]:
    """The seal of a part, and the id of its item."""
    for library, name, of_wire in _SEALS:
        metadata = part.at("metadata", library)
        if of_wire == wire and metadata.members:
            seal = metadata.at(name)
            item = metadata.at("itemId").text
            return None if seal.value is None else seal, item
    return None, ""


def _tool(part: Stored, wire: str, *, is_same: bool) -> tuple[SentPiece, SentPiece]:
    """A call and its result, which opencode makes up if there is none."""
    state, id, name = part.at("state"), part.at("callID"), part.at("tool")
    status = state.at("status").value
    output = Stored(state.record, state.path, _INTERRUPTED)
    if status == "completed":
        output = state.at("output")
        if state.at("time", "compacted").value:
            output = Stored(output.record, output.path, _CLEARED)
    elif status == "error":
        shown = state.at("metadata", "output")
        output = shown if shown.text else state.at("error")
    seal = _seal(part, wire)[0] if is_same and wire == "gemini" else None
    call = SentPiece("call", part, state.at("input"), id=id, named=name, seal=seal)
    return call, SentPiece("result", part, output, id=id, named=name)
