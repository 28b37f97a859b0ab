"""Calls as ``<invoke name="f">`` with ``<parameter name="k">``, under many prefixes.

This is the syntax of Claude's XML with and without its namespace, DeepSeek's DSML with
all kinds of bars, GigaChat's GCML, MiniMax-M2, Step3 and MiniCPM5. Proxies change it
further. A closer counts whatever its prefix is. Values have no escapes (text rule
11.8), but may stand in CDATA. Malformed parameters are read if they can mean only one
thing: without a closer, in a tag that closes itself, or with the parameter's name as
the tag.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stream_sidecar import patterns
from stream_sidecar.dialects.function_tags import framed_value
from stream_sidecar.forms.call_bodies import (
    Parameter,
    arguments_of,
    cut_part,
    json_part,
    properties,
    typed,
)
from stream_sidecar.forms.form import (
    Form,
    Found,
    MalformedError,
    WrittenCall,
    between_tags,
    mark,
)
from stream_sidecar.forms.grammar import LONGEST_NAME, literals
from stream_sidecar.forms.kinds import PieceKind
from stream_sidecar.forms.literals import Literals
from stream_sidecar.forms.shared_grammars import (
    CallTags,
    closed_object,
    markup,
    prose,
    section,
    tagged_value,
    value,
)
from stream_sidecar.records import frozen
from stream_sidecar.values.relaxed import ObjectScanner

if TYPE_CHECKING:
    from collections.abc import Callable

    from stream_sidecar.forms.call_bodies import Calls
    from stream_sidecar.forms.grammar import Cursor, Extent, Reading

_BARS = ("｜", "‖", "|", "｜｜", "‖‖", "||", " | ", " ｜ ")
DSML = tuple(f"{bar}{word}{bar}" for word in ("DSML", "GCML") for bar in _BARS)
NAMESPACES = ("antml:", "𝑎𝑛𝑡𝑚𝑙:")
"""Claude's namespace, and the same in mathematical italics, as MiMo writes it."""

ATEM = "atem:"
SPACES = ("", *NAMESPACES, "tml:", "mm:", ATEM, "minimax:", "steptml:")
_BARRED = (*DSML, *(f"{bars} " for bars in DSML))
PREFIXES = (*SPACES, *_BARRED)

_QUOTES = {'"': '"', "'": "'", "“": "”"}
_QUOTED = tuple(f"{key}={quote}" for key in ("name", "tool") for quote in _QUOTES)
_ATTRIBUTES = patterns.compile(r"[^<>]*+")
_STRING = patterns.compile(r'string\s*+=\s*+["“](true|false)["”]')
_OWN_VALUE = patterns.compile(r'(?:string|value)\s*+=\s*+"([^"]*+)"\s*+/')
_KINDS = {"true": "string", "false": "json"}
_KEY = patterns.compile(r"[\w.-]*+")
_VALUE_STARTS = tuple(
    f"<{prefix}{word} " for prefix in PREFIXES for word in ("parameter", "param")
)
_CALL_WORDS = ("invoke", "function", "call_record")
_XAI = "<xai:function_call ", "</xai:function_call>"
_CALL_ENDS = (
    *(f"</{prefix}{word}>" for prefix in PREFIXES for word in _CALL_WORDS),
    _XAI[1],
)
_CALL_STARTS = tuple(f"<{prefix}invoke " for prefix in PREFIXES)
_ONLY_ENDS = frozenset(f"</{bars}invoke>" for bars in _BARRED)
"""Closers of calls that no person writes into a value."""

_TAGS = CallTags(
    call=_CALL_STARTS,
    value=_VALUE_STARTS,
    value_ends=tuple(
        f"</{each}{word}>" for each in PREFIXES for word in ("parameter", "param")
    ),
    call_ends=_CALL_ENDS,
    decisive=_ONLY_ENDS,
    again=patterns.compile(
        rf"\n[ \t]*+(?:{'|'.join(_VALUE_STARTS)})"
        r"""name=["'“](?P<key>[^"'”<>\n]++)["'”][^<>\n]*+>"""
    ),
)
_CDATA, _CDATA_END = "<![CDATA[", Literals(("]]>",))
_SECTIONS = ("function_calls", "tool_calls", "calls")
_SECTION_ENDS = tuple(f"</{prefix}{word}>" for prefix in PREFIXES for word in _SECTIONS)
_ENDS = (*_CALL_ENDS, *_SECTION_ENDS)
"""The closers of a call and of its section, at which a call may end as well."""


