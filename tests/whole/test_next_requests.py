"""Turns that recorded clients sent back, beside ours.

``next_requests.jsonl`` of the corpus (see `test_corpus`) has responses with the
messages that the client put behind the previous ones in its next request. Each response
is read, and its message rendered for the same wire with the results that the client
had. What is free is set aside on both sides (`plain`); what differs then is in
`EXPLAINED`, by the rule that says why.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from corpus import CORPUS

from stream_sidecar.options import Limits, Policy
from stream_sidecar.protocol.methods import METHODS
from stream_sidecar.protocol.sessions import Sessions
from stream_sidecar.wires import REQUESTS

FILE = CORPUS / "next_requests.jsonl"

pytestmark = pytest.mark.skipif(
    not FILE.exists(),
    reason="no corpus beside the project (SIDECAR_CORPUS): next requests were not run",
)

Json = Any

EXPLAINED: dict[str, tuple[str, ...]] = {
    "the client turned a call for structured output into text": (
        *("050c18662aa5", "2d0035ba6e2a", "2568578876ba"),
    ),
    "the client sends reasoning in a field in which it did not come": (
        *("0af679224deb", "7d42be78c244", "50d6cd0c7b2b"),
    ),
    "the client changed or left out fields of reasoning_details": (
        *("0aff520ab3c9", "273984ec507a", "37bd2bc65308", "725d3289fb13"),
    ),
    "the client lost the beginning of the reasoning": ("6b1d7fb48837",),
    "the client gave the assistant a name": ("180d946b10a1",),
    "the client sent an answer of its own for one that was cut off": ("185fd9667349",),
    "the client left out the ids of items": (
        *("0591123492ce", "307283365e3d", "396a78a52a78", "3ea9027c3d69"),
        *("4365bfc51681", "5a508a8aa515", "69920e8b2602"),
    ),
    "the client left out the phase of the answer": ("0f5e26380e16",),
    "the client left out the reasoning, or the plan before calls": (
        *("163a6caa6b01", "1959202b07d7", "63ef46262623", "262c5e4e5648"),
    ),
    "the client left out the signature of a text": ("162812a0f648", "46672adfd400"),
    "the client made ids of its own": (
        *("2d3a99014bcf", "478ce06fc4e5", "5800c27f2604", "7b13d6d6e79d"),
    ),
    "the client gave the tool another name": ("59ee5ebc3b21",),
    "the client sent back reasoning that had leaked into the text": (
        *("1ff89d27ae1c", "4d0cf59ec3a3", "6adf9ee9536c", "7411d76f1a1d"),
    ),
}
"""Why a client's turn is not ours -> the recordings where it is not."""

ADDED: dict[str, Json] = {
    "cache_control": ...,
    "index": ...,
    "thought": False,
    "status": "completed",
}
"""What clients add, or leave out, beside what came: any value, or this one."""


def _rows() -> list[dict[str, Json]]:
    if not FILE.exists():
        return []
    lines = FILE.read_text(encoding="utf-8").splitlines()
    return [row for row in map(json.loads, lines) if row["wire"] in REQUESTS]


def _call(method: str, **params: Json) -> dict[str, Json]:
    given = {name: value for name, value in params.items() if value is not None}
    result = METHODS[method].call(Sessions(Policy(), Limits()), given)
    read: dict[str, Json] = json.loads(json.dumps(result))
    return read


def ours(row: dict[str, Json]) -> list[Json]:
    """The messages that `message/render` gives for a recording."""
    named = {name: row[name] for name in ("wire", "provider", "model")}
    framed = {name: row[name] for name in ("framing", "encoding")}
    body = row["body"]
    body = json.loads(body) if body.startswith('"') else body
    message = _call("message/normalize", body=body, **named, **framed)["message"]
    results = [*_results(row, message)]
    rendered = _call("message/render", message=message, results=results, **named)
    messages: list[Json] = rendered["messages"]
    return messages


def _results(row: dict[str, Json], message: Json) -> Iterator[Json]:
    """What the client's tools answered; where a wire has no ids, in order."""
    calls = [call for call in message["toolCalls"] if call["executor"] != "server"]
    for number, answer in enumerate(_answers(row["next"])):
        call_id = next((answer[name] for name in _IDS if answer.get(name)), None)
        known = {call["toolCallId"] for call in calls}
        id = call_id if call_id in known or number >= len(calls) else None
        id = id or calls[number]["toolCallId"]
        yield {
            "toolCallId": id,
            "content": _content(answer),
            "isError": answer.get("is_error") or answer.get("status") == "error",
        }


_IDS = ("tool_call_id", "tool_use_id", "call_id", "toolUseId", "id")


def _answers(messages: list[Json]) -> Iterator[Json]:
    for message in messages:
        if message.get("role") == "tool" or "output" in message:
            yield message
        parts = message.get("parts") or message.get("content")
        for part in parts if isinstance(parts, list) else []:
            if part.get("type") == "tool_result":
                yield part
            for name in ("functionResponse", "toolResult"):
                if name in part:
                    yield part[name]


def _content(answer: Json) -> Json:
    for name in ("output", "response"):
        if name in answer:
            return answer[name]
    content = answer.get("content")
    if isinstance(content, list) and len(content) == 1:
        return content[0].get("json", content[0].get("text", content))
    return content


def theirs(row: dict[str, Json]) -> list[Json]:
    """What the client sent of the turn: not the user's next words."""
    return [message for message in row["next"] if not _is_users(message)]


def _is_users(message: Json) -> bool:
    is_user = message.get("role") == "user"
    return is_user and not [*_answers([message])]


def plain(value: Json) -> Json:
    """``value`` without what is free: order, what is empty, what clients add, the two
    spellings of a content that is one text, the spacing of arguments, the alphabet of
    base64, where a text is cut into parts."""
    if isinstance(value, list):
        items = [plain(item) for item in value]
        return [item for item in items if item not in (None, {"type": "text"})] or None
    if isinstance(value, dict):
        fields = {name: _field(name, value[name]) for name in value}
        return {n: item for n, item in sorted(fields.items()) if item is not None}
    return None if value == "" else value


def _joined(parts: list[Json]) -> list[Json]:
    """Texts of Gemini's, which a stream cuts anywhere."""
    found: list[Json] = []
    for part in parts:
        if found and {*part, *found[-1]} == {"text"}:
            part = {"text": found.pop()["text"] + part["text"]}
        elif found and part.keys() == found[-1].keys() == {"text", "thought"}:
            part = part | {"text": found.pop()["text"] + part["text"]}
        found.append(part)
    return found


def _field(name: str, value: Json) -> Json:
    if name in ADDED and ADDED[name] in (..., value):
        return None
    if name == "arguments" and isinstance(value, str):
        return _parsed(value)
    if name == "parts":
        return _joined(plain(value) or [])
    if name == "thoughtSignature":
        return value.replace("-", "+").replace("_", "/")
    if name == "content" and isinstance(value, str) and value:
        return [{"text": value, "type": "text"}]
    return plain(value)


def _parsed(text: str) -> Json:
    try:
        return json.loads(text)
    except ValueError:
        return text


@pytest.mark.parametrize("row", _rows(), ids=lambda row: row["id"])
def test_next_request(row: dict[str, Json]) -> None:
    explained = any(row["id"] in ids for ids in EXPLAINED.values())
    is_equal = plain(ours(row)) == plain(theirs(row))
    if not is_equal and not explained:
        assert plain(ours(row)) == plain(theirs(row))
    assert is_equal != explained, "this one is equal by now: it needs no explanation"
