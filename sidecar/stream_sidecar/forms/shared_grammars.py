"""Grammars that several dialects share: JSON bodies, values up to their closers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from stream_sidecar import patterns
from stream_sidecar.forms.call_bodies import calls_of, cut_calls, json_part
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
_WINDOW = 256
"""`_closes_all` looks at this many code points."""


def tool_name(cursor: Cursor, pattern: re.Pattern[str]) -> Reading[str]:
    """Reads a tool's name that no quote or bracket ends, and returns it (text rule
    11.17). Raises MismatchError if the name is not declared, and a blank and more text
    follow it: then it is a word of a sentence."""
    name = yield from cursor.word(pattern)
    following = yield from cursor.peek()
    if following in (" ", "\t") and name not in (cursor.context.tools or ()):
        yield from cursor.line_end()
    return name


def empty_section(cursor: Cursor, *ends: str) -> Reading[bool]:
    """Reads white space, and one of ``ends`` if it comes next and ends its line: a
    section without calls (text rule 11.23). Raises MismatchError if more text follows
    on the line, as in a sentence."""
    yield from cursor.space()
    if not (yield from cursor.optional(*ends)):
        return False
    end = cursor.position
    yield from cursor.line_end()
    cursor.index -= cursor.position - end
    return True


def section(cursor: Cursor, call: str, *ends: str) -> Reading[bool]:
    """Reads what comes before a section's first call: its opener ``call``, which may be
    missing. Returns whether the section is empty instead (see `empty_section`)."""
    if (yield from empty_section(cursor, *ends)):
        return True
    yield from cursor.space()
    yield from cursor.optional(call)
    return False


_PROSE = patterns.compile(r"[^<>\[\]{}|`]*+")
_LONGEST_PROSE = 128


def prose(cursor: Cursor) -> Reading[None]:
    """Reads words that a model writes between a wrapper and the wrapper's content."""
    yield from cursor.run(_PROSE, _LONGEST_PROSE)


def markup(cursor: Cursor) -> Reading[Found]:
    """Always fails: the opener and the form's ``pending_closers`` are text."""
    yield from ()
    raise cursor.mismatch(0)


def reasoning(cursor: Cursor, ends: Literals, end: str = "") -> Reading[Found]:
    """Begins reasoning after the opener, if one of ``ends`` comes later. Raises
    MismatchError if ``end`` is given and another of ``ends`` comes first: then the
    opener is text."""
    start = cursor.position
    _, literal = yield from cursor.until(ends)
    if end and literal != end:
        raise cursor.mismatch(len(literal))
    cursor.index -= cursor.position - start
    return Found(PieceKind.ENTER)


def begin_reasoning(_cursor: Cursor) -> Reading[Found]:
    """Begins reasoning right after the opener."""
    yield from ()
    return Found(PieceKind.ENTER)


def end_reasoning(cursor: Cursor) -> Reading[Found]:
    """Ends reasoning with the opener. Raises MismatchError if no reasoning is open:
    then the opener is text, or begins another form."""
    if not cursor.inside:
        raise cursor.mismatch(0)
    yield from ()
    return mark(ends=True)


def framed_calls(
    cursor: Cursor, *closers: str, opener: str = "{"
) -> Reading[Callable[[str], Calls]]:
    """Reads a JSON value, white space and one of ``closers``, which may be missing
    (text rule 11.19). Returns a function that makes the value's calls from the
    candidate's text."""
    start, end = yield from cursor.scan(ObjectScanner(opener=opener))
    read_calls = _reader(start, end, keyed=False)
    cursor.closed_body = end, read_calls
    yield from cursor.space()
    yield from cursor.literal(*closers)
    return read_calls


def closed_object(
    cursor: Cursor, name: str, *closers: str, id: str = ""
) -> Reading[Found]:
    """Reads arguments as one object, and a closer, if any (text rule 11.19)."""
    part = yield from cursor.scan(ObjectScanner())
    cursor.closed_body = cursor.position, json_part(name, part, cursor.position, id)
    yield from cursor.space()
    yield from cursor.literal(*closers)
    return Found(PieceKind.CALL, json_part(name, part, cursor.position, id))


def value(cursor: Cursor, closers: Literals, *follows: str) -> Reading[Extent]:
    """Reads a value and its closer, and returns the value's extent. The closer is the
    first of ``closers`` with one of ``follows`` after it; a closer without it is part
    of the value (text rule 11.8). The text that follows stays unread."""
    start = cursor.position
    while True:
        (_, end), closer = yield from cursor.until(closers)
        cursor.index += len(closer)
        yield from cursor.space()
        if (yield from cursor.ahead(*follows)):
            return start, end


_WRAPPERS = r"(?:(?:\w++:)?+(?:tool_call|function_calls|tool_calls)>\s*+<)?+"