class _Invoke:
    """A call as far as it was read. ``is_closed``: its tag closes itself (``/>``).
    ``body``: the extent of JSON arguments. ``end``: 0 if the call was cut off."""

    def __init__(self, name: str, *, is_closed: bool = False) -> None:
        self.name = name
        self.is_closed = is_closed
        self.parameters: list[tuple[str, str, Extent]] = []
        self.body: Extent | None = None
        self.end = 0

    def call(self, raw: str, cursor: Cursor) -> WrittenCall:
        if not self.name:
            raise MalformedError("a call has a name")
        end = self.end or len(raw)
        if self.body is not None:
            return WrittenCall(self.name, arguments_of(raw[slice(*self.body)]), end)
        declared = properties(self.name, cursor.context)
        parameters = [
            Parameter(key, _unwrapped(text), _kind(tag) if tag else kind)
            for key, kind, part in self.parameters
            for key, tag, text in _TAGS.apart(raw, key, part, declared)
        ]
        return WrittenCall(self.name, typed(self.name, parameters, cursor.context), end)


def _unwrapped(text: str) -> str:
    """A value without CDATA, or without the line breaks around it."""
    inner = text.strip()
    if inner.startswith(_CDATA) and inner.endswith("]]>"):
        return inner[len(_CDATA) : -3].replace(f"]]>{_CDATA}", "")
    return framed_value(text)


@frozen
class _Tag:
    """An opening tag. ``value``: the extent of a value inside the tag itself."""

    name: str
    kind: str = ""
    value: Extent | None = None
    is_closed: bool = False


def _tag(cursor: Cursor) -> Reading[_Tag]:
    """Reads the rest of a tag after its first word."""
    yield from cursor.space()
    quote = (yield from cursor.literal(*_QUOTED))[-1]
    name = yield from cursor.label(_QUOTES[quote])
    start = cursor.position
    attributes = yield from cursor.run(_ATTRIBUTES, LONGEST_NAME)
    yield from cursor.literal(">")
    if inner := _OWN_VALUE.search(attributes):
        return _Tag(name, "string", (start + inner.start(1), start + inner.end(1)))
    return _Tag(name, _kind(attributes), is_closed=attributes.endswith("/"))


def _kind(attributes: str) -> str:
    """The kind of a value, as its tag's ``attributes`` say (see `Parameter`)."""
    kind = _STRING.search(attributes)
    return _KINDS[kind[1]] if kind else ""


def _opened(cursor: Cursor) -> Reading[_Invoke]:
    """Reads the rest of a call's opening tag, after its first word."""
    tag = yield from _tag(cursor)
    return _Invoke(tag.name, is_closed=tag.is_closed)


def _invoke(cursor: Cursor, invoke: _Invoke) -> Reading[None]:
    """Reads the parameters of ``invoke`` after its opening tag, and its closer."""
    if invoke.is_closed:
        invoke.end = cursor.position
        return
    yield from cursor.space()
    if (yield from cursor.need()) == "{":
        invoke.body = yield from cursor.scan(ObjectScanner())
        if not cursor.closed_body:
            cursor.closed_body = cursor.position, lambda raw: [invoke.call(raw, cursor)]
        yield from cursor.space()
    else:
        while not (yield from cursor.ahead(*_ENDS)):
            invoke.parameters.append((yield from _parameter(cursor)))
            yield from cursor.space()
    end = yield from cursor.literal(*_ENDS)
    cursor.index -= len(end) * (end in _SECTION_ENDS)
    invoke.end = cursor.position


def _parameter(cursor: Cursor, *ends: str) -> Reading[tuple[str, str, Extent]]:
    """Reads a parameter, or a call's tag that has the value itself. ``ends``: further
    literals that may follow the parameter."""
    if opener := (yield from cursor.optional(*_VALUE_STARTS, *_CALL_STARTS)):
        tag = yield from _tag(cursor)
        if tag.value is not None:
            return tag.name, tag.kind, tag.value
        if opener in _CALL_STARTS:
            raise cursor.mismatch(0)
        return tag.name, tag.kind, (yield from _value(cursor, *ends))
    yield from cursor.literal("<")
    key = yield from cursor.word(_KEY)
    yield from cursor.literal(">")
    return key, "", (yield from value(cursor, literals(f"</{key}>"), "<"))


def _value(cursor: Cursor, *ends: str) -> Reading[Extent]:
    """Reads a value up to a closer after which the form continues, else the call's.
    ``ends``: see `_parameter`."""
    start = cursor.position
    while (yield from cursor.optional(_CDATA)):
        _, closer = yield from cursor.until(_CDATA_END)
        cursor.index += len(closer)
    follows = (*_VALUE_STARTS, *_CALL_STARTS, *_ENDS, *ends)
    _, end = yield from tagged_value(cursor, _TAGS, *follows)
    return start, end


