"""Every case is read whole, by character and at every cut: always the same frames."""

from __future__ import annotations

import base64
import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stream_sidecar.framing.framer import FRAMINGS, Framer
from stream_sidecar.framing.frames import Held
from stream_sidecar.parts import DiagnosticPart, Document, DonePart
from stream_sidecar.values.jsontext import loads

UNLIMITED = 8_388_608
DONE = "DONE"


def bad(raw: str) -> tuple[str, str]:
    return ("malformed-chunk", raw)


def long(raw: str) -> tuple[str, str]:
    return ("document-limit", raw)


HALF = ("surrogate-repaired", None)
PACKED = {
    "type": "compressed_body",
    "message": "The body is compressed (gzip or zstd): the HTTP client did not decode"
    " its content-encoding",
}
COMPRESSED = ("event", "error", {"error": PACKED})

# (framing, input, the framing decided, frames). A frame is a document's value, or
# ("event", name, value) where the event has a name, or (code, raw), or DONE.
CASES: list[tuple[str, str, str, list[Any]]] = [
    # --- sse: WHATWG HTML 9.2.6
    ("sse", "", "sse", []),
    ("sse", "data: {}\n\n", "sse", [{}]),
    ("sse", 'data:{"a":1}\n\n', "sse", [{"a": 1}]),
    ("sse", "\ufeffdata: 1\n\n", "sse", [1]),
    ("sse", "data: 1\r\n\r\ndata: 2\r\n\r\n", "sse", [1, 2]),
    ("sse", "data: 1\r\rdata: 2\r\r", "sse", [1, 2]),
    ("sse", "data: 1\n\r\ndata: 2\r\n\ndata: 3\r", "sse", [1, 2, 3]),
    ("sse", ": ping\n\n:\n\ndata: 1\n: x\n\n", "sse", [1]),
    ("sse", 'data: {"a":\ndata: 1}\n\n', "sse", [{"a": 1}]),
    ("sse", "id: 7\nretry: 10\nid\nretry\ndata: 1\n\n", "sse", [1]),
    ("sse", "event: x\ndata: 1\n\ndata: 2\n\n", "sse", [("event", "x", 1), 2]),
    ("sse", "data: 1\nevent:x\n\n", "sse", [("event", "x", 1)]),
    ("sse", "event: ping\n\ndata: 1\n\n", "sse", [1]),
    ("sse", "event:\ndata: 1\n\n", "sse", [1]),
    # --- sse: what providers and gateways make of it
    ("sse", 'data: {"a":1}', "sse", [{"a": 1}]),
    ("sse", "data: 1\n", "sse", [1]),
    ("sse", "data: [DONE]\n\ndata: [DONE] \n\n", "sse", [DONE, DONE]),
    ("sse", "data:\n\ndata\n\ndata: \n\ndata:\ndata:\n\n", "sse", []),
    ("sse", "data: : PROCESSING\n\ndata: 1\n\n", "sse", [1]),
    ("sse", "data: null\n\n", "sse", [None]),
    ("sse", "data: undefined\n\ndata: 1\n\n", "sse", [bad("undefined"), 1]),
    ("sse", "data: {broken\n\ndata: 1\n\n", "sse", [bad("{broken"), 1]),
    ("sse", 'data: "a\n\n', "sse", [bad('"a')]),
    ("sse", "data: {\ndata: {}\n\n", "sse", [bad("{\n{}")]),
    ("sse", "data: {}\ndata: [1]\ndata: [DONE]\n\n", "sse", [{}, [1], DONE]),
    ("sse", "event: e\ndata: : x\ndata: {}\ndata:\ndata: {", "sse", [{}, bad("{")]),
    ("sse", "data: : x\ndata: : y\n\n", "sse", []),
    # --- sse: documents that lost their beginning, or their end
    ("sse", 'data: {"a\ndata: {"b":1}\n\n', "sse", [bad('{"a'), {"b": 1}]),
    ("sse", 'data: {"a\ndata: 1\n\n', "sse", [bad('{"a\n1')]),
    ("sse", 'data: {"adata: {"b":1}\n\n', "sse", [bad('{"a'), {"b": 1}]),
    ("sse", 'data: {"adata:{"b":1}data: [2]\n\n', "sse", [bad('{"a'), {"b": 1}, [2]]),
    ("sse", 'data: x{"b":"data: {"}\n\n', "sse", [bad('x{"b":"data: {"}')]),
    ("sse", 'event: e\ndata: {"a":1}data: 1\n\n', "sse", [bad('{"a":1}data: 1')]),
    ("sse", "event: e\ndata: {}data: [1]\n\n", "sse", [("event", "e", {}), [1]]),
    ("sse", "data: [2]" * 40 + "data: [DONE]", "sse", [*[[2]] * 40, DONE]),
    ("sse", 'data: {"a{"error":1}\n\n', "sse", [bad('{"a'), {"error": 1}]),
    ("sse", 'data: {"a":{"error":1}\n\n', "sse", [bad('{"a":'), {"error": 1}]),
    ("sse", 'data: {"data: data: {"b', "sse", [bad('{"data: data: {"b')]),
    ("sse", "event: e\ndata: data: {}\n\n", "sse", [("event", "e", {})]),
    ("sse", 'data: "{\\"a\\":1}"\ndata: "x"\n\n', "sse", [{"a": 1}, "x"]),
    ("sse", 'data: "data: [DONE]"\n\n', "sse", [DONE]),
    ("auto", "\x1f\x8bxx\n", "auto", [bad("\x1f\x8bxx\n"), COMPRESSED]),
    # --- sse: another body
    ("sse", "undefineddata: {}\n\ndata: 1\n\n", "sse", [bad("undefined"), {}, 1]),
    ("sse", "Data: 1\n data: 2\n\n", "sse", [bad("Data: 1\n data: 2")]),
    ("sse", "data: 1\nx\n\ny\n\n", "sse", [1, bad("x"), bad("y")]),
    ("sse", "data: 1\nx\ndata:2\n\n", "sse", [bad("x"), 1, 2]),
    ("sse", "x\n: comment\ny\nid: 1\n", "sse", [bad("x"), bad("y")]),
    ("sse", "<p>\n\n\na: b\n</p>\n\n", "sse", [bad("<p>\n\n\na: b\n</p>")]),
    ("sse", '{"error": {}}', "sse", [{"error": {}}]),
    ("sse", 'error: {"code":1}\n\n', "sse", [("event", "error", {"code": 1})]),
    ("sse", 'x\nerror:{"a":1}\n', "sse", [bad("x"), ("event", "error", {"a": 1})]),
    ("sse", "error: no\n\n", "sse", [bad("error: no")]),
    ("sse", '{\n "data": 1\n}\n\ndata: 1\n\n', "sse", [{"data": 1}, 1]),
    ("sse", ' {"a":\n\n\n 1}\n\n', "sse", [{"a": 1}]),
    ("sse", '{"a":1}\n{"a":2}\n[DONE]\n', "sse", [{"a": 1}, {"a": 2}, DONE]),
    ("sse", "{x\n\n1\n", "sse", [bad("{x\n\n1")]),
    # --- ndjson
    ("ndjson", "", "ndjson", []),
    ("ndjson", '{"a":1}\n{"a":2}\r\n', "ndjson", [{"a": 1}, {"a": 2}]),
    ("ndjson", "\ufeff \n{}{}[]\t[ ] {} x", "ndjson", [{}, {}, [], [], {}, bad("x")]),
    ("ndjson", '{\n "a":\r\n [1,\n2]\n}\n{}', "ndjson", [{"a": [1, 2]}, {}]),
    (
        "ndjson",
        '{"a":1,"b":{},"c":2}{',
        "ndjson",
        [{"a": 1, "b": {}, "c": 2}, bad("{")],
    ),
    ("ndjson", '{broken\n{"a":1}\n', "ndjson", [bad("{broken"), {"a": 1}]),
    (
        "ndjson",
        "{broken\r\n{}{x}}{}\r{}",
        "ndjson",
        [bad("{broken"), {}, bad("{x}}{}"), {}],
    ),
    ("ndjson", '{"a":"x\n{}', "ndjson", [bad('{"a":"x'), {}]),
    ("ndjson", '{"a":"x\ty"}\n{}', "ndjson", [bad('{"a":"x\ty"}'), {}]),
    ("ndjson", '{"a":1 "b":2}\n{}', "ndjson", [bad('{"a":1 "b":2}'), {}]),
    ("ndjson", '{"a":', "ndjson", [bad('{"a":')]),
    ("ndjson", '{"}{":"\\"}\\\\"}{}', "ndjson", [{"}{": '"}\\'}, {}]),
    ("ndjson", '{"\\u0041\\n":"\\ud83d\\ude00"}', "ndjson", [{"A\n": "\U0001f600"}]),
    (
        "ndjson",
        '{"\\x":1}\n{"\\u00g0":1}\n',
        "ndjson",
        [bad('{"\\x":1}'), bad('{"\\u00g0":1}')],
    ),
    ("ndjson", "[1.5,-0,2e1,3E+1,-4.25e-1]", "ndjson", [[1.5, 0, 20.0, 30.0, -0.425]]),
    ("ndjson", "[true,false,null]", "ndjson", [[True, False, None]]),
    (
        "ndjson",
        "[NaN,Infinity,-Infinity]",
        "ndjson",
        [["NaN", "Infinity", "-Infinity"]],
    ),
    ("ndjson", '1 -2.0\ttrue\n"a b" null', "ndjson", [1, -2.0, True, "a b", None]),
    (
        "ndjson",
        "[01]\n[1.]\n[-]\n[2e]\n",
        "ndjson",
        [bad("[01]"), bad("[1.]"), bad("[-]"), bad("[2e]")],
    ),
    ("ndjson", "tru\n1x\n1,2\n", "ndjson", [bad("tru"), bad("1x"), bad("1,2")]),
    (
        "ndjson",
        '{"a":1,}\n[1,]\n{,}\n',
        "ndjson",
        [bad('{"a":1,}'), bad("[1,]"), bad("{,}")],
    ),
    ("ndjson", "{]\n[}\n]\n", "ndjson", [bad("{]"), bad("[}"), bad("]")]),
    ("ndjson", "{}[DONE]{}[DONE]\n", "ndjson", [{}, DONE, {}, DONE]),
    (
        "ndjson",
        "[ DONE]\n[DONT]\n[DONE\n",
        "ndjson",
        [bad("[ DONE]"), bad("[DONT]"), bad("[DONE")],
    ),
    ("ndjson", "[\nnull]", "ndjson", [[None]]),
    ("ndjson", "data: {}\n", "ndjson", [{}]),
    # --- json-array
    ("json-array", "", "json-array", []),
    ("json-array", "[]", "json-array", []),
    ("json-array", "\ufeff [ ] \n", "json-array", []),
    (
        "json-array",
        '[{"a":[{}]}\n,\r\n{"b":1}\n]',
        "json-array",
        [{"a": [{}]}, {"b": 1}],
    ),
    ("json-array", '[1,"]",[2,[3]],null]', "json-array", [1, "]", [2, [3]], None]),
    ("json-array", "[{},{},", "json-array", [{}, {}]),
    ("json-array", "[{},{", "json-array", [{}, bad("{")]),
    ("json-array", "[{}{}{},,]", "json-array", [{}, {}, {}]),
    ("json-array", "[1]]", "json-array", [1, bad("]")]),
    ("json-array", "[1] x, [2]\n", "json-array", [1, bad("x, [2]")]),
    ("json-array", "[{x},{}]", "json-array", [bad("{x}"), {}]),
    ("json-array", '[{x:["]}",{}]},{}]', "json-array", [bad('{x:["]}",{}]}'), {}]),
    (
        "json-array",
        "[undefined,{},oops]",
        "json-array",
        [bad("undefined"), {}, bad("oops")],
    ),
    ("json-array", '[x"],\\"\\n",{}]', "json-array", [bad('x"],\\"\\n"'), {}]),
    ("json-array", "[x{,},1]", "json-array", [bad("x{,}"), 1]),
    ("json-array", '[{"a":"x\n,{"b":1}\n]', "json-array", [bad('{"a":"x\n'), {"b": 1}]),
    ("json-array", '[{"a":"\\q"},1]', "json-array", [bad('{"a":"\\q"}'), 1]),
    (
        "json-array",
        '[{"a":"x\n y":2},\n{},\n {x\n\n]',
        "json-array",
        [bad('{"a":"x\n y":2},\n'), {}, bad("{x\n\n")],
    ),
    ("json-array", '["x\\\n",1]', "json-array", [bad('"x\\\n",1]')]),
    ("json-array", '[x"a\\\n{"b":1}]', "json-array", [bad('x"a\\\n'), {"b": 1}]),
    ("json-array", '{"error":{}}', "json-array", [{"error": {}}]),
    ("json-array", "{}[1]", "json-array", [{}, 1]),
    ("json-array", "<p>, [1]\n", "json-array", [bad("<p>, [1]")]),
    # --- text
    ("text", "", "text", []),
    ("text", "\ufeff {}\ufeff[DONE]\r\n", "text", ["\ufeff {}\ufeff[DONE]\r\n"]),
    ("text", "a\ud83d\ude00b", "text", ["a\U0001f600b"]),
    ("text", "\ude00a\ud83d\ud83d", "text", ["\ufffda\ufffd\ufffd", HALF]),
    # --- auto
    ("auto", "", "auto", []),
    ("auto", " \n", "text", [" \n"]),
    ("auto", "\ufeff\n\t {}{}", "ndjson", [{}, {}]),
    ("auto", "\n [{}]", "json-array", [{}]),
    ("auto", "[", "json-array", []),
    ("auto", "[DON", "json-array", [bad("DON")]),
    ("auto", "[DONE]\n", "ndjson", [DONE]),
    ("auto", "[DONT]", "json-array", [bad("DONT")]),
    ("auto", " \ndata: 1\n\n", "sse", [1]),
    ("auto", "event: x\ndata: 1\n\n", "sse", [("event", "x", 1)]),
    ("auto", "id: 1\ndata: 1\n\n", "sse", [1]),
    ("auto", "retry: 1\ndata: 1\n\n", "sse", [1]),
    ("auto", 'error: {"a":1}\n\n', "sse", [("event", "error", {"a": 1})]),
    ("auto", "error: it", "text", ["error: it"]),
    ("auto", ": hello\n\ndata: 1\n\n", "sse", [1]),
    ("auto", "\ufeff  dat", "text", ["\ufeff  dat"]),
    ("auto", "\r\ndatum: 1", "text", ["\r\ndatum: 1"]),
    ("auto", "1 {}", "text", ["1 {}"]),
    (
        "auto",
        '{"a":"\ud83d\ude00"}{"a":"\ude00"}',
        "ndjson",
        [{"a": "\U0001f600"}, {"a": "\ufffd"}, HALF],
    ),
]

