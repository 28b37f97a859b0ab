"""Lines of a log that are no JSON: what happened to them, and what is left of them.

A run that ends, a full disk or two writers leave lines that no agent reads: a record
that is *cut* off, records that are *glued* together in one line, a raw *break* (or
another control character) in a string, so that a record goes over several lines, *nul*
bytes, a *bom*. `read_lines` finds them, with bounded memory, and `Damage.mended` gives
the text that can be read. What is complete stays byte for byte; what is cut off is
taken out, and never completed. Everything else is *no-json*, and stays. Pure.
"""

from __future__ import annotations

import json
import re
from collections import deque
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from stream_sidecar import patterns
from stream_sidecar.records import define, field, frozen
from stream_sidecar.values.jsontext import decode_utf8, loads

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

Look: TypeAlias = Literal["cut", "glued", "break", "nul", "bom", "no-json"]

_Lines: TypeAlias = "Callable[[], Iterator[bytes]]"

_Bytes: TypeAlias = tuple[int, int]
"""``(start, end)``, in bytes."""

MOST_LINES = 4096
"""The most lines that one record goes over."""

MOST_BYTES = 1 << 24
"""The most bytes of the lines that one record goes over."""

_MOST_OPENINGS = 1024
"""The most objects in a line that are tried as the beginning of a further record."""

_MOST_SHAPES = 256

_BOM = b"\xef\xbb\xbf"
_NUL = "\0"

_SENTENCES: dict[Look, str] = {
    "cut": "The record is cut off",
    "glued": "A further record begins in the middle of the line",
    "break": "A string has a raw line break or another control character",
    "nul": "The line has NUL bytes",
    "bom": "The line begins with a byte order mark",
    "no-json": "The line is no JSON",
}
_LOSS = "what is incomplete is taken out and stays in the backup only"


@frozen
class Damage:
    """What is wrong with ``data``, a line or the lines of one record, with their ends.

    ``start``: where it shows, in bytes. ``kept``: the complete records in it.
    ``whole``: the whole text as JSON, if only characters had to be escaped."""

    look: Look
    data: bytes
    line: int
    start: int
    kept: tuple[_Bytes, ...] = ()
    whole: bytes | None = None

    @property
    def loses(self) -> bool:
        """Whether a mend takes something out that may have been a record's text."""
        if self.whole is not None or self.look in ("bom", "no-json"):
            return False
        rest = bytearray(self.data)
        for start, end in reversed(self.kept):
            del rest[start:end]
        return bool(rest.removeprefix(_BOM).strip(b"\0 \t\r\n"))

    @property
    def sentence(self) -> str:
        """What is wrong, without a full stop."""
        return _SENTENCES[self.look]

    @property
    def message(self) -> str:
        """What is wrong, and what a mend of the file takes out, without a full stop."""
        return f"{self.sentence}; {_LOSS}" if self.loses else self.sentence

    @property
    def place(self) -> dict[str, int]:
        """The span from where the damage shows to the end of its lines, as reports have
        it: lines and columns from 1, columns in code points."""
        line, column = self._point(self.start)
        end_line, end_column = self._point(len(self.data.rstrip(b"\r\n")))
        begin = {"line": line, "column": column}
        return {**begin, "endLine": end_line, "endColumn": max(end_column, 1)}

    def _point(self, offset: int) -> tuple[int, int]:
        before = self.data[:offset]
        begin = before.rfind(b"\n") + 1
        column = len(before[begin:].decode("utf-8", "replace")) + 1
        return self.line + before.count(b"\n"), column

    def mended(self, *, keeps_length: bool = False) -> bytes | None:
        """The lines that take the place of ``data``, each a record; empty if none is
        left. With ``keeps_length``, blanks stand for what is taken out, and blanks of
        the records go for what is added; a byte more may stay. None if there is no such
        text."""
        if self.look == "no-json":
            return None
        size = len(self.data.rstrip(b"\r\n"))
        ending = self.data[size:]
        apart = b"".join(self.data[s:e] + (ending or b"\n") for s, e in self.kept)
        mended = apart if self.whole is None else self.whole
        if not keeps_length:
            return mended
        padded = self._padded(size, ending) if self.whole is None else None
        return padded or _of_length(mended, len(self.data))

    def _padded(self, size: int, ending: bytes) -> bytes | None:
        """As long as ``data``, each record in its place. None if two of them touch: a
        line break needs a byte between them."""
        text, previous = bytearray(b" " * size), 0
        for start, end in self.kept:
            if previous:
                if start == previous:
                    return None
                text[previous] = ord("\n")
            text[start:end] = self.data[start:end]
            previous = end
        if previous and previous < size and not ending:
            text[previous] = ord("\n")
        return bytes(text) + ending


