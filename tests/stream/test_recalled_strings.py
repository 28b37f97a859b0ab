"""Strings like those of earlier streams: the same events, recalled or read.

The slow way is the same stream without any before it, which learns nothing. What a
shape has in common is tried out by changing recorded documents anywhere.
"""

from __future__ import annotations

import json
from typing import Any
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st
from places import TESTS
from wire_tables import changed, places

from stream_sidecar.options import Limits, StreamOptions
from stream_sidecar.stream.earlier_streams import EarlierStreams
from stream_sidecar.stream.intake import Intake
from stream_sidecar.stream.recalled_strings import Shapes
from stream_sidecar.stream.stream import Stream
from stream_sidecar.values.jsontext import loads

COUNTS = {"promptTokenCount": 9, "promptTokensDetails": [{"modality": "TEXT"}]}
WHO = {"modelVersion": "m", "responseId": "r"}


def _candidate(part: Any, **more: Any) -> dict[str, Any]:
    content = {"parts": [part], "role": "model"}
    return {"candidates": [{"content": content, "index": 0, **more}]}


def _said(text: str, **more: Any) -> str:
    return _sse({**_candidate({"text": text}), "usageMetadata": COUNTS, **WHO, **more})


def _last(text: str, signature: str, reason: str = "STOP") -> str:
    part = {"text": text, "thoughtSignature": signature}
    return _sse({**_candidate(part, finishReason=reason), **WHO})


def _sse(value: Any) -> str:
    return f"data: {json.dumps(value, ensure_ascii=False)}\r\n\r\n"


def _read(chunks: list[Any], earlier: EarlierStreams | None = None, **more: Any) -> Any:
    """Events, message, counters; and how many chunks were not read."""
    params = {"wire": "gemini", "framing": "sse", **more}
    stream = Stream(StreamOptions(**params), earlier=earlier)
    events = [event for chunk in chunks for event in stream.push(chunk)]
    events += stream.close()
    return events, stream.message(), stream.stats(), stream._passed


def _recalled(before: list[Any], chunks: list[Any], **more: Any) -> int:
    """Asserts that a stream ``before`` changes nothing, the second time either; how
    many ``chunks`` were recalled or compared."""
    earlier = EarlierStreams()
    _read(before, earlier, **more)
    *fast, passed = _read(chunks, earlier, **more)
    *third, _ = _read(chunks, earlier, **more)
    with mock.patch.object(Intake, "_learn", return_value=None):
        *slow, none = _read(chunks, **more)
    assert fast == third == slow
    assert none == 0
    return int(passed)


@pytest.mark.parametrize(
    ("before", "chunk"),
    [
        (_said("a"), _said("b")),
        (_said("a"), _said("")),
        (_said(""), _said('b\n"\\\\')),
        (_said("a"), _said("b", modelVersion="n", responseId="q")),
        (_said("a"), _said("b", usageMetadata={"promptTokenCount": 8})),
        (_said("a", createTime="2025-01-01T00:00:00Z"), _said("b", createTime="x")),
        (_said("a", modelVersion=None), _said("b", modelVersion=None)),
        (_sse(_candidate({"text": "a"})), _sse(_candidate({"text": ""}))),
        (_sse({"response": _candidate({"text": "a"})}),) * 2,
        (_sse(_candidate({"text": "a", "thought": True})),) * 2,
        (_last("a", "s"), _last("b", "t")),
        (_last("", "s", "MAX_TOKENS"), _last("b", "", "MAX_TOKENS")),
    ],
)
def test_the_first_of_a_stream_is_recalled(before: str, chunk: str) -> None:
    assert _recalled([before], [chunk]) == 1
    assert _recalled([before], [chunk, chunk, before]) == 3
    assert _recalled([_said("a"), before], [_said("c"), chunk, _said("d")]) == 3


@pytest.mark.parametrize(
    "chunk",
    [
        _said("b").replace('"b"', '"\ud83d"'),
        _said("b").replace('"b"', '"\\ud83d"'),
        _said("b").replace('"b"', '"\\q"'),
        _said("b").replace('"TEXT"', "TEXT"),
        _said("b").replace("9", "01"),
        _said("b").replace('"m"', '"\\u006d"'),
        _said("b").replace('"m"', "5"),
        _said("b").replace('"m"', "null"),
        _said("b").replace("\r\n\r\n", ""),
        _said("b") * 2,
        _said("b", error={"code": 429, "message": "x", "status": "UNAVAILABLE"}),
        _said("b", promptFeedback={"blockReason": "SAFETY"}),
        _sse({**_candidate({"text": "b"}, index=1), "usageMetadata": COUNTS, **WHO}),
        _sse(_candidate({"text": "b"}, finishReason=0)),
        _sse(_candidate({"functionCall": {"name": "f", "args": {}}})),
        "data: [DONE]\n\n",
        {**_candidate({"text": "b"}), "usageMetadata": COUNTS, **WHO},
        "",
        7,
    ],
)
def test_what_is_another_shape_is_read(chunk: Any) -> None:
    assert _recalled([_said("a")] * 2, [chunk]) == 0
    _recalled([_said("a")] * 2, [_said("c"), chunk, _said("d"), chunk, _said("e")])
    _recalled([chunk, chunk], [_said("b"), chunk, chunk])