# The same with a limit of 10 characters.
LIMITED: list[tuple[str, str, str, list[Any]]] = [
    (
        "sse",
        "data: 1234567890\n\ndata: 12345678901\n\ndata:1\n\n",
        "sse",
        [1234567890, long("12345678901"), 1],
    ),
    (
        "sse",
        "data: 123456\ndata: 123456\ndata: 7\n\n",
        "sse",
        [long("123456\n123456\n7")],
    ),
    (
        "sse",
        f"data: {'7' * 300}\ndata:7\n\n:{'c' * 300}\ndata:1",
        "sse",
        [long("7" * 256), 1],
    ),
    ("sse", f"{'x' * 300}\ny\n\n", "sse", [long("x" * 256)]),
    ("sse", f"event: {'x' * 300}\ndata: 1\n\n", "sse", [("event", "x" * 256, 1)]),
    (
        "ndjson",
        '{"a":1234}{"a":12345}{}',
        "ndjson",
        [{"a": 1234}, long('{"a":12345}'), {}],
    ),
    ("ndjson", '{"a":123456}\n{}\n', "ndjson", [long('{"a":123456}'), {}]),
    ("ndjson", "{x" + "7" * 300 + "\n{}\n", "ndjson", [long("{x" + "7" * 254), {}]),
    ("ndjson", "[" * 12 + "]" * 12 + "\n{}", "ndjson", [long("[" * 12 + "]" * 12), {}]),
    ("json-array", "[12345678901,1]", "json-array", [long("12345678901"), 1]),
    (
        "json-array",
        "[" + "[" * 9 + "]" * 5 + ",1]",
        "json-array",
        [long("[" * 9 + "]" * 5), 1],
    ),
    (
        "json-array",
        "[x" + "[" * 9 + "]" * 5 + ",1]",
        "json-array",
        [long("x" + "[" * 9 + "]" * 5), 1],
    ),
    ("json-array", "[1] 12345678901", "json-array", [1, long(" 12345678901")]),
    ("auto", " " * 10 + "{}", "ndjson", [{}]),
    ("auto", " " * 11 + "{}", "text", [" " * 11 + "{}"]),
    ("text", "12345678901234567890", "text", ["12345678901234567890"]),
]

