"""Chunks that are like the one before: the same events, learned or not.

The slow way is the same stream without its memory (`Intake._learn` does nothing).
"""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st
from places import TESTS

from sidecar.events import Event
from sidecar.options import StreamOptions
from sidecar.stream.intake import Intake
from sidecar.stream.learned_chunks import alike_object, alike_string
from sidecar.stream.stream import Stream
from sidecar.values.jsontext import loads

WIRES = TESTS / "wires"
RECORDINGS = sorted(
    path
    for wire in ("anthropic", "openai-chat")
    for path in (WIRES / wire).glob("*.chunks.jsonl")
)


def _read(chunks: list[Any], **options: Any) -> tuple[list[Event], Any, Any, int]:
    """Events, message, counters, and how many chunks were only compared."""
    stream = Stream(StreamOptions(**options))
    events = [event for chunk in chunks for event in stream.push(chunk)]
    events += stream.close()
    return events, stream.message(), stream.stats(), stream._passed


def _both(chunks: list[Any], **options: Any) -> int:
    """Asserts that learning changes nothing; how many chunks were only compared."""
    *fast, passed = _read(deepcopy(chunks), **options)
    with mock.patch.object(Intake, "_learn", return_value=None):
        *slow, _ = _read(chunks, **options)
    assert fast == slow
    return passed


def _chat(text: Any, **more: Any) -> dict[str, Any]:
    choice = {"index": 0, "delta": {"content": text}, "finish_reason": None}
    return {"id": "c", "created": 7, "model": "m", "choices": [choice], **more}


def _sse(value: Any) -> str:
    return f"data: {json.dumps(value, ensure_ascii=False)}\n\n"


def _anthropic(text: str) -> str:
    delta = {"type": "text_delta", "text": text}
    value = {"type": "content_block_delta", "index": 0, "delta": delta}
    return f"event: content_block_delta\n{_sse(value)}"


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.name.split(".")[0])
def test_recordings(path: Path) -> None:
    _, *chunks = [loads(line) for line in path.read_text("utf-8").splitlines()]
    again = [each for chunk in chunks for each in (chunk, deepcopy(chunk))]
    for given_chunks in (chunks, again):
        _both(given_chunks, wire=path.parent.name)


WORDS = ["The ", "sky", " <b", " is", "\n- ", "blue", "</think>", "é ", ".", "\n", "z"]


@pytest.mark.parametrize("make", [_chat, lambda text: _sse(_chat(text)), _anthropic])
def test_plain_streams_are_only_compared(make: Any) -> None:
    chunks = [make(word) for word in ["One", *["two"] * 20, *WORDS]]
    assert _both(chunks) > 20
    assert _both([make(word) for word in WORDS]) > 2


@pytest.mark.parametrize(
    "value",
    [
        _chat("two", model="other"),
        _chat("two", usage={"completion_tokens": 3}),
        _chat("two", choices=[]),
        _chat("two", error={"message": "no"}),
        _chat(2),
        _chat(None),
        _chat(""),
        _chat("two", created=None),
        _chat("two", choices=[{"index": 1, "delta": {"content": "two"}}]),
        _chat("two", choices=[{"index": False, "delta": {"content": "two"}}]),
        _chat("two", created=7.0),
        _chat("two", choices=[{"index": 0, "delta": {"content": ["two"]}}]),
        _chat("two", choices=[{"index": 0, "delta": {"refusal": "two"}}]),
        ["two"],
        "two",
        None,
    ],
)
def test_others_are_read(value: Any) -> None:
    for make in (lambda each: each, _sse):
        plain = [make(_chat(word)) for word in ("one", "and", "then")]
        _both([*plain, make(value), *plain, make(value), make(value)])


@pytest.mark.parametrize(
    "document",
    [
        _chat("m"),  # which of the two?
        _chat("a", choices=[{"delta": {"content": "a", "refusal": "no"}}]),
        _chat("a", choices=[{"delta": {"content": ["a"]}}]),
        {"type": "content_block_start", "content_block": {"type": "text", "text": "a"}},
    ],
)
def test_what_cannot_be_told_is_not_learned(document: Any) -> None:
    assert _both([_chat("one"), *[document] * 4], wire="openai-chat") == 0
    assert _both([document] * 4) == 0