class CallTags:
    """The tags of a syntax of calls whose values have no escapes.

    ``call`` and ``value``: openers of a call and of a value. ``call_ends`` and
    ``value_ends``: closers of a call and of a value. ``decisive``: closers of a call
    that no person writes into a value. ``again``: a pattern for a complete tag that
    begins a value on a line of its own; its group ``key`` is the value's key.
    """

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
        calls = "|".join(re.escape(opener[1:]) for opener in call)
        self._begun = patterns.compile(rf"\n[ \t]*+<(?={_WRAPPERS}(?:{calls}))")

    def whole(self, raw: str, start: int, end: int) -> str:
        """The text of the value from ``start`` to ``end``. Raises TornError if a call
        without a closer begins in the value on a line of its own: this call is no part
        of the value."""
        text = raw[start:end]
        call_start = self._begun.search(text)
        if call_start and not any(closer in text for closer in self.call_ends):
            raise TornError(start + call_start.end())
        return text

    def apart(
        self, raw: str, key: str, part: Extent, known: Container[str]
    ) -> Iterator[tuple[str, str, str]]:
        """Splits a value whose closer is missing into the values that it contains.
        Yields (key, tag, text) for each; the first has no tag.

        A further value begins at a tag on a line of its own, if its key is in ``known``
        or ``known`` is empty. A value that contains a call or a closer is not split.
        """
        text, tag, index = self.whole(raw, *part), "", 0
        tag_matches = [
            m for m in self._again.finditer(text) if not known or m["key"] in known
        ]
        if tag_matches and any(word in text for word in (*self.value_ends, *self.call)):
            tag_matches = []
        for match in tag_matches:
            yield key, tag, text[index : match.start()]
            key, tag, index = match["key"], match[0], match.end()
        yield key, tag, text[index:]

    def close_all(self, text: str) -> bool:
        """Whether ``text`` has only closers, none of them of a value."""
        closed = _CLOSERS.fullmatch(text) is not None
        return closed and not any(end in text for end in self.value_ends)


def _begins_call(cursor: Cursor, tags: CallTags) -> Reading[bool]:
    """Whether a value's opener follows the opener's tag, which is read."""
    yield from cursor.run(_NO_TAG)
    yield from cursor.optional(">")
    yield from cursor.space()
    return bool((yield from cursor.ahead(*tags.value)))


def _closes_all(cursor: Cursor, tags: CallTags) -> Reading[bool]:
    """Whether only closers, none of them of a value, come; reads nothing."""
    while True:
        ahead = cursor.text[cursor.index : cursor.index + _WINDOW]
        if cursor.final or len(ahead) == _WINDOW or not _MAY_CLOSE.fullmatch(ahead):
            return len(ahead) < _WINDOW and tags.close_all(ahead)
        yield


def tagged_value(cursor: Cursor, tags: CallTags, *follows: str) -> Reading[Extent]:
    """Reads a value and its closer as `value` does. A call inside the value is part of
    the value, up to the call's closer. If that call has no closer, the value ends at
    the text's last closer of a value, after which only closers of other tags come."""
    start, quotes = cursor.position, False
    cursor.part = start, tags.call
    while True:
        (_, end), tag = yield from cursor.until(tags.all_in_value)
        cursor.index += len(tag)
        if tag in tags.call:
            quotes = (yield from _begins_call(cursor, tags)) or quotes
        elif tag in tags.call_ends:
            if tag in tags.decisive and not quotes:
                cursor.index -= len(tag)
                return start, end
            quotes = False
        else:
            yield from cursor.space()
            is_followed = yield from cursor.ahead(*follows)
            if is_followed and (not quotes or (yield from _closes_all(cursor, tags))):
                return start, end


def json_objects(cursor: Cursor, opener: str = "{[") -> Reading[Extent]:
    """Reads JSON values with white space, ``,`` or ``;`` between; their extent."""
    start, end = yield from cursor.scan(ObjectScanner(opener=opener))
    while True:
        yield from cursor.space()
        separator = yield from cursor.peek()
        if separator and separator in ",;":
            cursor.index += 1
            yield from cursor.space()
        elif separator != "{":
            return start, end
        _, end = yield from cursor.scan(ObjectScanner())


def json_calls(
    *closers: str, before: tuple[str, ...] = (), opener: str = "{[", keyed: bool = False
) -> Callable[[Cursor], Reading[Found]]:
    """The grammar of a form with a JSON body, perhaps after one of ``before``, and one
    of ``closers``, if there are any. ``keyed``: see `calls_of`."""

    def grammar(cursor: Cursor) -> Reading[Found]:
        yield from cursor.space()
        if before:
            yield from cursor.optional(*before)
            yield from cursor.space()
        start = cursor.position
        cursor.partial = lambda raw: cut_calls(raw[start:], start, keyed=keyed)
        if closers:
            start, end = yield from json_objects(cursor, opener)
            cursor.closed_body = end, _reader(start, end, keyed=keyed)
            yield from cursor.literal(*closers)
        else:
            start, end = yield from cursor.scan(ObjectScanner(opener=opener))
        return Found(PieceKind.CALL, _reader(start, end, keyed=keyed))

    return grammar


def _reader(start: int, end: int, *, keyed: bool) -> Callable[[str], Calls]:
    return lambda raw: calls_of(raw[start:end], start, keyed=keyed)
