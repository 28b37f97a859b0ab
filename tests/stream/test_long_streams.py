"""Streams without the parts of the message (``message.parts: false``): the same events
and documents, and memory that does not grow with the text."""

from __future__ import annotations

import gc
import tracemalloc
from typing import TYPE_CHECKING, Any

import pytest
from checking import feed
from emitting import emitted
from open_params import options_of
from recordings import PATHS, own

from stream_sidecar import normalize
from stream_sidecar.channel import answer, blocks
from stream_sidecar.events import BlockEnd, ReasoningDelta, Reclassify, TextDelta
from stream_sidecar.message import builder
from stream_sidecar.message.builder import MessageBuilder
from stream_sidecar.stream.stream import Stream
from stream_sidecar.wires import WRITERS
from stream_sidecar.wires.shared import writing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recordings import Recording

Params = dict[str, Any]

WITHOUT: Params = {"message": {"parts": False}}

DOCUMENTS = 300
GROWTH = 50
"""Bytes for each document: the numbers of its blocks, and what an allocator does."""


# --- Nothing else changes -------------------------------------------------------------


def _recordings(wire: str) -> list[Recording]:
    return [each for each in map(own, PATHS) if each.params.get("wire") == wire]


@pytest.mark.parametrize("reasoning", ["include", "drop"])
@pytest.mark.parametrize("wire", WRITERS)
def test_the_documents_are_the_same(wire: str, reasoning: str) -> None:
    for each in _recordings(wire):
        policy = {**each.params.get("policy", {}), **WITHOUT}
        one, other = (
            emitted(params, each.chunks, wire, reasoning=reasoning, close=each.close)
            for params in (each.params, {**each.params, "policy": policy})
        )
        assert other.chunks == one.chunks, each.name
        assert other.read.message.blocks is None


def test_left_out_reasoning_that_is_text_comes_back() -> None:
    for parts in (True, False):
        policy = {"message": {"parts": parts}, "reasoning": {"asAnswer": "when-empty"}}
        chunks = [
            {"choices": [{"delta": {"content": "<think>It is so.</think>"}}]},
            {"choices": [{"delta": {}, "finish_reason": "stop"}]},
        ]
        params = {"wire": "openai-chat", "policy": policy}
        trip = emitted(params, chunks, "openai-chat", reasoning="drop")
        assert "It is so." in str(trip.chunks)


