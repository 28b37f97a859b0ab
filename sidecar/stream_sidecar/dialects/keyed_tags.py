"""Calls as a name, then keys and values between tags: GLM and models that write alike.

``<tool_call>f<arg_key>a</arg_key><arg_value>x</arg_value></tool_call>`` has neither
quotes nor types, so a value ends at the first closer with the next tag after it (text
rule 11.8). Models lose and repeat these tags. A malformed call is read if it can mean
only one thing. Each family is one `KeyedTags`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from stream_sidecar import patterns
from stream_sidecar.forms.call_bodies import Parameter, typed
from stream_sidecar.forms.form import Form, Found, WrittenCall
from stream_sidecar.forms.grammar import (
    LONGEST_NAME,
    EndedError,
    literals,
)
from stream_sidecar.forms.kinds import PieceKind
from stream_sidecar.forms.shared_grammars import (
    closed_object,
    framed_calls,
    markup,
    tool_name,
)
from stream_sidecar.records import evolve, field, frozen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from stream_sidecar.forms.call_bodies import Calls
    from stream_sidecar.forms.form import Tier
    from stream_sidecar.forms.grammar import Cursor, Extent, Reading
    from stream_sidecar.forms.literals import Literals

TagPair: TypeAlias = tuple[str, str]
"""An opener and its closer; two empty texts: the family has no such tags."""

_NAME = patterns.compile(r"[^\s<>{}\[\]\"']*+")
_KEY = patterns.compile(r"[^<>\r\n]*+")
_ASSIGNS = (
    r"(?<!\w)(?P<key>\w++)=(?:(?P<quote>[\"'])(?P<quoted>[^\"'<>\n]*+)(?P=quote)"
    r"|(?P<bare>[^\s\"'<>]++))"
)
_ASSIGNMENT = patterns.compile(_ASSIGNS)
_ASSIGNED = patterns.compile(
    r"\s*+(?:\w++=(?:\"[^\"'<>\n]*+\"|'[^\"'<>\n]*+'|[^\s\"'<>]++)[\s,]*+)++"
)


@frozen
class KeyedTags:
    """The tags of a family.

    ``call``, ``key``, ``value``: around a call, a key and a value. ``section``: around
    several calls. ``separator``: after a name. ``kind``: around the type of a value.
    ``is_json``: values are JSON, so strings have quotes.
    """

    call: TagPair
    key: TagPair = ("<arg_key>", "</arg_key>")
    value: TagPair = ("<arg_value>", "</arg_value>")
    section: TagPair = ("", "")
    separator: str = ">"
    kind: TagPair = ("", "")
    is_json: bool = False

    def suffixed(self, suffix: str) -> KeyedTags:
        """These tags with ``suffix`` in each, such as ``<arg_key:opensource>``."""

        def both(tags: TagPair) -> TagPair:
            return f"{tags[0][:-1]}{suffix}>", f"{tags[1][:-1]}{suffix}>"

        return KeyedTags(
            both(self.call),
            both(self.key),
            both(self.value),
            both(self.section),
            f"{self.separator[:-1]}{suffix}>",
        )

    @property
    def begins_value(self) -> str:
        """The tag right before a value: its opener, or the key's closer."""
        return self.value[0] or self.key[1]

    @property
    def value_kind(self) -> str:
        """The kind of a value for which the model wrote no type (see `Parameter`)."""
        return "json" if self.is_json else ""


@frozen
class _Part:
    """A parameter: its key or the key's extent, the value's extent and its kind.
    ``closed``: the value has a closer. If not, a line break at its end is not part of
    it."""

    key: str | Extent
    value: Extent
    kind: str = ""
    closed: bool = True

    def parameter(self, raw: str) -> Parameter:
        key, text = self.key, raw[slice(*self.value)]
        if not isinstance(key, str):
            key = raw[slice(*key)].strip()
        if not self.closed:
            text = text.removesuffix("\n").removesuffix("\r")
        return Parameter(key, text, self.kind)


@frozen
class _Call:
    """A call as far as it was read: its name and its parameters."""

    name: str
    parts: list[_Part] = field(factory=list)

    def written(self, cursor: Cursor, raw: str, end: int) -> WrittenCall:
        parameters = [part.parameter(raw) for part in self.parts]
        return WrittenCall(self.name, typed(self.name, parameters, cursor.context), end)


