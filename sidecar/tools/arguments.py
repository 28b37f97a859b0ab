"""The argument text of one call: how it grows and what it is worth at the end.

`ArgumentText` takes fragments and gives back what may be passed on; nothing is edited,
but a leading ``{}`` before the real object goes (BerriAI/litellm#4537) and no arguments
at all are ``{}``. `judge` says whether finished text is complete, was cut off or is no
JSON. Everything here looks at each character a fixed number of times.
"""

from __future__ import annotations

import re
from typing import Any, Literal, TypeAlias

from sidecar.values.equality import equal
from sidecar.values.jsontext import loads

ArgumentState: TypeAlias = Literal["complete", "truncated", "invalid"]

_SPACE = " \t\n\r"
_PLACEHOLDERS = re.compile(r"[ \t\n\r]*+(?:(\{[ \t\n\r]*+\})[ \t\n\r]*+)*+")
_OPENED = re.compile(r"\{[ \t\n\r]*+\Z")
_MARKS = re.compile(r'["\\{}\[\]]')

_MAX_LEAD = 64
"""Code points at the start that may wait until it is clear whether they are ``{}``."""


def nothing(text: str) -> bool:
    """Whether ``text`` is no arguments at all: nothing, blanks or ``{}``."""
    return len(text) <= _MAX_LEAD and text.strip(_SPACE) in ("", "{}")


def same_json(one: str, other: str) -> bool:
    """Whether both texts are JSON and have the same value."""
    try:
        return equal(loads(one), loads(other))
    except ValueError:
        return False


class _Brackets:
    """Follows the brackets outside strings of a growing JSON text."""

    __slots__ = ("_depth", "_escaped", "_quoted", "closed", "spoiled")

    def __init__(self) -> None:
        self._depth = 0
        self._quoted = False
        self._escaped = False
        self.closed = False
        self.spoiled = False

    def push(self, text: str) -> None:
        if self.closed:
            self.spoiled = self.spoiled or bool(text.strip(_SPACE))
            return
        skip = int(self._escaped)
        for mark in _MARKS.finditer(text):
            at = mark.start()
            if at < skip:
                continue
            char = mark.group()
            if self._quoted:
                if char == "\\":
                    skip = at + 2
                else:
                    self._quoted = char != '"'
            elif char == '"':
                self._quoted = True
            elif char in "{[":
                self._depth += 1
            elif char in "}]":
                self._depth -= 1
                if self._depth <= 0:
                    self.closed = True
                    rest = text[at + 1 :].strip(_SPACE)
                    self.spoiled = self._depth < 0 or bool(rest)
                    return
        self._escaped = skip > len(text)


class ArgumentText:
    """The arguments of a call that is still open, at most ``limit`` code points.

    ``push(text)`` gives the part of the text so far that is now certain and was not
    given before; ``close()`` gives the rest. ``text`` is everything given. What goes
    beyond the limit is not kept: it lies in ``cut`` after the push.
    """

    __slots__ = ("_brackets", "_buffer", "_json", "_lead", "_room", "cut", "length")

    def __init__(self, limit: int, json: bool = True) -> None:
        self._buffer = bytearray()  # UTF-8; a StringIO of 3.11 keeps every piece
        self._json = json
        self._lead: str | None = "" if json else None
        self._room = limit
        self._brackets: _Brackets | None = None
        self.length = 0
        self.cut = ""

    @property
    def text(self) -> str:
        return self._buffer.decode("utf-8", "surrogatepass")

    @property
    def placeholder(self) -> bool:
        """Only ``{}`` came so far: the arguments, or what stands before them."""
        return (self._lead or "").endswith("}")

    @property
    def empty(self) -> bool:
        return not self.length and not self._lead

    @property
    def complete(self) -> bool:
        """A whole object or array came and nothing after it (brackets only)."""
        if self._brackets is None:
            # Counted from the first question on: few streams ever ask.
            self._brackets = _Brackets()
            self._brackets.push(self.text)
        return self._json and self._brackets.closed and not self._brackets.spoiled

    def push(self, text: str) -> str:
        if self._lead is not None:
            text = self._past_lead(self._lead + text)
        return self._keep(text)

    def replace(self, text: str) -> str:
        """The whole arguments, known at once; gives what goes beyond those given.

        Text that was given and is not part of them cannot be called back: then the
        result is empty and ``text`` differs from what was given.
        """
        if self._lead is not None:  # so nothing was given yet
            self._lead = ""
            return self.push(text)
        given = self.text
        if text.startswith(given):
            return self._keep(text[len(given) :])
        self._buffer, self._brackets = bytearray(), None
        self._room, self.length = self._room + self.length, 0
        self._keep(text)
        return ""

    def close(self) -> str:
        lead, self._lead = self._lead, None
        if lead is None:
            return ""
        return self._keep(lead.strip(_SPACE) or "{}")

    def repeats(self, text: str) -> bool:
        """``text`` is the same whole arguments once more."""
        return len(text) == self.length > 0 and self.complete and text == self.text

    def _past_lead(self, text: str) -> str:
        match = _PLACEHOLDERS.match(text)
        assert match is not None  # it also matches nothing
        placeholder, rest = match.group(1), text[match.end() :]
        if not rest or _OPENED.match(rest):
            held = rest or placeholder or text
            if len(held) <= _MAX_LEAD:
                self._lead = held
                return ""
        self._lead = None
        return rest if placeholder and rest.startswith("{") else text

    def _keep(self, text: str) -> str:
        if len(text) > self._room:
            self.cut, text = text[self._room :], text[: self._room]
        self._room -= len(text)
        self.length += len(text)
        self._buffer += text.encode("utf-8", "surrogatepass")
        if self._brackets is not None:
            self._brackets.push(text)
        return text


