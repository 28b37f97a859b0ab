"""Calls as JSON, between delimiters or bare: one row for each form.

The best known form is ``<tool_call>{"name": "f", "arguments": {}}</tool_call>``. A form
that has closers is complete only with one of them. Bare objects and lists count only on
lines of their own and with the names of declared tools (text rule 11.6).
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from stream_sidecar import patterns
from stream_sidecar.forms.call_bodies import (
    ARGUMENT_KEYS,
    LEADING_KEYS,
    LISTS,
    NAME_KEYS,
    calls_of,
    cut_calls,
    json_part,
    python_calls,
)
from stream_sidecar.forms.form import Form, Found, MalformedError
from stream_sidecar.forms.kinds import PieceKind
from stream_sidecar.forms.shared_grammars import closed_object, framed_calls, json_calls
from stream_sidecar.records import evolve
from stream_sidecar.values.pythonic import CallScanner
from stream_sidecar.values.relaxed import ObjectScanner

if TYPE_CHECKING:
    from collections.abc import Container

    from stream_sidecar.forms.call_bodies import Calls
    from stream_sidecar.forms.form import Tier
    from stream_sidecar.forms.grammar import Cursor, Extent, Reading

_ARGUED = patterns.compile(rf"\b(?:{'|'.join(ARGUMENT_KEYS)})[\"']?\s*+(?::|\Z)")
_NAMES = patterns.compile(
    rf"\b(?:{'|'.join(NAME_KEYS)})[\"']?\s*+:\s*+[\"']([^\"'\n]{{1,128}}+)[\"']"
)
_KEYS = tuple(
    f"{quote}{key}{quote}"
    for key in (*LEADING_KEYS, *LISTS)
    for quote in ('"', "'", "")
)
_ATTRIBUTE = patterns.compile(r"(?<![\w-])([\w-]++)\s*+=\s*+[\"']([^\"']*+)[\"']")
_HEAD = 256
"""A bare call must name its tool and begin its arguments within this many characters
after its first key. A longer object is not held: an answer that is JSON must stream."""


def _bare(cursor: Cursor) -> Reading[Found]:
    """Reads ``{"name": ..}`` on lines of its own: objects, or a list of them."""
    start = cursor.position - len(cursor.opener)
    scanner = ObjectScanner(opener="{[")
    scanner.scan(cursor.opener, 0)
    yield from cursor.space()
    if cursor.opener == "[":
        yield from cursor.literal("{")
        scanner.scan("{", 0)
        yield from cursor.space()
    key = yield from cursor.literal(*_KEYS)
    scanner.scan(key, 0)
    tools = cursor.context.tools or {}
    check = _HEAD, lambda head: _begins(key + head, tools)
    _, end = yield from cursor.scan_checked(scanner, check)
    while True:
        yield from cursor.blanks()
        following = yield from cursor.peek()
        if following not in (";", "{"):
            break
        cursor.index += following == ";"
        yield from cursor.space()
        _, end = yield from cursor.scan(ObjectScanner())
    yield from cursor.line_end()

    def read(raw: str) -> Calls:
        calls = _calls(cursor, raw[start:end])
        cursor.index -= cursor.position - end
        return calls

    return Found(PieceKind.CALL, read)


def _bracketed(cursor: Cursor) -> Reading[Found]:
    """Reads ``f({"a": 1})`` on a line of its own."""
    cursor.index -= 1
    part = yield from cursor.scan(ObjectScanner())
    yield from cursor.literal(")")
    yield from cursor.line_end()
    name = cursor.opener.removesuffix("({")
    return Found(PieceKind.CALL, json_part(name, part, cursor.position))


def _begins(text: str, tools: Container[str]) -> bool:
    """Whether an object's beginning names a declared tool and begins its arguments."""
    names = (match[1].removeprefix("functions.") for match in _NAMES.finditer(text))
    is_named = any(name in tools for name in names)
    return is_named and _ARGUED.search(text) is not None


def _calls(cursor: Cursor, text: str) -> Calls:
    """The calls in ``text``. Raises ValueError if a member of a list is no call: then
    it is an example in the answer."""
    tools = cursor.context.tools or {}
    try:
        calls = calls_of(text)
        if any(call.spoiled for call in calls):
            raise MalformedError("a list of another kind")
    except ValueError:
        cursor.serious = any(quoted in tools for quoted in text.split('"')[1:-1])
        raise
    return calls


def _action(cursor: Cursor) -> Reading[Found]:
    """Reads Command R+'s calls after ``Action:``: a fenced list with ``tool_name``."""
    yield from cursor.space()
    yield from cursor.literal("```json", "```")
    yield from cursor.space()
    calls = yield from framed_calls(cursor, "```", opener="[")

    def read(raw: str) -> Calls:
        if '"tool_name"' not in raw:
            raise MalformedError("no tool_name")
        return calls(raw)

    return Found(PieceKind.CALL, read)


