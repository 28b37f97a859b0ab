"""Gemini's ``tool_code``: calls in Python in fences, tags, brackets and bare lines.

Comments are skipped; ``print(...)`` and ``default_api.`` around a call are removed. A
program fails at the first character that no call can have: it is code, and stays (text
rule 11.9).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stream_sidecar import patterns
from stream_sidecar.dialects.python_calls import bare, call_reader
from stream_sidecar.forms.call_bodies import calls_of, python_calls
from stream_sidecar.forms.form import Form, Found, MalformedError, WrittenCall
from stream_sidecar.forms.grammar import literals
from stream_sidecar.forms.kinds import PieceKind
from stream_sidecar.forms.shared_grammars import NAME
from stream_sidecar.values.jsontext import dumps
from stream_sidecar.values.pythonic import CallScanner, Declaration
from stream_sidecar.values.relaxed import ObjectScanner, parse

if TYPE_CHECKING:
    from stream_sidecar.forms.call_bodies import Calls
    from stream_sidecar.forms.grammar import Cursor, Extent, Reading

_TICKS = patterns.compile(r"`*+")
_TILDES = patterns.compile(r"~*+")
_DOTTED = patterns.compile(r"[\w.]*+")
_LINE = patterns.compile(r"[^\n]*+")
_FENCES = ("```", "~~~")
_CODE_INFO = ("tool_code", "tool_call")
_PYTHON = ("python", "py")
_RESULT_INFO = ("tool_outputs", "tool_output")
_OWN = ("print(default_api.", "default_api.")


def _noise(cursor: Cursor) -> Reading[Found]:
    """Reads ``print(default_api...)`` on the line after the word ``call``."""
    prefix = yield from cursor.literal(_OWN[0])
    cursor.index -= len(prefix)
    part = yield from cursor.scan(CallScanner())
    yield from cursor.line_end()
    return call_reader(cursor, part)


def _opening(cursor: Cursor, *infos: str) -> Reading[tuple[str, str]]:
    """Reads a fence's opening line; returns the fence and its word out of ``infos``."""
    sign = cursor.opener[0]
    signs = yield from cursor.run(_TICKS if sign == "`" else _TILDES, 64)
    yield from cursor.blanks()
    info = yield from cursor.literal(*infos)
    yield from cursor.blanks()
    yield from cursor.literal("\n", "\r\n")
    return cursor.opener + signs, info


def _fence(cursor: Cursor) -> Reading[Found]:
    """Reads a fence that its word marks as calls."""
    fence, _ = yield from _opening(cursor, *_CODE_INFO)
    cursor.serious = True
    return (yield from _fenced(cursor, fence))


def _python_fence(cursor: Cursor) -> Reading[Found]:
    """Reads a fence of Python that a first ``default_api.`` marks as calls of declared
    tools. Another one may be an example."""
    fence, _ = yield from _opening(cursor, *_PYTHON)
    yield from cursor.space()
    prefix = yield from cursor.literal(*_OWN)
    cursor.index -= len(prefix)
    cursor.serious = True
    found = yield from _fenced(cursor, fence)

    def read(raw: str) -> Calls:
        calls: Calls = found.read(raw) if found.read is not None else []
        tools = cursor.context.tools
        if tools is not None and any(call.name not in tools for call in calls):
            raise MalformedError("nobody declared it")
        return calls

    return Found(PieceKind.CALL, read)


def _only_fence(cursor: Cursor) -> Reading[Found]:
    """Reads a fence of Python that is the whole answer."""
    fence, _ = yield from _opening(cursor, *_PYTHON)
    return (yield from _fenced(cursor, fence))


def _fenced(cursor: Cursor, fence: str) -> Reading[Found]:
    start = cursor.position
    end = yield from _body(cursor, fence)
    yield from cursor.literal(fence)
    if not (yield from _is_alone(cursor, fence)):
        raise cursor.mismatch()
    return Found(PieceKind.CALL, lambda raw: _block(cursor, raw, (start, end)))


def _results(cursor: Cursor) -> Reading[Found]:
    """Reads a fence with results, which the model made up."""
    fence, _ = yield from _opening(cursor, *_RESULT_INFO)
    cursor.serious = True
    start, fence_ends = cursor.position, literals(f"\n{fence}")
    while True:
        (_, end), closer = yield from cursor.until(fence_ends)
        cursor.index += len(closer)
        if (yield from _is_alone(cursor, fence)):
            break
    return Found(PieceKind.RESULT, lambda raw: raw[start:end])


def _is_alone(cursor: Cursor, fence: str) -> Reading[bool]:
    """Whether ``fence``, just read, ends its line and so closes; reads its rest."""
    yield from cursor.run(_TICKS if fence[0] == "`" else _TILDES)
    yield from cursor.blanks()
    return (yield from cursor.peek()) in ("", "\n", "\r")