def _of_length(records: bytes, length: int) -> bytes | None:
    """The lines of JSON with more blanks at the end, or without the first ones outside
    strings. One byte may be too many: what points behind the lines then points at the
    line break before. None if there are more."""
    spare = length - len(records)
    if spare >= 0:
        end = len(records.rstrip(b"\r\n"))
        return records[:end] + b" " * spare + records[end:]
    blanks = (m.start() for m in _TOKENS.finditer(records) if m[0] == b" ")
    cuts = [*islice(blanks, -spare)]
    pieces = pairwise([-1, *cuts, len(records)])
    shorter = b"".join(records[start + 1 : end] for start, end in pieces)
    return shorter if len(shorter) <= length + 1 else None


@frozen
class ReadLine:
    """A line, or the lines of one damaged record, as they stand. ``number``: of the
    first one. ``value``: of JSON; None for a blank line and where ``damage`` says that
    there is none."""

    number: int
    data: bytes
    value: Any = None
    damage: Damage | None = None


def read_lines(lines: Iterable[bytes], first_line: int = 1) -> Iterator[ReadLine]:
    """The lines of a log, all of them and in order, each with its end."""
    source, waiting = iter(lines), deque[bytes]()
    shapes, number = _Shapes(), first_line

    def following() -> Iterator[bytes]:
        """The next lines, which stay: the waiting ones first."""
        yield from tuple(waiting)
        for line in source:
            waiting.append(line)
            yield line

    while (data := waiting.popleft() if waiting else next(source, None)) is not None:
        read = _read(data, number, shapes, following)
        further = len(read.data) - len(data)
        while further:
            further -= len(waiting.popleft())
        yield read
        number += max(read.data.count(b"\n"), 1)


@define
class _Shapes:
    """How the records of a log begin, and which members they have."""

    first_names: set[str] = field(factory=set)
    names: set[frozenset[str]] = field(factory=set)

    def add(self, value: Any) -> None:
        if isinstance(value, dict) and value and len(self.names) < _MOST_SHAPES:
            self.first_names.add(next(iter(value)))
            self.names.add(frozenset(value))


def _read(data: bytes, number: int, shapes: _Shapes, following: _Lines) -> ReadLine:
    if not data.strip(b" \t\r\n"):
        return ReadLine(number, data)
    try:
        value = _value(data)
    except (ValueError, RecursionError):
        damage = _broken(data, number, shapes, following)
        return ReadLine(number, damage.data, None, damage)
    shapes.add(value)
    if not data.startswith(_BOM):
        return ReadLine(number, data, value)
    kept = ((len(_BOM), len(data.rstrip(b"\r\n"))),)
    return ReadLine(number, data, value, Damage("bom", data, number, 0, kept))


def _value(data: bytes) -> Any:
    """The value of JSON in UTF-8, which may have halves of characters."""
    try:
        return decode_utf8(data)
    except UnicodeDecodeError:
        return loads(data.decode("utf-8", "surrogatepass").removeprefix("\ufeff"))


def _broken(data: bytes, number: int, shapes: _Shapes, following: _Lines) -> Damage:
    """The damage of a line that is no JSON."""
    joined = _joined(data, following)
    if joined is not None and (whole := _escaped(joined)) is not None:
        return _raw_break(joined, whole, number)
    return _taken_apart(data, number, shapes)


def _raw_break(data: bytes, whole: bytes, number: int) -> Damage:
    """The damage of data in which characters had to be escaped."""
    pairs = enumerate(zip(data, whole, strict=False))
    start = next(at for at, (old, new) in pairs if old != new)
    return Damage("break", data, number, start, whole=whole)


_TOKENS = patterns.compile(rb'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)| ', re.DOTALL)