_BODY = r'(?:[^"\\\x00-\x1f]++|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+'
_TOKEN = re.compile(
    rf"""[ \t\n\r]*+(?:
      (?P<end>\Z)
    | (?P<mark>[{{}}\[\]:,])
    | (?P<string>"{_BODY}")
    | (?P<atom>(?:-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][-+]?[0-9]++)?
        | true | false | null)(?![-+.0-9A-Za-z]))
    | (?P<key>"{_BODY}(?:\\(?:u[0-9a-fA-F]{{0,3}})?)?\Z)
    | (?P<cut>(?:-|-?(?:0|[1-9][0-9]*+)(?:\.|(?:\.[0-9]++)?[eE][-+]?)
        | t|tr|tru | f|fa|fal|fals | n|nu|nul)\Z)
    )""",
    re.VERBOSE,
)
"""``key`` and ``cut`` are the beginning of a string, a number or a word at the end."""

_STEPS = {
    ("value", "string"): "after",
    ("value", "atom"): "after",
    ("value", "{"): "first-key",
    ("value", "["): "first-value",
    ("first-value", "string"): "after",
    ("first-value", "atom"): "after",
    ("first-value", "{"): "first-key",
    ("first-value", "["): "first-value",
    ("first-value", "]"): "close",
    ("first-key", "string"): "colon",
    ("first-key", "}"): "close",
    ("key", "string"): "colon",
    ("colon", ":"): "value",
    ("after", ","): "next",
    ("after", "}"): "close",
    ("after", "]"): "close",
}
"""RFC 8259: what is expected, what comes -> what is expected then."""

_VALUE = ("value", "first-value")


def judge(text: str) -> tuple[ArgumentState, Any]:
    """What finished arguments are worth, and their value (None unless complete)."""
    try:
        return "complete", loads(text)
    except ValueError:
        return ("truncated" if is_cut(text) else "invalid"), None


def is_cut(text: str) -> bool:
    """``text`` is a proper prefix of some JSON value (RFC 8259), but none itself."""
    expected, position = "value", 0
    stack: list[str] = []
    while True:
        token = _TOKEN.match(text, position)
        if token is None:
            return False
        kind = token.lastgroup or ""
        if kind == "end":
            return bool(stack) or expected != "after"
        if kind in ("key", "cut"):
            return expected in _VALUE or (kind == "key" and expected.endswith("key"))
        position = token.end()
        mark = token["mark"]
        step = _STEPS.get((expected, mark or kind), "")
        if not step or (expected == "after" and not stack):
            return False
        if mark and mark in "{[":
            stack.append("}" if mark == "{" else "]")
        elif step == "close":
            if stack.pop() != mark:
                return False
            step = "after"
        elif step == "next":
            step = "key" if stack[-1] == "}" else "value"
        expected = step