def test_a_body_has_its_text() -> None:
    message = {"role": "assistant", "content": "<think>Why.</think>So."}
    whole = {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
    result = normalize(
        whole,
        wire="openai-chat",
        policy={"message": {"parts": False}},
        emit={"wire": "openai-chat"},
    )
    assert result.body["choices"][0]["message"]["content"] == "So."
    assert (result.message.text, result.message.blocks) == (None, None)


# --- What is kept ---------------------------------------------------------------------


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bounds that a short test can reach."""
    monkeypatch.setattr(builder, "MOST_RECENT", 4_096)
    monkeypatch.setattr(answer, "RECENT", 32)
    monkeypatch.setattr(blocks, "_MOST_REMOVED", 4_096)
    monkeypatch.setattr(writing, "_MOST_KEPT", 4_096)
    monkeypatch.setattr(writing, "_MOST_PLACES", 32)


def _chat(delta: Params) -> Params:
    return {"id": "c", "model": "m", "choices": [{"index": 0, "delta": delta}]}


def _part(part: Params) -> Params:
    content = {"role": "model", "parts": [part]}
    return {"candidates": [{"content": content, "index": 0}]}


def _delta(kind: str, text: str) -> Params:
    delta = {"type": f"{kind}_delta", kind: text}
    return {"type": "content_block_delta", "index": 0, "delta": delta}


def _start(kind: str) -> list[Params]:
    block = {"type": kind, kind: ""}
    return [
        {"type": "message_start", "message": {"id": "m", "model": "m", "content": []}},
        {"type": "content_block_start", "index": 0, "content_block": block},
    ]


LONG = {
    "chat": ("openai-chat", [], lambda text: _chat({"content": text})),
    "chat, thinking": (
        "openai-chat",
        [],
        lambda text: _chat({"reasoning_content": text}),
    ),
    "messages": ("anthropic", _start("text"), lambda text: _delta("text", text)),
    "messages, thinking": (
        "anthropic",
        _start("thinking"),
        lambda text: _delta("thinking", text),
    ),
    "gemini": ("gemini", [], lambda text: _part({"text": text})),
    "gemini, thinking": (
        "gemini",
        [],
        lambda text: _part({"text": text, "thought": True}),
    ),
}
"""By name: the wire, its first documents, and a document with some text."""

TEXTS = {
    "prose": "The {} of them is what we write about here, at some length. ",
    "languages": "Größe {}: 日本語, 😀, and what else there is to be said here. ",
    "tags": "<think>Why is {} so?</think>It is what it is, whatever it was. ",
}


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("name", LONG)
def test_a_stream_does_not_grow(name: str, text: str) -> None:
    wire, first, document = LONG[name]
    reasoning = "drop" if text == "tags" else "include"
    options = options_of(
        {
            "wire": wire,
            "policy": WITHOUT,
            "limits": {"maxDocumentChars": 4_096},
            "emit": {"wire": wire, "reasoning": reasoning},
        }
    )
    stream = Stream(options)
    emission = stream.emission()
    assert emission is not None

    def pushed(chunks: Iterator[Params]) -> int:
        for chunk in chunks:
            emission.push(stream.push(chunk))
        gc.collect()
        return tracemalloc.get_traced_memory()[0]

    def documents(start: int) -> Iterator[Params]:
        numbers = range(start, start + DOCUMENTS)
        return (document(TEXTS[text].format(number)) for number in numbers)

    pushed(iter(first))
    tracemalloc.start()
    try:
        before = pushed(documents(0))
        after = pushed(documents(DOCUMENTS))
    finally:
        tracemalloc.stop()
    assert after - before < GROWTH * DOCUMENTS
    last = emission.close(stream.close(), stream.message())
    assert len(str(last)) < 1_000


@pytest.mark.usefixtures("small")
def test_what_is_forgotten_is_unknown() -> None:
    recent = MessageBuilder(parts=False)
    recent.push(ReasoningDelta(1, 0, 0, "why", "tag"))
    recent.push(BlockEnd(2, 0, 0, "reasoning", "signed"))
    assert recent.last_reasoning(0) == 0
    recent.push(TextDelta(3, 0, 1, "a" * 2_000))
    assert recent.any_text(0, 0) == recent.tagged_text(0, 0) == "why"
    recent.push(TextDelta(4, 0, 2, "b" * 1_700))
    assert [recent.any_text(0, block) for block in range(3)] == [None, None, "b" * 1700]
    assert recent.last_reasoning(0) is None
    recent.push(TextDelta(5, 0, 1, "of a forgotten block"))
    recent.push(BlockEnd(6, 0, 0, "reasoning", "late"))
    recent.push(Reclassify(7, 0, (1, 2), "reasoning"))
    assert [recent.any_text(0, block) for block in range(2)] == [None, None]
    assert recent.block_text(0, 2) is None
    recent.push(TextDelta(8, 0, 3, "c" * 5_000))
    assert [recent.any_text(0, block) for block in (2, 3)] == [None, None]
    assert recent.build().text is None


@pytest.mark.usefixtures("small")
def test_a_seal_whose_text_was_forgotten_does_not_go_out() -> None:
    """The block lost a delimiter, and nobody has what the provider signed."""
    chunks = [
        *_start("thinking"),
        _delta("thinking", "Well <think> so. "),
        *(_delta("thinking", f"And {number} more. ") for number in range(500)),
        _delta("signature", "sealed"),
        {"type": "content_block_stop", "index": 0},
    ]
    about = {"wire": "anthropic", "provider": "anthropic", "policy": WITHOUT}
    params = {**about, "model": "claude-opus-5-1"}
    ends = [e for e in feed(params, chunks).events if isinstance(e, BlockEnd)]
    assert [(end.raw_text, end.seal_broken) for end in ends] == [(None, True)]
    trip = emitted(params, chunks, "anthropic", reasoning="include")
    assert "sealed" not in str(trip.chunks)