def _calls(tags: KeyedTags) -> Callable[[Cursor], Reading[Found]]:
    """The grammar of one call, or of a section of calls, as the opener says."""

    def grammar(cursor: Cursor) -> Reading[Found]:
        section = cursor.opener == tags.section[0]
        if section:
            yield from cursor.space()
            yield from cursor.literal(tags.call[0])
        read = [(yield from _call(cursor, tags))]
        while section:
            yield from cursor.space()
            if not (yield from cursor.optional(tags.call[0])):
                yield from cursor.literal(tags.section[1])
                break
            read.append((yield from _call(cursor, tags)))
        return Found(
            PieceKind.CALL, lambda raw: [c for each in read for c in each(raw)]
        )

    return grammar


def _suffix(tags: KeyedTags) -> Callable[[Cursor], Reading[Found]]:
    """The grammar of a call whose opener has a suffix, which then all tags have."""

    def grammar(cursor: Cursor) -> Reading[Found]:
        suffix = cursor.opener[-1] + (yield from cursor.label(">"))
        cursor.opener = cursor.opener[:-1] + suffix + ">"
        return (yield from _calls(tags.suffixed(suffix))(cursor))

    return grammar


def _call(cursor: Cursor, tags: KeyedTags) -> Reading[Callable[[str], Calls]]:
    """Reads a name and the arguments (keys and values, or an object), or one object
    with name and arguments. Returns a function that makes the call."""
    yield from cursor.space()
    if (yield from cursor.need()) == "{":
        return (yield from framed_calls(cursor, tags.call[1]))
    call = _Call((yield from tool_name(cursor, _NAME)))
    yield from cursor.space()
    yield from cursor.optional(tags.separator, ">", tags.value[1])
    yield from cursor.space()
    if (yield from cursor.need()) == "{":
        found = yield from closed_object(cursor, call.name, tags.call[1])
        assert found.read is not None  # it is a call
        return found.read
    end = None
    if (yield from cursor.ahead(tags.key[1])):
        call, end = yield from _glued(cursor, tags, call.name)
    cursor.partial = lambda raw: [call.written(cursor, raw, len(raw))]
    is_known = call.name in (cursor.context.tools or ())
    if is_known and not (yield from cursor.ahead(tags.key[0], tags.call[1])):
        end = yield from _pair(cursor, tags, call)  # the key lost its opener
    place = (yield from _pairs(cursor, tags, call)) if end is None else end
    if place < cursor.position and cursor.opener == tags.section[0]:
        raise cursor.fails_at(place)  # the rest of the section follows
    cursor.at = place - cursor.base
    return lambda raw: [call.written(cursor, raw, place)]


def _pairs(cursor: Cursor, tags: KeyedTags, call: _Call) -> Reading[int]:
    """Reads keys and values up to the call's closer or the next call. Returns where the
    call ends."""
    while True:
        yield from cursor.space()
        if (yield from cursor.optional(tags.value[1])):  # a repeated closer
            yield from cursor.space()
        found = yield from cursor.literal(tags.key[0], tags.call[1], tags.call[0])
        if found != tags.key[0]:
            return cursor.position - len(found) * (found == tags.call[0])
        end = yield from _pair(cursor, tags, call)
        if end is not None:
            return end


def _glued(
    cursor: Cursor, tags: KeyedTags, text: str
) -> Reading[tuple[_Call, int | None]]:
    """Splits ``text``, a tool's name with the first key glued to it, because the key
    lost its opener: the longest declared name is the tool's. Reads the key's value.
    Returns the call, and what `_value` returns."""
    tools = cursor.context.tools or {}
    begun = (text[:end] for end in range(len(text) - 1, 0, -1))
    name = next((each for each in begun if each in tools), None)
    if name is None:
        raise cursor.mismatch()
    call = _Call(name)
    yield from cursor.literal(tags.key[1])
    end = yield from _value(cursor, tags, call, text[len(call.name) :])
    return call, end