# Base64 that is not simply the encoding of a whole body: (framing, input, frames).
BASE64: list[tuple[str, str, list[Any]]] = [
    ("ndjson", "", []),
    ("ndjson", "eyJhIjoxfQ==eyJhIjoyfQ==", [{"a": 1}, {"a": 2}]),
    ("ndjson", " eyJ\nhIj oxf\tQ= =\n", [{"a": 1}]),
    ("ndjson", "eyJhIjoxfQ", [{"a": 1}]),
    ("ndjson", "eyJhIjoxfQ=", [{"a": 1}]),
    ("ndjson", "eyJhIjoxfSA", [{"a": 1}]),
    ("ndjson", "e30=e30=Z", [{}, {}, bad("Z")]),
    ("ndjson", "e30=!junk= e30=", [{}, bad("!junk="), {}]),
    ("ndjson", "e30=AB!CD {} e30=", [{}, bad("AB!CD"), bad("{}"), {}]),
    (
        "ndjson",
        "A=== =AAA AA=A e30== e30=",
        [bad("A==="), bad("=AAA"), bad("AA=A"), {}, bad("="), {}],
    ),
    ("text", "8J+YgPCf", ["\U0001f600\ufffd"]),
    ("text", "7+8=", ["\ufffd\ufffd"]),
    ("text", "77u/Qe+7vw==", ["\ufeffA\ufeff"]),
    ("text", "7aC9", ["\ufffd\ufffd\ufffd"]),
]


