"""A field of Chat Completions in which reasoning comes as text is where it goes back.

A new field that is read alone would go back in ``reasoning_content``, silently:
``wires/README.md``, "Adding a field", names both places.
"""

from __future__ import annotations

import pytest

from stream_sidecar import Stream, render
from stream_sidecar.wires.openai_chat.delta import FIELDS

CALL = {"index": 0, "id": "a", "function": {"name": "f", "arguments": "{}"}}
NOT_READ_AS_TEXT = {"content", "refusal"}


def _read(field: str) -> Stream:
    stream = Stream(wire="openai-chat")
    delta = {field: "Hm", "tool_calls": [CALL]}
    stream.push({"choices": [{"delta": delta, "finish_reason": "tool_calls"}]})
    stream.close()
    return stream


@pytest.mark.parametrize("field", sorted({*FIELDS} - NOT_READ_AS_TEXT))
def test_reasoning_as_text_goes_back_in_its_field(field: str) -> None:
    message = _read(field).message
    if message.reasoning == "Hm":
        (turn, *_) = render(message, wire="openai-chat").messages
        assert turn.get(field) == "Hm", 'wires/README.md, "Adding a field"'


def test_most_fields_of_reasoning_are_tried() -> None:
    read = {field for field in FIELDS if _read(field).message.reasoning == "Hm"}
    assert {"reasoning_content", "reasoning", "thinking"} <= read
