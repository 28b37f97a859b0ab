"""Chunks that are like those before: the same events, learned or not.

The slow way is the same stream without its memory (`Intake._learn` does nothing). What
a wire says of places that it does not read is tried out by changing recorded chunks
anywhere.
"""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import Any
from unittest import mock

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from places import TESTS
from wire_tables import changed

from stream_sidecar.events import Event
from stream_sidecar.options import StreamOptions
from stream_sidecar.parts import Again, TextPart
from stream_sidecar.stream.earlier_streams import EarlierStreams
from stream_sidecar.stream.intake import Intake
from stream_sidecar.stream.learned_chunks import Learner, TextOf, alike_object
from stream_sidecar.stream.stream import Stream
from stream_sidecar.values.jsontext import loads

WIRES = TESTS / "wires"
RECORDINGS = sorted(WIRES.glob("*/*.chunks.jsonl"))


def _read(
    chunks: list[Any], earlier: EarlierStreams | None = None, **options: Any
) -> tuple[list[Event], Any, Any, int]:
    """Events, message, counters, and how many chunks were only compared."""
    stream = Stream(StreamOptions(**options), earlier=earlier)
    events = [event for chunk in chunks for event in stream.push(chunk)]
    events += stream.close()
    return events, stream.message(), stream.stats(), stream._passed


def _both(chunks: list[Any], **options: Any) -> int:
    """Asserts that learning changes nothing, of a stream or of one before; how many
    chunks were only compared in the first."""
    earlier = EarlierStreams()
    *fast, passed = _read(deepcopy(chunks), earlier, **options)
    *second, _ = _read(deepcopy(chunks), earlier, **options)
    with mock.patch.object(Intake, "_learn", return_value=None):
        *slow, _ = _read(chunks, **options)
    assert fast == slow
    assert second == slow
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


def _gemini(text: str, counts: Any, *, thought: bool = False) -> dict[str, Any]:
    """A chunk that counts; without ``counts`` it does not."""
    part = {"text": text, "thought": True} if thought else {"text": text}
    content = {"parts": [part], "role": "model"}
    told = {} if counts is None else {"usageMetadata": counts}
    who = {"modelVersion": "m", "responseId": "r"}
    return {"candidates": [{"content": content, "index": 0}], **told, **who}


def _tokens(number: int, **more: Any) -> dict[str, Any]:
    details = [{"modality": "TEXT", "tokenCount": 9}]
    many = {"candidatesTokenCount": number, "totalTokenCount": 9 + number}
    return {"promptTokenCount": 9, **many, "promptTokensDetails": details, **more}


def _recorded(path: Path) -> tuple[dict[str, Any], list[Any]]:
    """The options that matter here, and the chunks."""
    header, *chunks = [loads(line) for line in path.read_text("utf-8").splitlines()]
    names = ("wire", "framing", "encoding", "provider", "model")
    return {
        name: header["options"][name] for name in names & header["options"].keys()
    }, chunks


@pytest.mark.parametrize(
    "path", RECORDINGS, ids=lambda path: f"{path.parent.name}/{path.name.split('.')[0]}"
)
def test_recordings(path: Path) -> None:
    options, chunks = _recorded(path)
    again = [each for chunk in chunks for each in (chunk, deepcopy(chunk))]
    for given_chunks in (chunks, again):
        _both(given_chunks, **options)


