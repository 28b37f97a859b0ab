"""The sessions of Codex as requests of the Responses API.

A rollout is a log of records (``{"type", "payload"}``). The payloads of
``response_item`` are sent in their order. A ``compacted`` record replaces those before
it, and an event ``thread_rolled_back`` takes the last turns of the user back.
Records of newer rollouts are numbered by their ``ordinal``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stream_sidecar.resume.conversation import (
    LeftOut,
    ResumedConversation,
    SentItem,
    StoredPlace,
)
from stream_sidecar.resume.findings import FileEdit
from stream_sidecar.resume.records import members
from stream_sidecar.resume.stored import Stored

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from stream_sidecar.parts import Json
    from stream_sidecar.resume.findings import ResumeKind
    from stream_sidecar.resume.records import StoredRecord

CODEX_HEALS = {
    "call-without-result": 'Codex sends the output "aborted"',
    "result-without-call": "Codex does not send the output",
}

CODEX_READS = {
    "": members("type", "ordinal", "payload"),
    "event_msg": members("type", "ordinal", payload=members("type", "num_turns")),
    "turn_context": members("type", "ordinal", payload=members("model")),
}

_KINDS = ("session_meta", "response_item", "turn_context", "compacted", "event_msg")
_NOT_SENT = ("ghost_snapshot", "other")
_UNSENT = '{"type": "other"}'
"""An item that Codex reads and does not send."""

_MADE = ("<", "# AGENTS.md instructions")
"""How a message begins that Codex wrote for the user: no turn of theirs."""

_LAST_ORDINAL: tuple[str, ResumeKind] = (
    "Codex does not open the session: its final record is missing an ordinal",
    "refused",
)
_NO_ORDINAL: tuple[str, ResumeKind] = (
    "it has no ordinal, so Codex does not show the records from it on",
    "left-out",
)
_ORDINAL_AGAIN: tuple[str, ResumeKind] = (
    "its ordinal is not above that of the record before it, so Codex does not show the "
    "records from it on",
    "left-out",
)


def fits(value: Json) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("payload"), dict):
        return False
    return value.get("type") in _KINDS


def conversations(records: Sequence[StoredRecord]) -> Iterator[ResumedConversation]:
    stored = [Stored.of(record) for record in records]
    first = next((each for each in stored if _type(each) == "session_meta"), None)
    models = [
        each.at("payload", "model").text
        for each in stored
        if _type(each) == "turn_context"
    ]
    sent = _history(stored)
    if first and first.at("payload", "history_base").value:
        sent = _without_inherited(sent)
    yield ResumedConversation(
        wire="openai-responses",
        provider=first.at("payload", "model_provider").text if first else "",
        model=next(filter(None, reversed(models)), ""),
        items=tuple(SentItem(each.members, each.source) for each in sent),
        left_out=tuple(_ordinals(stored)),
        settings={"store": False},
    )


def without_item(source: StoredPlace) -> tuple[FileEdit, ...]:
    """What takes a sent item out of the file: its record stays with its ordinal, and
    what replaces the item is read and not sent. ``source``: of the item, or of a value
    in it."""
    start = len(source.record.path)
    is_kept = source.path[start + 1 : start + 2] == ("replacement_history",)
    item = StoredPlace(source.record, source.path[: start + (3 if is_kept else 1)])
    return (FileEdit(item, _UNSENT),)


def _type(record: Stored) -> str:
    return record.at("type").text


def _history(records: Sequence[Stored]) -> list[Stored]:
    sent: list[Stored] = []
    for record in records:
        payload, kind = record.at("payload"), _type(record)
        if kind == "response_item" and payload.at("type").text not in _NOT_SENT:
            sent.append(payload)
        elif kind == "compacted":
            sent = _compacted(payload, sent)
        elif payload.at("type").text == "thread_rolled_back" and kind == "event_msg":
            sent = _rolled_back(sent, payload.at("num_turns").value)
    return sent


def _compacted(payload: Stored, sent: list[Stored]) -> list[Stored]:
    """The history in the place of the one before: the one that the record holds, else
    the user's messages. (The summary behind them breaks no rule.)"""
    history = payload.at("replacement_history")
    if isinstance(history.value, list):
        return [
            each for each in history.items() if each.at("type").text not in _NOT_SENT
        ]
    return [each for each in sent if _is_question(each)]


def _rolled_back(sent: list[Stored], turns: Json) -> list[Stored]:
    questions = [number for number, each in enumerate(sent) if _is_question(each)]
    if not isinstance(turns, int) or turns < 1 or not questions:
        return sent
    return sent[: questions[max(len(questions) - turns, 0)]]


def _is_question(item: Stored) -> bool:
    if item.at("type").text != "message" or item.at("role").text != "user":
        return False
    texts = [part.at("text").text for part in item.at("content").items()]
    return not all(text.startswith(_MADE) for text in texts) or not texts


def _without_inherited(sent: list[Stored]) -> list[Stored]:
    """A fork's history begins in another file, which has the calls of outputs that
    have none here."""
    calls = {
        each.at("call_id").text for each in sent if not _type(each).endswith("_output")
    }
    return [
        each
        for each in sent
        if not _type(each).endswith("_output") or each.at("call_id").text in calls
    ]


def _ordinals(records: Sequence[Stored]) -> Iterator[LeftOut]:
    """The records whose ordinal is missing or repeats an earlier one, each with the
    edits that number it and those behind it until the numbers fit again."""
    highest, given = -1, -1
    wrong: list[tuple[Stored, list[FileEdit]]] = []
    for record in records:
        ordinal = record.at("ordinal")
        number = ordinal.value if isinstance(ordinal.value, int) else None
        if number is None and highest < 0:
            continue
        if number is None or number <= highest:
            wrong.append((ordinal, []))
        highest = max(highest, number or 0)
        fitting = max(given + 1, number or 0)
        if fitting != number:
            wrong[-1][1].append(FileEdit(ordinal.source, str(fitting)))
        given = fitting
    for ordinal, edits in wrong:
        is_last = ordinal.record is records[-1].record
        why = _ORDINAL_AGAIN if isinstance(ordinal.value, int) else _NO_ORDINAL
        sentence, kind = _LAST_ORDINAL if why is _NO_ORDINAL and is_last else why
        yield LeftOut(ordinal.source, sentence, "ordinal", tuple(edits), kind)
