"""Lines that are no JSON: what is said of them, and what takes their place."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream_sidecar.session_files.damage import Damage, read_lines, without_halves

A = b'{"time": 1, "type": "user", "part": {"type": "text", "text": "Gr\xc3\xbcn"}}'
B = b'{"time": 2, "type": "user", "part": {"type": "text", "text": "b"}}'
C = b'{"type": "summary", "text": "c"}'

MENDS = {
    "cut off in a string": (A[:-8] + b"\n" + B, "cut", (1, 63), b"", None),
    "cut off in a character": (A[:63] + b"\n" + B, "cut", (1, 64), b"", None),
    "cut off behind an inner object": (A[:-1] + b"\n" + B, "cut", (1, 69), b"", None),
    "cut off in a word": (b'{"time": nul\n' + B, "cut", (1, 13), b"", None),
    "cut off in an escape": (b'{"text": "\\ud8\n' + B, "cut", (1, 15), b"", None),
    "two records, both cut off": (A[:-8] + B[:-8] + b"\n", "cut", (1, 121), b"", None),
    "cut off behind an escape": (b'{"text": "\\u0000\n', "cut", (1, 17), b"", None),
    "cut off at the end of the file": (b'{"time": 1, "t', "cut", (1, 15), b"", None),
    "two whole records": (A + B + b"\n", "glued", (1, 70), A + b"\n" + B + b"\n", None),
    "half a record behind two": (
        A + B + C[:9] + b"\n",
        "glued",
        (1, 70),
        A + b"\n" + B + b"\n",
        None,
    ),
    "two records without a blank": (
        b'{"time":1}{"time":2}\n',
        "glued",
        (1, 11),
        b'{"time":1}\n{"time":2}\n',
        b'{"time":1}\n{"time":2}\n',
    ),
    "three records without a blank": (
        b'{"time":1}{"time":2}{"time":3}\n',
        "glued",
        (1, 11),
        b'{"time":1}\n{"time":2}\n{"time":3}\n',
        0,
    ),
    "a blank between two": (
        A + b" " + B + b"\n",
        "glued",
        (1, 71),
        A + b"\n" + B + b"\n",
        A + b"\n" + B + b"\n",
    ),
    "a record behind half a string": (
        A[:-8] + B + b"\r\n",
        "glued",
        (1, 63),
        B + b"\r\n",
        None,
    ),
    "a record behind half a name": (
        C + b"\n" + A + b"\n" + b'{"ti' + B,
        "glued",
        (3, 5),
        B + b"\n",
        None,
    ),
    "a record behind half a first member": (
        C + b"\n" + A + b"\n" + A[:44] + B,
        "glued",
        (3, 45),
        B + b"\n",
        None,
    ),
    "a record behind a cut record": (
        A + b"\n" + b'{"time": 3, "part": ' + B,
        "glued",
        (2, 21),
        B + b"\n",
        None,
    ),
    "half a record behind a whole one": (A + B[:9], "glued", (1, 70), A + b"\n", None),
    "a line break in a string": (
        b'{"text": "a\nb"}\n' + B,
        "break",
        (1, 12),
        b'{"text": "a\\nb"}\n',
        None,
    ),
    "blank lines in a string": (
        b'{"text": "a\r\n\n{}"}\n' + B,
        "break",
        (1, 12),
        b'{"text": "a\\r\\n\\n{}"}\n',
        0,
    ),
    "a tabulator in a string": (
        b'{"text": "a\tb"}',
        "break",
        (1, 12),
        b'{"text": "a\\tb"}',
        None,
    ),
    "a tail of NULs": (A + b"\n" + b"\0" * 9, "nul", (2, 1), b"", None),
    "NULs behind a record": (A + b"\0\0", "nul", (1, 70), A + b"\n", A + b"\n "),
    "NULs before a record": (b"\0\0" + B + b"\n", "nul", (1, 1), B + b"\n", None),
    "NULs in place of an end": (
        A[:20] + b"\0\0" + B,
        "nul",
        (1, 21),
        B + b"\n",
        None,
    ),
    "NULs in place of a beginning": (b"\0\0" + A[9:], "nul", (1, 1), b"", None),
    "a byte order mark": (
        b"\xef\xbb\xbf" + A + b"\n" + B,
        "bom",
        (1, 1),
        A + b"\n",
        None,
    ),
}
"""Name -> the log, what its one damage looks like, its line and column, what takes its
place, and the same where lines keep their length: None if only blanks differ, 0 if
there is no such text."""


@pytest.mark.parametrize("name", MENDS)
def test_damage_is_found_and_mended(name: str) -> None:
    log, look, place, mended, same_length = MENDS[name]
    (damage,) = damages(log)
    assert (damage.look, damage.place["line"], damage.place["column"]) == (look, *place)
    assert damage.mended() == mended
    padded = damage.mended(keeps_length=True)
    if same_length == 0:
        assert padded is None
    else:
        assert padded is not None
        assert len(padded) - len(damage.data) == ("without a blank" in name)
        assert [*map(json.loads, _lines(padded))] == [*map(json.loads, _lines(mended))]
        assert same_length in (None, padded)


@pytest.mark.parametrize(
    "line",
    [
        b"plain words",
        b'{"text": "he said "no" to {"a": 1}"}',
        b'{"time": 1} and more',
        b'{"time": x}',
        b'INFO {"time": 1}',
        b'{"time": "\xff"}',
        b'"time": 1}',
    ],
)
def test_what_is_no_record_stays(line: bytes) -> None:
    (damage,) = damages(B + b"\n" + line + b"\n" + C + b"\n")
    assert (damage.look, damage.line) == ("no-json", 2)
    assert damage.mended() is None


def test_what_is_lost_is_said() -> None:
    losing = {name for name, (log, *_) in MENDS.items() if damages(log)[0].loses}
    assert losing == {
        name
        for name in MENDS
        if name.startswith(("cut off", "two records,", "NULs in place"))
        or "a record behind" in name
        or "half a record" in name
    }


@pytest.mark.parametrize(
    "log", [b"", b"\n", A, A + b"\n\n" + B + b"\r\n", b"[]\n1\n", b'{"a": "\\ud83d"}\n']
)
def test_whole_lines_are_quiet(log: bytes) -> None:
    assert damages(log) == []


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        (rb'"\ud83d"', rb'"\ufffd"'),
        (rb'"\ude00\ud83d\ude00"', rb'"\ufffd\ud83d\ude00"'),
        (rb'"\\ud83d"', rb'"\\ud83d"'),
        (rb'"\\\ud83d"', rb'"\\\ufffd"'),
        (b'"\xed\xa0\xbd"', b'"\xef\xbf\xbd"'),
        ('"\U0001f600\ud7ff"'.encode(), '"\U0001f600\ud7ff"'.encode()),
    ],
)
def test_halves_are_replaced_in_the_same_length(text: bytes, whole: bytes) -> None:
    assert without_halves(text) == whole
    assert len(whole) == len(text)


values = st.recursive(
    st.none() | st.integers() | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner)
    ),
    max_leaves=8,
)
records = st.dictionaries(st.sampled_from("abc"), values, min_size=1)
logs = st.lists(records, min_size=1, max_size=5).map(
    lambda made: b"".join(json.dumps(each).encode() + b"\n" for each in made)
)


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """A log in which a part is missing, repeated, or replaced by other bytes."""
    log = draw(logs)
    start = draw(st.integers(0, len(log)))
    end = draw(st.integers(start, len(log)))
    between = (
        b"",
        b"\0" * 4,
        b"\n",
        log[start:end] * 2,
        b'"',
        b"\xef\xbb\xbf",
        b"\xff",
    )
    return log[:start] + draw(st.sampled_from(between)) + log[end:]


@given(damaged())
def test_every_line_comes_back_and_every_mend_can_be_read(log: bytes) -> None:
    read = [*read_lines(log.splitlines(keepends=True))]
    assert b"".join(line.data for line in read) == log
    for damage in damages(log):
        mended = damage.mended()
        padded = damage.mended(keeps_length=True)
        assert padded is None or len(padded) - len(damage.data) in (0, 1)
        for text in (mended, padded):
            assert text is None or all(json.loads(line) for line in _lines(text))


@given(damaged())
def test_a_mended_log_is_whole(log: bytes) -> None:
    mended = b"".join(_mended(log))
    assert all(each.look == "no-json" for each in damages(mended))


def _mended(log: bytes) -> Iterator[bytes]:
    for line in read_lines(log.splitlines(keepends=True)):
        mended = line.damage.mended() if line.damage else None
        yield line.data if mended is None else mended


def _lines(text: bytes) -> list[bytes]:
    return [line for line in text.split(b"\n") if line.strip()]


def damages(log: bytes) -> list[Damage]:
    lines = log.splitlines(keepends=True)
    return [line.damage for line in read_lines(lines) if line.damage]