def read(chunks: list[Any], framing: str, limit: int, encoding: str = "utf-8") -> Any:
    """The framing decided and the frames, as the tables spell them."""
    framer = Framer(framing, encoding, limit=limit)
    frames = [frame for chunk in chunks for frame in framer.push(chunk)]
    frames += framer.close()
    assert framer.close() == []
    spelled = [spell(frame) for frame in frames]
    if framer.framing == "text":
        spelled = join_text(spelled)
    return framer.framing, spelled


def spell(frame: Document | DonePart | DiagnosticPart) -> Any:
    if isinstance(frame, DonePart):
        return DONE
    if isinstance(frame, DiagnosticPart):
        return (frame.code, frame.raw)
    return ("event", frame.event, frame.value) if frame.event else frame.value


def join_text(frames: list[Any]) -> list[Any]:
    text = "".join(frame for frame in frames if isinstance(frame, str))
    others = [frame for frame in frames if not isinstance(frame, str)]
    return [text, *others] if text else others


def cut(text: str, places: list[int]) -> list[str]:
    borders = sorted({0, len(text), *(place % (len(text) + 1) for place in places)})
    return [text[start:end] for start, end in pairwise(borders)]


def check(text: str, framing: str, limit: int, encoding: str, expected: Any) -> None:
    assert read([text], framing, limit, encoding) == expected
    assert read(list(text), framing, limit, encoding) == expected
    for place in range(len(text) + 1):
        chunks = [text[:place], text[place:]]
        assert read(chunks, framing, limit, encoding) == expected, chunks


