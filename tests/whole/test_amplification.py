"""Output is linear: what goes out is at most 60 times what came in, for any input.

A row is what an attack would send, under the event that it is after; together they have
every type of event. ``LONG`` stands where a provider says something once, ``TIMES`` how
often it is then referred to. The lane ``amplify`` of ``tests/fuzz`` tries the rest.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from amplification import (
    MOST,
    assert_in_proportion,
    assert_written_in_proportion,
    size_of,
)
from open_params import options_of
from stored_messages import assistant, inspect, repair

from stream_sidecar.events import EVENTS, Diagnostic
from stream_sidecar.protocol.converter import unstructure
from stream_sidecar.stream.stream import Stream
from stream_sidecar.values.jsontext import encode
from stream_sidecar.wires import WRITERS

TIMES = 300
LONG = "u" * 20_000
TOOL = [{"name": "f"}]

Row = tuple[dict[str, Any], list[Any]]


def chat(delta: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, **more}]}


def gemini(*parts: Any, **more: Any) -> dict[str, Any]:
    return {"candidates": [{"content": {"parts": [*parts]}, **more}]}


def call(arguments: str, **more: Any) -> dict[str, Any]:
    return {"index": 0, "function": {"arguments": arguments, **more}}


def grounded(chunks: list[Any], numbers: list[int]) -> dict[str, Any]:
    """Gemini's sources, with supports that lead to ``numbers``."""
    supports = [
        {
            "segment": {"startIndex": at, "endIndex": at + 1, "text": "s" * 1_000},
            "groundingChunkIndices": numbers,
        }
        for at in range(TIMES // len(numbers))
    ]
    return {"groundingChunks": chunks, "groundingSupports": supports}


CHAT, GEMINI = {"wire": "openai-chat"}, {"wire": "gemini"}
TEXT = {"wire": "text"}
PLACES = gemini({"text": "abc" * 100})
MANY_CHUNKS = [{"web": {"uri": f"u{n}"}} for n in range(TIMES)]

ROWS: dict[str, Row] = {
    "metadata: another model each time": (
        GEMINI,
        [{"responseId": LONG, "modelVersion": f"{n}"} for n in range(TIMES)],
    ),
    "text-delta: a character each": (TEXT, ["a"] * 3_000),
    "text-delta: half characters": (CHAT, [chat({"content": "\ud83d"})] * 1_000),
    "reasoning-delta: a character each": (CHAT, [chat({"reasoning": "a"})] * 3_000),
    "reasoning-delta: blocks": (TEXT, ["a<think>b</think>" * 1_000]),
    "block-end: signatures that come late": (
        GEMINI,
        [gemini({"text": f"<think>{LONG}", "thought": True}), PLACES]
        + [
            gemini({"text": "", "thought": True, "thoughtSignature": f"s{n}"})
            for n in range(TIMES)
        ],
    ),
    "block-end: signatures behind opaque state": (
        CHAT,
        [
            chat(
                {"reasoning_details": [{"type": "reasoning.encrypted", "data": LONG}]}
            ),
            chat({"content": "a"}, finish_reason="stop"),
        ]
        + [
            chat({"thinking_blocks": [{"thinking": "", "signature": f"s{n}"}]})
            for n in range(TIMES)
        ],
    ),
    "reclassify: closers on lines": (TEXT, ["a\n</think>\n" * 2_000]),
    "retract: twins": (
        CHAT | {"tools": TOOL},
        [chat({"content": "[TOOL_CALLS]f{}" * TIMES})]
        + [
            chat({"tool_calls": [{"index": n, **call("{}", name="f")}]})
            for n in range(TIMES)
        ],
    ),
    "tool-call-delta: a long name": (
        CHAT,
        [chat({"tool_calls": [{"id": LONG, **call("", name=LONG)}]})]
        + [chat({"tool_calls": [call("a")]}) for _ in range(TIMES)],
    ),
    "tool-call: many in Python": (
        TEXT | {"tools": TOOL, "policy": {"dialects": ["pythonic"]}},
        ["[" + "f()," * 2_000 + "f()]"],
    ),
    "tool-call: many in a fence": (
        TEXT | {"tools": TOOL},
        ["```tool_code\n" + "f()\n" * 2_000 + "```"],
    ),
    "tool-call: many in a list": (
        TEXT,
        ["[TOOL_CALLS][" + '{"name":"f"},' * 2_000 + '{"name":"f"}]'],
    ),
    "tool-call: many in a list that is cut off": (
        TEXT,
        ["[TOOL_CALLS][" + '{"name":"f"},' * 2_000],
    ),
    "tool-call: many in the message of a finish": (
        GEMINI | {"tools": TOOL},
        [
            gemini(
                {"text": "a"},
                finishReason="MALFORMED_FUNCTION_CALL",
                finishMessage=f"Malformed function call: [{'f(),' * 1_000}]",
            )
        ],
    ),
    "tool-call: some in the long message of a finish": (
        GEMINI | {"tools": TOOL},
        [
            gemini(
                {"text": "a"},
                finishReason="MALFORMED_FUNCTION_CALL",
                finishMessage=f"[{'f(),' * 30}f(a={LONG!r})]",
            )
        ],
    ),
    "tool-call: a step with many tools": (
        CHAT,
        [
            chat(
                {"reasoning_steps": [{f"t{n}": {} for n in range(TIMES)} | {"u": LONG}]}
            )
        ],
    ),
    "tool-result: echoes": (TEXT, ['{"success":1}' * 2_000 + "a"]),
    "tool-result: a growing list": (
        CHAT,
        [
            chat({"executed_tools": [{"index": 0, "type": "t", "output": f"o{n}"}]})
            for n in range(TIMES)
        ],
    ),
    "citation: a long address": (
        GEMINI,
        [PLACES, gemini(groundingMetadata=grounded([{"web": {"uri": LONG}}], [0]))],
    ),
    "citation: a long excerpt": (
        GEMINI,
        [
            PLACES,
            gemini(
                groundingMetadata=grounded(
                    [{"retrievedContext": {"uri": "u", "text": LONG}}], [0]
                )
            ),
        ],
    ),
    "citation: the second of one title": (
        GEMINI,
        [
            PLACES,
            gemini(
                groundingMetadata=grounded(
                    [{"web": {"title": "t"}}, {"web": {"title": "t"}, "more": LONG}],
                    [1],
                )
            ),
        ],
    ),
    "citation: every place has every source": (
        GEMINI,
        [PLACES]
        + [gemini(groundingMetadata=grounded(MANY_CHUNKS, [*range(30)]))] * 2
        + [gemini(groundingMetadata=grounded(MANY_CHUNKS, [*range(TIMES)]))],
    ),
    "citation: every place has every source, through LiteLLM": (
        CHAT,
        [
            chat({"content": "abc" * 100})
            | {"vertex_ai_grounding_metadata": [grounded(MANY_CHUNKS, [*range(30)])]}
        ],
    ),
    "citation: marks in the text": (
        CHAT,
        [chat({"content": "[1]" * 3_000}) | {"citations": [f"http://{LONG}"]}],
    ),
    "citation: marks of a short address": (
        CHAT,
        [chat({"content": "[1]" * 30_000}) | {"citations": ["http://a"]}],
    ),
    "citation: many sources of one text": (
        {"wire": "cohere"},
        [
            {
                "type": "citation-start",
                "delta": {
                    "message": {
                        "citations": {
                            "start": 0,
                            "end": 1,
                            "text": LONG,
                            "sources": [{"id": f"{n}"} for n in range(TIMES)],
                        }
                    }
                },
            }
        ],
    ),
    "citation: one marker of many references": (
        TEXT,
        [
            ("\ue200cite" + "".join(f"\ue202{n:02}" for n in range(30)) + "\ue201 a")
            * 50
        ],
    ),
    "error: a list of empty ones": (
        GEMINI,
        [
            {
                "event_type": "interaction.complete",
                "interaction": {"status": "failed", "errors": [{}] * 2_000},
            }
        ],
    ),
    "error: one in each document": (CHAT, [{"error": {}}] * 1_000),
    "usage: told once, counted on": (
        GEMINI,
        [{"usageMetadata": {"promptTokenCount": 1, "more": LONG}}]
        + [{"usageMetadata": {"promptTokenCount": n}} for n in range(TIMES)],
    ),
    "diagnostic: documents that fit no wire": ({}, ["{}\n" + "{}" * 4_000]),
    "diagnostic: documents that fit no wire, alternately": ({}, ["{}[]0 " * 2_000]),
    "diagnostic: lines": (CHAT | {"framing": "ndjson"}, ["0\n" * 4_000]),
    "diagnostic: items of an array": (
        CHAT | {"framing": "json-array"},
        ["[" + "0," * 4_000],
    ),
    "diagnostic: items of a document": (GEMINI, [gemini(*[0] * 4_000)]),
    "diagnostic: documents after the end": (
        CHAT | {"framing": "sse"},
        ["data: [DONE]\n\n" + "data:0\n\n" * 2_000],
    ),
    "diagnostic: a segment that is none": (
        GEMINI,
        [
            gemini(
                groundingMetadata={
                    "groundingChunks": [{}],
                    "groundingSupports": [
                        {"segment": LONG, "groundingChunkIndices": [0] * TIMES}
                    ],
                }
            )
        ],
    ),
    "diagnostic: a delta of many members": (
        {"wire": "bedrock-converse"},
        [
            {
                "contentBlockDelta": {
                    "delta": {f"m{n}": LONG[:30] for n in range(TIMES)}
                }
            },
        ],
    ),
    "finish: many choices": (
        CHAT,
        [{"choices": [{"index": n, "delta": {"content": "a"}} for n in range(2_000)]}],
    ),
}


@pytest.mark.thorough
@pytest.mark.parametrize("name", ROWS)
def test_out_is_in_proportion(name: str) -> None:
    """And the row is about the event that its name says."""
    given = assert_in_proportion(*ROWS[name])
    aimed = name.partition(":")[0]
    assert given[aimed] or aimed in ("tool-call", "error")


@pytest.mark.thorough
@pytest.mark.parametrize("wire", WRITERS)
@pytest.mark.parametrize("name", ROWS)
def test_what_is_emitted_is_in_proportion(name: str, wire: str) -> None:
    assert_written_in_proportion(*ROWS[name], wire)


def test_every_event_is_attacked() -> None:
    types = {vars(event)["type"] for event in EVENTS}
    assert {name.partition(":")[0] for name in ROWS} == types


def test_the_check_can_fail() -> None:
    """One character alone has the stream's end for company."""
    with pytest.raises(AssertionError, match="times the input"):
        assert_in_proportion(TEXT, ["a"])


STORED: dict[str, Any] = {
    "closers on lines": "a</think>\n" * 1_000,
    "openers": "a<think>" * 1_000,
    "blocks": "<think>a</think>b" * 1_000,
    "tokens": "<unused1>a" * 1_000,
    "results": '{"success":1}' * 500 + "a",
    "parts": [{"type": "text", "text": "<think>a</think>b"}] * 500,
    "parts that one block spans": ["<think>", "a</think>", "b"] * 400,
}


@pytest.mark.thorough
@pytest.mark.parametrize("name", STORED)
def test_repair_is_in_proportion(name: str) -> None:
    message = assistant(STORED[name])
    for result in (inspect(message), repair(message)):
        assert len(encode(unstructure(result))) < MOST * size_of(message)


def _raws(params: dict[str, Any], chunks: list[Any]) -> list[Any]:
    """What stands in diagnostics, told alone or together."""
    stream, raws = Stream(options_of(params)), []
    for event in [*(e for c in chunks for e in stream.push(c)), *stream.close()]:
        if isinstance(event, Diagnostic) and event.code == "unknown-chunk":
            several = " times, raw has each)" in event.message
            raws += event.raw if several else [event.raw]
    assert stream.stats().malformed_chunks == len(raws)
    return raws


def test_what_is_reported_together_is_all_there() -> None:
    numbers, kinds = [*range(1_000)], [{"x": 1}, {}, [], None, {"x": "y"}]
    texts = [{"x": "w" * 17}, {"a": 1, "b": 2}, {"a": [0]}]  # not small: told alone
    given = [*numbers, *texts, *kinds * 20]
    found = _raws(GEMINI | {"framing": "json-array"}, [json.dumps(given)])
    assert sorted(map(json.dumps, found)) == sorted(map(json.dumps, given))


def test_kinds_that_wait_are_bounded() -> None:
    """Each name makes a message of its own; those that find no room are told alone."""
    delta = {f"m{n}": 0 for n in range(200)}
    document = {"contentBlockDelta": {"contentBlockIndex": 0, "delta": delta}}
    found = _raws({"wire": "bedrock-converse"}, [document] * 2)
    assert sorted(map(json.dumps, found)) == sorted(
        json.dumps({name: 0}) for name in [*delta] * 2
    )


@pytest.mark.parametrize("size", [1, 4_000])
def test_documents_that_fit_no_wire_do_not_wait_for_ever(size: int) -> None:
    """They are told as soon as they are too many; what fits later still decides."""
    odd = [{"n": n, "text": "x" * size} for n in range(TIMES)]
    stream = Stream(options_of({}))
    early = [event for each in odd for event in stream.push(each)]
    assert len([e for e in early if e.type == "diagnostic"]) >= TIMES - 257
    assert stream.wire == "auto"
    stream.push(chat({"content": "Hi"}))
    assert (stream.wire, stream.message().text) == ("openai-chat", "Hi")
    assert _raws({}, [*odd, chat({"content": "Hi"})]) == odd


def test_text_among_documents_that_fit_no_wire() -> None:
    """It is told at the end, as text between documents is."""
    stream = Stream(options_of({"framing": "json"}))
    for _ in range(TIMES):
        stream.push('"word"')
    raws = [e.raw for e in stream.close() if isinstance(e, Diagnostic)]
    errors = stream.message().errors
    assert "word" * TIMES in raws or "word" in errors[0].message


@pytest.mark.parametrize("depth", [500, 1_000, 5_000])
def test_arguments_nested_deeply_are_compared(depth: int) -> None:
    arguments = '{"a":' + "[0," * depth + "0" + "]" * depth + "}"
    stream = Stream(options_of(CHAT | {"tools": TOOL}))
    stream.push(chat({"tool_calls": [call(arguments, name="f")]}))
    stream.close()
    (made,) = stream.message().tool_calls
    assert made.arguments == arguments
