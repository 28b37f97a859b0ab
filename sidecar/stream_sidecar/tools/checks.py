"""What is odd about a finished call: diagnostics, never an edit.

`check_call` compares the arguments with the declared ``inputSchema``. The optional
extra ``validate`` (jsonschema-rs) checks them in full; without it, only the required
keys and the JSON types of the top level are checked. `check_call` also reports a string
that contains the end of a call's envelope, ``{"path": "a.py</parameter>"}``, because
one parameter may then have swallowed the next. And it reports two members of one name
(`is_ambiguous`).
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from itertools import islice
from typing import TYPE_CHECKING, Any

from stream_sidecar import patterns
from stream_sidecar.parts import DiagnosticPart
from stream_sidecar.tools.members import is_ambiguous
from stream_sidecar.values.jsontext import NumberText

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from stream_sidecar.events import ToolCall
    from stream_sidecar.options import Tool

_ENVELOPE = patterns.compile(
    r"</(?:\w+:)?(?:parameter|invoke|function|function_calls|tool_calls?)/?>"
    r"|</?arg_(?:key|value)>|<(?:\w+:)?parameter(?: name)?=|</?[｜|]DSML[｜|]"
)
"""Matches tags of the dialects in which values have no escapes."""

_MAX_FINDINGS = 8
"""At most this many faults of one call are reported; further faults add little."""

_MAX_QUOTED = 80
"""A message quotes at most this many code points of a provider's text."""

_TYPES: dict[str, Callable[[Any], bool]] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: (
        isinstance(value, str) and not isinstance(value, NumberText)
    ),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "number": lambda value: _is_number(value),
    "integer": lambda value: _is_number(value) and _is_whole(value),
}
"""JSON Schema's types (Validation 6.1.1) -> a test. Unknown ones are not checked."""


def check_call(call: ToolCall, tool: Tool | None = None) -> list[DiagnosticPart]:
    """The diagnostics of a finished call: ``truncated-tool-call`` and
    ``suspicious-arguments``. ``tool`` of None: it is not declared."""
    if call.state == "truncated":
        message = f"The arguments of {_quote(call.name)} were cut off"
        return [_diagnostic(call, "truncated-tool-call", message)]
    if call.state == "invalid":
        return []
    faults = list(_describe_envelopes(call))
    if is_ambiguous(call.arguments, call.input):
        faults.append("an object names a member twice, and readers may use either")
    if call.arguments_format == "json" and tool is not None:
        faults.extend(
            islice(_type_faults(call.input, tool.input_schema), _MAX_FINDINGS)
        )
    return [
        _diagnostic(call, "suspicious-arguments", f"{_quote(call.name)}: {fault}")
        for fault in faults
    ]


def _diagnostic(call: ToolCall, code: str, message: str) -> DiagnosticPart:
    return DiagnosticPart(code, message, choice=call.choice)


def _describe_envelopes(call: ToolCall) -> Iterator[str]:
    """Describes each top-level field that has the end of an envelope in a string."""
    if "<" not in call.arguments and "\\u003" not in call.arguments:
        return  # no string has the first character of an envelope
    value = call.arguments if call.arguments_format == "text" else call.input
    fields = value if isinstance(value, dict) else {"arguments": value}
    names = (name for name, content in fields.items() if _has_envelope(content))
    for name in islice(names, _MAX_FINDINGS):
        yield f"argument {_quote(name)} holds the end of a tool call's envelope"


def _has_envelope(value: Any) -> bool:
    remaining = [value]
    while remaining:
        value = remaining.pop()
        if isinstance(value, str):
            if _ENVELOPE.search(value):
                return True
        elif isinstance(value, dict):
            remaining.extend(value.values())
        elif isinstance(value, list):
            remaining.extend(value)
    return False


def _type_faults(value: Any, schema: Any) -> Iterable[str]:
    if not isinstance(schema, dict):
        return ()
    library = _library()
    if library is None:
        return _check_top_level(value, schema)
    try:
        validator = library.validator_for(schema, retriever=_no_retriever)
        errors = list(islice(validator.iter_errors(value), _MAX_FINDINGS))
    except Exception:  # a schema or value that the library cannot use, whatever it is
        return _check_top_level(value, schema)
    faults = []
    for error in errors:
        path = error.instance_path
        place = f"argument {_quote(path[0])}" if path else "arguments"
        faults.append(f"{place}: {_quote(error.message)}")
    return faults


@cache
def _library() -> Any:
    """The module jsonschema_rs; None if it is not installed."""
    try:
        return import_module("jsonschema_rs")
    except ImportError:
        return None


def _no_retriever(uri: str) -> Any:
    # A schema must not make this process read from the network or the disk.
    raise ValueError(f"{uri} is not fetched")


def _check_top_level(value: dict[str, Any], schema: dict[str, Any]) -> Iterator[str]:
    """Describes missing required keys, and wrong JSON types at the top level."""
    if not _has_type(value, schema.get("type")):
        yield f"arguments: not of type {_quote(schema['type'])}"
    required = schema.get("required")
    for name in required if isinstance(required, list) else ():
        if isinstance(name, str) and name not in value:
            yield f"argument {_quote(name)} is required"
    properties = schema.get("properties")
    for name, item in properties.items() if isinstance(properties, dict) else ():
        types = item.get("type") if isinstance(item, dict) else None
        if name in value and not _has_type(value[name], types):
            yield f"argument {_quote(name)} is not of type {_quote(types)}"


def _has_type(value: Any, types: Any) -> bool:
    names = types if isinstance(types, list) else [types]
    checks = [_TYPES.get(name) for name in names if isinstance(name, str)]
    return not checks or any(check is None or check(value) for check in checks)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | NumberText) and not isinstance(value, bool)


def _is_whole(value: float | NumberText) -> bool:
    if isinstance(value, NumberText):
        return value.removeprefix("-").isdecimal()
    return value == value // 1


def _quote(value: Any) -> str:
    text = value if isinstance(value, str) else str(value)
    return text if len(text) <= _MAX_QUOTED else text[:_MAX_QUOTED] + "..."
