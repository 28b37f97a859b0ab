"""Grammars that several dialects share: JSON bodies, values up to their closer."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from stream_sidecar import patterns
from stream_sidecar.forms.call_bodies import calls_of, cut_calls
from stream_sidecar.forms.form import Found, TornError, mark
from stream_sidecar.forms.kinds import PieceKind
from stream_sidecar.forms.literals import Literals
from stream_sidecar.values.relaxed import ObjectScanner

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterator

    from stream_sidecar.forms.call_bodies import Calls
    from stream_sidecar.forms.grammar import Cursor, Extent, Reading

NAME = patterns.compile(r"[\w.:/-]*+")
_NO_TAG = patterns.compile(r"[^<>\n]*+")
_CLOSERS = patterns.compile(r"(?:</[^<>\n]*+>|\s)*+")
_MAY_CLOSE = patterns.compile(r"(?:</[^<>\n]*+>|\s)*+(?:<|</[^<>\n]*+)?")
_FAR = 256
"""So far is looked for what closes everything."""


def optional(cursor: Cursor, *options: str) -> Reading[str]:
    """Reads one of ``options`` where it stands here."""
    found = yield from cursor.ahead(*options)
    cursor.at += len(found)
    return found


def tool_name(cursor: Cursor, pattern: re.Pattern[str]) -> Reading[str]:
    """Reads a name that no quote or bracket ends: a declared one, or one behind which
    the line ends or the form goes on at once; else it is a word of a sentence (text
    rule 11.17)."""
    name = yield from cursor.word(pattern)
    following = yield from cursor.peek()
    if following in (" ", "\t") and name not in (cursor.context.tools or ()):
        yield from cursor.line_end()
    return name


_PROSE = patterns.compile(r"[^<>\[\]{}|`]*+")
_MUCH = 128


def prose(cursor: Cursor) -> Reading[None]:
    """Reads words that a model puts between a wrapper and what it wraps, and white
    space."""
    yield from cursor.run(_PROSE, _MUCH)


def markup(cursor: Cursor) -> Reading[Found]:
    """Matches nothing: its opener is text, and so are its ``pending_closers``."""
    yield from ()
    raise cursor.mismatch(0)


def reasoning(cursor: Cursor, ends: Literals, end: str = "") -> Reading[Found]:
    """Words begin reasoning only where one of ``ends`` follows, or before the others
    ``end``, where that is given: alone they are text."""
    start = cursor.position
    _, found = yield from cursor.until(ends)
    if end and found != end:
        raise cursor.mismatch(len(found))
    cursor.at -= cursor.position - start
    return Found(PieceKind.ENTER)


def begin_reasoning(_cursor: Cursor) -> Reading[Found]:
    """Reasoning begins behind the opener."""
    yield from ()
    return Found(PieceKind.ENTER)


def end_reasoning(cursor: Cursor) -> Reading[Found]:
    """Reasoning ends with the opener; where none is open it is text, or what other
    forms make of it."""
    if not cursor.inside:
        raise cursor.mismatch(0)
    yield from ()
    return mark(ends=True)


def framed_calls(
    cursor: Cursor, *closers: str, opener: str = "{"
) -> Reading[Callable[[str], Calls]]:
    """One JSON value that has calls, white space, and one of ``closers``, which may be
    missing (text rule 11.19)."""
    start, end = yield from cursor.scan(ObjectScanner(opener=opener))
    read = _reader(start, end, keyed=False)
    cursor.whole = end, read
    yield from cursor.space()
    yield from cursor.literal(*closers)
    return read


def value(cursor: Cursor, closers: Literals, *follows: str) -> Reading[Extent]:
    """Reads a value up to the first of ``closers`` behind which one of ``follows``
    stands: a closer inside the value is data. What follows stays unread (text rule
    11.8)."""
    start = cursor.position
    while True:
        (_, end), closer = yield from cursor.until(closers)
        cursor.at += len(closer)
        yield from cursor.space()
        if (yield from cursor.ahead(*follows)):
            return start, end


_WRAPPERS = r"(?:(?:\w++:)?+(?:tool_call|function_calls|tool_calls)>\s*+<)?+"


class CallTags:
    """The tags of calls whose values have no escapes: what begins a call and what a
    value in it, what closes a value and a call, and which of the last nobody writes
    into a value. ``again``: the whole tag that begins a value on a line of its own,
    with its ``key``."""

    def __init__(
        self,
        call: tuple[str, ...],
        value: tuple[str, ...],
        value_ends: tuple[str, ...],
        call_ends: tuple[str, ...],
        decisive: frozenset[str] = frozenset(),
        *,
        again: re.Pattern[str],
    ) -> None:
        self._again = again
        self.call, self.value, self.decisive = frozenset(call), value, decisive
        self.value_ends, self.call_ends = value_ends, frozenset(call_ends)
        self.all_in_value = Literals((*value_ends, *call, *call_ends))
        calls = "|".join(re.escape(each[1:]) for each in call)
        self._begun = patterns.compile(rf"\n[ \t]*+<(?={_WRAPPERS}(?:{calls}))")

    def whole(self, raw: str, start: int, end: int) -> str:
        """The value there; TornError where a call begins in it on a line of its own,
        and is not closed: then it is no part of the value."""
        text = raw[start:end]
        begun = self._begun.search(text)
        if begun and not any(each in text for each in self.call_ends):
            raise TornError(start + begun.end())
        return text

    def apart(
        self, raw: str, key: str, part: Extent, known: Container[str]
    ) -> Iterator[tuple[str, str, str]]:
        """The values there, each as key, its own tag if it has one, and text. If other
        values begin in it and nothing is closed in it, closers are missing, and each
        value ends where the next one begins. Only ``known`` keys begin a value; any key
        does if none is known."""
        text, tag, at = self.whole(raw, *part), "", 0
        begun = [
            m for m in self._again.finditer(text) if not known or m["key"] in known
        ]
        if begun and any(word in text for word in (*self.value_ends, *self.call)):
            begun = []
        for each in begun:
            yield key, tag, text[at : each.start()]
            key, tag, at = each["key"], each[0], each.end()
        yield key, tag, text[at:]

    def close_all(self, text: str) -> bool:
        """Whether ``text`` is nothing but closers, none of them of a value."""
        closed = _CLOSERS.fullmatch(text) is not None
        return closed and not any(end in text for end in self.value_ends)


def _begins_call(cursor: Cursor, tags: CallTags) -> Reading[bool]:
    """Whether behind a tag that begins a call, which was read, a value of it begins."""
    yield from cursor.run(_NO_TAG)
    yield from cursor.optional(">")
    yield from cursor.space()
    return bool((yield from cursor.ahead(*tags.value)))


def _closes_all(cursor: Cursor, tags: CallTags) -> Reading[bool]:
    """Whether nothing but closers stands here up to the text's end; nothing is read."""
    while True:
        rest = cursor.text[cursor.at : cursor.at + _FAR]
        if cursor.final or len(rest) == _FAR or not _MAY_CLOSE.fullmatch(rest):
            return len(rest) < _FAR and tags.close_all(rest)
        yield


