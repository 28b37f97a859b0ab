"""Calls as a name, then keys and values between tags: GLM and models that write alike.

``<tool_call>f<arg_key>a</arg_key><arg_value>x</arg_value></tool_call>`` has neither
quotes nor types, so a value ends at the first closer with the next tag after it (text
rule 11.8). Models lose and repeat these tags. A malformed call is read if it can mean
only one thing. Each family is one `KeyedTags`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from stream_sidecar import patterns
from stream_sidecar.forms.call_bodies import Parameter, joined, typed
from stream_sidecar.forms.form import Form, Found, WrittenCall, mark
from stream_sidecar.forms.grammar import LONGEST_NAME, EndedError, literals
from stream_sidecar.forms.kinds import PieceKind
from stream_sidecar.forms.shared_grammars import (
    closed_object,
    empty_section,
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
    """The tags of a family: around a call, a key, a value, several calls (``section``)
    and the type of a value (``kind``). ``separator``: after a name. ``is_json``: values
    are JSON, so strings have quotes. ``is_sentinel``: no person writes these tags, so
    those that others imply may be missing."""

    call: TagPair
    key: TagPair = ("<arg_key>", "</arg_key>")
    value: TagPair = ("<arg_value>", "</arg_value>")
    section: TagPair = ("", "")
    separator: str = ">"
    kind: TagPair = ("", "")
    is_json: bool = False
    is_sentinel: bool = False

    def suffixed(self, suffix: str) -> KeyedTags:
        """These tags with ``suffix`` in each, such as ``<arg_key:opensource>``."""

        def with_suffix(tags: TagPair) -> TagPair:
            return f"{tags[0][:-1]}{suffix}>", f"{tags[1][:-1]}{suffix}>"

        return KeyedTags(
            with_suffix(self.call),
            with_suffix(self.key),
            with_suffix(self.value),
            with_suffix(self.section),
            f"{self.separator[:-1]}{suffix}>",
        )

    @property
    def begins_value(self) -> str:
        """The tag right before a value: its opener, or the key's closer."""
        return self.value[0] or self.key[1]

    @property
    def next_borders(self) -> tuple[str, ...]:
        """What may follow a call in a section: the next call, the section's end."""
        return tuple(filter(None, (self.call[0], self.section[1])))

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

    def write(self, cursor: Cursor, raw: str, end: int) -> WrittenCall:
        parameters = [part.parameter(raw) for part in self.parts]
        return WrittenCall(self.name, typed(self.name, parameters, cursor.context), end)


def _calls(tags: KeyedTags) -> Callable[[Cursor], Reading[Found]]:
    """The grammar of one call, or of a section of calls, as the opener says."""

    def grammar(cursor: Cursor) -> Reading[Found]:
        section = cursor.opener == tags.section[0]
        if section:
            if tags.is_sentinel and (yield from empty_section(cursor, tags.section[1])):
                return mark()
            yield from cursor.space()
            read = cursor.optional if tags.is_sentinel else cursor.literal
            yield from read(tags.call[0])
        readers = [(yield from _call(cursor, tags))]
        while section:
            if tags.is_sentinel:
                cursor.closed_body = cursor.position, joined(readers)
            yield from cursor.space()
            if not (yield from cursor.optional(tags.call[0])):
                yield from cursor.literal(tags.section[1])
                break
            readers.append((yield from _call(cursor, tags)))
        return Found(PieceKind.CALL, joined(readers))

    return grammar


def _suffix(tags: KeyedTags) -> Callable[[Cursor], Reading[Found]]:
    """The grammar of a call whose opener has a suffix, which then all tags have."""

    def grammar(cursor: Cursor) -> Reading[Found]:
        suffix = cursor.opener[-1] + (yield from cursor.label(">"))
        cursor.opener = cursor.opener[:-1] + suffix + ">"
        return (yield from _calls(tags.suffixed(suffix))(cursor))

    return grammar


