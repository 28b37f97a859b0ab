"""A name, then keys and values between tags: GLM and those that learned from it.

``<tool_call>f<arg_key>a</arg_key><arg_value>x</arg_value></tool_call>`` has neither
quotes nor types, so a value ends at the closer behind which the next tag stands (text
rule 11.8). Models lose and double these tags; what is left is read where it can mean
one thing only. Each family is a row of tags.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from stream_sidecar import patterns
from stream_sidecar.dialects.tokens import json_part
from stream_sidecar.forms.call_bodies import Parameter, calls_of, typed
from stream_sidecar.forms.form import Form, Found, WrittenCall
from stream_sidecar.forms.grammar import (
    LONGEST_NAME,
    literals,
)
from stream_sidecar.forms.kinds import PieceKind
from stream_sidecar.forms.shared_grammars import framed_object, markup, tool_name
from stream_sidecar.records import field, frozen

if TYPE_CHECKING:
    from collections.abc import Callable

    from stream_sidecar.forms.call_bodies import Calls
    from stream_sidecar.forms.form import Tier
    from stream_sidecar.forms.grammar import Cursor, Extent, Reading

TagPair: TypeAlias = tuple[str, str]
"""Opener and closer."""

_NAME = patterns.compile(r"[^\s<>{}\[\]\"']*+")
_KEY = patterns.compile(r"[^<>\r\n]*+")


@frozen
class KeyedTags:
    """The tags of a family: opener and closer of each part. ``section`` stands around
    several calls, ``separator`` behind a name."""

    call: TagPair
    key: TagPair = ("<arg_key>", "</arg_key>")
    value: TagPair = ("<arg_value>", "</arg_value>")
    section: TagPair = ("", "")
    separator: str = ">"

    def suffixed(self, suffix: str) -> KeyedTags:
        """These tags with a suffix in each: ``<arg_key:opensource>``."""

        def both(tags: TagPair) -> TagPair:
            return f"{tags[0][:-1]}{suffix}>", f"{tags[1][:-1]}{suffix}>"

        return KeyedTags(
            both(self.call),
            both(self.key),
            both(self.value),
            both(self.section),
            f"{self.separator[:-1]}{suffix}>",
        )


@frozen
class _Value:
    """Where a value stands. The line break before what stands in place of its closer
    belongs to the markup."""

    place: Extent
    closed: bool = True

    def text(self, raw: str) -> str:
        text = raw[slice(*self.place)]
        return text if self.closed else text.removesuffix("\n").removesuffix("\r")


@frozen
class _Call:
    """A call as far as it was read."""

    name: str
    parts: list[tuple[str, _Value]] = field(factory=list)

    def written(self, cursor: Cursor, raw: str, end: int) -> WrittenCall:
        parameters = [Parameter(key, value.text(raw)) for key, value in self.parts]
        return WrittenCall(self.name, typed(self.name, parameters, cursor.context), end)


def _calls(tags: KeyedTags) -> Callable[[Cursor], Reading[Found]]:
    """One call, or behind a section's opener all up to its closer."""

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
    """The opener goes on with a suffix, which all tags have then."""

    def grammar(cursor: Cursor) -> Reading[Found]:
        suffix = cursor.opener[-1] + (yield from cursor.label(">"))
        cursor.opener = cursor.opener[:-1] + suffix + ">"
        return (yield from _calls(tags.suffixed(suffix))(cursor))

    return grammar


def _call(cursor: Cursor, tags: KeyedTags) -> Reading[Callable[[str], Calls]]:
    """A name and its arguments, in pairs or as an object; or all of it as an object."""
    yield from cursor.space()
    if (yield from cursor.need()) == "{":
        start, end = yield from framed_object(cursor, tags.call[1])
        return lambda raw: calls_of(raw[start:end], start)
    call = _Call((yield from tool_name(cursor, _NAME)))
    yield from cursor.space()
    yield from cursor.optional(tags.separator, ">", tags.value[1])
    yield from cursor.space()
    if (yield from cursor.need()) == "{":
        part = yield from framed_object(cursor, tags.call[1])
        return json_part(call.name, part, cursor.position)
    if (yield from cursor.ahead(tags.key[1])):
        call = yield from _glued(cursor, tags, call.name)
    cursor.partial = lambda raw: [call.written(cursor, raw, len(raw))]
    is_known = call.name in (cursor.context.tools or ())
    if is_known and not (yield from cursor.ahead(tags.key[0], tags.call[1])):
        call.parts.append((yield from _pair(cursor, tags)))  # the key lost its opener
        yield from cursor.space()
    ends = tags.key[0], tags.call[1], tags.call[0]
    while (found := (yield from cursor.literal(*ends))) == tags.key[0]:
        call.parts.append((yield from _pair(cursor, tags)))
        yield from cursor.space()
        if (yield from cursor.optional(tags.value[1])):  # twice
            yield from cursor.space()
    cursor.at -= len(found) * (found == tags.call[0])  # another call: it lacks its own
    end = cursor.position
    return lambda raw: [call.written(cursor, raw, end)]