def encoded(data: str) -> str:
    return base64.b64encode(data.encode()).decode()


TABLE = [(UNLIMITED, *case) for case in CASES] + [(10, *case) for case in LIMITED]


@pytest.mark.parametrize(("limit", "framing", "text", "decided", "frames"), TABLE)
def test_every_cut(
    limit: int, framing: str, text: str, decided: str, frames: list[Any]
) -> None:
    check(text, framing, limit, "utf-8", (decided, frames))
    if HALF not in frames and "\ud83d" not in text:
        check(encoded(text), framing, limit, "base64", (decided, frames))
        single = "".join(encoded(character) for character in text)
        assert read([single], framing, limit, "base64") == (decided, frames)


@pytest.mark.parametrize(("framing", "text", "frames"), BASE64)
def test_every_cut_of_base64(framing: str, text: str, frames: list[Any]) -> None:
    check(text, framing, UNLIMITED, "base64", (framing, frames))


def test_junk_over_the_limit_is_not_kept() -> None:
    raw = "!" * 300
    expected = ("text", ["{}", long("!" * 256)])
    check(f"e30= {raw}", "text", 10, "base64", expected)


def test_every_string_of_framing_json_is_a_document() -> None:
    chunks = [
        '{"a":1}',
        "\ufeff [1] ",
        "",
        " \n",
        "{}{}",
        "[DONE]",
        "1" * 11,
        '"\ud83d"',
    ]
    expected = [{"a": 1}, [1], bad("{}{}"), DONE, long("1" * 11), HALF, "\ufffd"]
    assert read(chunks, "json", 10) == ("json", expected)


