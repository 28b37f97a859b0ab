"""Ids of calls without one: others in every turn, the same in every replay."""

from __future__ import annotations

import json
from typing import Any

import pytest
from memory_host import MemoryHost

WRITTEN = '<tool_call>{"name": "look", "arguments": {"a": 1}}</tool_call>'
STRUCTURED = {"index": 0, "function": {"name": "look", "arguments": "{}"}}


def ids(chunks: list[Any], **params: Any) -> list[str]:
    host = MemoryHost()
    tools = [{"name": "look"}]
    params = {"wire": "openai-chat", "tools": tools, **params}
    stream = host.request("stream/open", params)["streamId"]
    events = []
    for chunk in chunks:
        pushed = {"streamId": stream, "chunk": chunk}
        events += host.request("stream/push", pushed)["events"]
    events += host.request("stream/close", {"streamId": stream})["events"]
    calls = {each["block"]: each for each in events if each["type"] == "tool-call"}
    assert all(call["idSynthetic"] for call in calls.values())
    return [call["toolCallId"] for _, call in sorted(calls.items())]


def documents(id: str = "r1", choice: int = 0) -> list[Any]:
    deltas = {"tool_calls": [STRUCTURED]}, {"content": "x\n" + WRITTEN}
    return [
        {"id": id, "choices": [{"index": choice, "delta": delta}]} for delta in deltas
    ]


def test_every_call_of_a_turn_has_its_own() -> None:
    found = ids([*documents(), *documents(choice=1)])
    assert len({*found}) == len(found) == 4
    assert all(len(id) == 9 and id.isalnum() and id.isascii() for id in found)


@pytest.mark.parametrize("params", [{}, {"streamId": "turn-7"}])
def test_a_replay_gives_the_same_at_every_cut(params: dict[str, Any]) -> None:
    text = "".join(f"data: {json.dumps(each)}\n\n" for each in documents())
    assert ids([text], **params) == ids([*text], **params) == ids([text], **params)


def test_another_turn_has_others() -> None:
    """By the response's id, or by the name that the host gave the stream."""
    turns = [ids(documents()), ids(documents(id="r2"))]
    turns += [ids(documents(), streamId=name) for name in ("turn-1", "turn-2")]
    assert len({id for turn in turns for id in turn}) == 4 * 2


def test_a_whole_response_has_those_of_its_stream() -> None:
    (whole, *_) = documents()
    choice = whole["choices"][0]
    body = {**whole, "choices": [{"index": 0, "message": choice["delta"]}]}
    params = {"wire": "openai-chat", "body": body, "streamId": "turn-1"}
    calls = MemoryHost().request("message/normalize", params)["message"]["toolCalls"]
    assert [calls[0]["toolCallId"]] == ids([whole], streamId="turn-1")