def tagged_value(cursor: Cursor, tags: CallTags, *follows: str) -> Reading[Extent]:
    """Reads a value as `value` does. A call that stands in it is data up to its closer;
    one that lacks that closer, up to what closes everything."""
    start, quotes = cursor.position, False
    cursor.part = start, tags.call
    while True:
        (_, end), found = yield from cursor.until(tags.all_in_value)
        cursor.at += len(found)
        if found in tags.call:
            quotes = (yield from _begins_call(cursor, tags)) or quotes
        elif found in tags.call_ends:
            if found in tags.decisive and not quotes:
                cursor.at -= len(found)
                return start, end
            quotes = False
        else:
            yield from cursor.space()
            fits = yield from cursor.ahead(*follows)
            if fits and (not quotes or (yield from _closes_all(cursor, tags))):
                return start, end


def json_objects(cursor: Cursor, opener: str = "{[") -> Reading[Extent]:
    """Reads one JSON value and further ones behind white space, ``,`` or ``;``."""
    start, end = yield from cursor.scan(ObjectScanner(opener=opener))
    while True:
        yield from cursor.space()
        separator = yield from cursor.peek()
        if separator and separator in ",;":
            cursor.at += 1
            yield from cursor.space()
        elif separator != "{":
            return start, end
        _, end = yield from cursor.scan(ObjectScanner())


def json_calls(
    *closers: str,
    before: tuple[str, ...] = (),
    opener: str = "{[",
    keyed: bool = False,
) -> Callable[[Cursor], Reading[Found]]:
    """A form with a JSON body: ``before`` may stand in front, ``closers`` behind.

    Without closers the form ends with its JSON.
    """

    def grammar(cursor: Cursor) -> Reading[Found]:
        yield from cursor.space()
        if before:
            yield from cursor.optional(*before)
            yield from cursor.space()
        start = cursor.position
        cursor.partial = lambda raw: cut_calls(raw[start:], start, keyed=keyed)
        if closers:
            start, end = yield from json_objects(cursor, opener)
            cursor.whole = end, _reader(start, end, keyed=keyed)
            yield from cursor.literal(*closers)
        else:
            start, end = yield from cursor.scan(ObjectScanner(opener=opener))
        return Found(PieceKind.CALL, _reader(start, end, keyed=keyed))

    return grammar


def _reader(start: int, end: int, *, keyed: bool) -> Callable[[str], Calls]:
    return lambda raw: calls_of(raw[start:end], start, keyed=keyed)
