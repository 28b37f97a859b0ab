"""JSON documents in a row, or in an array, out of any slices of text.

- `SequenceReader` (``ndjson``): documents, with or without white space between and
  inside them. A document is broken at the first character that JSON does not allow
  there; it then ends at the next line break. Bare scalars end at white space.
- `ArrayReader` (``json-array``): one array. A broken element ends (1) where its
  brackets balance again, (2) where a line begins with ``{``, ``,`` or ``]``, or (3)
  outside brackets, before ``,`` or ``]``. A string in it ends at the end of its line at
  the latest. An object before the array is a document, too (an error body). Other text
  before the array, and all text after it, is reported as a whole.

``push(text)`` and ``close()`` return frames; a document is returned with its last
character. Time is linear in the input.
"""

from __future__ import annotations

from itertools import pairwise
from string import digits, hexdigits
from typing import TYPE_CHECKING, ClassVar

from stream_sidecar import patterns
from stream_sidecar.framing.frames import Frame, Held, diagnostic_of, frames_of
from stream_sidecar.parts import Document
from stream_sidecar.values.jsontext import loads

if TYPE_CHECKING:
    import re

_BLANKS = " \t\n\r"


class SequenceReader:
    """JSON documents one after the other."""

    framing = "ndjson"
    _separators = _BLANKS
    _separator_run = patterns.compile(r"[ \t\n\r]*+")
    _document_run = patterns.compile(r"[^\r\n]*+")
    _scanner_states: ClassVar = ("bare", "line")

    def __init__(self, limit: int, kept: int) -> None:
        self._held = Held(limit, kept)
        self._scanner: _Scanner | None = None
        self._tried_until = 0

    @property
    def idle(self) -> bool:
        """Whether the reader is between two documents."""
        return self._scanner is None

    def push(self, text: str) -> list[Frame]:
        frames: list[Frame] = []
        index = self._tried_until = 0
        while index < len(text):
            if self._scanner is None:
                index = self._begin_document(text, index, frames)
            else:
                index = self._scan_document(self._scanner, text, index, frames)
        return frames

    def close(self) -> list[Frame]:
        return self._end_document() if self._scanner else []

    def _begin_document(self, text: str, index: int, frames: list[Frame]) -> int:
        """Starts the next document, or reads it whole. Returns the position after what
        was read.

        Mostly a line (in an array: a chunk) has one whole object. That is tried once,
        before the scanner reads every token.
        """
        index = end_of(self._separator_run, text, index)
        if index >= self._tried_until and text.startswith("{", index):
            self._tried_until = end_of(self._document_run, text, index)
            document = text[index : self._tried_until].rstrip(self._separators)
            if document.endswith("}") and len(document) <= self._held.limit:
                try:
                    frames.append(Document(loads(document)))
                    return self._tried_until
                except ValueError:
                    pass
        if index < len(text):
            self._scanner = _Scanner(*self._scanner_states, self._held.limit)
        return index

    def _scan_document(
        self, scanner: _Scanner, text: str, start: int, frames: list[Frame]
    ) -> int:
        end = scanner.scan(text, start)
        self._held.add(text[start:end])
        if scanner.state == "whole":
            frames += self._end_document()
        return end

    def _end_document(self) -> list[Frame]:
        self._scanner = None
        return frames_of(self._held.take())


class ArrayReader(SequenceReader):
    """The elements of one array: documents with or without a comma between them."""

    framing = "json-array"
    idle = False  # the next string depends on the brackets before it
    _separators = _BLANKS + ","
    _separator_run = patterns.compile(r"[ \t\n\r,]*+")
    _document_run = patterns.compile(r"(?s:.*+)")
    _scanner_states: ClassVar = ("element", "nested")
    _brackets: ClassVar = {"before": ("[", "inside"), "inside": ("]", "outside")}

    def __init__(self, limit: int, kept: int) -> None:
        super().__init__(limit, kept)
        self._place = "before"

    def close(self) -> list[Frame]:
        if self._place != "outside":
            return super().close()
        text = self._held.take()
        if isinstance(text, str) and not (text := text.strip(_BLANKS)):
            return []
        return [diagnostic_of(text, "Text outside the array")]

    def _begin_document(self, text: str, index: int, frames: list[Frame]) -> int:
        if self._place == "outside":
            self._held.add(text[index:])
            return len(text)
        index = end_of(self._separator_run, text, index)
        sign = text[index : index + 1]
        bracket, place = self._brackets[self._place]
        if sign == bracket:
            self._place = place
            return index + 1
        if self._place == "before" and sign not in ("", "{"):
            self._place = "outside"
            return index
        return super()._begin_document(text, index, frames)


