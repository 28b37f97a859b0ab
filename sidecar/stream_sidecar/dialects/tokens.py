"""Calls between tokens of a model's own vocabulary: Kimi, DeepSeek, Mistral, Kimi K3.

No person writes these tokens. JSON stands between them, or text with its type (Kimi
K3). Tokens around several calls are openers and closers of forms, too, or marks (see
``reasoning_tags``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stream_sidecar import patterns
from stream_sidecar.forms.call_bodies import (
    Parameter,
    cut_part,
    joined,
    json_part,
    properties,
    typed,
)
from stream_sidecar.forms.form import Form, Found, MalformedError, WrittenCall, mark
from stream_sidecar.forms.grammar import LONGEST_NAME
from stream_sidecar.forms.kinds import PieceKind
from stream_sidecar.forms.literals import Literals
from stream_sidecar.forms.shared_grammars import (
    NAME,
    empty_section,
    json_calls,
    section,
)
from stream_sidecar.values.jsontext import loads
from stream_sidecar.values.relaxed import ObjectScanner

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterator

    from stream_sidecar.forms.call_bodies import Calls
    from stream_sidecar.forms.grammar import Cursor, Extent, Reading

_KIMI_ID = patterns.compile(r"(?:functions\.)?(?P<name>[^:!]++)(?:[:!]\d++)?")
_ID = patterns.compile(r"[^\s<>`{}]*+")
_KIMI_CALL, _KIMI_NAMESPACE = "<|tool_call_begin|>", "functions."
_KIMI_ARGUMENTS = "<|tool_call_argument_begin|>"
_FENCE, _TICKS = "```json", "```"
_PLAIN = patterns.compile(r"[^<\[]*+")
_UUID = patterns.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_TYPES = {"string": "string"}
_TYPE = "function"


def _object(
    cursor: Cursor, name: str, id: str, closer: str, *sections: str
) -> Reading[Extent]:
    """Reads a call's arguments, if any, and its closer, which may be missing."""
    part = cursor.position, cursor.position
    if not (yield from cursor.ahead(closer, *sections)):
        part = yield from cursor.scan(ObjectScanner())
        cursor.closed_body = cursor.position, json_part(name, part, cursor.position, id)
    yield from cursor.space()
    yield from _end(cursor, closer, *sections)
    return part


def _end(cursor: Cursor, closer: str, *sections: str) -> Reading[None]:
    """Reads a call's ``closer``, which may be missing before one of ``sections``."""
    token = yield from cursor.literal(closer, *sections)
    cursor.index -= len(token) * (token in sections)


_KIMI_SECTIONS = {
    side: tuple(f"<|tool_call{plural}_section_{side}|>" for plural in ("", "s"))
    for side in ("begin", "end")
}


def _kimi(cursor: Cursor) -> Reading[Found]:
    """Reads Kimi K2's call, or a section whose calls lack their openers."""
    words, is_bare = "", cursor.opener == _KIMI_NAMESPACE
    if is_bare:
        cursor.rewind()
    elif cursor.opener != _KIMI_CALL:
        if (yield from empty_section(cursor, *_KIMI_SECTIONS["end"])):
            return mark()
        words = yield from cursor.run(_PLAIN, LONGEST_NAME)  # before the first call
        begins = yield from cursor.literal(_KIMI_CALL, _KIMI_ARGUMENTS)
        if begins == _KIMI_CALL or not words.strip():
            words = ""
        else:
            cursor.index -= len(begins)
    id = words.split()[-1] if words else ""
    readers = [(yield from _kimi_call(cursor, id, is_bare=is_bare or bool(words)))]
    while words and (yield from cursor.ahead(_KIMI_NAMESPACE)):
        readers.append((yield from _kimi_call(cursor, "", is_bare=True)))
    reads = [read for read in readers if read is not None]
    if not reads:
        return mark()
    return Found(PieceKind.CALL, joined(reads))


def _kimi_call(
    cursor: Cursor, id: str, *, is_bare: bool
) -> Reading[Callable[[str], Calls] | None]:
    """Reads an id (``functions.name:0`` or a counter), if it is not given, and the
    arguments. None: a call in the model's own runtime, which nobody else runs."""
    yield from cursor.space()
    id = id or (yield from cursor.word(_ID))
    yield from cursor.space()
    if is_bare:
        begins = yield from cursor.literal(_KIMI_ARGUMENTS)
    else:
        begins = yield from cursor.optional(_KIMI_ARGUMENTS, _FENCE)
    yield from cursor.space()
    match = _KIMI_ID.fullmatch(id)
    name = match["name"] if match else id
    if not begins and (yield from cursor.need()) != "{":
        raise cursor.mismatch()
    cursor.partial = cut_part(name, cursor.position, id)
    ends = "<|tool_call_end|>", *_KIMI_SECTIONS["end"]
    if is_bare and cursor.opener != _KIMI_NAMESPACE:
        ends = *ends, _KIMI_NAMESPACE
    closers = (_TICKS,) if begins == _FENCE else ends
    part = yield from _object(cursor, name, id, *closers)
    if begins == _FENCE:
        yield from cursor.space()
        yield from _end(cursor, *ends)
    if _UUID.fullmatch(id):
        return None
    read = json_part(name, part, cursor.position, id)
    if name.isdecimal():
        return lambda raw: [_by_schema(cursor, read(raw)[0])]
    return read