def _call(cursor: Cursor, tags: KeyedTags) -> Reading[Callable[[str], Calls]]:
    """Reads a name and keys and values or an object, or one object with all of them."""
    yield from cursor.space()
    if (yield from cursor.need()) == "{":
        return (yield from framed_calls(cursor, tags.call[1]))
    call = _Call((yield from tool_name(cursor, _NAME)))
    yield from cursor.space()
    yield from cursor.optional(tags.separator, ">", tags.value[1])
    yield from cursor.space()
    if (yield from cursor.need()) == "{":
        object_call = yield from closed_object(cursor, call.name, tags.call[1])
        assert object_call.read is not None  # it is a call
        return object_call.read
    end = None
    if (yield from cursor.ahead(tags.key[1])):
        call, end = yield from _glued(cursor, tags, call.name)
    cursor.partial = lambda raw: [call.write(cursor, raw, len(raw))]
    is_known = call.name in (cursor.context.tools or ())
    if is_known and not (yield from cursor.ahead(tags.key[0], tags.call[1])):
        end = yield from _pair(cursor, tags, call)  # the key lost its opener
    place = (yield from _pairs(cursor, tags, call)) if end is None else end
    if place < cursor.position and cursor.opener == tags.section[0]:
        raise cursor.fails_at(place)  # the rest of the section follows
    cursor.index = place - cursor.base
    return lambda raw: [call.write(cursor, raw, place)]


def _pairs(cursor: Cursor, tags: KeyedTags, call: _Call) -> Reading[int]:
    """Reads keys and values to the call's closer or the next call; returns the end."""
    while True:
        yield from cursor.space()
        if (yield from cursor.optional(tags.value[1])):  # a repeated closer
            yield from cursor.space()
        tag = yield from cursor.literal(tags.key[0], tags.call[1], *tags.next_borders)
        if tag != tags.key[0]:
            cursor.index -= len(tag) * (tag != tags.call[1])
            return cursor.position
        end = yield from _pair(cursor, tags, call)
        if end is not None:
            return end


def _glued(
    cursor: Cursor, tags: KeyedTags, text: str
) -> Reading[tuple[_Call, int | None]]:
    """Splits ``text``, a declared name (the longest) with a key that lost its opener.
    Reads the key's value. Returns the call, and what `_value` returns."""
    tools = cursor.context.tools or {}
    prefixes = (text[:end] for end in range(len(text) - 1, 0, -1))
    name = next((name_part for name_part in prefixes if name_part in tools), None)
    if name is None:
        raise cursor.mismatch()
    call = _Call(name)
    yield from cursor.literal(tags.key[1])
    end = yield from _value(cursor, tags, call, text[len(call.name) :])
    return call, end


