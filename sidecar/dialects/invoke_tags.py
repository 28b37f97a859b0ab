"""``<invoke name="f">`` with ``<parameter name="k">``, under many prefixes.

Claude's XML with and without its namespace, DeepSeek's DSML with all its bars,
MiniMax-M2, Step3, MiniCPM5, and what proxies make of them. A closer closes whatever its
prefix is; values have no escapes (text rule 11.8).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sidecar.dialects.function_tags import bare_value
from sidecar.forms.call_bodies import Parameter, typed
from sidecar.forms.form import Form, Found, MalformedError, WrittenCall, mark
from sidecar.forms.grammar import (
    LONGEST_NAME,
    ahead,
    before,
    blanks,
    label,
    literal,
    need,
    run,
    scan,
    space,
    until,
    word,
)
from sidecar.forms.kinds import PieceKind
from sidecar.forms.literals import Literals
from sidecar.forms.shared_grammars import optional, value
from sidecar.values.jsontext import loads
from sidecar.values.relaxed import ObjectScanner

if TYPE_CHECKING:
    from collections.abc import Callable

    from sidecar.forms.call_bodies import Calls
    from sidecar.forms.grammar import Cursor, Extent, Reading

_BARS = ("｜", "‖", "|", "｜｜", "‖‖", "||", " | ", " ｜ ")
DSML = tuple(f"{bar}DSML{bar}" for bar in _BARS)
NAMESPACE = "antml:"
SPACES = ("", NAMESPACE, "tml:", "mm:", "atem:", "minimax:", "steptml:")
PREFIXES = (*SPACES, *DSML)

_QUOTED = tuple(f"{key}={quote}" for key in ("name", "tool") for quote in ('"', "'"))
_ATTRIBUTES = re.compile(r"[^<>]*+")
_STRING = re.compile(r'string\s*=\s*"(true|false)"')
_KINDS = {"true": "string", "false": "json"}
_VALUE_ENDS = Literals(
    f"</{prefix}{word}>" for prefix in PREFIXES for word in ("parameter", "param")
)
_VALUE_STARTS = tuple(
    f"<{prefix}{word} " for prefix in PREFIXES for word in ("parameter", "param")
)
_CALL_WORDS = ("invoke", "function", "call_record")
_CALL_ENDS = tuple(f"</{prefix}{word}>" for prefix in PREFIXES for word in _CALL_WORDS)
_CALL_STARTS = tuple(f"<{prefix}invoke " for prefix in PREFIXES)


class _Invoke:
    """A call as far as it was read."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.parameters: list[tuple[str, str, Extent]] = []
        self.body: Extent | None = None
        self.end = 0

    def call(self, raw: str, cursor: Cursor) -> WrittenCall:
        if not self.name:
            raise MalformedError("a call has a name")
        end = self.end or len(raw)
        if self.body is not None:
            text = raw[slice(*self.body)]
            loads(text)  # an object; no JSON: ValueError
            return WrittenCall(self.name, text, end)
        parameters = [
            Parameter(key, bare_value(raw[slice(*part)]), kind)
            for key, kind, part in self.parameters
        ]
        return WrittenCall(self.name, typed(self.name, parameters, cursor.context), end)


def _tag(cursor: Cursor) -> Reading[tuple[str, str]]:
    """Reads the rest of a tag behind its word: the name, and its kind of value."""
    yield from space(cursor)
    quote = (yield from literal(cursor, *_QUOTED))[-1]
    name = yield from label(cursor, quote)
    match = _STRING.search((yield from run(cursor, _ATTRIBUTES, LONGEST_NAME)))
    yield from literal(cursor, ">")
    return name, _KINDS[match[1]] if match else ""


def _invoke(cursor: Cursor, invoke: _Invoke) -> Reading[None]:
    """The parameters of ``invoke``, behind its opening tag, and its closer."""
    yield from space(cursor)
    if (yield from need(cursor)) == "{":
        invoke.body = yield from scan(cursor, ObjectScanner())
        yield from space(cursor)
    else:
        follows = (*_VALUE_STARTS, *_CALL_ENDS)
        while (yield from ahead(cursor, *follows)) in _VALUE_STARTS:
            yield from literal(cursor, *_VALUE_STARTS)
            key, kind = yield from _tag(cursor)
            part = yield from value(cursor, _VALUE_ENDS, *follows)
            invoke.parameters.append((key, kind, part))
            yield from space(cursor)
    yield from literal(cursor, *_CALL_ENDS)
    invoke.end = cursor.position


def _one(cursor: Cursor) -> Reading[Found]:
    """One call, behind the word of its tag."""
    name, _ = yield from _tag(cursor)
    invoke = _Invoke(name)
    yield from _invoke(cursor, invoke)
    return _found(cursor, [invoke])


def _found(cursor: Cursor, invokes: list[_Invoke]) -> Found:
    def read(raw: str) -> Calls:
        return [invoke.call(raw, cursor) for invoke in invokes]

    return Found(PieceKind.CALL, read)


