"""Reads the text between the delimiters of a call: JSON, Python, or parameters.

The dialects' forms call these functions once a body is complete. Arguments that are
JSON keep the model's exact characters. A parameter written as text has no type
(``<parameter=n>3``): the tool's ``inputSchema`` says which type it gets, and without a
schema it is a string. If the text is no call, the functions raise ValueError, mostly
`MalformedError`.
"""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeAlias

from stream_sidecar import patterns
from stream_sidecar.forms.definitions import SCHEMA_KEYS, is_definition
from stream_sidecar.forms.form import MalformedError, WrittenCall
from stream_sidecar.forms.schemas import kind_of, kinds_of, member_of
from stream_sidecar.options import DEFAULT_INDICATORS
from stream_sidecar.records import evolve, frozen
from stream_sidecar.values.jsontext import dumps, loads
from stream_sidecar.values.pythonic import parse_calls
from stream_sidecar.values.relaxed import parse

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterable

    from stream_sidecar.forms.form import Tier
    from stream_sidecar.forms.grammar import Context, Cursor, Extent

Calls: TypeAlias = list[WrittenCall]
CallReader: TypeAlias = "Callable[[str, Any, int, int], WrittenCall]"
"""Makes a call from a value. Parameters: the text, the value, and the start and end of
the value in the text. Start -1: the text does not contain the value's own text."""

NAME_KEYS = (
    *("name", "tool_name", "function", "tool", "function_name", "recipient_name"),
    *("toolName", "call", "action"),
)
ARGUMENT_KEYS = (
    *("arguments", "parameters", "args", "input", "tool_input", "params", "kwargs"),
    *("tool_args", "tool_arguments", "tool_parameters", "tool_params", "toolInput"),
    *("function_args", "function_arguments", "function_parameters", "inputs"),
    *("action_input", "action_args", "action_parameters"),
)
ID_KEYS = ("id", "tool_call_id", "call_id")
LEADING_KEYS = (*NAME_KEYS[:-1], *ARGUMENT_KEYS[:6], *ID_KEYS, "type")
"""The first key of a call without delimiters. Objects that begin with another key are
not held, because an answer that is JSON must stream."""

_BY_WORDS = frozenset(
    (
        *(*ID_KEYS, "type", "index", "role", "channel", "status", "state", "strict"),
        *("description", "explanation", "comment", "title", "purpose", "confidence"),
        *("reason", "reasoning", "rationale", "thought", "thoughts", "thinking", "why"),
    )
)
"""Members beside a call's name that say something about the call."""

_NO_ARGUMENTS = frozenset(
    ("result", "output", "response", *SCHEMA_KEYS, *DEFAULT_INDICATORS)
)
"""Members that hold a result or a schema, and so no arguments."""

_DECODER = json.JSONDecoder()
_SPACE = patterns.compile(r"[ \t\n\r]*+")
_SEPARATORS = patterns.compile(r"[ \t\n\r,;\[\]]*+")


def _begun(keys: tuple[str, ...], value: str = "") -> re.Pattern[str]:
    """Matches one of ``keys``, its colon, and ``value`` after it."""
    return patterns.compile(
        rf"""(?<![\w"'])["']?(?:{"|".join(keys)})["']?\s*+:\s*+{value}"""
    )


_TEXT = r"""["']((?:[^"'\\]|\\.){1,256}+)["']"""
_CUT_NAME = _begun(NAME_KEYS, _TEXT)
_CUT_ID = _begun(ID_KEYS, _TEXT)
_CUT_KEY = patterns.compile(rf"{_TEXT}\s*+:\s*+")
_CUT_ARGUMENTS = _begun(ARGUMENT_KEYS)


# JSON


LISTS = ("tool_uses", "tool_calls")
"""An object whose only key is one of these holds a list of calls."""


def calls_of(text: str, offset: int = 0, *, keyed: bool = False) -> Calls:
    """The calls of one JSON object, of a list, or of several objects in a row.

    ``offset``: the place of ``text`` in the candidate. ``keyed``: the one key of an
    object is the tool's name. A value that is no call is ``spoiled`` (text rule 11.20).
    """
    return calls_by(_keyed_call if keyed else _call, text, offset)


def calls_by(read: CallReader, text: str, offset: int) -> Calls:
    """The calls of ``text`` as in `calls_of`; ``read`` makes a call from each value."""
    calls: Calls = []
    reasons: list[ValueError] = []
    for value, start, end in _values(text):
        for item, *place in _listed(value, start, end):
            try:
                calls.append(read(text, item, *place))
            except ValueError as reason:
                reasons.append(reason)
                spoiled = text[start:end] if start >= 0 else dumps(item)
                calls.append(WrittenCall("", "", end, spoiled=spoiled))
    if len(reasons) == len(calls):
        raise reasons[0] if reasons else MalformedError("no call")
    return [_shifted(call, offset) for call in calls]