def test_every_base64_string_of_framing_json_is_a_document() -> None:
    chunks = [encoded('{"a":"é"}').rstrip("="), encoded("[1]"), "!", ""]
    expected = [{"a": "é"}, [1], bad("!")]
    assert read(chunks, "json", UNLIMITED, "base64") == ("json", expected)


@pytest.mark.parametrize("framing", FRAMINGS)
def test_what_is_no_string_is_a_document(framing: str) -> None:
    values = [{"a": 1}, [1], 1, 1.5, True, None]
    assert read(values, framing, UNLIMITED) == (framing, values)


def test_documents_between_strings_leave_them_alone() -> None:
    chunks = ["da", {"a": 1}, "ta: ", None, "1\n\n", 2]
    assert read(chunks, "auto", UNLIMITED) == ("sse", [{"a": 1}, None, 1, 2])


def test_documents_come_with_their_last_character() -> None:
    for framing, chunks in {
        "ndjson": ['{"a":[1', "]}", "{}", " 1", " "],
        "json-array": ['[{"a":[1', "]}", ",{}", ",1", ","],
        "sse": ['data: {"a":[1', "]}\n\n", "data:{}\r\r", "data: 1\n", "\n"],
    }.items():
        framer = Framer(framing, limit=UNLIMITED)
        seen = [[spell(frame) for frame in framer.push(chunk)] for chunk in chunks]
        assert seen == [[], [{"a": [1]}], [{}], [], [1]], framing


def test_diagnostics_say_what_happened() -> None:
    framer = Framer("ndjson", limit=5)
    frames = [*framer.push('[1,2,3]\nx"\ud83d'), *framer.close()]
    assert frames == [
        DiagnosticPart(
            "document-limit",
            "A document of 7 characters was left out; 5 are allowed. raw is its"
            " beginning.",
            raw="[1,2,3]",
        ),
        DiagnosticPart(
            "surrogate-repaired",
            "Half characters without their partner became U+FFFD: 1.",
            severity="info",
        ),
        DiagnosticPart(
            "malformed-chunk", "Input that is not JSON was left out.", raw='x"\ufffd'
        ),
    ]


def test_oversize_text_is_not_held() -> None:
    held = Held(1000)
    for _ in range(500):
        held.add("x" * 10)
    assert held.size == 5000
    assert sum(map(len, held.pieces)) == 256


# --- Properties -----------------------------------------------------------------------

FRAGMENTS = [
    *("data:", "data: ", "event: x", "id: 1", "retry:", ": c", "undefined", ":"),
    "error: {",
    *("\r", "\n", "\r\n", "\n\n", " ", "\t", "\ufeff", "[DONE]", "DONE", "é", "€"),
    *("{", "}", "[", "]", ",", '"', "\\", "\\u00", "e9", '"a":', '{"a":1}', '{"b":'),
    *("0", "1", "-", ".", "5e", "+", "true", "nul", "NaN", "-Infinity", "x"),
    "\U0001f600",
]
HALVES = ["\ud83d", "\ude00"]
OTHERS = ("json", "aws-eventstream")  # a document a string, and bytes
STRING_FRAMINGS = [framing for framing in FRAMINGS if framing not in OTHERS]
framings = st.sampled_from(STRING_FRAMINGS)
limits = st.sampled_from([4, 20, UNLIMITED])
places = st.lists(st.integers(0, 10_000), max_size=8)
fixed = settings(derandomize=True, max_examples=300, deadline=None)