def _reader(cursor: Cursor, invokes: list[_Invoke]) -> Callable[[str], Calls]:
    """A function that makes the calls of the ``invokes`` found until now."""
    count = len(invokes)
    return lambda raw: [invoke.call(raw, cursor) for invoke in invokes[:count]]


def _calls(cursor: Cursor, invokes: list[_Invoke]) -> Found:
    return Found(PieceKind.CALL, _reader(cursor, invokes))


def _wrapped(*closers: str) -> Callable[[Cursor], Reading[Found]]:
    """The grammar of calls in a wrapper, which one of ``closers`` ends."""

    def grammar(cursor: Cursor) -> Reading[Found]:
        invokes: list[_Invoke] = []
        yield from prose(cursor)
        while (yield from cursor.ahead(*_CALL_STARTS)) or not invokes:
            yield from cursor.literal(*_CALL_STARTS)
            invokes.append((yield from _opened(cursor)))
            yield from _invoke(cursor, invokes[-1])
            cursor.closed_body = cursor.position, _reader(cursor, invokes)
            yield from prose(cursor)
        yield from cursor.literal(*closers)
        return _calls(cursor, invokes)

    return grammar


_WORD = patterns.compile(r"\w*+")
_FENCED = "toolcall"


def _dsml(cursor: Cursor) -> Reading[Found]:
    """Reads what follows DSML's bars: a call, or the border of a section of calls."""
    yield from cursor.blanks()
    name = yield from cursor.word(_WORD)
    if name == "invoke" and not cursor.opener.startswith("</"):
        return (yield from _single(cursor))
    yield from cursor.blanks()
    begins = name in _SECTIONS and (yield from cursor.peek()) in ("\n", "<")
    if not begins:
        yield from cursor.literal(">", "|", "｜")
    if not cursor.opener.startswith("</"):
        if name == _FENCED:
            return (yield from _fenced(cursor))
        if name in (cursor.context.tools or ()):
            return (yield from _by_names(cursor, name))
    return mark()


def _fenced(cursor: Cursor) -> Reading[Found]:
    """Reads a tool's name and a fence with the arguments, between two tags."""
    yield from cursor.space()
    name = yield from cursor.word(_KEY)
    yield from cursor.space()
    yield from cursor.literal("```json", "```")
    yield from cursor.space()
    cursor.partial = cut_part(name, cursor.position)
    call = yield from closed_object(cursor, name, "```")
    end = cursor.position
    yield from cursor.space()
    if not (yield from cursor.optional(f"</{cursor.opener[1:]}{_FENCED}>")):
        cursor.index -= cursor.position - end
    return call


def _by_names(cursor: Cursor, name: str) -> Reading[Found]:
    """Reads a call whose tag has the name of the tool. Those of its parameters have
    their names, or are DSML's own."""
    invoke = _Invoke(name)
    closers = tuple(f"</{cursor.opener[1:]}{word}>" for word in (name, "invoke"))
    cursor.partial = lambda raw: [invoke.call(raw, cursor)]
    yield from cursor.space()
    if (yield from cursor.need()) == "{":
        invoke.body = yield from cursor.scan(ObjectScanner())
        yield from cursor.space()
    while not (yield from cursor.optional(*closers)):
        if (yield from cursor.ahead(*_VALUE_STARTS)):
            ends = cursor.opener, *closers
            invoke.parameters.append((yield from _parameter(cursor, *ends)))
        else:
            yield from cursor.literal(cursor.opener)
            key = yield from cursor.word(_KEY)
            yield from cursor.literal(">")
            end = literals(f"</{cursor.opener[1:]}{key}>")
            part = yield from value(cursor, end, cursor.opener, *closers)
            invoke.parameters.append((key, "", part))
        yield from cursor.space()
    invoke.end = cursor.position
    return _calls(cursor, [invoke])


def _single(cursor: Cursor) -> Reading[Found]:
    """Reads one call, after the first word of its tag."""
    invoke = yield from _opened(cursor)
    cursor.partial = lambda raw: [invoke.call(raw, cursor)]
    yield from _invoke(cursor, invoke)
    return _calls(cursor, [invoke])


def _step3(cursor: Cursor) -> Reading[Found]:
    is_in_section = cursor.opener == _STEP3_SECTION
    if is_in_section and (yield from section(cursor, _STEP3_CALL, _STEP3_END)):
        return mark()
    yield from cursor.space()
    yield from cursor.optional("function")
    yield from cursor.optional("<｜tool_sep｜>")
    yield from cursor.space()
    yield from cursor.literal("<steptml:invoke ")
    call = yield from _single(cursor)
    assert call.read is not None  # it is a call
    cursor.closed_body = cursor.position, call.read
    yield from cursor.space()
    yield from cursor.literal("<｜tool_call_end｜>")
    return call


