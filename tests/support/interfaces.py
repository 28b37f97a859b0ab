"""The interfaces of protocol.md: their lines and comments are the page's, and which
fields there are and of what type is the schema's.

An interface stands in a fence ``ts``, with one field or several on a line. `renewed`
rewrites the fields: it removes a field that the schema no longer has, and adds a field
that the page lacks at the end. ``type Wire = "auto" | ...`` names a list of values.
"""

from __future__ import annotations

import json
import re
from typing import Any

from stream_sidecar.records import frozen

_FENCE = re.compile(r"^```ts\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_INTERFACE = re.compile(
    r"^interface (\w+) \{(?: ([^\n]*) |\n(.*?)^)\}$", re.MULTILINE | re.DOTALL
)
_FIELD = re.compile(r"(\w+)\??: [^;]+(?:; |;?$)")
_LIST = re.compile(r'^type (\w+) = ("[^\n;]+);', re.MULTILINE)
_NAME = re.compile(r"\b[A-Z]\w+")
_EVERY_EVENT = frozenset(("seq", "choice", "span"))
_WORDS = {"integer": "number", "array": "unknown[]"}


def interfaces_of(text: str) -> list[str]:
    """The names of the interfaces on a page."""
    return [name for fence in _FENCE.findall(text) for name in _names(fence)]


def unknown_names(text: str) -> set[str]:
    """Types that the interfaces use and that the page does not define."""
    code = re.sub(r'//[^\n]*|"[^"\n]*"', "", "".join(_FENCE.findall(text)))
    defined = set(re.findall(r"^(?:interface|type) (\w+)", code, re.MULTILINE))
    return set(_NAME.findall(code)) - defined


def renewed(text: str, definitions: dict[str, Any]) -> str:
    """The page with the fields and types that the schema has now."""
    types = Types({values: name for name, values in _LIST.findall(text)})

    def interface(found: re.Match[str]) -> str:
        name, line, lines = found.groups()
        fields = types.fields_of(definitions[name])
        if line:
            return f"interface {name} {{ {' '.join(fields.values())[:-1]} }}"
        return f"interface {name} {{\n{_laid_out(lines, fields)}}}"

    return _FENCE.sub(lambda fence: _INTERFACE.sub(interface, fence[0]), text)


def _names(fence: str) -> list[str]:
    return [found[1] for found in _INTERFACE.finditer(fence)]


def _laid_out(body: str, fields: dict[str, str]) -> str:
    """The lines of ``body`` with ``fields``."""
    lines, rest = [], {**fields}
    for line in body.splitlines():
        code, mark, comment = line.partition(" // ")
        known = [name for name in _FIELD.findall(code.strip()) if name in rest]
        if known:
            lines.append(" ".join(rest.pop(name) for name in known) + mark + comment)
    lines += [" ".join(rest.values())] if rest else []
    return "".join(f"  {line}\n" for line in lines)


@frozen
class Types:
    """Fields and types in TypeScript; ``lists`` are lists of values with a name."""

    lists: dict[str, str]

    def fields_of(self, definition: dict[str, Any]) -> dict[str, str]:
        required, fields = definition.get("required", ()), definition["properties"]
        is_event = "const" in fields.get("type", {}) and "seq" in fields
        return {
            name: f"{name}{'' if name in required else '?'}: {self.of(field)};"
            for name, field in fields.items()
            if not (is_event and name in _EVERY_EVENT)
        }

    def of(self, field: dict[str, Any]) -> str:
        """The type, without null, which means absent in params."""
        values = field.get("enum") or field.get("x-open-enum") or [field.get("const")]
        if values != [None]:
            written = " | ".join(
                json.dumps(each) for each in values if each is not None
            )
            return self.lists.get(written, written)
        if "$ref" in field:
            return str(field["$ref"].rpartition("/")[2])
        if "anyOf" in field:
            given = [self.of(each) for each in field["anyOf"]]
            return " | ".join(each for each in given if each != "null")
        if "items" in field:
            item = self.of(field["items"])
            return f"({item})[]" if " " in item else f"{item}[]"
        types = field.get("type", [])
        names = [types] if isinstance(types, str) else types
        known = (_WORDS.get(name, name) for name in names if name != "null")
        return " | ".join(known) or str(types or "unknown")