def _pair(cursor: Cursor, tags: KeyedTags, call: _Call) -> Reading[int | None]:
    """Reads a key and its value. Returns what `_value` returns.

    The key's tags may be repeated, its closer may be missing, or the key and the value
    may be written as ``k=v``. A key without a value is ignored.
    """
    yield from cursor.space()
    yield from cursor.optional(tags.key[0])
    start = cursor.position
    text = yield from cursor.run(_KEY, LONGEST_NAME)
    key, equals, _ = text.partition("=")
    ends = (tags.key[1], *filter(None, tags.value))
    yield from cursor.space()
    end = yield from cursor.literal(*((*ends, tags.call[1]) if equals else ends[:-1]))
    if end == tags.call[1]:
        call.parts.extend(_assigned(cursor, text, start))
        cursor.at -= len(end)
        return None
    if end == tags.value[1]:
        value = start + len(key) + 1, cursor.position - len(end)
        call.parts.append(_Part(key.strip(), value))
        return None
    cursor.at -= len(end) * (end == tags.value[0])
    yield from cursor.optional(tags.key[1])
    kind = tags.value_kind
    if tags.value[0]:
        yield from cursor.space()
        if tags.kind[0] and (yield from cursor.optional(tags.kind[0])):
            kind = yield from cursor.before(tags.kind[1])
            kind = "string" if kind.strip() == "string" else "json"
        if (yield from cursor.ahead(tags.key[0], tags.call[1])):
            return None
    return (yield from _value(cursor, tags, call, text.strip(), kind))


def _assigned(cursor: Cursor, text: str, start: int) -> Iterator[_Part]:
    """The parameters in ``text``, which has ``k=v k="w"`` in place of tags. ``start``:
    its position."""
    if _ASSIGNED.fullmatch(text) is None:
        raise cursor.mismatch(0)
    for match in _ASSIGNMENT.finditer(text):
        quoted = match["quote"] is not None
        place = match.span("quoted" if quoted else "bare")
        value = start + place[0], start + place[1]
        yield _Part(match["key"], value, "string" if quoted else "")


def _value(
    cursor: Cursor, tags: KeyedTags, call: _Call, key: str | Extent, kind: str = ""
) -> Reading[int | None]:
    """Reads a value and adds it to ``call``. Returns where the call ended if it ended
    with the value, else None.

    The value's opener may be missing. Its closer may be missing, or be the key's. A
    closer ends the value only if the form continues after it; otherwise it is data. A
    complete call inside the value is data as well. If another value begins before a
    closer came, this value ended at the first tag of the same family.
    """
    if tags.value[0]:
        yield from cursor.space()
    opener = not tags.value[0] or (yield from cursor.optional(tags.value[0]))
    start, inside = cursor.position, _Inside(tags)
    cursor.part = start, frozenset(tags.call[:1])
    ends = literals(tags.value[1], tags.begins_value, *tags.key, *tags.call)
    while True:
        end, found = yield from inside.until(cursor, ends)
        if found == tags.call[1] and opener and (yield from _is_last(cursor, tags)):
            call.parts.append(_Part(key, (start, end), kind, closed=False))
            return None
        cursor.at += len(found)
        if found == tags.call[0] and not inside.closes_call:
            if (yield from _quoted(cursor, tags)):
                continue
        elif found == tags.begins_value and inside.found:
            call.parts.append(_Part(key, (start, inside.first), kind, closed=False))
            if inside.closes_call:
                return inside.first + len(tags.call[1])
            if (call_at := inside.another_call) is not None:
                raise cursor.fails_at(call_at)
            key, kind, start = inside.key(end), tags.value_kind, cursor.position
            inside = _Inside(tags)
            continue
        elif found in (tags.value[1], tags.key[1]):
            yield from cursor.space()
            if (yield from cursor.ahead(tags.key[0], *tags.call, tags.value[1])):
                call.parts.append(_Part(key, (start, end), kind))
                return None
        inside.add(found, end)


class _Inside:
    """The tags found inside a value that may lack its closer, each with its position.
    The first one is a tag that may stand after a value."""

    def __init__(self, tags: KeyedTags) -> None:
        self.tags = tags
        self.found: list[tuple[str, int]] = []

    def until(self, cursor: Cursor, ends: Literals) -> Reading[tuple[int, str]]:
        """Reads up to the next of ``ends`` and returns its position and the tag. If the
        call's closer was found before, the text's end counts as the beginning of
        another value."""
        try:
            (_, end), found = yield from cursor.until(ends)
        except EndedError:
            if not self.closes_call:
                raise
            return cursor.position, self.tags.begins_value
        return end, found

    def add(self, tag: str, place: int) -> None:
        if self.found or tag in (self.tags.key[0], *self.tags.call):
            self.found.append((tag, place))

    @property
    def first(self) -> int:
        """The position of the first tag that was found."""
        return self.found[0][1]

    @property
    def closes_call(self) -> bool:
        """Whether the first tag is the call's closer."""
        return bool(self.found) and self.found[0][0] == self.tags.call[1]

    @property
    def another_call(self) -> int | None:
        """One code point after where the first tag of a call begins; None if no such
        tag was found."""
        calls = (place + 1 for tag, place in self.found if tag in self.tags.call)
        return next(calls, None)

    def key(self, end: int) -> Extent:
        """The extent of the key that belongs to the value after position ``end``."""
        opener, closer = self.tags.key
        start = max(place for tag, place in self.found if tag == opener) + len(opener)
        closed = (place for tag, place in self.found if tag == closer)
        return start, next((place for place in closed if place > start), end)


