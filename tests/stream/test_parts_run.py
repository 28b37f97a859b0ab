"""Runs of parts: the same events, message and counters as one delta after the other.

The slow way is the same stream without such runs (`Choice.begin_run` does nothing).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream_sidecar.events import ReasoningDelta
from stream_sidecar.message.outlet import Outlet, RunReader
from stream_sidecar.options import Limits, MessagePolicy, Policy, StreamOptions
from stream_sidecar.parts import CallPart, Part, ReasoningPart, TextPart
from stream_sidecar.stream.choice import Choice
from stream_sidecar.stream.parts_run import MOST, PartsRun
from stream_sidecar.stream.stream import Stream

WORDS = [
    *("The ", "sky", " is ", "blue", ".", "\n", "é", "\U0001f33f", "a < b", "<", "th"),
    *("ink>", "</think>", "{", "}", "{}", " {", '{"a": "', '"}', "[1, 2]", "\\", '"'),
    *("x" * 20, '{"path": "a.py", "text": "', "```", "<tool_call>", "\ud83d"),
]
LIMITS = [
    Limits(),
    Limits(max_document_chars=512, max_held_chars=64, max_call_chars=256),
]
POLICIES = [Policy(), Policy(trace=True), Policy(message=MessagePolicy(parts=False))]


def _deltas(*deltas: Any) -> dict[str, Any]:
    """A chunk in which each choice says one of the ``deltas``."""
    choices = [{"index": n, "delta": delta} for n, delta in enumerate(deltas)]
    return {"id": "c", "model": "m", "choices": choices}


def _of_another(delta: Any) -> dict[str, Any]:
    return {**_deltas(), "choices": [{"index": 1, "delta": delta}]}


def _call(**call: Any) -> Any:
    return _deltas({"tool_calls": [call]})


def _details(text: str, **more: Any) -> Any:
    item = {"type": "reasoning.text", "text": text, "format": "f", "index": 0, **more}
    return _deltas({"reasoning": text, "reasoning_details": [item]})


SAYS = {
    "one field": lambda text: _deltas({"reasoning": text}),
    "other field": lambda text: _deltas({"reasoning_content": text}),
    "mirrors": lambda text: _deltas({"reasoning": text, "reasoning_content": text}),
    "no mirrors": lambda text: _deltas({"reasoning": text, "reasoning_content": "no"}),
    "details": _details,
    "signed": lambda text: _details(text, signature="s"),
    "choices": lambda text: _deltas({"reasoning": text}, {"reasoning": text}),
    "other choice": lambda text: _of_another({"reasoning": text}),
    "both": lambda text: _deltas({"reasoning": text, "content": text}),
    "text": lambda text: _deltas({"content": text}),
    "call": lambda text: _call(index=0, id="a", function={"name": "f"}),
    "other call": lambda text: _call(index=1, id="b", function={"name": "g"}),
    "named": lambda text: _call(index=0, id="a", function=_function("f", text)),
    "arguments": lambda text: _call(index=0, function={"arguments": text}),
    "other arguments": lambda text: _call(index=1, function={"arguments": text}),
    "no index": lambda text: _call(function={"arguments": text}),
    "counts": lambda text: _deltas() | {"usage": {"prompt_tokens": len(text)}},
    "finish": lambda _: {"choices": [{"index": 0, "finish_reason": "tool_calls"}]},
}


def _function(name: str, arguments: str) -> dict[str, str]:
    return {"name": name, "arguments": arguments}


def _read(chunks: Iterable[Any], options: StreamOptions, every: int) -> list[Any]:
    """All that a host is told; it asks for it behind ``every`` so many chunks."""
    stream, results = Stream(options), []
    for number, chunk in enumerate(chunks):
        results.append(stream.push(chunk))
        if number % every == every - 1:
            results.append((stream.message(), stream.stats(), stream.held))
    return [*results, stream.close(), stream.message(), stream.stats()]


def _both(chunks: list[Any], options: StreamOptions, every: int = 10**6) -> int:
    """Asserts that runs change nothing; how many deltas were in one."""
    taken, push = 0, PartsRun.push_parts

    def counted(run: PartsRun, parts: list[Part]) -> Any:
        nonlocal taken
        events = push(run, parts)
        taken += events is not None
        return events

    with mock.patch.object(PartsRun, "push_parts", counted):
        fast = _read(chunks, options, every)
    with mock.patch.object(Choice, "begin_run"):
        slow = _read(chunks, options, every)
    assert fast == slow
    return taken


CHAT = StreamOptions(wire="openai-chat")

SAID = st.tuples(st.sampled_from(sorted(SAYS)), st.lists(st.sampled_from(WORDS)))


@given(
    st.lists(SAID, max_size=6),
    *(st.sampled_from(each) for each in (LIMITS, POLICIES, [1, 5, 99])),
)
def test_any_chunks(
    said: list[tuple[str, list[str]]], limits: Limits, policy: Policy, every: int
) -> None:
    chunks = [SAYS[how](word) for how, words in said for word in words * 2]
    options = StreamOptions(wire="openai-chat", limits=limits, policy=policy)
    _both(chunks, options, every)


PLAIN = ["That is ", "why ", "the ", "sky ", "must ", "be "] * 3


@pytest.mark.parametrize("how", ["one field", "mirrors", "details"])
def test_reasoning_continues(how: str) -> None:
    assert _both([SAYS[how](word) for word in PLAIN], CHAT) > 10


@pytest.mark.parametrize("how", ["arguments", "no index"])
def test_arguments_go_on(how: str) -> None:
    begin = SAYS["named"]('{"path": "')
    assert _both([begin, *(SAYS[how](word) for word in PLAIN)], CHAT) > 10


def test_free_text_continues() -> None:
    """Nobody asks whether a free text is another object."""
    item = {"type": "custom_tool_call", "id": "i", "call_id": "c", "name": "f"}
    at = {"item_id": "i", "output_index": 0}
    begin = {"type": "response.output_item.added", "output_index": 0, "item": item}
    kind = {"type": "response.custom_tool_call_input.delta"}
    words = [*PLAIN, " {", "{", *PLAIN]
    chunks = [begin, *({**kind, **at, "delta": word} for word in words)]
    assert _both(chunks, StreamOptions(wire="openai-responses")) > 20


def test_blocks_of_the_provider() -> None:
    """What a signature ends goes on in another block."""
    thinking = {"type": "thinking", "thinking": "", "signature": ""}
    start = {"type": "content_block_start", "index": 0, "content_block": thinking}
    frame = {"type": "content_block_delta", "index": 0}
    signature = {"type": "signature_delta", "signature": "s"}
    said = [
        {**frame, "delta": {"type": "thinking_delta", "thinking": word}}
        for word in PLAIN
    ]
    chunks = [start, *said, {**frame, "delta": signature}, *said]
    assert _both(chunks, StreamOptions(wire="anthropic")) > 20


@pytest.mark.parametrize(
    "between",
    [
        [SAYS["mirrors"]("and ")],
        [SAYS["no mirrors"]("and ")],
        [SAYS["other choice"]("and ")],
        [SAYS["choices"]("and ")] * 3,
        [SAYS["both"]("and ")] * 3,
        [SAYS["text"]("<think>"), SAYS["text"]("That is why")],
        [SAYS["one field"]("a < b"), SAYS["one field"]("a <"), SAYS["one field"]("b>")],
        [SAYS["one field"]("\ud83d"), SAYS["one field"]("\ude00")],
        [SAYS["one field"]("That is why the sky must be " * 9)],
        [SAYS["counts"]("a")],
        [{"choices": []}],
    ],
)
def test_something_between(between: list[Any]) -> None:
    """The run is over, or takes no notice; then another begins."""
    said = [SAYS["one field"](word) for word in PLAIN]
    tagged = [SAYS["text"]("<think>"), SAYS["text"]("That is why the sky ")]
    for before in ([], tagged):
        assert _both([*before, *said, *between, *said, *between, *said], CHAT) > 5


def test_begins_while_another_choice_speaks() -> None:
    said = [SAYS["text"](word) for word in PLAIN]
    other = [SAYS["other choice"](word) for word in PLAIN]
    assert _both([*said, *other, *said, *other], CHAT) > 20


MIRRORS = [ReasoningPart("a", "one"), ReasoningPart("a", "two")]


@pytest.mark.parametrize(
    ("parts", "fits"),
    [
        ([ReasoningPart("b", "one"), ReasoningPart("b", "two")], True),
        ([ReasoningPart("b", "one"), ReasoningPart("c", "two")], False),
        ([ReasoningPart("b", "two"), ReasoningPart("b", "one")], False),
        ([ReasoningPart("b", "one", 1), ReasoningPart("b", "two")], False),
        ([ReasoningPart("b", "one"), ReasoningPart("b", "two", block=0)], False),
        ([ReasoningPart("b", "one"), TextPart("b")], False),
        ([CallPart(arguments="b"), ReasoningPart("b", "two")], False),
        ([ReasoningPart("b", "one")], False),
        ([ReasoningPart("", "one"), ReasoningPart("", "two")], False),
        ([*MIRRORS, ReasoningPart("a", "two")], False),
        ([], False),
    ],
)
def test_only_what_differs_in_its_text_continues(parts: list[Part], fits: bool) -> None:
    outlet = Outlet(parts=True, trace=False)

    def make(seq: int, text: str) -> ReasoningDelta:
        return ReasoningDelta(seq, 0, 0, text, "native")

    reader = RunReader(lambda _: False, make, lambda *_: 9)
    run = PartsRun(outlet, MIRRORS, reader)
    assert run.push_parts(parts) == ([make(1, "b")] if fits else None)


@pytest.mark.parametrize("name", ["max_document_chars", "max_call_chars"])
def test_a_limit_within_the_run(name: str) -> None:
    limits = Limits(**{name: 16_384})
    options = StreamOptions(wire="openai-chat", limits=limits)
    begin = SAYS["named"]('{"path": "')
    for how in ("mirrors", "arguments"):
        chunks = [SAYS[how](f"{word}{n} ") for n in range(90) for word in PLAIN]
        assert _both([begin, *chunks, begin, *chunks], options) > MOST
