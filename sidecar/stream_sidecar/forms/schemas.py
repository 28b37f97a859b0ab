"""Finds in a tool's ``inputSchema`` which types a value may have.

`kinds_of` returns the types that a schema allows, `member_of` the schema of a value's
member. Both follow ``$ref`` (inside ``root``, the whole schema), ``allOf``, ``anyOf``
and ``oneOf``. They understand Google's types in capitals and ``nullable``, ignore
whatever they do not know, and never raise. Example: the type of
``{"$ref": "#/$defs/Item"}`` with ``"$defs": {"Item": {"properties": {}}}`` is object.

Source: JSON Schema 2020-12, Core 8.2 and Validation 6.1; OpenAPI 3.0, "Schema Object".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

_DEEPEST = 8
"""How deep references are followed, because a schema may refer to itself."""

_PARTS = ("allOf", "anyOf", "oneOf")
_TYPES: tuple[tuple[type, set[str]], ...] = (
    (bool, {"boolean"}),
    (int, {"integer", "number"}),
    (float, {"number"}),
    (str, {"string"}),
    (list, {"array"}),
    (dict, {"object"}),
    (type(None), {"null"}),
)


def kind_of(value: Any) -> set[str]:
    """The types of ``value`` in JSON Schema: 1 is an integer and a number."""
    return next((kinds for type_, kinds in _TYPES if isinstance(value, type_)), set())


def kinds_of(schema: Any, root: Any) -> set[str]:
    """All types that ``schema`` allows; an empty set if it names none."""
    kinds: set[str] = set()
    for part in _parts(schema, root):
        kinds |= _own_kinds(part)
    return kinds


def member_of(schema: Any, root: Any, name: str | None = None) -> Any:
    """The schema of a property, or of a list's items if ``name`` is None."""
    for part in _parts(schema, root):
        members = part.get("properties")
        member = part.get("items") if name is None else _get(members, name)
        if member is not None:
            return member
    return None


def _own_kinds(schema: dict[str, Any]) -> set[str]:
    declared = schema.get("type")
    words = declared if isinstance(declared, list) else [declared]
    kinds = {word.lower() for word in words if isinstance(word, str)}
    if not kinds:
        kinds = _implied(schema)
    return kinds | {"null"} if kinds and schema.get("nullable") is True else kinds


def _implied(schema: dict[str, Any]) -> set[str]:
    """The types that a schema without ``type`` implies by values or members."""
    values = schema.get("enum")
    listed = values if isinstance(values, list) else []
    if "const" in schema:
        listed = [*listed, schema["const"]]
    kinds = {kind for value in listed for kind in kind_of(value)}
    if isinstance(schema.get("properties"), dict):
        kinds.add("object")
    if "items" in schema:
        kinds.add("array")
    return kinds


def _parts(schema: Any, root: Any, depth: int = _DEEPEST) -> Iterator[dict[str, Any]]:
    if not isinstance(schema, dict) or not depth:
        return
    yield schema
    yield from _parts(_referred(schema.get("$ref"), root), root, depth - 1)
    for way in _PARTS:
        ways = schema.get(way)
        for each in ways if isinstance(ways, list) else ():
            yield from _parts(each, root, depth - 1)


def _referred(reference: Any, root: Any) -> Any:
    """The target of a local reference (``#/$defs/Item``), or None."""
    if not isinstance(reference, str) or not reference.startswith("#"):
        return None
    for name in reference.split("/")[1:]:
        root = _get(root, name.replace("~1", "/").replace("~0", "~"))
    return root


def _get(holder: Any, name: str) -> Any:
    return holder.get(name) if isinstance(holder, dict) else None