def _pair(cursor: Cursor, tags: KeyedTags, call: _Call) -> Reading[int | None]:
    """Reads a key and its value, and returns what `_value` does. The key's tags may be
    repeated, its closer missing, or the pair written as ``k=v``. A lone key is
    ignored."""
    yield from cursor.space()
    yield from cursor.optional(tags.key[0])
    start = cursor.position
    text = yield from cursor.run(_KEY, LONGEST_NAME)
    key, equals, _ = text.partition("=")
    closers = [tags.key[1], *filter(None, tags.value)]
    yield from cursor.space()
    closers = [*closers, tags.call[1]] if equals else closers[:-1]
    end = yield from cursor.literal(*closers)
    if end == tags.call[1]:
        call.parts.extend(_assigned(cursor, text, start))
        cursor.index -= len(end)
        return None
    if end == tags.value[1]:
        value = start + len(key) + 1, cursor.position - len(end)
        call.parts.append(_Part(key.strip(), value))
        return None
    cursor.index -= len(end) * (end == tags.value[0])
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
    """The parameters in ``text`` at ``start``, which has ``k=v k="w"`` for tags."""
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
    start, inner = cursor.position, _Inside(tags)
    cursor.part = start, frozenset(tags.call[:1])
    tag_literals = literals(tags.value[1], tags.begins_value, *tags.key, *tags.call)
    while True:
        end, tag = yield from inner.until(cursor, tag_literals)
        if tag == tags.call[1] and opener and (yield from _is_last(cursor, tags)):
            call.parts.append(_Part(key, (start, end), kind, closed=False))
            return None
        cursor.index += len(tag)
        if tag == tags.call[0] and not inner.closes_call:
            if (yield from _quoted(cursor, tags)):
                continue
        elif tag == tags.begins_value and inner.marks:
            call.parts.append(_Part(key, (start, inner.start), kind, closed=False))
            if inner.closes_call:
                return inner.start + len(tags.call[1])
            if (call_at := inner.another_call) is not None:
                raise cursor.fails_at(call_at)
            key, kind, start = inner.key(end), tags.value_kind, cursor.position
            inner = _Inside(tags)
            continue
        elif tag in (tags.value[1], tags.key[1]):
            yield from cursor.space()
            follows = tags.key[0], tags.call[1], *tags.next_borders, tags.value[1]
            if (yield from cursor.ahead(*follows)):
                call.parts.append(_Part(key, (start, end), kind))
                return None
        inner.add(tag, end)


class _Inside:
    """The tags found in a value that may lack its closer, each with its position."""

    def __init__(self, tags: KeyedTags) -> None:
        self.tags = tags
        self.marks: list[tuple[str, int]] = []

    def until(self, cursor: Cursor, stops: Literals) -> Reading[tuple[int, str]]:
        """Reads up to the next of ``stops`` and returns its position and the tag. After
        the call's closer, the text's end counts as the beginning of another value."""
        try:
            (_, end), tag = yield from cursor.until(stops)
        except EndedError:
            if not self.closes_call:
                raise
            return cursor.position, self.tags.begins_value
        return end, tag

    def add(self, tag: str, place: int) -> None:
        if self.marks or tag in (self.tags.key[0], *self.tags.call):
            self.marks.append((tag, place))

    @property
    def start(self) -> int:
        """The position of the first tag that was found."""
        return self.marks[0][1]

    @property
    def closes_call(self) -> bool:
        """Whether the first tag is the call's closer."""
        return bool(self.marks) and self.marks[0][0] == self.tags.call[1]

    @property
    def another_call(self) -> int | None:
        """Right after a call's first tag begins; None if none was found."""
        calls = (place + 1 for tag, place in self.marks if tag in self.tags.call)
        return next(calls, None)

    def key(self, end: int) -> Extent:
        """The extent of the key that belongs to the value after position ``end``."""
        opener, closer = self.tags.key
        start = max(place for tag, place in self.marks if tag == opener) + len(opener)
        closed = (place for tag, place in self.marks if tag == closer)
        return start, next((place for place in closed if place > start), end)


def _quoted(cursor: Cursor, tags: KeyedTags) -> Reading[bool]:
    """Whether a call's opener in a value begins a complete call, which is then read."""
    yield from cursor.run(_NAME)
    yield from cursor.space()
    quoted = bool((yield from cursor.ahead(tags.key[0])))
    if quoted:
        _, closer = yield from cursor.until(literals(tags.call[1]))
        cursor.index += len(closer)
    return quoted


def _is_last(cursor: Cursor, tags: KeyedTags) -> Reading[bool]:
    """Whether another call or the text's end follows the call's closer."""
    closer = tags.call[1]
    follows = [
        f"{closer}{gap}{border}"
        for gap in ("", "\n", "\n\n")
        for border in tags.next_borders
    ]
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
    suffix_openers = tuple(f"{opener[:-1]}:" for opener in openers)
    suffixed = [Form(suffix_openers, _suffix(tags), tier=tier)] if suffix else []
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
    is_sentinel=True,
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
    is_sentinel=True,
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
