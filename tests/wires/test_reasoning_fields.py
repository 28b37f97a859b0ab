"""A field of reasoning on Chat Completions goes back where it came from.

The cases are the rows of the table, so a new row is tried here. What a row needs beside
itself is in wires/README.md, "Adding a field": a step that is missing fails a test that
names it.
"""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from emitting import emitted
from places import TESTS
from rpc_client import ROOT

from stream_sidecar import Stream
from stream_sidecar.history.messages import Thought, read_message
from stream_sidecar.history.shapes import MESSAGE
from stream_sidecar.options import Limits, Policy
from stream_sidecar.protocol.methods import METHODS
from stream_sidecar.protocol.sessions import Sessions
from stream_sidecar.values.jsontext import dumps
from stream_sidecar.wires.openai_chat.delta import FIELDS
from stream_sidecar.wires.openai_chat.reasoning import (
    REASONING_FIELDS,
    TEXTS,
    ReasoningField,
)

Json = Any

BLOCK = {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}
VALUES: dict[str, Json] = {
    "thinking_blocks": [BLOCK],
    "reasoning_details": [{"type": "reasoning.text", "text": "Hm.", "index": 0}],
    "reasoning_opaque": "c2ln",
    "reasoning_items": [{"type": "reasoning", "id": "rs_1", "summary": []}],
    "reasoning_steps": [{"thought": "Hm."}],
    "extra_content": {"google": {"thought_signature": "c2ln"}},
    "thought_signatures": ["c2ln"],
    "compaction_blocks": [{"type": "compaction", "content": "Hm."}],
}
"""Fields that hold no text -> a value of them."""

STEPS = 'wires/README.md, "Adding a field", step'

GOES_BACK = [row for row in REASONING_FIELDS if row.holds != "steps"]


def _fields(row: ReasoningField) -> Json:
    """The field as a message has it."""
    name = row.name.removeprefix(f"{row.member}.")
    value = "Hm." if row.holds == "text" else VALUES[name]
    return {name: value} if name == row.name else {row.member: {name: value}}


def _message(row: ReasoningField) -> Json:
    return {"role": "assistant", "content": "Hi", **_fields(row)}


def _document(row: ReasoningField) -> Json:
    choice = {"index": 0, "message": _message(row), "finish_reason": "stop"}
    return {"object": "chat.completion", "choices": [choice]}


def _sent(row: ReasoningField) -> Json:
    """The fields in which it goes back: blocks go back in the message's own list."""
    return {"thinking_blocks": [BLOCK]} if row.holds == "blocks" else _fields(row)


def _call(method: str, **params: Json) -> Json:
    sessions = Sessions(Policy(), Limits())
    return json.loads(dumps(METHODS[method].call(sessions, params)))


@pytest.mark.parametrize("row", GOES_BACK, ids=lambda row: row.name)
def test_in_a_rendered_turn(row: ReasoningField) -> None:
    read = _call("message/normalize", wire="openai-chat", body=_document(row))
    asked = {"message": read["message"], "wire": "openai-chat", "reasoning": "all"}
    (turn,) = _call("message/render", **asked)["messages"]
    assert turn.items() >= _sent(row).items()


@pytest.mark.parametrize("row", GOES_BACK, ids=lambda row: row.name)
def test_in_an_emitted_body(row: ReasoningField) -> None:
    """After a removal, so that the provider's own document is not passed on."""
    given, wire = _document(row), "openai-chat"
    given["choices"][0]["message"]["content"] = "Hi<|im_end|>"
    (body,) = emitted({"wire": wire}, [given], wire, whole=True).chunks
    message = body["choices"][0]["message"]
    assert message["content"] == "Hi"
    text = {"reasoning_content": "Hm."}
    assert message.items() >= (text if row.holds == "text" else _sent(row)).items()


@pytest.mark.parametrize("row", REASONING_FIELDS, ids=lambda row: row.name)
def test_in_a_prepared_request(row: ReasoningField) -> None:
    """It stays where it is accepted, and goes where reasoning is refused, unless more
    than reasoning depends on it."""
    user = {"role": "user", "content": "Hi"}
    body = {"model": "m", "messages": [user, _message(row), user]}

    def prepared(provider: str) -> Json:
        asked = {"wire": "openai-chat", "provider": provider, "body": body}
        return _call("request/prepare", **asked).get("body", body)["messages"][1]

    assert prepared("nobody") == _message(row)
    is_refused = row.holds in ("text", "blocks", "state") and row.member == row.name
    assert (row.member in prepared("groq")) != is_refused


@pytest.mark.parametrize("field", sorted({*FIELDS} - {"content", "refusal"}))
def test_a_field_that_is_read_as_reasoning_has_a_row(field: str) -> None:
    """Without a row it would go back in ``reasoning_content``, silently."""
    stream = Stream(wire="openai-chat")
    stream.push({"choices": [{"delta": {field: "Hm."}, "finish_reason": "stop"}]})
    stream.close()
    assert (stream.message.reasoning == "Hm.") == (field in TEXTS), f"{STEPS} 1"


@pytest.mark.parametrize("field", TEXTS)
def test_in_a_stored_message(field: str) -> None:
    message = {"role": "assistant", field: "Hm.", "content": "Hi"}
    (items,) = read_message(message, MESSAGE).fields
    assert Thought("Hm.", beside=True) in items, f"{STEPS} 2"


@pytest.mark.parametrize("row", REASONING_FIELDS, ids=lambda row: row.name)
def test_in_a_recording(row: ReasoningField) -> None:
    recordings = (TESTS / "wires" / "openai-chat").glob("*.chunks.jsonl")
    name = row.name.rpartition(".")[2]
    is_recorded = any(f'"{name}"' in each.read_text("utf-8") for each in recordings)
    assert is_recorded, f"{STEPS} 3"


@pytest.mark.parametrize("row", REASONING_FIELDS, ids=lambda row: row.name)
def test_on_the_page(row: ReasoningField) -> None:
    page = (ROOT / "sidecar/stream_sidecar/wires/README.md").read_text("utf-8")
    described = page.partition("\n## Chat Completions\n")[2]
    assert re.search(rf"\b{row.name.rpartition('.')[2]}\b", described), f"{STEPS} 4"