def end_of(run: re.Pattern[str], text: str, start: int) -> int:
    match = run.match(text, start)
    return match.end() if match else start


_SPACE = r"[ \t\n\r]*+"
_STRING = r'(?:[^"\\\x00-\x1f]++|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+'
_NUMBER = r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?"
_SCALAR = rf'(?:"{_STRING}"|{_NUMBER}|true|false|null)(?={_SPACE}[,}}\]])'
_ITEM = rf"{_SPACE},{_SPACE}{_SCALAR}"
_MEMBER = rf'{_SPACE},{_SPACE}"{_STRING}"{_SPACE}:{_SPACE}{_SCALAR}'

_RUN_OF_STATE = {
    state: patterns.compile(run)
    for states, run in (
        ("start value first-value first-name next-name colon", _SPACE),
        ("name string", _STRING),
        ("integer fraction power", "[0-9]*+"),
        ("in-array", f"(?:{_ITEM})*+{_SPACE}"),
        ("in-object", f"(?:{_MEMBER})*+{_SPACE}"),
        ("line", r"[^\r\n]*+"),
        ("nested", r'[^"{}[\]\r\n]*+'),
        ("loose", r'[^"{[\],\r\n]*+'),
        ("quoted", r'[^"\\\r\n]*+'),
        ("margin", r"[\r\n]*+"),
    )
    for state in states.split()
}
"""State -> all that it reads in one step; in a container also whole members with
scalars."""

_DIGIT_MOVES = {"0": "zero"} | dict.fromkeys("123456789", "integer")
_EXPONENT_MOVES = dict.fromkeys("eE", "exponent")
_FIRST_BLANK_MOVES = dict.fromkeys(_BLANKS, "first-value")
_LITERALS = ("true", "false", "null", "NaN", "Infinity")
_VALUE_MOVES = (
    {'"': "string", "-": "minus", "{": "{", "[": "["}
    | _DIGIT_MOVES
    | {word[0]: word[1:] for word in _LITERALS}
)
_LINE_BREAK_MOVES = dict.fromkeys("\r\n", "margin")
_JUNK_MOVES = {'"': "quoted"} | _LINE_BREAK_MOVES | dict.fromkeys("{[", "deeper")


def _string_moves(string: str, end_state: str) -> dict[str, dict[str, str]]:
    """The moves in a string, cut anywhere, up to ``end_state``."""
    states = [f"{string}-hex{digits_left}" for digits_left in (4, 3, 2, 1)] + [string]
    return {
        string: {'"': end_state, "\\": f"{string}-escape"},
        f"{string}-escape": dict.fromkeys('"\\/bfnrt', string) | {"u": states[0]},
        **{state: dict.fromkeys(hexdigits, then) for state, then in pairwise(states)},
    }


