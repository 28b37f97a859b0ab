"""The argument text of one call, from its first fragment to its end.

`ArgumentText` consumes fragments and returns what may be passed on. Nothing is edited,
with two exceptions: a ``{}`` before the real object is dropped (BerriAI/litellm#4537),
and if no arguments come at all, they are ``{}``. Another object after the first one
belongs to another call. Each character is looked at a fixed number of times.
"""

from __future__ import annotations

from copy import copy

from stream_sidecar import patterns
from stream_sidecar.tools.snapshots import SHORTEST, Snapshot
from stream_sidecar.values.equality import equal
from stream_sidecar.values.jsontext import loads

_SPACE = " \t\n\r"
_PLACEHOLDERS = patterns.compile(r"[ \t\n\r]*+(?:(\{[ \t\n\r]*+\})[ \t\n\r]*+)*+")
_OPENED = patterns.compile(r"\{[ \t\n\r]*+\Z")
_MARKS = patterns.compile(r'["\\{}\[\]]')
_GLUED = patterns.compile(r"(?:\A|\})[ \t\n\r]*+\{")
_AFTER_END = patterns.compile(r"[\]}][ \t\n\r]*+\{")

_MAX_LEAD = 64
"""At most this many code points at the start wait until it is clear whether they are
``{}``."""


def nothing(text: str) -> bool:
    """Whether ``text`` has no arguments: it is empty, white space or ``{}``."""
    return len(text) <= _MAX_LEAD and text.strip(_SPACE) in ("", "{}")


def same_json(one: str, other: str) -> bool:
    """Whether both texts are JSON and have the same value."""
    try:
        return equal(loads(one), loads(other))
    except ValueError:
        return False


class _Brackets:
    """Follows the brackets outside strings in a growing JSON text. ``depth``: how many
    are open. ``closed``: the first bracket was closed. ``spoiled``: text came after
    that, or a closing bracket came first."""

    __slots__ = ("_escaped", "_quoted", "closed", "depth", "end", "spoiled")

    def __init__(self) -> None:
        self.depth = 0
        self._quoted = False
        self._escaped = False
        self.closed = False
        self.end = 0  # the position of the close in the last text that was pushed
        self.spoiled = False

    def push(self, text: str) -> None:
        if self.closed:
            self.end = 0
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
                self.depth += 1
            elif char in "}]":
                self.depth -= 1
                if self.depth <= 0:
                    self.closed, self.end = True, at + 1
                    rest = text[at + 1 :].strip(_SPACE)
                    self.spoiled = self.depth < 0 or bool(rest)
                    return
        self._escaped = skip > len(text)


class ArgumentText:
    """The arguments of a call that is still open, at most ``limit`` code points.

    ``push(text)`` returns what may be passed on now; ``close()`` returns the rest.
    ``text`` is everything that was returned. Text beyond the limit is not kept: it is
    in ``cut`` after the push.
    """

    __slots__ = (
        "_brackets",
        "_buffer",
        "_json",
        "_lead",
        "_room",
        "_snapshot",
        "cut",
        "length",
    )

    def __init__(self, limit: int, json: bool = True) -> None:
        self._buffer = bytearray()  # UTF-8; a StringIO of 3.11 keeps every piece
        self._json = json
        self._lead: str | None = "" if json else None
        self._room = limit
        self._brackets: _Brackets | None = None
        self._snapshot: Snapshot | None = None
        self.length = 0
        self.cut = ""

    @property
    def text(self) -> str:
        return self._buffer.decode("utf-8", "surrogatepass")

    @property
    def placeholder(self) -> bool:
        """Whether only ``{}`` came so far: it may be the arguments, or a placeholder
        before them."""
        return (self._lead or "").endswith("}")

    @property
    def empty(self) -> bool:
        return not self.length and not self._lead

    @property
    def complete(self) -> bool:
        """Whether an object or an array came, and nothing after it. Only the brackets
        are examined."""
        brackets = self._counted()
        return self._json and brackets.closed and not brackets.spoiled

    def own(self, text: str) -> int:
        """How many code points of ``text``, the next fragment, belong to this call: all
        of them, unless this call's object ends in ``text`` and another object
        begins."""
        if not self._json or _GLUED.search(text) is None:
            return len(text)
        if self.empty and _AFTER_END.search(text) is None:
            return len(text)  # the most common case: the first object begins
        before = self._lead or ""
        lead = _PLACEHOLDERS.match(before + text) if self._lead is not None else None
        start = max(lead.end() - len(before), 0) if lead is not None else 0
        brackets = copy(self._counted())
        brackets.push(text[start:])
        end = start + brackets.end
        whole = brackets.closed and not (brackets.depth or self._counted().spoiled)
        other = whole and text[end:].lstrip(_SPACE).startswith("{")
        return end if other else len(text)

    def _counted(self) -> _Brackets:
        """The brackets so far. They are counted on the first use, because few calls
        need this."""
        if self._brackets is None:
            self._brackets = _Brackets()
            self._brackets.push(self.text)
        return self._brackets

    @property
    def waiting(self) -> int:
        """The number of code points that wait because they may be a snapshot."""
        return 0 if self._snapshot is None else len(self._snapshot.text)

    def news(self, text: str) -> str:
        """The new part of ``text``, the next fragment: all of it, unless it is a
        snapshot (see `Snapshot`). "" while it may be a snapshot: then the text
        waits."""
        if self._snapshot is None:
            long = self._json and len(text) >= self.length >= SHORTEST
            if not long or not text.startswith(given := self.text):
                return text
            self._snapshot, text = Snapshot(given, text, self._room), ""
        news = self._snapshot.news(text)
        if news is not None:
            self._snapshot = None
        return news or ""

    @property
    def continues(self) -> bool:
        """Whether nothing waits, so that further text is added unchanged unless it
        ``matters``."""
        return self._lead is None and self._snapshot is None

    def matters(self, text: str) -> bool:
        """Whether ``text``, which has at most ``longest`` code points, may end this
        call and begin another, so that the assembler must read it."""
        return self._json and "{" in text and _GLUED.search(text) is not None

    def longest(self, count: int) -> int:
        """How many code points each of the next ``count`` texts may have. Texts of this
        length cannot be snapshots, and together they stay within the limit."""
        return min(max(self.length, SHORTEST) - 1, self._room // count)

    def push(self, text: str) -> str:
        if self._lead is not None:
            text = self._past_lead(self._lead + text)
        return self._keep(text)

    def replace(self, text: str) -> str:
        """Replaces the text so far by ``text``, the whole arguments. Returns the part
        that was not passed on yet.

        Text that was passed on cannot be taken back. If the whole arguments do not
        begin with it, the result is empty, and the property ``text`` differs from what
        was returned.
        """
        if self._lead is not None:  # so nothing was returned yet
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
        snapshot, self._snapshot = self._snapshot, None
        if snapshot is not None:
            return self._keep(snapshot.news("", final=True) or "")
        lead, self._lead = self._lead, None
        if lead is None:
            return ""
        return self._keep(lead.strip(_SPACE) or "{}")

    def repeats(self, text: str) -> bool:
        """Whether the arguments are complete, and ``text`` equals them."""
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