def _glued(cursor: Cursor, tags: KeyedTags, text: str) -> Reading[_Call]:
    """The first key lost its opener: the longest declared name parts it from that of
    the tool."""
    tools = cursor.context.tools or {}
    begun = (text[:end] for end in range(len(text) - 1, 0, -1))
    name = next((each for each in begun if each in tools), None)
    if name is None:
        raise cursor.mismatch()
    call = _Call(name)
    yield from cursor.literal(tags.key[1])
    part = yield from _value(cursor, tags)
    call.parts.append((text[len(call.name) :], part))
    yield from cursor.space()
    return call


def _pair(cursor: Cursor, tags: KeyedTags) -> Reading[tuple[str, _Value]]:
    """A key and its value; the key's tags may stand twice, its closer be missing, or
    both stand together as ``k=v``."""
    yield from cursor.space()
    yield from cursor.optional(tags.key[0])
    start = cursor.position
    text = yield from cursor.run(_KEY, LONGEST_NAME)
    key, equals, _ = text.partition("=")
    ends = (tags.key[1], *filter(None, tags.value))
    end = yield from cursor.literal(*(ends if equals else ends[:-1]))
    if end == tags.value[1]:
        behind = cursor.position - len(end)
        return key.strip(), _Value((start + len(key) + 1, behind))
    cursor.at -= len(end) * (end == tags.value[0])
    yield from cursor.optional(tags.key[1])
    return text.strip(), (yield from _value(cursor, tags))


def _value(cursor: Cursor, tags: KeyedTags) -> Reading[_Value]:
    """A value, whose opener may be missing, and whose closer may be the key's or none.

    A closer ends it where the form goes on behind it, else it is data. What has an
    opener and no closer ends before the next key, or before the call's closer behind
    which nothing stands but the next call. A call that stands in it is data.
    """
    opener = ""
    if tags.value[0]:
        yield from cursor.space()
        opener = yield from cursor.optional(tags.value[0])
    start = cursor.position
    ends = literals(tags.value[1], *tags.key, *tags.call)
    while True:
        (_, end), found = yield from cursor.until(ends)
        if found == tags.call[0]:
            cursor.at += len(found)
            yield from _quoted(cursor, tags)
            continue
        if opener and (yield from _is_next(cursor, found, tags)):
            return _Value((start, end), closed=False)
        cursor.at += len(found)
        yield from cursor.space()
        if found in (tags.value[1], tags.key[1]) and (
            yield from cursor.ahead(tags.key[0], *tags.call, tags.value[1])
        ):
            return _Value((start, end))


def _quoted(cursor: Cursor, tags: KeyedTags) -> Reading[None]:
    """Behind a call's opener in a value: where a key follows, all up to its closer."""
    yield from cursor.run(_NAME)
    yield from cursor.space()
    if (yield from cursor.ahead(tags.key[0])):
        _, closer = yield from cursor.until(literals(tags.call[1]))
        cursor.at += len(closer)


def _is_next(cursor: Cursor, found: str, tags: KeyedTags) -> Reading[bool]:
    """Whether what stands here is the next key, or the closer of the call, and behind
    it the next call or the text's end."""
    closer = tags.call[1]
    if found != closer:
        return found == tags.key[0]
    follows = [f"{closer}{gap}{tags.call[0]}" for gap in ("", "\n", "\n\n")]
    is_followed = yield from cursor.ahead(*follows)
    return bool(is_followed) or (yield from cursor.is_last(closer))


def _forms(tags: KeyedTags, tier: Tier, *, suffix: bool = False) -> tuple[Form, ...]:
    pairs = [pair for pair in (tags.call, tags.section) if pair[0]]
    openers = tuple(opener for opener, _ in pairs)
    inner = [pair for pair in (tags.key, tags.value) if pair[1].startswith("</")]
    closers = tuple(closer for _, closer in pairs)
    form = Form(openers, _calls(tags), tier, closers=closers)
    parts = [
        Form((opener,), markup, tier, vague=True, closers=(closer,))
        for opener, closer in inner
    ]
    begun = tuple(f"{opener[:-1]}:" for opener in openers)
    suffixed = [Form(begun, _suffix(tags), tier)] if suffix else []
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
    "k2-horizon": _forms(_HORIZON, "A"),
    "solar": _forms(_SOLAR, "A"),
}
