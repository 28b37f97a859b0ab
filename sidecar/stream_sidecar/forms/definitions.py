"""What looks like a call and is none: definitions of tools, placeholders, odd names.

An answer about tools may show ``{"name": "f", "description": "..", "parameters":
{"type": "object"}}``, which defines a tool, or ``<invoke name="$NAME">``, with a
placeholder for the name (text rule 11.14). The name of a call is one that a tool can
have.
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


def can_be_called(name: str, tools: Container[str]) -> bool:
    """Whether a tool may have this name; a declared tool may have any name."""
    return name in tools or _NAME.fullmatch(name) is not None


def has_placeholder(call: WrittenCall) -> bool:
    """Whether the name of an argument is a placeholder, such as ``...`` or
    ``$NAME``."""
    if not _PLACEHOLDER.search(call.arguments):
        return False
    try:
        value = loads(call.arguments)
    except ValueError:
        return False  # free text
    return isinstance(value, dict) and any(map(_PLACEHOLDER.fullmatch, value))


def is_definition(body: Mapping[str, Any], key: str | None, given: Any) -> bool:
    """Whether an object with a name defines a tool. ``given``: its value under ``key``.
    The declared tools do not matter."""
    if isinstance(body.get("description"), str) and key != "arguments":
        return True
    return key == "parameters" and isinstance(given, dict) and "properties" in given


def is_schema(call: WrittenCall, parameters: Container[str]) -> bool:
    """Whether the arguments are the schema of a tool's definition. They are if they
    stand under a definition's key, name a type, and the tool has no parameter ``type``.
    """
    if not call.schema or "type" in parameters:
        return False
    value = loads(call.arguments)
    return isinstance(value, dict) and value.get("type") in _TYPES
