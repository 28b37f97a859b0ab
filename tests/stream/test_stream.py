"""What a stream does that no page under ``spec`` can show."""

from __future__ import annotations

import json
from typing import Any

import pytest
from checking import assert_sound, feed
from open_params import options_of

from stream_sidecar.options import StreamOptions, Tool
from stream_sidecar.stream.choices import MAX_CHOICES
from stream_sidecar.stream.stream import Stream

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
    dropped = [event.raw for event in fed.events if event.type == "diagnostic"]
    assert dropped[0] == 5_000
    assert len(dropped) == 2  # and that nobody said that it was over


def test_text_behind_what_is_none() -> None:
    """The first chunk that is text need not be the first one."""
    fed = feed({"wire": "text"}, [None, "a", "<think>b</think>", "c"])
    assert fed.message.text == "ac"
    assert fed.message.reasoning == "b"


@pytest.mark.parametrize("chunk", ["", "a", "<thi", "\n", "\ud83d"])
def test_seq_continues_over_pushes(chunk: str) -> None:
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


def test_half_a_character_waits_before_text_of_a_run() -> None:
    """Text after the half must not overtake it. An empty chunk is no document."""
    fed = feed({"wire": "text"}, ["One ", "\ud83d", "two ", "", "three"])
    assert fed.message.text == "One \ufffdtwo three"
    assert (fed.stats.pushes, fed.stats.chunks) == (5, 3)
    fed = feed({"wire": "text"}, ["One ", "two \ud83d", "\ude00", "three"])
    assert fed.message.text == "One two \U0001f600three"
    assert (fed.stats.pushes, fed.stats.chunks) == (4, 4)


def test_a_wire_and_its_framing_are_reported() -> None:
    stream = Stream(options_of({}))
    assert (stream.wire, stream.framing) == ("auto", "auto")
    stream.push('{"choices": [{"delta": {"content": "a"}}]}')
    assert (stream.wire, stream.framing) == ("openai-chat", "ndjson")


def test_text_between_documents_is_reported_within_bounds() -> None:
    """A string that no reader can use is no answer; what is too long is counted."""
    params = {**CHAT, "limits": {"maxDocumentChars": 8}}
    stray = "upstream connect error"
    fed = feed(params, [{"choices": [_said(0)]}, stray[:10], stray[10:]])
    assert fed.message.text == "0 "
    diagnostics = {
        event.code: event for event in fed.events if event.type == "diagnostic"
    }
    assert diagnostics["malformed-chunk"].raw == stray[:8]
    assert diagnostics["document-limit"].message.startswith(
        f"{len(stray) - 8} characters"
    )


def test_an_empty_string_between_documents_is_not_reported() -> None:
    spoken = json.dumps({"choices": [_said(0)]})
    chunks = [f"data: {spoken}\n\n", 'data: ""\n\n']
    fed = feed({**CHAT, "framing": "sse"}, chunks)
    assert fed.message.text == "0 "
    codes = [event.code for event in fed.events if event.type == "diagnostic"]
    assert codes == ["missing-terminator"]


def test_a_result_that_grows_replaces_itself() -> None:
    """Groq sends a tool's result again by its index: one block, the last one counts."""
    outputs = ("4", "42")
    tool = {"index": 0, "type": "python", "arguments": "{}"}
    chunks = [
        {
            "choices": [
                {"index": 0, "delta": {"executed_tools": [{**tool, "output": o}]}}
            ]
        }
        for o in outputs
    ]
    fed = feed(CHAT, chunks)
    results = [event for event in fed.events if event.type == "tool-result"]
    assert [event.content for event in results] == list(outputs)
    assert len({event.block for event in results}) == 1
    assert [result.content for result in fed.message.tool_results] == ["42"]


def test_a_refusal_that_was_reasoning_is_in_the_message() -> None:
    """An orphan closer makes the refusal before it reasoning (text rule 9.2)."""
    params = {**CHAT, "model": "deepseek-r1"}
    texts = ("I will not", " say it</think>", "Sorry")
    fed = feed(params, [{"choices": [{"delta": {"refusal": each}}]} for each in texts])
    assert_sound(fed, params)
    assert (fed.message.reasoning, fed.message.text) == ("I will not say it", "Sorry")
    assert fed.message.blocks[1].refusal


def test_native_text_beyond_the_limit_is_not_compared() -> None:
    """What mirrors say is compared up to ``maxDocumentChars``, and never lost."""
    params = {**CHAT, "limits": {"maxDocumentChars": 4}}
    delta = {"reasoning": "first ", "content": ""}
    chunks = [{"choices": [{"index": 0, "delta": delta}]}] * 2
    assert feed(params, chunks).message.reasoning == "first first "


@pytest.mark.parametrize(
    ("reason", "executable"), [("tool_use", True), ("max_tokens", False)]
)
def test_a_call_that_may_have_lost_its_arguments(reason: str, executable: bool) -> None:
    """Cut off before its first argument, a call looks like one that needs none."""
    block = {"type": "tool_use", "id": "toolu_1", "name": "delete_all", "input": {}}
    chunks = [
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": reason}},
    ]
    (call,) = feed({"wire": "anthropic"}, chunks).message.tool_calls
    assert (call.arguments, call.executable) == ("{}", executable)


def test_counts_that_tell_nothing_new_are_no_event() -> None:
    """One that is missing keeps its value."""
    counts = ({"prompt_tokens": 9, "completion_tokens": 5}, {"prompt_tokens": 9})
    fed = feed(CHAT, [{"choices": [], "usage": each} for each in counts])
    (usage,) = [event for event in fed.events if event.type == "usage"]
    assert (usage.input_tokens, usage.output_tokens) == (9, 5)


class Long(str):
    """A string that is not taken for the next piece of a run: it goes the long way."""

    __slots__ = ()


@pytest.mark.parametrize("size", [1, 2, 5, 13])
@pytest.mark.parametrize(
    "options",
    [
        StreamOptions(wire="text"),
        StreamOptions(),
        StreamOptions(wire="text", model="qwen3", tools=(Tool("f"),)),
    ],
)
def test_the_short_way_of_a_text_gives_what_the_long_one_does(
    options: StreamOptions, size: int
) -> None:
    text = (
        "So it is, a < b.\n\n<think>Let me\n- see: `x`</think>\nYes, caf\u00e9 \ud83c"
        '\udf3f!\n```py\nif a < b:\n```\n<tool_call>\n{"name": "f", "arguments": {}}\n'
        '</tool_call>\n[1, {"a": 2}]\n</thi'
    )
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    short, long = Stream(options), Stream(options)
    for piece in [*pieces, "", "end", " of it"]:
        assert short.push(piece) == long.push(Long(piece))
        assert short.last_seq == long.last_seq
    assert short.close() == long.close()
    assert short.message() == long.message()
    assert short.stats() == long.stats()


def test_text_that_waits_in_a_call_counts_as_held() -> None:
    """It is read later (see `PlainRun`), but it is held at once."""
    begun = ('<tool_call>{"name": "f", "arguments": {"a": "', "some ", "more ", "text")
    stream, size = Stream(StreamOptions(wire="text", tools=(Tool("f"),))), 0
    for chunk in begun:
        assert stream.push(chunk) == []
        size += len(chunk)
        assert stream.held == stream.stats().held_peak == size
    events = stream.push('"}}</tool_call>')
    assert [event.type for event in events] == ["tool-call"]
