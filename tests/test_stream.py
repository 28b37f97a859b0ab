"""What a stream does that no page under ``spec`` can show."""

from __future__ import annotations

from typing import Any

import pytest
from checking import assert_sound, feed, options_of

from sidecar.stream import MAX_CHOICES, Stream

CHAT = {"wire": "openai-chat"}


def _said(index: int) -> dict[str, Any]:
    return {"index": index, "delta": {"content": f"{index} "}}


def test_choices_have_a_bound() -> None:
    """Each choice has its own state; one more than may be is part of the last."""
    last = MAX_CHOICES - 1
    indexes = [*range(MAX_CHOICES), 5_000, 5_001, 0]
    fed = feed(CHAT, [{"choices": [_said(index) for index in indexes]}])
    assert_sound(fed, CHAT)
    texts = [message.text for message in fed.message.choices]
    assert len(texts) == MAX_CHOICES
    assert texts[last] == f"{last} 5000 5001 "
    assert texts[0] == "0 0 "
    told = [event.raw for event in fed.events if event.type == "diagnostic"]
    assert told[0] == 5_000
    assert len(told) == 2  # and that nobody said that it was over


@pytest.mark.parametrize("chunk", ["", "a", "<thi", "\n", "\ud83d"])
def test_seq_goes_on_over_pushes(chunk: str) -> None:
    stream = Stream(options_of({"wire": "text"}))
    numbers = [event.seq for _ in range(5) for event in stream.push(chunk)]
    assert stream.last_seq == len(numbers)
    numbers += [event.seq for event in stream.close()]
    assert numbers == list(range(1, stream.last_seq + 1))


def test_a_snapshot_holds_what_was_sent() -> None:
    """No held text, no finish (protocol.md, "stream/snapshot")."""
    stream = Stream(options_of({"wire": "text"}))
    stream.push("<think>why</think>An</thi")
    message = stream.message()
    assert (message.text, message.reasoning) == ("An", "why")
    assert message.finish is None
    assert [block.type for block in message.blocks] == ["reasoning", "text"]


STATS = [
    ("plain text", {}, (0, 0, 0)),
    ("<think>a</think>b", {}, (2, 1, 0)),
    ("<think>a<think>b</think>c", {}, (3, 1, 0)),
    ("<think><think>a</think>b</think>c", {}, (4, 2, 0)),
    ("a</think>b", {}, (1, 0, 0)),
    ("<th<think>x</think>ink>", {}, (3, 1, 0)),
    ("<think>a", {}, (1, 0, 0)),
]


@pytest.mark.parametrize(("text", "params", "expected"), STATS)
def test_stats_count(text: str, params: dict[str, Any], expected: tuple[int, ...]):
    """Delimiters taken out, blocks that were closed, documents that were none."""
    stats = feed({"wire": "text", **params}, [text]).stats
    counted = stats.delimiters_stripped, stats.reasoning_extracted
    assert (*counted, stats.malformed_chunks) == expected
    assert (stats.pushes, stats.chars) == (1, len(text))


def test_stats_count_documents() -> None:
    body = 'data: {"choices":[{"delta":{"content":"a"}}]}\n\ndata: undefined\n\n'
    stats = feed({**CHAT, "framing": "sse"}, [body[:9], body[9:]]).stats
    assert (stats.pushes, stats.chunks, stats.chars) == (2, 1, len(body))
    assert stats.malformed_chunks == 1


def test_a_wire_and_its_framing_are_told() -> None:
    stream = Stream(options_of({}))
    assert (stream.wire, stream.framing) == ("auto", "auto")
    stream.push('{"choices": [{"delta": {"content": "a"}}]}')
    assert (stream.wire, stream.framing) == ("openai-chat", "ndjson")