def _listed(value: Any, start: int, end: int) -> Iterable[tuple[Any, int, int]]:
    """``value`` and its place, or the calls that it lists, without (start -1)."""
    if isinstance(value, dict) and len(value) == 1:
        ((key, listed),) = value.items()
        if key in LISTS and isinstance(listed, list):
            return [(item, -1, end) for item in listed]
    return [(value, start, end)]


def looks_like_call(value: Any) -> str:
    """The tool's name if ``value`` is an object that begins like a call; else ""."""
    if not isinstance(value, dict) or next(iter(value), "") not in LEADING_KEYS:
        return ""
    body = value.get("function")
    body = body if isinstance(body, dict) else value
    if not any(key in body for key in ARGUMENT_KEYS):
        return ""
    return _first_text(body, NAME_KEYS)


def cut_calls(text: str, offset: int, *, keyed: bool = False) -> Calls:
    """The complete calls of JSON that is cut off, and the last with a complete name."""
    complete: Calls = []
    position = 0
    read = _keyed_call if keyed else _call
    for value, start, end in _values(text, strict=False):
        try:
            complete.append(_shifted(read(text, value, start, end), offset))
        except MalformedError:
            break
        position = end
    text_left = text[position:]
    name = (_CUT_KEY if keyed else _CUT_NAME).search(text_left)
    if name is None:
        return complete
    arguments = name if keyed else _CUT_ARGUMENTS.search(text_left)
    body = text_left[arguments.end() :] if arguments else ""
    id = _CUT_ID.search(text_left[: arguments.start()] if arguments else text_left)
    end = offset + len(text)
    return [*complete, WrittenCall(_unquoted(name[1]), body, end, id[1] if id else "")]


def _unquoted(text: str) -> str:
    try:
        return str(loads(f'"{text}"'))
    except ValueError:
        return text


def _values(text: str, *, strict: bool = True) -> Iterable[tuple[Any, int, int]]:
    """The JSON values in ``text``, each with its start and end; brackets, ``,`` and
    ``;`` may separate them. ``strict``: False stops at text that is not JSON, True
    reads it as relaxed JSON."""
    index = 0
    while True:
        index = _skip(_SEPARATORS, text, index)
        if index == len(text):
            return
        try:
            value, end = _DECODER.raw_decode(text, index)
        except ValueError:
            if strict:
                yield from _relaxed_values(text, index)
            return
        yield value, index, end
        index = end


def _relaxed_values(text: str, index: int) -> Iterable[tuple[Any, int, int]]:
    """The values of relaxed JSON, without places of their own (start -1)."""
    body = text[index:].strip()
    if not text.lstrip().startswith("{"):
        body = body[: _without_brackets(body)]
    for value in parse(f"[{body}]"):
        yield value, -1, len(text)


def _without_brackets(body: str) -> int:
    """The length of ``body`` without closing brackets and blanks at its end."""
    end = len(body)
    while end and (body[end - 1] == "]" or body[end - 1].isspace()):
        end -= 1
    return end


def _skip(separators: re.Pattern[str], text: str, index: int) -> int:
    match = separators.match(text, index)
    return match.end() if match else index


def _shifted(call: WrittenCall, by: int) -> WrittenCall:
    return evolve(call, end=call.end + by)


def _call(text: str, value: Any, start: int, end: int) -> WrittenCall:
    if not isinstance(value, dict):
        raise MalformedError("a call is an object")
    body, inner = value, value.get("function")
    if isinstance(inner, dict):
        body, start = {k: v for k, v in value.items() if v is not inner} | inner, -1
    name_key = next((key for key in NAME_KEYS if _is_text(body.get(key))), "")
    if not name_key:
        raise MalformedError("a call has a name")
    name = body[name_key]
    if name_key == "recipient_name":
        name = name.removeprefix("functions.")
    arguments, key = "", ""
    for key in (key for key in ARGUMENT_KEYS if key in body and key != name_key):
        with suppress(ValueError):
            arguments = _arguments(body[key], text, start, key)
            break
    if is_definition(body, key):
        raise MalformedError("it defines a tool")
    beside = {k: v for k, v in body.items() if k != name_key and (k != key or v)}
    id = _first_text(body, ID_KEYS)
    return WrittenCall(name, arguments, end, id, key=key, beside=beside)