_STEP3_SECTION, _STEP3_END = "<｜tool_calls_begin｜>", "<｜tool_calls_end｜>"
_STEP3_CALL = "<｜tool_call_begin｜>"


def _named_function(cursor: Cursor) -> Reading[Found]:
    """Reads ``<name>f</name>`` and parameters: DSML that lost its beginning."""
    yield from cursor.space()
    yield from cursor.literal("<name>")
    invoke = _Invoke((yield from cursor.before("</name>")).strip())
    yield from _invoke(cursor, invoke)
    return _calls(cursor, [invoke])


_CARD_NAME, _CARD_ARGUMENTS = "<xai:tool_name>", "<xai:tool_args>"


def _card(cursor: Cursor) -> Reading[Found]:
    """Reads Grok's card: an id, a name and an object, each in a tag."""
    yield from cursor.before(_CARD_NAME)
    name = (yield from cursor.before("</xai:tool_name>")).strip()
    yield from cursor.space()
    yield from cursor.literal(_CARD_ARGUMENTS)
    yield from cursor.space()
    yield from cursor.optional(_CDATA)
    part = yield from cursor.scan(ObjectScanner())
    yield from cursor.optional("]]>")
    yield from cursor.space()
    yield from cursor.literal("</xai:tool_args>")
    yield from cursor.space()
    yield from cursor.literal("</xai:tool_usage_card>")
    return Found(PieceKind.CALL, json_part(name, part, cursor.position))


def atem_calls(cursor: Cursor) -> Reading[Found]:
    """Reads Muse's calls, which follow a header that names a tool."""
    yield from cursor.literal(f"<{ATEM}function_calls>")
    return (yield from _wrapped(f"</{ATEM}function_calls>")(cursor))


_OPENERS = tuple(f"<{space}invoke " for space in SPACES)


def _noise(cursor: Cursor) -> Reading[Found]:
    """Reads a call after a line with one word (``court``), the rest of a wrapper."""
    yield from cursor.literal(*_OPENERS)
    return (yield from _single(cursor))


_NOISE = ("court", "count", "call", "course", "card")


def _element(name: str) -> Form:
    """The form for ``<name>`` without attributes: it and its closer are text."""
    return Form(
        (f"<{name}>",), markup, tier="B", vague=True, pending_closers=(f"</{name}>",)
    )


def _spaced(*spaces: str) -> tuple[Form, ...]:
    """The forms of calls under each of the prefixes in ``spaces``."""
    openers = tuple(f"<{space}invoke " for space in spaces)
    return (
        *(between_tags(f"{space}function_calls", _wrapped) for space in spaces),
        Form(
            openers,
            _single,
            tier="B",
            closers=tuple(f"</{each}invoke>" for each in spaces),
        ),
        *(_element(f"{space}invoke") for space in spaces),
    )


ANTHROPIC = (
    *_spaced(*(space for space in SPACES if space != ATEM)),
    Form(
        tuple(f"{word}\n" for word in _NOISE),
        _noise,
        tier="B",
        place="line",
        vague=True,
    ),
    Form(("invoke ",), _single, tier="B", place="line", vague=True),
)

FORMS: dict[str, tuple[Form, ...]] = {
    "anthropic-xml": ANTHROPIC,
    "atem": _spaced(ATEM),
    "deepseek-dsml": (
        Form(
            tuple(f"<{slash}{bars}" for bars in DSML for slash in ("", "/")),
            _dsml,
            tier="A",
            pending_closers=tuple(f"</{bars}" for bars in DSML),
        ),
        Form(("<function>",), _named_function, tier="B", vague=True),
        between_tags("tool_calls", _wrapped),
    ),
    "minimax-m2": (between_tags("minimax:tool_call", _wrapped),),
    "step3": (
        Form(
            (_STEP3_SECTION, _STEP3_CALL),
            _step3,
            tier="A",
            closers=("<｜tool_call_end｜>", _STEP3_END),
        ),
    ),
    "dots": (between_tags("dots_function_call", _wrapped),),
    "rwkv": (between_tags("tool_call", _wrapped),),
    "grok": (
        Form(_XAI[:1], _single, tier="B", closers=_XAI[1:]),
        Form(("<xai:tool_usage_card>",), _card, tier="B"),
    ),
    "minicpm": (Form(("<function ",), _single, tier="B", vague=True),),
    "call-record": (Form(("<call_record ",), _single, tier="B"),),
}