def _python_tag(cursor: Cursor) -> Reading[Found]:
    """Reads Llama's calls: objects with ``;`` between them, or a built-in tool in
    Python's syntax, such as ``brave_search.call(query="x")``. Tokens such as
    ``<|eom_id|>`` after them are stop tokens."""
    yield from cursor.space()
    start = cursor.position
    if (yield from cursor.need()) not in "{[":
        part = yield from cursor.scan(CallScanner())
        return Found(PieceKind.CALL, lambda raw: _own_tools(cursor, raw, part))
    cursor.partial = lambda raw: cut_calls(raw[start:], start)
    _, end = yield from cursor.scan(ObjectScanner(opener="{["))
    while (yield from cursor.optional(";")):
        yield from cursor.space()
        _, end = yield from cursor.scan(ObjectScanner())
    return Found(PieceKind.CALL, lambda raw: calls_of(raw[start:end], start))


def _attributed(cursor: Cursor) -> Reading[Found]:
    """Reads ``<tool_call id="i" name="f">`` and the arguments as an object."""
    head = yield from cursor.label(">")
    attributes = dict(_ATTRIBUTE.findall(head))
    if "name" not in attributes:
        raise cursor.mismatch(0)
    yield from cursor.space()
    name, id = attributes["name"], attributes.get("id", "")
    return (yield from closed_object(cursor, name, "</tool_call>", id=id))


def _own_tools(cursor: Cursor, raw: str, part: Extent) -> Calls:
    calls = python_calls(cursor, raw, part)
    return [evolve(call, name=call.name.removesuffix(".call")) for call in calls]


@cache
def _form(opener: str, closer: str, tier: Tier, **shape: Any) -> Form:
    """A form of JSON calls, made once for all families. ``shape``: see `json_calls`."""
    closers = (closer,) if closer else ()
    grammar = json_calls(*closers, **shape)
    return Form((opener,), grammar, tier=tier, closers=closers, needs=closers)


_MIXED = ("</function></tool_call>", "</function>\n</tool_call>", "</function>")
"""Closers that MiMo writes after JSON: it mixes Hermes with Qwen3-Coder's tags."""

HERMES = Form(
    ("<tool_call>",),
    json_calls("</tool_call>", *_MIXED),
    tier="B",
    closers=("</tool_call>",),
    needs=("</tool_call>", _MIXED[-1]),
)

FORMS: dict[str, tuple[Form, ...]] = {
    "hermes": (
        HERMES,
        _form("<tools>", "</tools>", "B"),
        Form(
            ("<tool_call ",), _attributed, tier="B", pending_closers=("</tool_call>",)
        ),
    ),
    "llama3-json": (
        Form(("<|python_tag|>",), _python_tag, tier="A"),
        Form(("{", "["), _bare, tier="C", place="line", vague=True),
        Form(("%s({",), _bracketed, tier="C", place="line", vague=True, per_tool=True),
    ),
    "granite": (
        _form("<|tool_call|>", "", "A"),
        HERMES,
        Form(
            ("<function_call>",), json_calls(), tier="B", closers=("</function_call>",)
        ),
    ),
    "nemotron-json": (_form("<TOOLCALL>", "</TOOLCALL>", "B"),),
    "phi4-json": (
        Form(
            ("functools",), json_calls(opener="["), tier="B", place="line", vague=True
        ),
        _form("<|tool_call|>", "<|/tool_call|>", "A"),
    ),
    "jamba": (_form("<tool_calls>", "</tool_calls>", "B"),),
    "hunyuan": (_form("<tool_calls>", "</tool_calls>", "B"),),
    "apriel": (_form("<tool_calls>", "</tool_calls>", "B"),),
    "minimax-m1": (_form("<tool_calls>", "</tool_calls>", "B"),),
    "minimax-m2": (_form("[TOOL_CALL]", "[/TOOL_CALL]", "B"),),
    "internlm2": (
        _form(
            "<|action_start|>",
            "<|action_end|>",
            "A",
            before=("<|plugin|>", "<|interpreter|>"),
        ),
        _form("<|plugin|>", "<|action_end|>", "A"),
    ),
    "gigachat": (
        _form("<|function_call|>", "", "A"),
        _form("<|message_sep|>", "", "A", before=("function call<|role_sep|>",)),
    ),
    "cohere": (
        _form("<|START_ACTION|>", "<|END_ACTION|>", "A"),
        Form(("Action:",), _action, tier="B", place="line", vague=True),
    ),
    "apertus": (_form("<|tools_prefix|>", "<|tools_suffix|>", "A", keyed=True),),
    "longcat": (
        _form("<longcat_tool_call>", "</longcat_tool_call>", "B"),
        _form("<function_calls>", "</function_calls>", "B"),
    ),
    "dots": (_form("<dots_function_call>", "</dots_function_call>", "B"),),
}