# A record that goes over several lines.

_QUOTES = patterns.compile(rb'\\.|"', re.DOTALL)  # DOTALL
_STRING = patterns.compile(r'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)', re.DOTALL)
"""A string, or what is left of one: without its end it is searched once, too."""
_CONTROL = patterns.compile(r"[\x00-\x1f]")


def _joined(data: bytes, following: _Lines) -> bytes | None:
    """The line with those that complete its last string; None if nothing does."""
    if not data.lstrip(b" \t").removeprefix(_BOM).startswith(b"{"):
        return None
    if not _changes_string(data):
        return data
    lines, size = [data], len(data)
    for line in islice(following(), MOST_LINES):
        size += len(line)
        if size > MOST_BYTES or _is_record(line):
            return None
        lines.append(line)
        if _changes_string(line):
            return b"".join(lines)
    return None


def _changes_string(line: bytes) -> bool:
    """Whether a string that is open before the line is closed after it, or the other
    way round."""
    return _QUOTES.findall(line).count(b'"') % 2 == 1


def _is_record(line: bytes) -> bool:
    """Whether the line is an object with members. An empty one may be code."""
    try:
        value = _value(line) if line.lstrip().startswith(b"{") else None
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and bool(value)


def _escaped(data: bytes) -> bytes | None:
    """``data`` with the control characters in its strings escaped; None if it is no
    JSON then, or nothing was escaped."""
    text = _STRING.sub(_escape_all, data.decode("latin-1"))
    escaped = text.encode("latin-1")
    if len(escaped) == len(data):
        return None
    try:
        return escaped if _value(escaped.removeprefix(_BOM)) else None
    except (ValueError, RecursionError):
        return None


def _escape_all(string: re.Match[str]) -> str:
    return _CONTROL.sub(lambda match: json.dumps(match[0])[1:-1], string[0])


# The records in one line. A character stands for a byte, for JSON's own are ASCII.

_BLANK = patterns.compile(r"[ \t\r\n\x00]*")
_OPENING = patterns.compile(r'\{[ \t]*"(?=([^"\\]*+)")')
_WORD = patterns.compile(r"(?:t(?:ru?)?|f(?:a(?:ls?)?)?|n(?:ul?)?|-)?")
"""What a line may end with where a value is cut off, other than in a string."""

_ESCAPE = patterns.compile(r"\\(?:u[0-9a-fA-F]{0,4})?\Z")

_NEAR = 8
"""An error shows at most so many bytes before the record that causes it."""

_DECODER = json.JSONDecoder()


def _taken_apart(data: bytes, number: int, shapes: _Shapes) -> Damage:
    text = data.rstrip(b"\r\n").decode("latin-1")
    begin = _BLANK.match(text, len(_BOM) if data.startswith(_BOM) else 0)
    assert begin is not None
    apart = _Apart(text, data, shapes, _NUL in text)
    apart.read(begin.end())
    kept = tuple(apart.kept)
    if _NUL in text:
        return Damage("nul", data, number, text.index(_NUL), kept)
    if apart.foreign is not None:
        return Damage("no-json", data, number, apart.foreign)
    if kept and apart.further:
        return Damage("glued", data, number, apart.further, kept)
    return Damage("cut", data, number, len(text))