def _quoted(cursor: Cursor, tags: KeyedTags) -> Reading[bool]:
    """Whether a call's opener inside a value begins a complete call, which is data:
    a name and a key follow. If so, reads up to that call's closer."""
    yield from cursor.run(_NAME)
    yield from cursor.space()
    quoted = bool((yield from cursor.ahead(tags.key[0])))
    if quoted:
        _, closer = yield from cursor.until(literals(tags.call[1]))
        cursor.at += len(closer)
    return quoted


def _is_last(cursor: Cursor, tags: KeyedTags) -> Reading[bool]:
    """Whether the call's closer, which comes next, is followed by the next call or by
    the text's end. Reads nothing."""
    closer = tags.call[1]
    follows = [f"{closer}{gap}{tags.call[0]}" for gap in ("", "\n", "\n\n")]
    is_followed = yield from cursor.ahead(*follows)
    return bool(is_followed) or (yield from cursor.is_last(closer))


def _forms(tags: KeyedTags, tier: Tier, *, suffix: bool = False) -> tuple[Form, ...]:
    pairs = [pair for pair in (tags.call, tags.section) if pair[0]]
    openers = tuple(opener for opener, _ in pairs)
    inner = [pair for pair in (tags.key, tags.value) if pair[1].startswith("</")]
    closers = tuple(closer for _, closer in pairs)
    form = Form(openers, _calls(tags), tier=tier, closers=closers, needs=tags.call)
    parts = [
        Form((opener,), markup, tier=tier, vague=True, closers=(closer,))
        for opener, closer in inner
    ]
    begun = tuple(f"{opener[:-1]}:" for opener in openers)
    suffixed = [Form(begun, _suffix(tags), tier=tier)] if suffix else []
    return (form, *suffixed, *parts)


_GLM = KeyedTags(("<tool_call>", "</tool_call>"))
_TELECHAT = KeyedTags(
    ("<tool_call>", "</tool_call>"),
    ("<param_key>", "</param_key>"),
    ("<param_value>", "</param_value>"),
)
_HY3 = KeyedTags(
    ("<tool_call>", "</tool_call>"),
    section=("<tool_calls>", "</tool_calls>"),
    separator="<tool_sep>",
)
_HORIZON = KeyedTags(
    ("<ifm|tool_call>", "</ifm|tool_call>"),
    ("<ifm|arg_key>", "</ifm|arg_key>"),
    ("<ifm|arg_value>", "</ifm|arg_value>"),
    ("<ifm|tool_calls>", "</ifm|tool_calls>"),
    kind=("<ifm|arg_type>", "</ifm|arg_type>"),
)
_LONGCAT = KeyedTags(
    ("<longcat_tool_call>", "</longcat_tool_call>"),
    ("<longcat_arg_key>", "</longcat_arg_key>"),
    ("<longcat_arg_value>", "</longcat_arg_value>"),
)
_SOLAR = KeyedTags(
    ("<|tool_call:start|>", "<|tool_call:end|>"),
    ("<|tool_arg:start|>", "<|tool_arg:value|>"),
    ("", "<|tool_arg:end|>"),
)

FORMS: dict[str, tuple[Form, ...]] = {
    "glm": _forms(_GLM, "B"),
    "telechat": _forms(_TELECHAT, "B"),
    "hy3": _forms(_HY3, "B", suffix=True),
    "iquest": tuple(
        form
        for word_ in ("iquest_tool_call", "iquestcoder_tool_call")
        for form in _forms(KeyedTags((f"<{word_}>", f"</{word_}>")), "B")
    ),
    "longcat": _forms(_LONGCAT, "B"),
    "hyperclova": _forms(evolve(_GLM, is_json=True), "B"),
    "k2-horizon": _forms(_HORIZON, "A"),
    "solar": _forms(_SOLAR, "A"),
}