def placed(call: WrittenCall, context: Context, tier: Tier) -> WrittenCall:
    """``call`` with arguments that stand under no usual key, as in ``{"name": "f",
    "path": "a.py"}`` and ``{"name": "f", "payload": {"path": "a.py"}}`` (text rule
    11.21); ``unclear`` if the object does not show which members they are."""
    if call.arguments:
        return call
    declared = properties(call.name, context)
    beside = {
        key: value
        for key, value in call.beside.items()
        if key in declared or key not in _BY_WORDS
    }
    if not beside:
        is_example = tier == "C" and not call.key
        return evolve(call, arguments="{}", unclear=is_example)
    if beside.keys() <= declared.keys():
        return evolve(call, arguments=dumps(beside))
    (key, value), *others = beside.items()
    is_object = isinstance(value, dict) and key not in _NO_ARGUMENTS and not others
    if is_object and (tier == "A" or not declared.keys().isdisjoint(value)):
        return evolve(call, arguments=dumps(value))
    return evolve(call, arguments=dumps(beside), unclear=True)


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value)


def _arguments(value: Any, text: str, start: int, key: str) -> str:
    """The arguments in ``value``, the member ``key`` of the object at ``start``; "" if
    it is null or empty. Raises MalformedError if they are no object."""
    if value is None or value == "":
        return ""
    if isinstance(value, str):
        return _object_text(value)
    if not isinstance(value, dict):
        raise MalformedError("arguments are an object")
    if start < 0:
        return dumps(value)
    member_start, member_end = _member(text, start, key)
    return text[member_start:member_end]


def _object_text(text: str) -> str:
    """The JSON text of the object that ``text``, a string, holds."""
    arguments = arguments_of(text.strip())
    if not arguments.startswith("{"):
        raise MalformedError("arguments are an object")
    return arguments


def arguments_at(value: Any, text: str, start: int, keys: tuple[str, ...]) -> str:
    """The JSON text of a call's arguments, found in ``value`` at the path ``keys``.
    ``start``: where ``value`` begins in ``text``; -1 if ``text`` does not contain the
    value's own text."""
    *path, last = keys
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
        start = _member(text, start, key)[0] if start >= 0 and value else -1
    given = value.get(last) if isinstance(value, dict) else None
    return _arguments(given, text, start, last) or "{}"


def _member(text: str, index: int, key: str) -> Extent:
    """The extent of the value of ``key`` (the last one) in the object at ``index``."""
    extent, index = (index, index), index + 1
    while True:
        index = _skip(_SEPARATORS, text, index)
        if text[index] == "}":
            return extent
        name, index = _DECODER.raw_decode(text, index)
        index = _skip(_SPACE, text, _skip(_SPACE, text, index) + 1)
        start = index
        _, index = _DECODER.raw_decode(text, index)
        if name == key:
            extent = start, index


def _keyed_call(text: str, value: Any, start: int, end: int) -> WrittenCall:
    if not isinstance(value, dict) or len(value) != 1:
        raise MalformedError("a call is an object with the tool's name")
    ((name, arguments),) = value.items()
    return WrittenCall(name, _arguments(arguments, text, start, name) or "{}", end)


def _first_text(value: Any, keys: Iterable[str]) -> str:
    texts = (value.get(key) for key in keys)
    return next((text for text in texts if isinstance(text, str) and text), "")


def arguments_of(text: str) -> str:
    """The arguments, as JSON text, in the text of one object: ``text`` itself if it is
    JSON, ``{}`` if it is empty, else JSON of the same value. Raises ValueError if it is
    no object, strict or relaxed (text rule 11.22)."""
    if not text:
        return "{}"
    try:
        loads(text)
    except ValueError:
        return dumps(parse(text))
    return text


# A call whose name stands before its arguments


def json_part(
    name: str, part: Extent, end: int, id: str = ""
) -> Callable[[str], Calls]:
    """A function that makes the call of ``name`` from the candidate's text. Its
    arguments are the JSON object in the extent ``part``; ``{}`` if that is empty."""

    def read(raw: str) -> Calls:
        return [WrittenCall(name, arguments_of(raw[slice(*part)]), end, id)]

    return read


def joined(
    readers: list[Callable[[str], Calls]], *others: Callable[[str], Calls]
) -> Callable[[str], Calls]:
    """A function that makes the calls of the ``readers`` so far, then of ``others``.
    ``readers`` may grow: a copy for each call would take quadratic time."""
    count = len(readers)
    return lambda raw: [
        call for read in (*readers[:count], *others) for call in read(raw)
    ]


