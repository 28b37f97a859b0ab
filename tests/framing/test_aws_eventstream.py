"""Framing ``aws-eventstream``: every case whole, byte by byte and at every cut."""

from __future__ import annotations

import base64
import json
from struct import pack
from typing import Any
from zlib import crc32

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream_sidecar.framing.aws_eventstream import EventStreamReader
from stream_sidecar.framing.framer import Framer
from stream_sidecar.parts import DiagnosticPart, Document

UNLIMITED = 8_388_608


def string(name: str, value: str) -> bytes:
    return header(name, 7, pack(">H", len(value.encode())) + value.encode())


def header(name: str, kind: int, value: bytes = b"") -> bytes:
    return bytes([len(name)]) + name.encode() + bytes([kind]) + value


def frame(payload: bytes, headers: bytes) -> bytes:
    prelude = pack(">II", 16 + len(headers) + len(payload), len(headers))
    message = prelude + pack(">I", crc32(prelude)) + headers + payload
    return message + pack(">I", crc32(message))


def event(name: str, value: Any) -> bytes:
    headers = string(":message-type", "event") + string(":event-type", name)
    return frame(json.dumps(value).encode(), headers)


def exception(name: str, value: Any) -> bytes:
    headers = string(":message-type", "exception") + string(":exception-type", name)
    return frame(json.dumps(value).encode(), headers)


def chunk(data: bytes) -> bytes:
    return event("chunk", {"bytes": base64.b64encode(data).decode(), "p": "abc"})


def changed(data: bytes, place: int) -> bytes:
    return data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]


def bad(raw: bytes | str) -> tuple[str, str]:
    """Bytes are shown as text where they are UTF-8."""
    if isinstance(raw, bytes):
        shown = raw.decode(errors="replace")
        raw = base64.b64encode(raw).decode() if "\ufffd" in shown else shown
    return ("malformed-chunk", raw)


A, B = event("a", {"x": 1}), event("b", {"y": "é😀"})
AN_A, A_B = ("a", {"x": 1}), ("b", {"y": "é😀"})

EVERY_TYPE = b"".join(
    [
        *(header("t", kind) for kind in (0, 1)),
        *(header("n", kind, b"\0" * size) for kind, size in ((2, 1), (3, 2), (4, 4))),
        header("bytes", 6, b"\0\3abc"),
        string(":event-type", "c"),
        *(header("w", kind, b"\0" * size) for kind, size in ((5, 8), (8, 8), (9, 16))),
    ]
)
ERROR = b"".join(
    [
        string(":message-type", "error"),
        string(":error-code", "InternalError"),
        string(":error-message", "boom"),
    ]
)
BROKEN_HEADERS = [
    header("x", 10),
    header("x", 7, b"\0\5abc"),
    header("x", 7, b"\0"),
    header("x", 5, b"\0\0\0\0"),
    b"\5abc",
    b"\0",
]
WRONG_PAYLOAD, WRONG_HEAD = changed(A, -6), changed(A, 1)
LONG = event("a", {"x": "1" * 60})
LYING = pack(">II", 15, 0)
LYING += pack(">I", crc32(LYING)) + b"rest"
TOO_MANY_HEADERS = pack(">II", 20, 5)
TOO_MANY_HEADERS += pack(">I", crc32(TOO_MANY_HEADERS))

# (bytes, limit of a payload, frames). A frame is (event, value) or (code, raw).
CASES: dict[str, tuple[bytes, int, list[Any]]] = {
    "nothing": (b"", UNLIMITED, []),
    "two events": (A + B, UNLIMITED, [AN_A, A_B]),
    "every type of header": (frame(b"1", EVERY_TYPE), UNLIMITED, [("c", 1)]),
    "without headers and payload": (frame(b"", b""), UNLIMITED, [(None, {})]),
    "an exception": (
        exception("throttlingException", {"message": "slow"}),
        UNLIMITED,
        [("throttlingException", {"message": "slow"})],
    ),
    "an exception of another name": (
        exception("internalFailure", {"message": "boom"}),
        UNLIMITED,
        [
            (
                "error",
                {"error": {"type": "internalFailure", "message": {"message": "boom"}}},
            )
        ],
    ),
    "an error": (
        frame(b"", ERROR),
        UNLIMITED,
        [("error", {"code": "InternalError", "message": "boom"})],
    ),
    "the document of a model": (
        chunk(b'{"type":"ping"}') + chunk(b"[1]"),
        UNLIMITED,
        [(None, {"type": "ping"}), (None, [1])],
    ),
    "of a model, no JSON": (chunk(b"{x"), UNLIMITED, [bad("{x")]),
    "of a model, no base64": (event("chunk", {"bytes": "?"}), UNLIMITED, [bad("?")]),
    "bytes that are no text": (
        event("chunk", {"bytes": 5}),
        UNLIMITED,
        [("chunk", {"bytes": 5})],
    ),
    "a payload that is no JSON": (
        frame(b"plain", b"") + frame(b"\xff", b"") + A,
        UNLIMITED,
        [bad("plain"), bad(b"\xff"), AN_A],
    ),
    "wrong checksum of a frame": (
        A + WRONG_PAYLOAD + B,
        UNLIMITED,
        [AN_A, bad(WRONG_PAYLOAD), A_B],
    ),
    "wrong checksum of a prelude": (
        A + WRONG_HEAD + B,
        UNLIMITED,
        [AN_A, bad(WRONG_HEAD), A_B],
    ),
    "bytes were lost": (
        A[:20] + B + A,
        UNLIMITED,
        [bad((A[:20] + B)[: len(A)]), bad((A[:20] + B)[len(A) :]), AN_A],
    ),
    "bytes of no frame": (
        b"\0\0\0\0\0\0\0\0\0" + A + b"\0\1\2" + B + b"\xff",
        UNLIMITED,
        [bad(b"\0" * 9), AN_A, bad(b"\0\1\2"), A_B, bad(b"\xff")],
    ),
    "a page": (b"<html>\xc3\xa9</html>", UNLIMITED, [bad("<html>é</html>")]),
    "cut off": (A + B[:-1], UNLIMITED, [AN_A, bad(B[:-1])]),
    "cut off in the prelude": (A + B[:5], UNLIMITED, [AN_A, bad(B[:5])]),
    "lengths that cannot be": (
        LYING + A + TOO_MANY_HEADERS + A,
        UNLIMITED,
        [bad(LYING), AN_A, bad(TOO_MANY_HEADERS), AN_A],
    ),
    **{
        f"broken headers {number}": (
            frame(b"1", headers) + A,
            UNLIMITED,
            [bad(frame(b"1", headers)), AN_A],
        )
        for number, headers in enumerate(BROKEN_HEADERS)
    },
    "too long": (A + LONG + A, 20, [AN_A, ("document-limit", "…"), AN_A]),
    "too long and cut off": (LONG[:60], 20, [("document-limit", "…")]),
    "just not too long": (event("a", "1" * 18), 20, [("a", "1" * 18)]),
    "too much of no frame": (b"x" * 50 + A, 20, [("document-limit", "x" * 50), AN_A]),
}