def _body(cursor: Cursor, closer: str) -> Reading[int]:
    """Reads comments, calls and JSON, and nothing else, up to ``closer``."""
    while True:
        end = cursor.position
        yield from cursor.space()
        if (yield from cursor.ahead(closer)):
            return end
        sign = yield from cursor.need()
        if sign == "#":
            yield from cursor.run(_LINE)
        elif sign == "{":
            yield from cursor.scan(ObjectScanner())
        elif sign == "[":
            yield from _list(cursor)
        elif (yield from cursor.optional("def ")):
            yield from cursor.until(literals(closer))
        else:
            yield from _statement(cursor)
        yield from cursor.blanks()
        yield from cursor.optional(";", ",")


def _list(cursor: Cursor) -> Reading[None]:
    cursor.index += 1
    yield from cursor.space()
    of_objects = (yield from cursor.need()) == "{"
    scanner = ObjectScanner(opener="[") if of_objects else CallScanner(opener="[")
    scanner.scan("[", 0)
    yield from cursor.scan(scanner)


def _statement(cursor: Cursor) -> Reading[None]:
    """Reads a call, or ``name = `` followed by a call."""
    scanner = CallScanner()
    scanner.scan((yield from cursor.word(_DOTTED)), 0)
    yield from cursor.blanks()
    if (yield from cursor.optional("=")):
        yield from cursor.blanks()
        scanner = CallScanner()
    yield from cursor.scan(scanner)


def _block(cursor: Cursor, raw: str, part: Extent) -> Calls:
    """The calls in a fence or tag: JSON if ``part`` begins like it, else Python."""
    text = raw[slice(*part)]
    if text.lstrip()[:1] in ("{", "["):
        try:
            return calls_of(text, part[0])
        except ValueError:
            pass
    return python_calls(cursor, raw, part)


def _tag(cursor: Cursor) -> Reading[Found]:
    """Reads ``<tool_code>`` to its end, and removes a body that only declares."""
    start = cursor.position
    end = yield from _body(cursor, "</tool_code>")
    yield from cursor.literal("</tool_code>")

    def read(raw: str) -> Calls:
        try:
            return _block(cursor, raw, (start, end))
        except Declaration:
            return []

    return Found(PieceKind.CALL, read)


def _wrapped_tag(cursor: Cursor) -> Reading[Found]:
    """Reads ``<tool_code>`` inside the wrapper of another dialect."""
    yield from cursor.space()
    yield from cursor.literal("<tool_code>")
    call = yield from _tag(cursor)
    yield from cursor.space()
    yield from cursor.literal("</function_calls>")
    return call


def _bracket(cursor: Cursor) -> Reading[Found]:
    """Reads ``name{..}]`` after ``[tool_code:``."""
    name = yield from cursor.word(NAME)
    part = yield from cursor.scan(ObjectScanner(bare_values=True))
    yield from cursor.space()
    yield from cursor.literal("]")
    end = cursor.position

    def read(raw: str) -> Calls:
        value = parse(raw[slice(*part)], bare_values=True)
        return [WrittenCall(name, dumps(value), end)]

    return Found(PieceKind.CALL, read)


def _assigned(cursor: Cursor) -> Reading[Found]:
    """Reads ``tool_code = f(..)``, and ``print(tool_code)`` on the lines after it."""
    start = cursor.position - len(cursor.opener)
    _, end = yield from cursor.scan(CallScanner())
    yield from cursor.line_end()
    yield from cursor.space()
    if (yield from cursor.ahead("print(tool_code)")):
        cursor.index += len("print(tool_code)")
        end = cursor.position
    yield from cursor.line_end()
    return call_reader(cursor, (start, end))


FORMS: dict[str, tuple[Form, ...]] = {
    "tool-code": (
        Form(
            _FENCES,
            _fence,
            tier="B",
            place="line",
            vague=True,
            needs=_CODE_INFO,
        ),
        Form(
            openers=_FENCES,
            grammar=_results,
            tier="B",
            place="line",
            vague=True,
            called=True,
            about="results",
            needs=_RESULT_INFO,
        ),
        Form(("<tool_code>",), _tag, tier="B", closers=("</tool_code>",)),
        Form(("<function_calls>",), _wrapped_tag, tier="B"),
        Form(("[tool_code:",), _bracket, tier="B"),
        Form(_OWN, bare, tier="B", place="line"),
        Form(("call\n",), _noise, tier="B", place="line", vague=True),
        Form(("tool_code = ",), _assigned, tier="C", place="line", vague=True),
    ),
    "gemini-fences": (
        Form(
            _FENCES,
            _python_fence,
            tier="B",
            place="line",
            vague=True,
            needs=_OWN[1:],
        ),
        Form(_FENCES, _only_fence, tier="C", place="start", vague=True),
    ),
}