def cut_part(name: str, start: int, id: str = "") -> Callable[[str], Calls]:
    return lambda raw: [WrittenCall(name, raw[start:], len(raw), id)]


# Calls in Python's syntax


def python_calls(cursor: Cursor, raw: str, part: Extent) -> Calls:
    """The calls in the extent ``part`` of ``raw`` (text rule 11.9)."""
    start, end = part

    def positional(name: str) -> list[str]:
        return list(properties(name, cursor.context))

    return [
        WrittenCall(name, dumps(_plain(name, arguments, cursor)), start + place[1])
        for name, arguments, place in parse_calls(raw[start:end], positional)
    ]


def _plain(name: str, arguments: dict[str, Any], cursor: Cursor) -> dict[str, Any]:
    """``arguments``, or all of them out of a wrapper, as in ``f(parameters={..})``."""
    if len(arguments) == 1:
        ((key, value),) = arguments.items()
        if isinstance(value, dict) and _is_wrapper(name, key, value, cursor):
            return value
    return arguments


def _is_wrapper(name: str, key: str, value: dict[str, Any], cursor: Cursor) -> bool:
    """Whether ``value``, the only argument, holds all arguments: an undeclared ``key``
    has a usual name (``parameters``), or a declared one is no object and all names in
    ``value`` are parameters of the tool."""
    names = properties(name, cursor.context)
    if key not in names:
        return key in ARGUMENT_KEYS
    kinds = kinds_of(names[key], None)
    is_scalar = bool(kinds) and "object" not in kinds
    return is_scalar and bool(value) and value.keys() <= names.keys()


# Parameters that are text


@frozen
class Parameter:
    """A parameter written as text. ``kind``: its type if the form names one
    (``string``, ``json``), else ""."""

    key: str
    text: str
    kind: str = ""


def typed(name: str, parameters: Iterable[Parameter], context: Context) -> str:
    """The arguments as JSON text; the tool's schema gives them their types."""
    root = _schema(name, context)
    schemas = properties(name, context)
    values = ((item, schemas.get(item.key)) for item in parameters)
    return dumps({item.key: _value(item, schema, root) for item, schema in values})


def typed_tree(name: str, arguments: dict[str, Any], context: Context) -> str:
    """``arguments`` as JSON text. The tool's schema gives the texts their types."""
    root = _schema(name, context)
    return dumps(_shaped(arguments, root, root))


def properties(name: str, context: Context) -> dict[str, Any]:
    """The declared parameters of the tool ``name`` with their schemas, in order."""
    schema = _schema(name, context)
    members = schema.get("properties") if isinstance(schema, dict) else None
    return members if isinstance(members, dict) else {}


def _schema(name: str, context: Context) -> Any:
    tool = (context.tools or {}).get(name)
    return None if tool is None else tool.input_schema


def _shaped(value: Any, schema: Any, root: Any) -> Any:
    if isinstance(value, dict):
        return {
            key: _shaped(item, member_of(schema, root, key), root)
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [_shaped(item, member_of(schema, root), root) for item in value]
    kinds = kinds_of(schema, root)
    if not value and "string" not in kinds:
        value = "[]" if "array" in kinds else "{}" if "object" in kinds else value
    return _value(Parameter("", value), schema, root)


def _value(parameter: Parameter, schema: Any, root: Any) -> Any:
    if parameter.kind == "string":
        return parameter.text
    kinds = kinds_of(schema, root)
    if "null" in kinds and parameter.text.strip() == "null":
        return None
    if parameter.kind != "json" and (not kinds or "string" in kinds):
        return parameter.text
    return _parsed(parameter.text, kinds, is_json=parameter.kind == "json")


def _unescaped(text: str) -> Any:
    r"""The value of a list or object that is escaped as in a string: ``[\"a\"]``."""
    value = loads(loads(f'"{text}"'))
    if not isinstance(value, dict | list):
        raise MalformedError("no list and no object")
    return value


def _parsed(text: str, kinds: set[str], *, is_json: bool) -> Any:
    """The value that ``text`` means, of one of ``kinds`` (any if it ``is_json``), else
    ``text`` itself."""
    word = text.strip()
    if "boolean" in kinds and word.lower() in ("true", "false"):
        return word.lower() == "true"
    for read in (loads, parse, _unescaped):
        try:
            value = read(word)
        except ValueError:
            continue
        if is_json or not kinds or kind_of(value) & kinds:
            return value
    return text