_FEW_TOOLS = 256
"""Of more tools none is found by its arguments, so that the time is bounded."""


def _by_schema(cursor: Cursor, call: WrittenCall) -> WrittenCall:
    """``call``, whose id is only a counter, with the name of the tool that declares all
    its arguments. Raises if not exactly one tool does, or if more than `_FEW_TOOLS` are
    declared."""
    keys, tools = loads(call.arguments).keys(), cursor.context.tools or {}
    names = [
        name
        for name in (tools if len(tools) <= _FEW_TOOLS else ())
        if keys <= properties(name, cursor.context).keys()
    ]
    if len(names) != 1:
        raise MalformedError("no name")
    return WrittenCall(names[0], call.arguments, call.end, call.id)


def _deepseek_tokens(bar: str, gap: str) -> Iterator[str]:
    """DeepSeek's separator and closers with this spelling of bar and gap."""
    names = "sep", f"call{gap}begin", f"call{gap}end", f"calls{gap}end"
    return (f"<{bar}tool{gap}{name}{bar}>" for name in names)


def _deepseek_v3(bar: str, gap: str) -> Callable[[Cursor], Reading[Found]]:
    separator, opener, closer, section_end = _deepseek_tokens(bar, gap)

    def grammar(cursor: Cursor) -> Reading[Found]:
        """Reads ``function``, the separator, the name, and fenced JSON."""
        is_in_section = cursor.opener != opener
        if is_in_section and (yield from section(cursor, opener, section_end)):
            return mark()
        yield from cursor.space()
        yield from cursor.literal(_TYPE)
        has_separator = yield from cursor.optional(separator)
        name = yield from cursor.word(NAME)
        yield from cursor.space()
        has_fence = yield from cursor.optional("```json", "```")
        if not (has_separator or has_fence):
            raise cursor.mismatch()
        yield from cursor.space()
        cursor.partial = cut_part(name, cursor.position)
        part = yield from cursor.scan(ObjectScanner())
        cursor.closed_body = cursor.position, json_part(name, part, cursor.position)
        yield from cursor.space()
        yield from cursor.optional("```")
        yield from cursor.space()
        yield from _end(cursor, closer, section_end)
        return Found(PieceKind.CALL, json_part(name, part, cursor.position))

    return grammar


def _deepseek_v31(bar: str, gap: str) -> Callable[[Cursor], Reading[Found]]:
    separator, opener, closer, section_end = _deepseek_tokens(bar, gap)

    def grammar(cursor: Cursor) -> Reading[Found]:
        is_in_section = cursor.opener != opener
        if is_in_section and (yield from section(cursor, opener, section_end)):
            return mark()
        yield from cursor.space()
        name = yield from cursor.word(NAME)
        yield from cursor.space()
        has_separator = yield from cursor.optional(separator)
        if not has_separator and (yield from cursor.need()) != "{":
            raise cursor.mismatch()
        yield from cursor.space()
        if name != _TYPE:  # otherwise it is a call of V3, whose name comes later
            cursor.partial = cut_part(name, cursor.position)
        part = yield from _object(cursor, name, "", closer, section_end)
        return Found(PieceKind.CALL, json_part(name, part, cursor.position))

    return grammar


_DEEPSEEK = (("｜", "▁"), ("|", "▁"), ("｜", "_"))


def _deepseek(
    make: Callable[[str, str], Callable[[Cursor], Reading[Found]]],
) -> tuple[Form, ...]:
    return tuple(
        Form(
            tuple(f"<{bar}tool{gap}{w}{gap}begin{bar}>" for w in ("calls", "call")),
            make(bar, gap),
            tier="A",
            closers=tuple(
                f"<{bar}tool{gap}{noun}{gap}end{bar}>" for noun in ("calls", "call")
            ),
        )
        for bar, gap in _DEEPSEEK
    )


DEEPSEEK_MARKS = tuple(
    f"<{bar}tool{gap}output{plural}{gap}{side}{bar}>"
    for bar, gap in _DEEPSEEK
    for plural in ("", "s")
    for side in ("begin", "end")
)


_MISTRAL = "[TOOL_CALLS]"