@pytest.mark.parametrize(
    "text", ['say "a"', "back\\slash", "tab\t", "\x7f", "line\u2028break", "\ud83d", ""]
)
def test_text_that_json_escapes(text: str) -> None:
    for make in (_chat, lambda text: f"data: {json.dumps(_chat(text))}\n\n"):
        _both([make(word) for word in ("one", "two", text, "three", text, text, "x")])


def test_escaped_text_is_compared_too() -> None:
    words = ("one", "two", "\n\n", "caf\u00e9", 'say "a"', "\U0001f33f", "x")
    assert _both([f"data: {json.dumps(_chat(word))}\n\n" for word in words]) >= 5


def test_strings_in_pieces_are_not_compared() -> None:
    whole = [_sse(_chat(word)) for word in ("one", "two", "three", "four")]
    head, tail = whole[2][:40], whole[2][40:]
    _both([*whole, head, tail, *whole, head, whole[0], tail, *whole])
    _both([*whole, f"{whole[0]}{whole[1]}", *whole, whole[0][:-1], "\n", *whole])
    _both([*whole, "event: error\n", *whole, "data: [DONE]\n\n", *whole])


def test_another_choice_speaks() -> None:
    """What one choice holds back leaves the run of another as it is."""

    def chunk(text: str, index: int) -> dict[str, Any]:
        return _chat(None, choices=[{"index": index, "delta": {"content": text}}])

    said = [(0, "a"), (0, "b"), (1, "x"), (1, "<"), (1, "think"), (1, "y"), (0, "c")]
    chunks = [chunk(text, index) for index, text in said * 3]
    for make in (lambda each: each, _sse):
        _both(list(map(make, chunks)))


def test_one_document_a_string_is_compared() -> None:
    chunks = [json.dumps(_chat(word)) for word in ("one", "two", "three", "four")]
    assert _both(chunks, framing="json") > 0


def test_longer_than_a_document_may_be() -> None:
    of = alike_string("['x']".replace("'", '"'), "x", 8, lambda *_: True)
    assert of is not None
    assert of('["yyyy"]') == "yyyy"
    assert of('["yyyyy"]') is None
    assert of('["x"') is None


def test_a_false_place_is_noticed() -> None:
    """The text ``,`` stands between two strings, too, where no text can be put."""
    chunk = '{"a": "b","c": "\\u002c"}'
    of = alike_object(json.loads(chunk), ",")
    assert of is not None

    def reads(other: str, text: str) -> bool:
        try:
            return of(json.loads(other)) == text
        except ValueError:
            return False

    assert alike_string(chunk, ",", 99, reads) is None


def test_too_deep_is_not_learned() -> None:
    value: Any = "x"
    for _ in range(12):
        value = [value]
    assert alike_object({"a": "t", "b": value}, "t") is None
    assert alike_object(["t"], "t") is None


def test_learning_in_vain_ends_and_success_goes_on() -> None:
    differing = [_chat(f"w{n}", created=n) for n in range(1, 40)]
    with mock.patch("sidecar.stream.intake.alike_object", wraps=alike_object) as learn:
        _read(differing)
    assert 0 < learn.call_count < 20
    mixed = [_chat(f"w{n}", created=n // 4 + 1) for n in range(1, 200)]
    assert _both(mixed) > 100


VALUES = st.sampled_from(
    [None, True, 0, 1, "x", "one", [], {}, ["x"], {"content": "x"}, {"index": 0}]
)
KEYS = st.sampled_from(
    ["content", "role", "refusal", "index", "usage", "model", "error", "reasoning"]
)
CHUNKS = st.builds(
    lambda text, delta, choice, document: _chat(
        text,
        choices=[{"index": 0, "delta": {"content": text, **delta}, **choice}],
        **document,
    ),
    st.sampled_from(["x", "one", " two", "m", "<think>", "\n"]),
    st.dictionaries(KEYS, VALUES, max_size=1),
    st.dictionaries(KEYS, VALUES, max_size=1),
    st.dictionaries(KEYS, VALUES, max_size=1),
)


@given(st.lists(st.tuples(CHUNKS, st.integers(1, 3)), max_size=4))
def test_any_documents(told: list[tuple[Any, int]]) -> None:
    chunks = [deepcopy(chunk) for chunk, times in told for _ in range(times)]
    _both(chunks, wire="openai-chat")
    _both(list(map(_sse, chunks)), wire="openai-chat", framing="sse")
