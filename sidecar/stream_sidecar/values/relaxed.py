"""Objects as models write them: JSON, JavaScript, Python, and Gemini's serialisation.

`ObjectScanner` finds the end of an object in growing text, `parse` returns its value.
Both know two syntaxes. Strict JSON is part of both and means the same there.

The relaxed syntax is JSON with bare names as keys, strings in single quotes, raw line
breaks in strings, any character after a backslash, trailing commas, the literals of
JavaScript and Python, and numbers like ``+1``, ``.5`` and ``5.``.

``bare_values`` adds three things: (1) strings between backticks or control tokens,
without escapes; (2) ``=`` in place of a colon, but not after bare text; (3) bare text,
which has no quotes. Text that is no other value is bare text: ``1x Kit``,
``[WIP] Fix``. It ends at the bracket that closes its container, or at a comma: in an
array at any comma, in an object only before another member (blanks, a name, blanks, a
colon). Other brackets are part of it.

This module knows neither the purpose of an object nor where one may begin.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from stream_sidecar import patterns
from stream_sidecar.records import define
from stream_sidecar.values import relaxed_tables as tables
from stream_sidecar.values.jsontext import NumberText
from stream_sidecar.values.pushdown import Scanner

if TYPE_CHECKING:
    import re


class ObjectScanner(Scanner):
    """Finds the end of one object, from its first character.

    ``opener`` says how the object may begin: ``{``, ``[`` or ``{[``. Nesting deeper
    than `pushdown.MAX_NESTING` fails.
    """

    __slots__ = ()

    def __init__(self, bare_values: bool = False, opener: str = "{") -> None:
        syntax = tables.BARE if bare_values else tables.RELAXED
        super().__init__(syntax, f"start-{opener}")

    @property
    def in_string(self) -> bool:
        """Whether a string is open: in quotes, backticks or control tokens."""
        return self._place.startswith(tables.STRINGS)

    @property
    def missing(self) -> str:
        """The brackets that would close the open containers."""
        return "".join(tables.CLOSER_OF[state] for state in reversed(self._stack))


def parse(text: str, bare_values: bool = False) -> Any:
    """Return the value of ``text``, a dict or list; ValueError if it is not one whole
    object.

    For strict JSON the result is that of `json.loads`, integers of any size included (a
    `NumberText` if Python does not convert so many digits). Infinite numbers and NaN
    are floats. Of equal keys the last counts. A backslash that begins no escape of
    JSON, JavaScript or Python is kept.
    """
    scanner = ObjectScanner(bare_values, "{[")
    if scanner.scan(text, 0) != len(text) or scanner.state != "whole":
        raise ValueError("not one whole object")
    try:
        # not `jsontext.loads`, which makes text of numbers outside 64 bits
        return json.loads(text)
    except ValueError:
        return _Reader(text, bare_values).read()


_TOKENS = patterns.compile(
    rf"(?P<key>{tables.KEY}){tables.SPACE}:|[{{}}\[\]]"
    r"""|"(?:[^"\\]++|\\(?s:.))*+(?:"|\\?\Z)|'(?:[^'\\]++|\\(?s:.))*+(?:'|\\?\Z)"""
    rf"|{tables.NAME}"
)

_CLOSERS = {"{": "}", "[": "]"}


def begun_keys(text: str) -> list[str]:
    """The top-level keys, with a colon, of an object that may be cut off."""
    keys, depth = [], 0
    for match in _TOKENS.finditer(text):
        token = match.group()
        if match["key"] is None:
            depth += 1 if token in _CLOSERS else -1 if token in _CLOSERS.values() else 0
        elif depth == 1:
            key = match["key"]
            keys.append(_unquote(key) if key[0] in "\"'" else key)
    return keys


_SEPARATORS = patterns.compile(r"[\s,]*+")
_COLON = patterns.compile(rf"{tables.SPACE}[:=]{tables.SPACE}")
_KEY = patterns.compile(tables.KEY)


@define
class _Container:
    """An open object or array, with its start and its key in the outer container."""

    value: dict[str, Any] | list[Any]
    closer: str
    start: int
    key: str

    def put(self, key: str, value: Any) -> None:
        if isinstance(self.value, dict):
            self.value[key] = value
        else:
            self.value.append(value)


class _Reader:
    """Reads a whole object that the scanner has checked, without recursion."""

    def __init__(self, text: str, bare_values: bool) -> None:
        self._text = text
        self._has_bare_values = bare_values
        self._index = 0
        self._containers: list[_Container] = []

    def read(self) -> Any:
        self._enter_container("")
        while True:
            container = self._containers[-1]
            self._skip_match(_SEPARATORS)
            if self._text[self._index] != container.closer:
                self._read_member(container)
                continue
            self._index += 1
            self._containers.pop()
            if not self._containers:
                return container.value
            self._put_value(container.key, container.value, container.start)

    def _skip_match(self, pattern: re.Pattern[str]) -> str:
        """Skips and returns what ``pattern`` matches here, or ``""``."""
        match = pattern.match(self._text, self._index)
        matched = match.group() if match else ""
        self._index += len(matched)
        return matched

    def _read_member(self, container: _Container) -> None:
        key = ""
        if container.closer == "}":
            key = self._skip_match(_KEY)
            key = _unquote(key) if key[0] in "\"'" else key
            self._skip_match(_COLON)
        if self._text[self._index] in _CLOSERS:
            self._enter_container(key)
        else:
            start = self._index
            token = self._skip_match(tables.SCALARS[self._has_bare_values])
            self._put_value(key, _scalar(token) if token else None, start)

    def _enter_container(self, key: str) -> None:
        bracket = self._text[self._index]
        value: dict[str, Any] | list[Any] = {} if bracket == "{" else []
        self._containers.append(_Container(value, _CLOSERS[bracket], self._index, key))
        self._index += 1

    def _put_value(self, key: str, value: Any, start: int) -> None:
        """Adds a value whose text began at ``start`` to the innermost container. If
        more text follows it (``1x Kit``), all of that text is one bare text."""
        container = self._containers[-1]
        if self._has_bare_values:
            is_end = tables.AFTER_VALUE[container.closer].match(self._text, self._index)
            if self._index == start or not is_end:
                self._skip_match(tables.BARE_TEXT[container.closer])
                value = _bare_text(self._text[start : self._index].strip())
        container.put(key, value)


_MARK = '<|"|>'


def _bare_text(text: str) -> str:
    """The value of bare text. ``<|"|>`` at its start or end is half of a pair and is
    removed; inside the text it is a quotation mark."""
    if _MARK not in text:
        return text
    return text.removeprefix(_MARK).removesuffix(_MARK).replace(_MARK, '"')


def _scalar(token: str) -> Any:
    if token[0] in "\"'":
        return _unquote(token)
    if token[0] == "`":
        return token[1:-1]
    if token[0] == "<":
        return token[token.index(">") + 1 : token.rindex("<")]
    if token in tables.LITERALS:
        return tables.LITERALS[token]
    if not token.lstrip("+-").isdigit():
        return float(token)
    try:
        return int(token)
    except ValueError:
        return NumberText(token)


_HEX = "[0-9a-fA-F]"
_ESCAPE = patterns.compile(
    rf"\\(?:u([dD][89abAB]{_HEX}{{2}})\\u([dD][c-fC-F]{_HEX}{{2}})"
    rf"|(?:u({_HEX}{{4}})|x({_HEX}{{2}})|U(000{_HEX}{{5}}|0010{_HEX}{{4}}))"
    r"|(\r\n|0(?![0-9])|(?s:[^0])))"
)
_ESCAPES = (
    {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "0": "\0"}
    | {char: char for char in "\"'\\/"}
    | dict.fromkeys(("\n", "\r\n", "\r"), "")
)
"""The character after a backslash -> its meaning; a line break continues the line."""


def _unquote(token: str) -> str:
    return _ESCAPE.sub(_unescape, token[1:-1]) if "\\" in token else token[1:-1]


def _unescape(match: re.Match[str]) -> str:
    high, low, *hex_codes, character = match.groups()
    if high:
        pair = (int(high, 16) - 0xD800 << 10) + int(low, 16) - 0xDC00
        return chr(0x10000 + pair)
    if character:
        return _ESCAPES.get(character, match.group())
    return chr(int(next(filter(None, hex_codes)), 16))
