"""Distinguishes calls from text that only looks like a call (text rule 11.14).

An answer about tools may define one: ``{"name": "f", "description": "..", "parameters":
{"type": "object"}}``. It may show a call with a placeholder for a name:
``<invoke name="$NAME">``. These are no calls, and neither is a call with a name that no
tool can have.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stream_sidecar import patterns
from stream_sidecar.values.jsontext import loads

if TYPE_CHECKING:
    from collections.abc import Container, Mapping

    from stream_sidecar.forms.form import WrittenCall

LONGEST_TOOL_NAME = 128

_NAME = patterns.compile(rf"[A-Za-z_][A-Za-z0-9_.:/-]{{0,{LONGEST_TOOL_NAME - 1}}}+")
_PLACEHOLDER = patterns.compile(r"\.\.\.|…|\$[A-Z_]++")
_TYPES = frozenset(
    ("object", "array", "string", "number", "integer", "boolean", "null")
)

SCHEMA_KEYS = ("parameters", "input_schema", "inputSchema", "schema")
"""Members of a definition that hold the schema of the arguments."""

_DEFINING = ("", "parameters", "params", "args", "input", "inputs")
"""Keys of arguments that a definition may have as well."""


def can_be_called(name: str, tools: Container[str]) -> bool:
    """Whether a call may have this name: a declared one, or an identifier."""
    return name in tools or _NAME.fullmatch(name) is not None


def has_placeholder(call: WrittenCall) -> bool:
    """Whether an argument's name is a placeholder: ``...``, ``$NAME`` ..."""
    if not _PLACEHOLDER.search(call.arguments):
        return False
    try:
        value = loads(call.arguments)
    except ValueError:
        return False  # free text
    return isinstance(value, dict) and any(map(_PLACEHOLDER.fullmatch, value))


def is_definition(body: Mapping[str, Any], key: str) -> bool:
    """Whether ``body``, an object with a name, defines a tool. ``key``: the key of the
    arguments in ``body``; "" if it has none."""
    if key not in _DEFINING:
        return False
    schemas = (body.get(name) for name in SCHEMA_KEYS)
    return isinstance(body.get("description"), str) or any(
        isinstance(schema, dict) and "properties" in schema for schema in schemas
    )


def is_schema(call: WrittenCall, parameters: Container[str]) -> bool:
    """Whether the call's arguments are the schema in a tool's definition. This is so if
    (1) they stand under ``parameters``, (2) they have a ``type``, and (3) the tool
    declares no parameter ``type``."""
    if call.key != "parameters" or "type" in parameters:
        return False
    value = loads(call.arguments)
    return isinstance(value, dict) and value.get("type") in _TYPES