@define
class _Apart:
    """The records in the ``text`` of a line. ``further``: where the first one begins
    that does not begin the line. ``foreign``: where something is that is no record."""

    text: str
    data: bytes
    shapes: _Shapes
    has_nul: bool
    kept: list[_Bytes] = field(factory=list)
    further: int | None = None
    foreign: int | None = None

    def read(self, index: int) -> None:
        first = index
        while index < len(self.text):
            if index > first and self.further is None:
                self.further = index
            error = self._error(index)
            if error is None:
                index = self._skip(self.kept[-1][1])
                continue
            following = self._following(index, error)
            if following is None:
                if not self._is_cut(index, error):
                    self.foreign = error
                return
            index = following

    def _error(self, index: int) -> int | None:
        """Where the record at ``index`` is broken; None if it was kept."""
        if self.text[index] != "{":
            return index
        try:
            _, end = _DECODER.raw_decode(self.text, index)
            self.data[index:end].decode("utf-8", "surrogatepass")
        except json.JSONDecodeError as error:
            return len(self.text) if self._is_open(error) else error.pos
        except (ValueError, RecursionError):
            return index
        self.kept.append((index, end))
        return None

    def _is_open(self, error: json.JSONDecodeError) -> bool:
        """Whether the text ends within a string."""
        if error.msg.startswith("Unterminated string"):
            return True
        escape = _ESCAPE.search(self.text, max(len(self.text) - _NEAR, 0))
        return escape is not None and error.pos >= escape.start()

    def _skip(self, index: int) -> int:
        blank = _BLANK.match(self.text, index)
        assert blank is not None
        return blank.end()

    def _is_cut(self, index: int, error: int) -> bool:
        """Whether the text from ``index`` on is the beginning of a record."""
        if self.text[index] != "{":
            return False
        return _WORD.fullmatch(self.text, error) is not None

    def _following(self, index: int, error: int) -> int | None:
        """Where the next complete record begins, after one that is broken at
        ``error``. Where the end of the line breaks it, a record is one only if it has
        the members of another record: it may be a part of the broken one."""
        if self.text[index] != "{" and not self.has_nul:
            return None
        near = max(index + 1, error - _NEAR)
        openings = [*islice(self._openings(index), _MOST_OPENINGS)]
        for start in openings:
            if start >= near and self._ends(start):
                return start
        for start in openings:
            if frozenset(self._ends(start) or ()) in self.shapes.names:
                return start
        return next((at for at in openings if near <= at <= error + _NEAR), None)

    def _openings(self, index: int) -> Iterator[int]:
        """Where an object may begin a record, behind ``index``: its first name is that
        of a record, or NUL bytes are before it."""
        own = _OPENING.match(self.text, index)
        names = self.shapes.first_names | ({own[1]} if own else set())
        for opening in _OPENING.finditer(self.text, index + 1):
            start = opening.start()
            if opening[1] in names or self.text[start - 1] == _NUL:
                yield start

    def _ends(self, start: int) -> dict[str, Any] | None:
        """The object at ``start``, if the line ends with it or a record follows."""
        try:
            value, end = _DECODER.raw_decode(self.text, start)
        except (ValueError, RecursionError):
            return None
        rest = self._skip(end)
        is_last = rest == len(self.text) or self.text[rest] == "{"
        return value if is_last else None


# A whole document.

_MARKS = patterns.compile(rb'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)|[\[\]{},]', re.DOTALL)
_CLOSERS = {b"[": b"]", b"{": b"}"}


def read_document(data: bytes) -> ReadLine | None:
    """A document that is no JSON, with its damage: raw control characters in strings,
    or its end is missing. Then its ``value`` is what is complete, to say whose it is.
    None if it has other damage."""
    if (whole := _escaped(data)) is not None:
        return ReadLine(1, data, _value(whole), _raw_break(data, whole, 1))
    end, open_brackets = 0, list[bytes]()
    for mark in _MARKS.finditer(data):
        if mark[0] in _CLOSERS:
            open_brackets.append(_CLOSERS[mark[0]])
        elif mark[0] in (b"]", b"}"):
            if not open_brackets or open_brackets.pop() != mark[0]:
                return None
        elif mark[0] != b",":
            continue
        end = mark.end() - (mark[0] == b",")
    try:
        value = _value(data[:end] + b"".join(reversed(open_brackets)))
    except (ValueError, RecursionError):
        return None
    if not open_brackets:
        return None
    return ReadLine(1, data, value, Damage("cut", data, 1, len(data.rstrip())))


# Halves of characters.

_HALF = patterns.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    rb"|(\\u[dD][89a-fA-F][0-9a-fA-F]{2}|\xed[\xa0-\xbf][\x80-\xbf])|\\.",
    re.DOTALL,
)


def without_halves(data: bytes) -> bytes:
    """JSON text with U+FFFD in place of each half of a character, in the same length:
    an escape stays one."""
    return _HALF.sub(_replacement, data)


def _replacement(match: re.Match[bytes]) -> bytes:
    if match[1] is None:
        return match[0]
    return b"\\ufffd" if match[1].startswith(b"\\") else b"\xef\xbf\xbd"