@fixed
@given(framings, limits, st.lists(st.sampled_from(FRAGMENTS + HALVES)), places)
def test_any_cut_gives_the_same(
    framing: str, limit: int, fragments: list[str], cuts: list[int]
) -> None:
    text = "".join(fragments)
    whole = read([text], framing, limit)
    assert read(cut(text, cuts), framing, limit) == whole
    assert read(list(text), framing, limit) == whole
    assert read(fragments, framing, limit) == whole


@fixed
@given(framings, limits, st.lists(st.sampled_from(FRAGMENTS)), places)
def test_base64_is_the_same_text(
    framing: str, limit: int, fragments: list[str], cuts: list[int]
) -> None:
    text = "".join(fragments)
    whole = read([text], framing, limit)
    assert read(cut(encoded(text), cuts), framing, limit, "base64") == whole
    assert read([*map(encoded, fragments)], framing, limit, "base64") == whole


@fixed
@given(limits, st.text("AZaz09+/==!é \n", max_size=40), places)
def test_any_cut_of_any_base64_gives_the_same(
    limit: int, text: str, cuts: list[int]
) -> None:
    whole = read([text], "text", limit, "base64")
    assert read(cut(text, cuts), "text", limit, "base64") == whole
    assert read(list(text), "text", limit, "base64") == whole


@fixed
@given(st.binary(max_size=40), places)
def test_any_bytes_are_text(data: bytes, cuts: list[int]) -> None:
    text = data.decode("utf-8", "replace")
    chunks = cut(base64.b64encode(data).decode(), cuts)
    assert read(chunks, "text", 10, "base64") == ("text", [text] if text else [])


@fixed
@given(st.sampled_from("{["), st.lists(st.sampled_from(FRAGMENTS)))
def test_the_scanner_accepts_what_the_reader_accepts(
    opener: str, fragments: list[str]
) -> None:
    """One line that starts as a document is one exactly if it can be read as JSON."""
    text = opener + "".join(fragments).translate(str.maketrans("\r\n", "  ")).rstrip()
    try:
        expected = [loads(text)]
    except ValueError:
        expected = None
    _, frames = read(list(text), "ndjson", UNLIMITED)
    if expected is not None:
        assert frames == expected
    else:
        assert len(frames) > 1 or frames in ([DONE], [bad(text)])


scalars = st.none() | st.booleans() | st.integers(-9, 9999) | st.floats(-9, 9)
strings = st.text('ab"\\/{}[],:\n\té\U0001f600', max_size=6)
values = st.recursive(
    scalars | strings,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(strings, inner, max_size=3)
    ),
    max_leaves=8,
)
documents = st.lists(st.dictionaries(strings, values, max_size=3), max_size=4)
indents = st.sampled_from([None, 0, 2])
LAYOUTS = {
    "ndjson": ("", "\n", ""),
    "json-array": ("[", "\n,\r\n", "]"),
    "sse": ("data: ", "\n\ndata: ", "\n\n"),
}


@fixed
@given(st.sampled_from([*LAYOUTS]), documents, indents, st.booleans(), places)
def test_documents_survive(
    framing: str, items: list[Any], indent: int | None, escaped: bool, cuts: list[int]
) -> None:
    """Whatever the layout of the JSON is and wherever it is cut."""
    start, between, end = LAYOUTS[framing]
    texts = [json.dumps(item, indent=indent, ensure_ascii=escaped) for item in items]
    if framing == "sse":
        texts = [text.replace("\n", "\ndata: ") for text in texts]
    body = start + between.join(texts) + end
    assert read(cut(body, cuts), framing, UNLIMITED) == (framing, items)


@fixed
@given(documents, st.lists(st.sampled_from(["\n", " ", "\r\n", ""]), min_size=4))
def test_nothing_between_documents_matters(items: list[Any], gaps: list[str]) -> None:
    body = "".join(
        gap + json.dumps(item) for item, gap in zip(items, gaps, strict=False)
    )
    assert read(list(body), "ndjson", UNLIMITED) == ("ndjson", items)
