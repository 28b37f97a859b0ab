"""What is explained: a body that is cut for the slider, and streams of a transcript."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rpc_client import ROOT

from stream_sidecar.explain.explaining import explain
from stream_sidecar.explain.source import body, is_transcript, recorded
from stream_sidecar.options import StreamOptions
from stream_sidecar.stream.stream import Stream


def slices(data: bytes, **options: Any) -> list[bytes]:
    """The bytes of each chunk, as the stream that they are pushed to gets them."""
    source = body("s", data, StreamOptions(**options))
    stream = Stream(source.options)
    found = []
    for chunk in source.chunks(stream):
        found.append(base64.b64decode(chunk.value, validate=True))
        stream.push(chunk.value)
    return found


@given(st.binary(max_size=300))
def test_the_slices_are_the_body(data: bytes) -> None:
    cut = slices(data)
    assert b"".join(cut) == data
    assert all(cut)


def test_text_is_cut_into_words() -> None:
    assert slices(b"One two,\n three. \n") == [b"One", b" two,", b"\n three.", b" \n"]
    assert slices("größer".encode()) == ["größer".encode()]


def test_anything_else_is_cut_into_lines() -> None:
    lines = [b'data: {"choices": []}\n', b"\n", b"data: [DONE]\n", b"\n"]
    first, *rest = slices(b"".join(lines))
    assert (first, rest) == (b"data:", [lines[0][5:], *lines[1:]])
    assert slices(b'{"a b": 1}\n{"c": 2}', framing="ndjson") == [
        b'{"a b": 1}\n',
        b'{"c": 2}',
    ]


def test_a_long_text_has_not_too_many_chunks() -> None:
    cut = slices(b"one two " * 50_000)
    assert 1000 < len(cut) < 2100
    assert max(map(len, cut)) < 250


def test_a_binary_body() -> None:
    path = next((ROOT / "tests" / "transcripts").glob("aws-eventstream.jsonl"))
    [source] = recorded("s", path.read_bytes()).values()
    frames = [base64.b64decode(chunk.value) for chunk in source.chunks(None)]  # type: ignore[arg-type]
    whole = body("s", b"".join(frames), StreamOptions(framing="aws-eventstream"))
    found = [[p.text for p in lane.pieces] for lane in explain(whole).lanes]
    wanted = [[p.text for p in lane.pieces] for lane in explain(source).lanes]
    assert ["".join(each) for each in found] == ["".join(each) for each in wanted]


@pytest.mark.parametrize(
    "data", [b"", b"\n", b"\xff", b"{}", b'{"transcript": true}', b"[1]", b"data: x\n"]
)
def test_no_transcript(data: bytes) -> None:
    assert not is_transcript(data)


def lines(*messages: Any) -> bytes:
    said = [{"transcript": 1}, *({"dir": "in", "msg": each} for each in messages)]
    return b"not JSON\n".join(json.dumps(line).encode() + b"\n" for line in said)


def test_what_a_host_did_wrong_is_no_stream() -> None:
    """Nobody answered: the recording ends there."""
    data = lines(
        {"method": "initialize", "params": {"initializationOptions": 1}},
        {"method": "initialize", "params": []},
        {"method": "stream/open", "params": {"streamId": 1}},
        {"method": "stream/open"},
        {"method": "stream/close", "params": {"streamId": "never"}},
        {"method": "stream/push", "params": {"streamId": "never", "chunk": 1}},
        {"method": 7},
        {"method": ["x"]},
        {"id": {}},
        {"id": [1], "method": "stream/open", "params": {"streamId": "s"}},
    )
    assert [*recorded("s", data)] == ["stream", "s"]