def spelled(item: Any) -> Any:
    if isinstance(item, Document):
        return (item.event, item.value)
    assert isinstance(item, DiagnosticPart)
    is_binary = item.code == "document-limit" and "\0" in item.raw
    return (item.code, "…" if is_binary else item.raw)


def read(slices: list[bytes], limit: int = UNLIMITED) -> list[Any]:
    reader = EventStreamReader(limit)
    frames = [frame for each in slices for frame in reader.push(each)]
    return [spelled(each) for each in [*frames, *reader.close()]]


@pytest.mark.parametrize("case", CASES)
def test_any_cut_gives_the_frames(case: str) -> None:
    data, limit, expected = CASES[case]
    expected = [tuple(each) for each in expected]
    assert read([data], limit) == expected
    assert read([data[at : at + 1] for at in range(len(data))], limit) == expected
    for at in range(len(data)):
        assert read([data[:at], data[at:]], limit) == expected


def test_frames_come_with_their_last_byte() -> None:
    reader = EventStreamReader(UNLIMITED)
    assert reader.push(A[:-1]) == []
    assert [spelled(each) for each in reader.push(A[-1:])] == [AN_A]
    assert reader.close() == []


def test_after_a_close_it_starts_anew() -> None:
    for data, limit in ((A[:-1], UNLIMITED), (LONG[:60], 20), (A[:5], UNLIMITED)):
        reader = EventStreamReader(limit)
        reader.push(data)
        assert len(reader.close()) == 1
        assert [spelled(each) for each in reader.push(A)] == [AN_A]


@given(st.lists(st.sampled_from([A, B, A[:20], b"\0", b"x", LYING]) | st.binary()))
def test_any_bytes_are_read_and_cuts_do_not_matter(pieces: list[bytes]) -> None:
    data = b"".join(pieces)
    assert read(pieces) == read([data])


def encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


@pytest.mark.parametrize("framing", ["aws-eventstream", "auto"])
def test_in_base64(framing: str) -> None:
    text = encoded(A + B)
    for at in range(len(text)):
        framer = Framer(framing, "base64", limit=UNLIMITED)
        frames = [*framer.push(text[:at]), *framer.push(text[at:]), *framer.close()]
        assert [spelled(each) for each in frames] == [AN_A, A_B]
        assert framer.framing == "aws-eventstream"


def test_what_is_no_base64_is_reported_between_frames() -> None:
    framer = Framer("aws-eventstream", "base64", limit=UNLIMITED)
    frames = framer.push(encoded(A))
    frames += framer.push("?? ")
    frames += framer.push(encoded(B))
    frames += framer.close()
    assert [spelled(each) for each in frames] == [AN_A, bad("??"), A_B]


def test_one_zero_byte_is_enough_for_auto() -> None:
    framer = Framer("auto", "base64", limit=UNLIMITED)
    assert framer.push("A") == framer.push("A") == []
    assert [spelled(each) for each in framer.close()] == [bad("\0")]
    assert framer.framing == "aws-eventstream"


def test_strings_of_text_are_no_bytes() -> None:
    framer = Framer("aws-eventstream", limit=UNLIMITED)
    frames = [*framer.push(""), *framer.push("AAAA"), *framer.push("hwA")]
    assert frames == []
    assert [spelled(each) for each in framer.close()] == [bad("AAAAhwA")]
    assert framer.close() == []
    framer = Framer("aws-eventstream", limit=3)
    framer.push("AAAAhwA")
    assert [spelled(each)[0] for each in framer.close()] == ["document-limit"]