def _mistral(cursor: Cursor) -> Reading[Found]:
    """Reads a list, or ``name{..}`` perhaps with ``[ARGS]`` and ``[CALL_ID]``."""
    if cursor.opener != _MISTRAL:
        cursor.rewind()
    yield from cursor.space()
    if (yield from cursor.need()) in "[{":
        return (yield from json_calls()(cursor))
    name = yield from cursor.word(NAME)
    yield from cursor.space()
    if (yield from cursor.need()) not in "[{":
        raise cursor.mismatch()
    id = ""
    if (yield from cursor.optional("[CALL_ID]")):
        id = yield from cursor.word(patterns.compile(r"[\w-]*+"))
        yield from cursor.space()
    yield from cursor.optional("[ARGS]")
    yield from cursor.space()
    cursor.partial = cut_part(name, cursor.position, id)
    part = yield from cursor.scan(ObjectScanner())
    return Found(PieceKind.CALL, json_part(name, part, cursor.position, id))


_K3_HEAD = patterns.compile(r"[^<>]*+")
_K3_CALL = patterns.compile(r'\s*+tool="([^"]++)"[^<>]*+')
_K3_ARGUMENT = patterns.compile(r'\s*+key="([^"]++)"(?:\s++type="([^"]*+)")?[^<>]*+')
_K3_END, _K3_OPENER = "<|close|>argument<|sep|>", "<|open|>argument"
_K3_ENDS = ("<|close|>call<|sep|>", "<|open|>call", "<|close|>tools<|sep|>")
_K3_TAGS = (_K3_OPENER, *_K3_ENDS)
_K3_IN_VALUE = Literals((_K3_END, *_K3_TAGS[:2]))


def _k3_tag(cursor: Cursor, pattern: re.Pattern[str]) -> Reading[re.Match[str]]:
    """Reads the attributes of a tag and ``<|sep|>``, which may be missing before
    another tag."""
    text = yield from cursor.run(_K3_HEAD, LONGEST_NAME)
    if not (yield from cursor.optional("<|sep|>")):
        yield from cursor.literal(_K3_OPENER)
        cursor.index -= len(_K3_OPENER)
    attributes = pattern.fullmatch(text)
    if attributes is None:
        raise cursor.mismatch(0)
    return attributes


def _k3_value(cursor: Cursor) -> Reading[Extent]:
    """Reads a value and its closer, which may be missing before another tag."""
    start = cursor.position
    while True:
        (_, end), tag = yield from cursor.until(_K3_IN_VALUE)
        if tag != _K3_END:
            return start, end
        cursor.index += len(tag)
        yield from cursor.space()
        if (yield from cursor.ahead(*_K3_TAGS)):
            return start, end


def _kimi_k3(cursor: Cursor) -> Reading[Found]:
    """Reads Kimi K3's call: arguments with types, in JSON except for strings."""
    name = (yield from _k3_tag(cursor, _K3_CALL))[1]
    parts: list[tuple[str, str, Extent]] = []

    def calls(raw: str, end: int) -> Calls:
        parameters = [Parameter(k, raw[slice(*part)], kind) for k, kind, part in parts]
        return [WrittenCall(name, typed(name, parameters, cursor.context), end)]

    cursor.partial = lambda raw: calls(raw, len(raw))
    yield from cursor.space()
    while (tag := (yield from cursor.literal(*_K3_TAGS))) == _K3_OPENER:
        argument = yield from _k3_tag(cursor, _K3_ARGUMENT)
        part = yield from _k3_value(cursor)
        parts.append((argument[1], _TYPES.get(argument[2] or "", "json"), part))
        yield from cursor.space()
    cursor.index -= len(tag) * (tag != _K3_ENDS[0])
    end = cursor.position
    return Found(PieceKind.CALL, lambda raw: calls(raw, end))


FORMS: dict[str, tuple[Form, ...]] = {
    "kimi-k2": (
        Form(
            ("<|tool_call_begin|>", *_KIMI_SECTIONS["begin"]),
            _kimi,
            tier="A",
            closers=("<|tool_call_end|>", *_KIMI_SECTIONS["end"]),
        ),
        Form((_KIMI_NAMESPACE,), _kimi, tier="A", place="line", vague=True),
    ),
    "kimi-eaten": (Form((_KIMI_NAMESPACE,), _kimi, tier="A", vague=True),),
    "kimi-k3": (Form(("<|open|>call",), _kimi_k3, tier="A"),),
    "deepseek-v3": _deepseek(_deepseek_v3),
    "deepseek-v31": _deepseek(_deepseek_v31),
    "mistral": (
        Form((_MISTRAL,), _mistral, tier="A"),
        Form(
            ("%s[ARGS]", "%s[CALL_ID]"),
            _mistral,
            tier="A",
            place="line",
            vague=True,
            per_tool=True,
        ),
    ),
}
