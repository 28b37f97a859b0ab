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
_OPENED_OBJECT = patterns.compile(r"\{[ \t\n\r]*+\Z")
_BRACKET_OR_QUOTE = patterns.compile(r'["\\{}\[\]]')
_GLUED_OBJECT = patterns.compile(r"(?:\A|\})[ \t\n\r]*+\{")
_OBJECT_AFTER_END = patterns.compile(r"[\]}][ \t\n\r]*+\{")

_MAX_LEAD = 64
"""So many code points at the start may wait until it is clear that they are ``{}``."""


def has_no_arguments(text: str) -> bool:
    """Whether ``text`` has no arguments: it is empty, white space or ``{}``."""
    return len(text) <= _MAX_LEAD and text.strip(_SPACE) in ("", "{}")


def same_json(text: str, other_text: str) -> bool:
    """Whether both texts are JSON and have the same value."""
    try:
        return equal(loads(text), loads(other_text))
    except ValueError:
        return False


class _Brackets:
    """Follows the brackets outside strings in a growing JSON text. ``depth``: how many
    are open. ``is_closed``: the first bracket was closed. ``is_bad``: text came after
    that, or a closing bracket came first."""

    def __init__(self) -> None:
        self.depth = 0
        self._in_string = False
        self._ends_escaped = False
        self.is_closed = False
        self.end = 0  # the position of the close in the last text that was pushed
        self.is_bad = False

    def push(self, text: str) -> None:
        if self.is_closed:
            self.end = 0
            self.is_bad = self.is_bad or bool(text.strip(_SPACE))
            return
        skip_until = int(self._ends_escaped)
        for mark in _BRACKET_OR_QUOTE.finditer(text):
            index = mark.start()
            if index < skip_until:
                continue
            sign = mark.group()
            if self._in_string:
                if sign == "\\":
                    skip_until = index + 2
                else:
                    self._in_string = sign != '"'
            elif sign == '"':
                self._in_string = True
            elif sign in "{[":
                self.depth += 1
            elif sign in "}]":
                self.depth -= 1
                if self.depth <= 0:
                    self.is_closed, self.end = True, index + 1
                    text_after = text[index + 1 :].strip(_SPACE)
                    self.is_bad = self.depth < 0 or bool(text_after)
                    return
        self._ends_escaped = skip_until > len(text)


class ArgumentText:
    """The arguments of a call that is still open, at most ``limit`` code points.

    ``push(text)`` returns what may be passed on now; ``close()`` returns the rest.
    ``text`` is everything that was returned. Text beyond the limit is not kept: it is
    in ``cut`` after the push.
    """

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
        """Whether only ``{}`` came: the arguments, or a placeholder before them."""
        return (self._lead or "").endswith("}")

    @property
    def empty(self) -> bool:
        return not self.length and not self._lead

    @property
    def complete(self) -> bool:
        """Whether an object or an array came and nothing after it, by its brackets."""
        brackets = self._count()
        return self._json and brackets.is_closed and not brackets.is_bad

    def own_size(self, text: str) -> int:
        """How many code points of ``text``, the next fragment, belong to this call:
        all, unless this call's object ends in ``text`` and another object begins."""
        if not self._json or _GLUED_OBJECT.search(text) is None:
            return len(text)
        if self.empty and _OBJECT_AFTER_END.search(text) is None:
            return len(text)  # the most common case: the first object begins
        lead = self._lead or ""
        match = _PLACEHOLDERS.match(lead + text) if self._lead is not None else None
        start = max(match.end() - len(lead), 0) if match is not None else 0
        brackets = copy(self._count())
        brackets.push(text[start:])
        end = start + brackets.end
        is_whole = brackets.is_closed and not (brackets.depth or self._count().is_bad)
        has_next = is_whole and text[end:].lstrip(_SPACE).startswith("{")
        return end if has_next else len(text)

    def _count(self) -> _Brackets:
        """The brackets so far, counted on the first use: few calls need this."""
        if self._brackets is None:
            self._brackets = _Brackets()
            self._brackets.push(self.text)
        return self._brackets

    @property
    def waiting(self) -> int:
        """The number of code points that wait because they may be a placeholder or a
        snapshot."""
        snapshot = "" if self._snapshot is None else self._snapshot.text
        return len(self._lead or "") + len(snapshot)

    def new_text(self, text: str) -> str:
        """The new part of ``text``, the next fragment: all of it, unless it is a
        snapshot (see `Snapshot`). "" while the text waits, since it may be one."""
        if self._snapshot is None:
            is_long = self._json and len(text) >= self.length >= SHORTEST
            if not is_long or not text.startswith(earlier_text := self.text):
                return text
            self._snapshot, text = Snapshot(earlier_text, text, self._room), ""
        new_text = self._snapshot.new_text(text)
        if new_text is not None:
            self._snapshot = None
        return new_text or ""

    @property
    def continues(self) -> bool:
        """Whether nothing waits: text is added unchanged unless it ``matters``."""
        return self._lead is None and self._snapshot is None

    def matters(self, text: str) -> bool:
        """Whether ``text``, which has at most ``longest`` code points, may end this
        call and begin another, so that the assembler must read it."""
        return self._json and "{" in text and _GLUED_OBJECT.search(text) is not None

    def longest(self, count: int) -> int:
        """How many code points each of the next ``count`` texts may have. Texts of this
        length cannot be snapshots, and together they stay within the limit."""
        return min(max(self.length, SHORTEST) - 1, self._room // count)

    def push(self, text: str) -> str:
        if self._lead is not None:
            text = self._skip_lead(self._lead + text)
        return self._add_text(text)

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
        earlier_text = self.text
        if text.startswith(earlier_text):
            return self._add_text(text[len(earlier_text) :])
        self._buffer, self._brackets = bytearray(), None
        self._room, self.length = self._room + self.length, 0
        self._add_text(text)
        return ""

    def close(self) -> str:
        snapshot, self._snapshot = self._snapshot, None
        if snapshot is not None:
            return self._add_text(snapshot.new_text("", final=True) or "")
        lead, self._lead = self._lead, None
        if lead is None:
            return ""
        return self._add_text(lead.strip(_SPACE) or "{}")

    def repeats(self, text: str) -> bool:
        """Whether the arguments are complete, and ``text`` equals them."""
        return len(text) == self.length > 0 and self.complete and text == self.text

    def _skip_lead(self, text: str) -> str:
        match = _PLACEHOLDERS.match(text)
        assert match is not None  # it also matches nothing
        placeholder, text_after = match.group(1), text[match.end() :]
        if not text_after or _OPENED_OBJECT.match(text_after):
            lead = text_after or placeholder or text
            if len(lead) <= _MAX_LEAD:
                self._lead = lead
                return ""
        self._lead = None
        return text_after if placeholder and text_after.startswith("{") else text

    def _add_text(self, text: str) -> str:
        if len(text) > self._room:
            self.cut, text = text[self._room :], text[: self._room]
        self._room -= len(text)
        self.length += len(text)
        self._buffer += text.encode("utf-8", "surrogatepass")
        if self._brackets is not None:
            self._brackets.push(text)
        return text