def _paths(value: Any, before: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The places of all scalars in ``value``."""
    if isinstance(value, dict | list):
        steps = value.items() if isinstance(value, dict) else enumerate(value)
        return [path for step, each in steps for path in _paths(each, (*before, step))]
    return [before]


OTHERS = st.sampled_from(
    ["x", "", "the ", 'a "b"', "\n", "<think>", 0, 1, 7, -1, 1.5, None, True, [], {}]
)
FRAMES = {
    "object": lambda value: value,
    "sse": _sse,
    "event": lambda value: f"event: {value.get('type', 'x')}\n{_sse(value)}",
    "ascii": lambda value: f"data:{json.dumps(value)}\r\n\r\n",
    "json": lambda value: json.dumps(value, separators=(",", ":")),
}
FRAMINGS = {"object": "auto", "json": "json"}
SPOKEN = [
    (path.parent.name, chunk)
    for path in RECORDINGS
    for chunk in _recorded(path)[1]
    if isinstance(chunk, dict)
]


@given(
    st.sampled_from(SPOKEN),
    st.sampled_from(sorted(FRAMES)),
    st.lists(st.tuples(st.integers(0, 99), OTHERS), max_size=6),
)
def test_changed_recordings(
    told: tuple[str, Any], frame: str, changes: list[tuple[int, Any]]
) -> None:
    """A chunk over and over, with something else at one place after the other; all that
    a wire does not read counts as seen to vary."""
    wire, chunk = told
    paths = _paths(chunk)
    chunks = [chunk] * 3
    for number, other in changes:
        chunks.append(changed(chunks[-1], paths[number % len(paths)], other))
        chunks += [chunk, chunks[-1]]
    framing = FRAMINGS.get(frame, "sse")
    restless = mock.MagicMock()
    restless.__contains__.return_value = True
    with mock.patch("stream_sidecar.stream.learned_chunks._RESTLESS", restless):
        _both(list(map(FRAMES[frame], deepcopy(chunks))), wire=wire, framing=framing)


def _ollama(text: str) -> str:
    created = f"2025-01-01T00:00:{len(text):02}Z"
    message = {"role": "assistant", "content": text}
    value = {"model": "m", "created_at": created, "message": message, "done": False}
    return f"{json.dumps(value)}\n"


def _cohere(text: str, name: str = "text", index: int = 0) -> str:
    delta = {"message": {"content": {name: text}}}
    value = {"type": "content-delta", "index": index, "delta": delta}
    return f"event: content-delta\n{_sse(value)}"


def _converse(text: str, *, padded: bool = True) -> dict[str, Any]:
    padding = {"p": "abc"[: len(text)]} if padded else {}
    body = {"contentBlockIndex": 0, "delta": {"text": text}, **padding}
    return {"contentBlockDelta": body}


WORDS = ["The ", "sky", " <b", " is", "\n- ", "blue", "</think>", "é ", ".", "\n", "z"]


@pytest.mark.parametrize(
    "make",
    [
        *(_chat, lambda text: _sse(_chat(text)), _anthropic, _ollama),
        *(_cohere, lambda text: _cohere(text, "thinking")),
        *(_converse, lambda text: _converse(text, padded=False)),
    ],
)
def test_plain_streams_are_only_compared(make: Any) -> None:
    chunks = [make(word) for word in ["One", *["two"] * 20, *WORDS]]
    assert _both(chunks) > 20
    assert _both([make(word) for word in WORDS]) > 2


def test_offsets_count_behind_compared_text() -> None:
    """Cohere's citations count in the answer from where their content item begins."""
    start = {"type": "content-start", "index": 1, "delta": {"message": {}}}
    cited = {"start": 0, "end": 4, "text": "blue", "content_index": 1, "sources": []}
    told = {"type": "citation-start", "delta": {"message": {"citations": cited}}}
    said = [_cohere(word) for word in ("The ", "sky ", "is ", "so ")]
    chunks = [*said, _sse(start), _cohere("blue", index=1), _sse(told)]
    assert _both(chunks, wire="cohere", framing="sse") >= 2
    citations = _read(chunks, wire="cohere", framing="sse")[1].citations
    places = [(each.blocks, each.start, each.end) for each in citations]
    assert places == [((1,), 0, 4)]


def test_offsets_count_in_the_item_behind_compared_text() -> None:
    """Responses: an item's citations count from where its text begins."""
    delta = {"type": "response.output_text.delta", "content_index": 0}
    first, second = {"item_id": "a", "output_index": 0}, {"item_id": "b"}
    said = [
        {**delta, **first, "delta": word} for word in ("The ", "sky ", "is ", "so ")
    ]
    cited = {"type": "url_citation", "url": "u", "start_index": 0, "end_index": 4}
    told = {"type": "response.output_text.annotation.added", "annotation": cited}
    blue = {**delta, **second, "output_index": 1, "delta": "blue"}
    chunks = [*said, blue, {**told, **second, "output_index": 1, "content_index": 0}]
    assert _both(chunks, wire="openai-responses") >= 2
    citations = _read(chunks, wire="openai-responses")[1].citations
    places = [(each.blocks, each.start, each.end) for each in citations]
    assert places == [((0,), 14, 18)]


def _delta(text: str, **more: Any) -> dict[str, Any]:
    """A chunk of LiteLLM's proxy, which tells a thought three times."""
    block = {"type": "thinking", "thinking": text, **more}
    mirror = {"thinking_blocks": [block], "citation": None}
    said = {
        "reasoning_content": text,
        "content": "",
        "provider_specific_fields": mirror,
    }
    choice = {"index": 0, "delta": {**said, "thinking_blocks": [block]}}
    return _chat(None, choices=[choice], vertex_ai_safety_ratings=[], trace={"of": 1})


@pytest.mark.parametrize("signed", [{}, {"signature": ""}, {"signature": "s"}])
def test_a_thought_that_is_mirrored_is_compared(signed: dict[str, Any]) -> None:
    others = [
        _delta("x", signature="other"),
        _delta("x", data="redacted"),
        _delta("x", signature=5),
        *(_mirrored(each) for each in ([], {}, "x", {"citation": {"url": "u"}})),
        *(_mirrored({"thinking_blocks": each}) for each in ([], ["x"], [{}, {}])),
    ]
    for make in (lambda each: each, _sse):
        plain = [make(_delta(word, **signed)) for word in (*WORDS, *WORDS)]
        assert _both(plain) >= len(WORDS)
        for other in others:
            _both([*plain, make(other), *plain[:4], make(other), make(other), plain[0]])


def _mirrored(fields: Any) -> dict[str, Any]:
    """A thought with something else among the fields of the proxy."""
    chunk = _delta("x")
    chunk["choices"][0]["delta"]["provider_specific_fields"] = fields
    return chunk


@pytest.mark.parametrize("more", [{"name": "a"}, {"graph_data": {"urls": None}}])
def test_keys_that_nothing_reads_do_no_harm(more: dict[str, Any]) -> None:
    def chunk(text: str) -> dict[str, Any]:
        choice = {"index": 0, "delta": {"content": text, **more}, "seed": 7}
        return _chat(None, choices=[choice], nonce="n")

    for make in (chunk, lambda text: _sse(chunk(text))):
        assert _both([make(word) for word in ["One", *["two"] * 9, *WORDS]]) > 9


GEMINI = {
    "bare": lambda value: value,
    "wrapped": lambda value: {"response": value, "traceId": "t"},
}


@pytest.mark.parametrize("thought", [False, True])
@pytest.mark.parametrize("wrap", GEMINI.values(), ids=GEMINI)
@pytest.mark.parametrize("frame", ["object", "sse", "ascii", "json"])
def test_counts_beside_the_text_are_read(frame: str, wrap: Any, thought: bool) -> None:
    """Those of each chunk, which a run of plain text goes on beside; in the text itself
    may stand what looks like them."""
    words = [*WORDS, 'a "usageMetadata": {}', "plain ", "plain ", "plain "]
    told = [_tokens(number // 2) for number, _ in enumerate(words)]
    said = [_gemini(*each, thought=thought) for each in zip(words, told, strict=True)]
    chunks = [FRAMES[frame](wrap(each)) for each in said]
    assert _both(chunks, wire="gemini", framing=FRAMINGS.get(frame, "sse")) >= 8


@pytest.mark.parametrize(
    "counts",
    [
        None,
        7,
        [],
        {},
        "{",
        _tokens(4, candidatesTokenCount=True),
        _tokens(4, candidatesTokenCount=2.0),
        _tokens(4, candidatesTokenCount=None, thoughtsTokenCount=3),
        _tokens(4, totalTokenCount=10**30),
        {"candidatesTokenCount": 1, "more": [[[{"deep": [1]}]]]},
    ],
)
def test_other_counts(counts: Any) -> None:
    said = [_gemini("said ", _tokens(number)) for number in (1, 2, 3, 3)]
    other = _gemini("other ", counts)
    for frame in ("object", "sse", "json"):
        chunks = [*said, other, other, *said[::-1], other, *said]
        framing = FRAMINGS.get(frame, "sse")
        _both(list(map(FRAMES[frame], chunks)), wire="gemini", framing=framing)


@pytest.mark.parametrize("thought", [False, True])
def test_counts_without_text(thought: bool) -> None:
    """An empty Part says nothing that is like the next one."""
    words = ("", "said ", "", "", "said ", "said ", "")
    said = [
        _gemini(word, _tokens(number), thought=thought)
        for number, word in enumerate(words)
    ]
    for frame in ("object", "sse", "json"):
        framing = FRAMINGS.get(frame, "sse")
        _both(list(map(FRAMES[frame], said)), wire="gemini", framing=framing)


def test_counts_of_several_shapes() -> None:
    """Objects and strings, wrapped and not, in one stream: each tells its own."""
    chunks = [
        frame(wrap(_gemini("said ", _tokens(number))))
        for number in (1, 1, 2)
        for wrap in GEMINI.values()
        for frame in (FRAMES["object"], _sse, FRAMES["object"], _sse, _sse, _sse)
    ]
    assert _both(chunks, wire="gemini", framing="sse") > 6


def test_counts_in_lines_of_their_own() -> None:
    """A string is one document only where what it tells is on one line."""
    chunk = _sse(_gemini("said ", _tokens(1)))
    chunks = [chunk, chunk, chunk.replace(', "total', ',\n"total'), chunk, chunk]
    _both([*chunks, chunk.replace('{"prompt', '{{"prompt'), chunk], wire="gemini")


@pytest.mark.parametrize(
    "more",
    [
        {"finishReason": "STOP"},
        {"citationMetadata": {"citations": [{"uri": "u"}]}},
        {"content": {"parts": [{"text": "x", "thoughtSignature": "s"}]}},
        {"content": {"parts": [{"text": "x"}, {"text": "x"}]}},
        {"content": {"parts": [{"text": "x", "inlineData": {}}]}},
    ],
)
def test_candidates_that_say_more(more: dict[str, Any]) -> None:
    said = [_gemini("said ", _tokens(number)) for number in (1, 2, 2)]
    other = deepcopy(said[0])
    other["candidates"][0] |= more
    snake = {**said[0], "usage_metadata": {"total_token_count": 4}}
    live = {**said[0], "serverContent": {"outputTranscription": {"text": "said "}}}
    for frame in ("object", "sse", "event"):
        chunks = [*said, other, other, *said, snake, snake, *said, live, live, *said]
        framing = FRAMINGS.get(frame, "sse")
        _both(list(map(FRAMES[frame], chunks)), wire="gemini", framing=framing)


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
        _chat("a", choices=[{"delta": {"content": "a", "refusal": "no"}}]),
        _chat("a", choices=[{"delta": {"content": ["a"]}}]),
        _chat("a", choices=[{"delta": {"tool_calls": [{"function": {"name": "a"}}]}}]),
        _chat(
            "a",
            choices=[
                {"delta": {"reasoning_details": [{"text": "a"}, {"text": "a"}]}},
            ],
        ),
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
    of = Learner(13, json.loads, {}).learn('{"a": "x"}', {"a": "x"}, AGAIN)
    assert of is not None
    assert of('{"a": "yyyy"}') == "yyyy"
    assert of('{"a": "yyyyy"}') is None
    assert of('{"a": "x"') is None


AGAIN = Again((("a",),), lambda text: [TextPart(text)], frozenset((("b",), ("c",))))


def _learned(*chunks: str) -> TextOf | None:
    """What is learned of the last of some chunks."""
    learner = Learner(99, _loads_or_none, {})
    found = [learner.learn(chunk, json.loads(chunk), AGAIN) for chunk in chunks]
    return found[-1]


def _loads_or_none(chunk: str) -> Any:
    try:
        return json.loads(chunk)
    except ValueError:
        return None


def test_a_false_place_is_noticed() -> None:
    """Where the name stands as it is, it is a part of another."""
    assert _learned('{"\\u0061": "x", "d\\"a": "x"}') is None
    assert _learned('{"\\u0061": "x", "d\\"a": "y"}') is None
    assert _learned('{"\\u0061": "x"}') is None
    assert _learned('{"a": "x", "d": {"a": "x"}}') is None


def test_a_backslash_beside_the_text() -> None:
    """A string with one is read once more, with another text in it."""
    chunks = [_sse(_chat(word, system_fingerprint="a\\b")) for word in "abcdef"]
    assert _both(chunks) == 4
    said = ("an ", "a\\", "a\\b", "c", "a\\", "d", "e")
    assert _both([_sse(_chat(word, obfuscation=word)) for word in said]) == 3


def test_places_that_vary() -> None:
    """Of what is not read only values of the same kind pass that are one value."""
    of = _learned('{"b": 1, "a": "x", "c": "y"}', '{"b": 2, "a": "x", "c": "z"}')
    assert of is not None
    assert of('{"b": 0, "a": "q", "c": "\u00e9"}') == "q"
    assert of('{"b": 123, "a": "q\\"", "c": ""}') == 'q"'
    for other in (
        '{"b": 01, "a": "q", "c": ""}',
        '{"b": -1, "a": "q", "c": ""}',
        '{"b": , "a": "q", "c": ""}',
        '{"b": 1, "a": "q", "c": "\\q"}',
        '{"b": 1, "a": "q", "c": "x"y"}',
        '{"b": 1, "a": "q", "c": 1}',
        '{"b": 1, "a": 1, "c": ""}',
        '{"b": 1, "a": "q", "c": ""} ',
        '{"b": 1, "a": "q\\", "c": ""}',
        '{"b": "1", "a": "q", "c": ""}',
        5,
    ):
        assert not of(other), other


def test_values_that_vary() -> None:
    of = _learned(
        '{"b": null, "a": "x"}', '{"b": [1], "a": "x"}', '{"b": {}, "a": "x"}'
    )
    assert of is not None
    assert of('{"b": {"a": "b"}, "a": "q"}') == "q"
    assert of('{"b": [1, 2], "a": "q"}') == "q"
    assert of('{"b": [1,\n2], "a": "q"}') is None
    assert of('{"b": [1, "a": "q"}') is None


def test_blanks_at_the_end_vary() -> None:
    of = _learned('{"a": "x" }')
    assert of is not None
    assert of('{"a": "q"   }') == "q"
    assert of('{"a": "q"}') == "q"
    assert of('{"a": "q",}') is None


def test_a_text_that_stands_twice() -> None:
    again = Again((("a",), ("b",)), lambda _: [])
    for document in ({"a": "x", "b": "x"}, json.dumps({"a": "x", "b": "x"})):
        of = Learner(99, json.loads, {}).learn(document, {"a": "x", "b": "x"}, again)
        assert of is not None
        make = json.dumps if isinstance(document, str) else dict
        assert of(make({"a": "y", "b": "y"})) == "y"
        assert of(make({"a": "y", "b": "z"})) is None
    assert Learner(99, json.loads, {}).learn("", {"a": "x", "b": "y"}, again) is None


def test_a_value_nested_deep_does_no_harm() -> None:
    """It is read, but nothing is learned of it."""
    deep = "[" * 1000 + "]" * 1000
    said = [{"index": 0, "delta": {"content": each}, "logprobs": 7} for each in "abcd"]
    texts = [_sse(_chat("", choices=[each])) for each in said]
    chunks = [text.replace('": 7}', f'": {deep}}}') for text in texts]
    assert _both([*texts, *chunks, *chunks], wire="openai-chat", framing="sse") == 2
    documents = [orjson.loads(each[6:]) for each in chunks]
    assert _read(documents, wire="openai-chat")[-1] == 0


def test_what_is_known_is_not_learned_again() -> None:
    learner = Learner(99, json.loads, {})
    chunks = ['{"b": 1, "a": "x"}', '{"b": 2, "a": "x"}', '{"b": 3, "a": "y"}']
    first, second, third = (learner.learn(c, json.loads(c), AGAIN) for c in chunks)
    assert second is third is not first
    read = Again(AGAIN.texts, AGAIN.read)
    assert learner.learn(chunks[0], json.loads(chunks[0]), read) is not third


def _of_block(kind: str, **more: Any) -> str:
    return f"event: {kind}\n{_sse({'type': kind, **more})}"


def _block(index: int, kind: str, *deltas: str) -> list[str]:
    """A block of Messages, from its start to its end."""
    name = {"tool_use": "partial_json"}.get(kind, kind)
    about = {"id": f"c{index}", "name": "f", "input": {}} if kind == "tool_use" else {}
    made = {"tool_use": "input_json"}.get(kind, kind)
    return [
        _of_block(
            "content_block_start", index=index, content_block={"type": kind, **about}
        ),
        *(
            _of_block(
                "content_block_delta",
                index=index,
                delta={"type": f"{made}_delta", name: delta},
            )
            for delta in deltas
        ),
        _of_block("content_block_stop", index=index),
    ]


MESSAGE = _of_block("message_start", message={"id": "m", "model": "c", "content": []})


@pytest.mark.parametrize("kind", ["text", "thinking", "tool_use"])
def test_a_block_is_compared_with_those_before(kind: str) -> None:
    """Behind its start deltas are expected that are like those of the block before,
    and in another stream like those of its last one."""
    said = [["", "{}", "", " ", " "], ["", "{", "}"], ["{}", "", ""]]
    blocks = [
        chunk for index, each in enumerate(said) for chunk in _block(index, kind, *each)
    ]
    chunks, earlier = [MESSAGE, *blocks], EarlierStreams()
    of_first = sum(map(len, said)) - len(("", "{}"))
    assert _both(chunks, wire="anthropic") == of_first
    assert _read(chunks, earlier)[-1] == of_first
    assert _read(chunks, earlier)[-1] == sum(map(len, said))


@pytest.mark.parametrize(
    "other",
    [
        _block(1, "text", "x")[1],
        _of_block("content_block_delta", index=0, delta={"type": "text_delta"}),
        _block(0, "thinking", "x")[1],
        _block(0, "tool_use", "{}")[1],
        _block(0, "text", 'a"b', "\ud83d")[1],
        _block(0, "text", "\ud83d")[1],
        _sse({"type": "error", "error": {"type": "api_error", "message": "x"}}),
        'event: content_block_delta\ndata: {"type": "content_block_delta", "index": 0,',
        "data: [DONE]\n\n",
        _block(0, "text", "x")[1] * 2,
        _block(0, "text", "x")[1].rstrip("\n"),
        {"type": "ping"},
        "",
        7,
    ],
)
@pytest.mark.parametrize("kind", ["text", "thinking", "tool_use", "image", ""])
def test_something_else_than_was_expected(kind: str, other: Any) -> None:
    known = [MESSAGE, *_block(0, "text", "a", "b", "c"), *_block(1, "thinking", "d")]
    begun = [*known, *_block(2, "tool_use", "", "{}", "")]
    chunks = [MESSAGE, _block(0, kind)[0], other, *_block(0, "text", "e")[1:]]
    earlier = EarlierStreams()
    _read(begun, earlier)
    *fast, _ = _read(deepcopy(chunks), earlier)
    *slow, _ = _read(chunks)
    assert fast == slow


def test_arguments_behind_the_end_of_their_call() -> None:
    """There an empty piece of them begins another call."""
    start, first, empty, last, stop = _block(0, "tool_use", '{"a":', "", " 1}")
    assert _both([MESSAGE, start, stop, first, empty, last]) == 0
    blocks = [start, first, stop, *_block(2, "text", "x"), first]
    _both([MESSAGE, *blocks, *_block(1, "tool_use", "{", "}"), *blocks, empty, last])


def test_what_was_learned_counts_where_strings_are_read_alike() -> None:
    """The same string is nothing in another framing or encoding."""
    chunks, earlier = [MESSAGE, *_block(0, "text", "a", "b", "c")], EarlierStreams()
    _read(chunks, earlier, wire="anthropic", framing="sse")
    for same in ({"framing": "ndjson"}, {"encoding": "base64"}):
        options = {"wire": "anthropic", "framing": "sse", **same}
        assert _read(chunks, earlier, **options)[:3] == _read(chunks, **options)[:3]


def _numbered(number: int, place: str = "n") -> Again:
    return Again(AGAIN.texts, AGAIN.read, AGAIN.unread, number=((place,), number))


def _recalled(chunk: str, *, place: str = "n") -> TextOf | None:
    """For number 12, after a ``chunk`` with another."""
    learner, value = Learner(9999, _loads_or_none, {}), json.loads(chunk)
    assert learner.recall(_numbered(12)) is None
    assert learner.learn(chunk, value, _numbered(value["n"])) is not None
    return learner.recall(_numbered(12, place))


def test_another_number() -> None:
    for chunk in ('{"n": 1, "a": "x"}', '{"a": "x", "b": 5, "n":1 }'):
        of = _recalled(chunk)
        assert of is not None
        assert of(chunk.replace("1", "12").replace("x", "q")) == "q"
        assert of(chunk) is None
        assert of(chunk.replace("1", "13")) is None


@pytest.mark.parametrize(
    "chunk",
    [
        '{"n": 1, "a": "x", "d": {"n": 1}}',
        '{"n": 1, "a": "x", "d": "n"}',
        '{"n": -0, "a": "x"}',
        '{"n"         : 1, "a": "x"}',
        '{"n": 1, "d": "\\n", "a": "x"}',
        '{"n": 1, "a": "x", "d": "' + 4096 * "d" + '"}',
    ],
)
def test_a_number_that_is_not_found(chunk: str) -> None:
    assert _recalled(chunk) is None


def test_a_number_elsewhere() -> None:
    assert _recalled('{"n": 1, "a": "x"}', place="b") is None
    learner = Learner(99, json.loads, {})
    assert learner.learn('{"a": "x"}', {"a": "x"}, AGAIN) is not None
    assert learner.recall(_numbered(1)) is None
    assert learner.recall(AGAIN) is None


def test_too_deep_is_not_learned() -> None:
    value: Any = "x"
    for _ in range(12):
        value = [value]
    document = {"a": "t", "b": value}
    assert alike_object(document, [("a",)], [])(document) is None
    of = Learner(99, json.loads, {}).learn(json.dumps(document), document, AGAIN)
    assert of is not None  # a string is only compared
    assert Learner(99, json.loads, {}).learn(b"", {"a": "t"}, AGAIN) is None


def test_learning_in_vain_ends_and_success_goes_on() -> None:
    differing = [_chat(f"w{n}", usage={"n": n}) for n in range(1, 40)]
    with mock.patch(
        "stream_sidecar.stream.intake.Learner.learn", return_value=None
    ) as learn:
        _read(differing)
    assert 0 < learn.call_count < 20
    mixed = [_chat(f"w{n}", provider=f"p{n // 4 + 1}") for n in range(1, 200)]
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