_MOVES: dict[str, dict[str, str]] = {
    "start": _VALUE_MOVES | {"[": "[DONE]"},
    "value": _VALUE_MOVES,
    "first-value": _VALUE_MOVES | {"]": "close"},
    "first-or-done": _VALUE_MOVES | {"]": "close", "D": "ONE"} | _FIRST_BLANK_MOVES,
    "in-array": {",": "value", "]": "close"},
    "first-name": {'"': "name", "}": "close"},
    "next-name": {'"': "name"},
    "colon": {":": "value"},
    "in-object": {",": "next-name", "}": "close"},
    **_string_moves("name", "colon"),
    **_string_moves("string", "end"),
    "minus": _DIGIT_MOVES | {"I": "nfinity"},
    "zero": _EXPONENT_MOVES | {".": "point"},
    "integer": _EXPONENT_MOVES | {".": "point"},
    "point": dict.fromkeys(digits, "fraction"),
    "fraction": _EXPONENT_MOVES,
    "exponent": dict.fromkeys("+-", "sign") | dict.fromkeys(digits, "power"),
    "sign": dict.fromkeys(digits, "power"),
    "power": {},
    # The rest of a word is the state that expects it.
    **{
        word[at:]: {word[at]: word[at + 1 :] or "end"}
        for word in (*_LITERALS, "DONE")
        for at in range(1, len(word))
    },
    "E": {"E": "done"},
    "done": {"]": "close"},
    # A bare scalar is over; nothing but its end may follow.
    "bare": dict.fromkeys(_BLANKS, "whole"),
    "element": dict.fromkeys(_BLANKS + ",]", "whole"),
    # Broken: continues to the end of the line, or of the element of an array.
    "line": dict.fromkeys("\r\n", "whole"),
    "nested": _JUNK_MOVES | dict.fromkeys("}]", "close"),
    "loose": _JUNK_MOVES | dict.fromkeys(",]", "whole"),
    "quoted": {'"': "end", "\\": "quoted-escape"} | _LINE_BREAK_MOVES,
    "quoted-escape": dict.fromkeys('"\\', "quoted"),
    "margin": dict.fromkeys("{,]", "whole"),
}
"""State -> the character that is read -> the next state, or one of four verbs.

``end``: a value is over, and its container continues. ``close``: the container is over.
``whole``: the document ended before this character. A key of `_OPENING_MOVES`: a
container begins.
"""

_OPENING_MOVES = {
    "{": ("in-object", "first-name"),
    "[": ("in-array", "first-value"),
    "[DONE]": ("in-array", "first-or-done"),
    "deeper": ("nested", "nested"),
}
"""Verb -> the state after a value in the container, and the first state in it."""

_DEFAULT_STATES = {
    **dict.fromkeys(("zero", "integer", "fraction", "power", "margin"), "end"),
    "quoted-escape": "quoted",
}
"""State -> the next state for a character without a move, which is not read; a state
that is missing here breaks the document."""


class _Scanner:
    """Finds the end of one document, in text cut at any character.

    ``state`` is ``whole`` at the end. ``bare_state`` is the state after a value outside
    brackets, ``broken_state`` the state after a character that JSON does not allow
    there. A document within ``limit`` characters nests at most ``limit / 2`` levels.
    """

    __slots__ = ("_bare_state", "_broken_state", "_most_levels", "_stack", "state")

    def __init__(self, bare_state: str, broken_state: str, limit: int) -> None:
        self.state = "start"
        self._stack: list[str] = []
        self._bare_state = bare_state
        self._broken_state = broken_state
        self._most_levels = limit // 2

    def scan(self, text: str, index: int) -> int:
        """Reads from ``index``; returns the end of the document, or of the text."""
        state, stack = self.state, self._stack
        while state != "whole":
            if state in _RUN_OF_STATE:
                index = end_of(_RUN_OF_STATE[state], text, index)
            if index == len(text):
                break
            move = _MOVES[state].get(text[index])
            if move is None:
                move = _DEFAULT_STATES.get(state) or self._break_document(state)
            elif move != "whole":
                index += 1
            if move in _OPENING_MOVES:
                move = self._open_container(move)
            elif move == "close":
                stack.pop()
                move = stack[-1] if stack else "whole"
            if move == "end":
                move = stack[-1] if stack else self._bare_state
            state = move
        self.state = state
        return index

    def _open_container(self, bracket: str) -> str:
        container, state = _OPENING_MOVES[bracket]
        if len(self._stack) == self._most_levels:
            return self._break_document(state)
        self._stack.append(container)
        return state

    def _break_document(self, state: str) -> str:
        """Returns the state that reads the rest of a broken document: there only line
        ends count, or only brackets and quotes."""
        if self._broken_state == "line":
            return "line"
        if self._bare_state != "loose":
            self._bare_state = "loose"
            self._stack[:] = ["nested"] * len(self._stack)
        if state.startswith(("name", "string")):
            return "quoted"
        return "nested" if self._stack else "loose"