@pytest.mark.parametrize(
    "document",
    [
        {**_candidate({"text": "a"}), "x": {"text": "b"}},
        {**_candidate({"text": "a"}), "createTime": 5},
        _candidate({"text": "a", "thoughtSignature": 'a"b'}),
        {**_candidate({"text": "a"}), "usageMetadata": {"a": {"b": {"c": 1}}}},
        {**_candidate({"text": "a"}), "x": 4096 * "x"},
        {**_candidate({"text": "a"}), "event_type": "step.x", "createTime": "x"},
        {"usage_metadata": {}, **_candidate({"text": "a"})},
        {"candidates": _candidate({"text": "a"})["candidates"] * 2},
        _candidate({"text": "a", "inlineData": {"mimeType": "x"}}),
    ],
)
def test_what_cannot_be_told_is_not_recalled(document: Any) -> None:
    assert _recalled([_sse(document)] * 2, [_sse(document)]) == 0


def test_a_mark_that_only_a_first_string_may_have() -> None:
    marked = f"\ufeff{_said('a')}"
    assert _recalled([marked], [marked, marked, _said("b"), marked]) == 0
    assert _recalled([_said("a")], [_said("b"), marked, _said("c")]) == 1


def test_a_key_with_a_backslash() -> None:
    chunk = _said("a", **{"a\\b": "x"})
    assert _recalled([chunk], [chunk]) == 1


def test_who_answers_may_change() -> None:
    """What runs goes on only where the same model answers."""
    said = [_said(each, responseId=each[0], modelVersion=each[1:]) for each in "aabbcx"]
    assert _recalled([_said("a")] * 3, said) == len(said)
    counted = [_said("a", usageMetadata={"promptTokenCount": n}) for n in (1, 1, 2, 1)]
    assert _recalled([_said("a")] * 3, counted) == len(counted)
    broken = _said("d").replace('"TEXT"', "TEXT")
    assert _recalled([_said("a")] * 3, [_said("b"), _said("c"), broken]) == 2


def test_where_strings_are_read_otherwise() -> None:
    earlier = EarlierStreams()
    _read([_said("a")] * 2, earlier)
    for more in ({"framing": "ndjson"}, {"encoding": "base64"}, {"wire": "auto"}):
        assert _read([_said("b")], earlier, **more) == _read([_said("b")], **more)
    short = {"limits": Limits(max_document_chars=len(_said("b")) - 1)}
    assert _read([_said("b")], earlier, **short)[-1] == 0
    assert _read([_said("b"), _said("c") * 9], earlier)[-1] == 1


def test_auto_recalls_once_it_has_decided() -> None:
    auto = {"wire": "auto", "framing": "auto"}
    thought = _sse(_candidate({"text": "t", "thought": True}))
    assert _recalled([_said("a"), thought, thought], [_said("b"), thought], **auto) == 1


def test_few_are_remembered() -> None:
    """Those that came last, of as many ways to begin."""
    ways = [{f"x{n}": 1, **_candidate({"text": "a"})} for n in range(40)]
    models = [{**_candidate({"text": "a"}), f"x{n}": 1} for n in range(40)]
    for documents in (ways, models):
        earlier = EarlierStreams()
        first, *_, last = chunks = list(map(_sse, documents))
        for chunk in chunks:
            _read([chunk], earlier)
        assert _read([last], earlier)[-1] == 1
        assert _read([first], earlier)[-1] == 0


def test_the_same_is_remembered_once() -> None:
    shapes, half = EarlierStreams(), _said("b").replace('"b"', '"\\ud83d"')
    _read([half] * 40, shapes)
    known = shapes.shapes("gemini", "sse", "utf-8")
    assert [len(those) for those in known._by_head.values()] == [1]
    assert Shapes()._by_head == {}


RECORDED = [
    chunk
    for path in sorted((TESTS / "wires" / "gemini").glob("*.chunks.jsonl"))
    for chunk in map(loads, path.read_text("utf-8").splitlines()[1:])
    if isinstance(chunk, dict) and "candidates" in chunk
]
OTHERS = st.sampled_from(
    ["x", "", 'a "b"', "\n", "<think>", "STOP", 0, 1, -1, 1.5, None, True, [], {}]
)


@given(
    st.lists(st.sampled_from(RECORDED), min_size=1, max_size=3),
    st.lists(st.tuples(st.integers(0, 99), OTHERS), min_size=1, max_size=5),
    st.booleans(),
)
def test_changed_recordings(
    documents: list[Any], changes: list[tuple[int, Any]], wrapped: bool
) -> None:
    """Documents in one stream, and in the next something else at one place of them."""
    if wrapped:
        documents = [{"response": each} for each in documents]
    others = [
        changed(each, inner[number % len(inner)], other)
        for each in documents
        for inner in [places(each)[1:]]
        for number, other in changes
    ]
    mixed = [each for pair in zip(others, documents * 5, strict=False) for each in pair]
    _recalled(list(map(_sse, documents)), list(map(_sse, mixed)))
