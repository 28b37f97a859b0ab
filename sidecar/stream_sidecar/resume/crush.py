"""The sessions of Crush as requests.

A session is rows of the table ``messages``, with ``role``, ``model``, ``provider`` and
the list ``parts`` of ``{"type", "data"}``, in the order of their time. After a summary,
which the row of ``sessions`` names, it is sent as the user's with what follows. Crush
answers calls without a result itself, and does not send results without a call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stream_sidecar.resume.conversation import ResumedConversation
from stream_sidecar.resume.stored import Stored
from stream_sidecar.resume.turns import SentPiece, SentTurn, items_of, wire_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from stream_sidecar.parts import Json
    from stream_sidecar.resume.records import StoredRecord

CRUSH_HEALS = {
    "call-without-result": "Crush sends a result that says it was interrupted",
    "result-without-call": "Crush does not send it",
}

_COLUMNS = ("role", "parts", "session_id")


def fits(value: Json) -> bool:
    if not isinstance(value, dict) or any(name not in value for name in _COLUMNS):
        return False
    parts = value["parts"]
    return isinstance(parts, list) and all(
        isinstance(part, dict) and {"type", "data"} <= part.keys() for part in parts
    )


def conversations(records: Sequence[StoredRecord]) -> Iterator[ResumedConversation]:
    stored = [Stored.of(record) for record in records]
    messages = [each for each in stored if fits(each.value)]
    summaries = {each.at("summary_message_id").text for each in stored} - {""}
    first = next(
        (n for n, each in enumerate(messages) if each.at("id").text in summaries), None
    )
    sent = messages[first or 0 :]
    named = (
        (each.at("provider").text, each.at("model").text)
        for each in reversed(sent)
        if each.at("role").value == "assistant"
    )
    provider, model = next((pair for pair in named if any(pair)), ("", ""))
    wire = wire_of(provider, model)
    turns = [
        _turn(each, is_summary=first is not None and number == 0, wire=wire)
        for number, each in enumerate(sent)
    ]
    yield ResumedConversation(wire, provider, model, items_of(turns, wire))


def _turn(message: Stored, wire: str, *, is_summary: bool) -> SentTurn:
    """Of an answer the first text and the first thinking are sent, then its calls."""
    role = "user" if is_summary else message.at("role").text
    parts = [*message.at("parts").items()]
    if role == "tool":
        return SentTurn("tool", tuple(map(_result, _of_kind(parts, "tool_result"))))
    said = [
        SentPiece("text", part, part.at("data", "text"))
        for part in _of_kind(parts, "text")[:1]
        if part.at("data", "text").text.strip()
    ]
    if role == "user":
        images = _of_kind(parts, "binary")
        return SentTurn(
            "user", (*said, *(each for part in images for each in _image(part)))
        )
    thought = [
        SentPiece("thinking", part, part.at("data", "thinking"), seal=_seal(part, wire))
        for part in _of_kind(parts, "reasoning")[:1]
        if part.at("data", "thinking").text
    ]
    calls = map(_call, _of_kind(parts, "tool_call"))
    return SentTurn("assistant", (*thought, *said, *calls))


def _of_kind(parts: Sequence[Stored], kind: str) -> list[Stored]:
    return [part for part in parts if part.at("type").value == kind]


def _seal(part: Stored, wire: str) -> Stored | None:
    """The seal for the API on the ``wire``; an empty one is none."""
    seals = {
        "anthropic": part.at("data", "signature"),
        "gemini": part.at("data", "thought_signature"),
        "openai-responses": part.at("data", "responses_data", "encrypted_content"),
    }
    seal = seals.get(wire)
    return seal if seal is not None and seal.text else None


def _call(part: Stored) -> SentPiece:
    data = part.at("data")
    return SentPiece(
        "call", part, data.at("input"), id=data.at("id"), named=data.at("name")
    )


def _result(part: Stored) -> SentPiece:
    data = part.at("data")
    id, name = data.at("tool_call_id"), data.at("name")
    return SentPiece("result", part, data.at("content"), id=id, named=name)


def _image(part: Stored) -> Iterator[SentPiece]:
    data = part.at("data")
    kind = data.at("MIMEType").text
    if kind.startswith("image/"):
        yield SentPiece("image", part, data.at("Data"), media_type=kind)