def _wrapped(*closers: str) -> Callable[[Cursor], Reading[Found]]:
    """Calls in a wrapper."""

    def grammar(cursor: Cursor) -> Reading[Found]:
        invokes: list[_Invoke] = []
        yield from space(cursor)
        while (yield from ahead(cursor, *_CALL_STARTS)) or not invokes:
            yield from literal(cursor, *_CALL_STARTS)
            name, _ = yield from _tag(cursor)
            invokes.append(_Invoke(name))
            yield from _invoke(cursor, invokes[-1])
            yield from space(cursor)
        yield from literal(cursor, *closers)
        return _found(cursor, invokes)

    return grammar


_WORD = re.compile(r"\w*+")


def _dsml(cursor: Cursor) -> Reading[Found]:
    """A DSML tag: a call, or the border of a section of calls."""
    yield from blanks(cursor)
    name = yield from word(cursor, _WORD)
    if cursor.opener.startswith("</") or name != "invoke":
        yield from blanks(cursor)
        yield from literal(cursor, ">")
        return mark()
    return (yield from _cuttable(cursor))


def _cuttable(cursor: Cursor) -> Reading[Found]:
    """One call of tier A: where the text ends in it, what was read is truncated."""
    name, _ = yield from _tag(cursor)
    invoke = _Invoke(name)
    cursor.partial = lambda raw: [invoke.call(raw, cursor)]
    yield from _invoke(cursor, invoke)
    return _found(cursor, [invoke])


def _step3(cursor: Cursor) -> Reading[Found]:
    yield from space(cursor)
    if cursor.opener == _STEP3_SECTION:
        yield from literal(cursor, _STEP3_CALL)
        yield from space(cursor)
    yield from optional(cursor, "function<｜tool_sep｜>")
    yield from space(cursor)
    yield from literal(cursor, "<steptml:invoke ")
    found = yield from _cuttable(cursor)
    yield from space(cursor)
    yield from literal(cursor, "<｜tool_call_end｜>")
    return found


_STEP3_SECTION, _STEP3_CALL = "<｜tool_calls_begin｜>", "<｜tool_call_begin｜>"


def _named_function(cursor: Cursor) -> Reading[Found]:
    """``<function>``, ``<name>f</name>`` and parameters: a DSML head that was eaten."""
    yield from space(cursor)
    yield from literal(cursor, "<name>")
    invoke = _Invoke((yield from before(cursor, "</name>")).strip())
    yield from _invoke(cursor, invoke)
    return _found(cursor, [invoke])


def _noise(cursor: Cursor) -> Reading[Found]:
    """A word alone on the line before a call (``court``): what is left of a wrapper."""
    yield from literal(cursor, *_OPENERS)
    return (yield from _one(cursor))


_RESULT_END = Literals(("</function_results>",))


def _results(cursor: Cursor) -> Reading[Found]:
    """Results that the model wrote itself behind a call."""
    start = cursor.position
    (_, end), closer = yield from until(cursor, _RESULT_END)
    cursor.at += len(closer)
    return Found(PieceKind.RESULT, lambda raw: raw[start:end].strip("\n"))


_OPENERS = tuple(f"<{space}invoke " for space in SPACES)
_NOISE = ("court", "count", "call", "course", "card")
_WRAPPERS = tuple(f"{space}function_calls" for space in SPACES)

ANTHROPIC = (
    *(
        Form((f"<{each}>",), _wrapped(f"</{each}>"), "B", closers=(f"</{each}>",))
        for each in _WRAPPERS
    ),
    Form(
        _OPENERS,
        _one,
        "B",
        closers=tuple(f"</{space}invoke>" for space in SPACES),
    ),
    Form(tuple(f"{word}\n" for word in _NOISE), _noise, "B", "line", vague=True),
    Form(("<function_results>",), _results, "B", about="results"),
)

FORMS: dict[str, tuple[Form, ...]] = {
    "anthropic-xml": ANTHROPIC,
    "deepseek-dsml": (
        Form(
            tuple(f"<{slash}{bars}" for bars in DSML for slash in ("", "/")),
            _dsml,
            "A",
            owes=tuple(f"</{bars}" for bars in DSML),
        ),
        Form(("<function>",), _named_function, "B", vague=True),
    ),
    "minimax-m2": (
        Form(
            ("<minimax:tool_call>",),
            _wrapped("</minimax:tool_call>"),
            "B",
            closers=("</minimax:tool_call>",),
        ),
    ),
    "step3": (
        Form(
            (_STEP3_SECTION, _STEP3_CALL),
            _step3,
            "A",
            closers=("<｜tool_call_end｜>", "<｜tool_calls_end｜>"),
        ),
    ),
    "minicpm": (Form(("<function ",), _one, "B", vague=True),),
    "call-record": (Form(("<call_record ",), _one, "B"),),
}
