"""From attrs classes to JSON Schema 2020-12: generic, knows no class of the protocol.

Like ``converter``, it gets the spelling from the annotations. What the host sends
(``reads``) is closed: enumerations are ``enum``, null equals absent. What the sidecar
sends is open: enumerations are strings with ``x-open-enum``, unions end in an
``Unknown...`` variant, and there is no null. Whatever annotations cannot express is in
the `SchemaRules` and in the converter's `CHECKS`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from inspect import cleandoc
from types import NoneType, UnionType
from typing import (
    Any,
    ClassVar,
    Literal,
    NewType,
    TypeAlias,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from attrs import NOTHING, fields, fields_dict, has

from stream_sidecar import patterns
from stream_sidecar.events import Span
from stream_sidecar.parts import JsonObject
from stream_sidecar.protocol.converter import CHECKS, NOT_ZERO, camel
from stream_sidecar.records import define, field, frozen

Maker: TypeAlias = Callable[["Definitions", Any, bool], JsonObject]

_SIMPLE = {str: "string", int: "integer", float: "number", bool: "boolean"}


@frozen
class SchemaRules:
    """What annotations cannot express.

    ``unions``: unions of classes that differ in ``type``, with their names.
    ``patches``: types that hold some fields of a class. ``spellings``: classes that the
    host may also spell in another way, with the schema of the other spelling.
    ``known_values``: the values of strings that the sidecar sends, by class and field.
    ``numbered``: the classes that always have a ``seq``. ``later``: fields that older
    sidecars do not send.
    """

    unions: dict[Any, str] = field(factory=dict)
    patches: dict[Any, type] = field(factory=dict)
    spellings: dict[type, JsonObject] = field(factory=dict)
    known_values: dict[tuple[type, str], tuple[str, ...]] = field(factory=dict)
    numbered: frozenset[type] = frozenset()
    later: frozenset[tuple[type, str]] = frozenset()


@define
class Definitions:
    """The definitions that were needed so far, by name.

    A class that is both read and written has two definitions: the name of the second
    one ends in ``Input`` or ``Output``.
    """

    rules: SchemaRules
    by_name: dict[str, JsonObject] = field(factory=dict)
    _names: dict[tuple[Any, bool], str] = field(factory=dict)

    def of(self, hint: Any, *, reads: bool = False) -> JsonObject:
        """The schema of a type; classes and unions become definitions."""
        if hint in self.rules.patches:
            return _patch(self, self.rules.patches[hint], reads)
        if hint in self.rules.unions:
            return _named_union(self, hint, reads)
        return next(make for fits, make in _MAKERS if fits(hint))(self, hint, reads)

    def refer(
        self, key: Any, name: str, reads: bool, make: Callable[[], JsonObject]
    ) -> JsonObject:
        """A reference to the definition of ``key``, which the first reference makes."""
        if (key, reads) not in self._names:
            if name in self.by_name:
                name += "Input" if reads else "Output"
            self._names[key, reads] = name
            self.by_name[name] = {}  # it may contain itself
            self.by_name[name] = make()
        return {"$ref": f"#/$defs/{self._names[key, reads]}"}


# Classes


def _class(defs: Definitions, kind: Any, reads: bool) -> JsonObject:
    make = partial(_object, defs, kind, reads, patch=False)
    ours = defs.refer(kind, kind.__name__, reads, make)
    if not reads or kind not in defs.rules.spellings:
        return ours
    name = f"Provider{kind.__name__}"
    theirs = defs.refer(name, name, reads, lambda: defs.rules.spellings[kind])
    return {"anyOf": [ours, theirs]}


def _patch(defs: Definitions, kind: Any, reads: bool) -> JsonObject:
    """Some fields of a class, and of the classes in it."""
    make = partial(_object, defs, kind, reads, patch=True)
    return defs.refer(("patch", kind), f"{kind.__name__}Patch", reads, make)


def _object(defs: Definitions, kind: Any, reads: bool, *, patch: bool) -> JsonObject:
    hints = get_type_hints(kind)
    properties = {
        camel(name): {"const": getattr(kind, name)}
        for name, hint in hints.items()
        if get_origin(hint) is ClassVar
    }
    required = [*properties]
    for attribute in fields(kind):
        hint = hints[attribute.name]
        part = _field(defs, kind, attribute.name, hint, reads, patch=patch)
        if not patch and _is_required(defs, kind, attribute, hint, reads):
            required.append(camel(attribute.name))
        elif reads:
            part = _or_null(part)
        properties[camel(attribute.name)] = part
    schema: JsonObject = {"description": prose(kind), "type": "object"}
    schema |= {"properties": properties} if properties else {}
    schema |= {"required": required} if required else {}
    return schema | (_facts(kind, "") if reads and not patch else {})


def _field(
    defs: Definitions, kind: Any, name: str, hint: Any, reads: bool, *, patch: bool
) -> JsonObject:
    """The schema of a field that is not absent."""
    hint = _without_none(hint)
    if patch and has(hint):
        return _patch(defs, hint, reads)
    part = defs.of(hint, reads=reads)
    if reads:
        return {**part, **_facts(kind, name)}
    if name in NOT_ZERO:
        return {**part, "minimum": 1}
    values = defs.rules.known_values.get((kind, name))
    return {**part, "x-open-enum": list(values)} if values else part


def _facts(kind: Any, name: str) -> JsonObject:
    """The keywords for what the converter checks beside the type, if there are any."""
    keywords: JsonObject = getattr(CHECKS.get((kind, name)), "schema", {})
    return keywords


def _is_required(
    defs: Definitions, kind: Any, attribute: Any, hint: Any, reads: bool
) -> bool:
    """Whether the converter requires the field (``reads``), or always writes it."""
    if reads:
        return attribute.default is NOTHING
    if attribute.name == "seq" and kind in defs.rules.numbered:
        return True
    may_be_none = hint in (Any, object) or NoneType in get_args(hint)
    is_later = (kind, attribute.name) in defs.rules.later
    return attribute.name not in NOT_ZERO and not may_be_none and not is_later


def prose(kind: Any) -> str:
    """The docstring with JSON's names and values, each paragraph on one line."""
    text = cleandoc(kind.__doc__)
    text = _CODE.sub(lambda code: f"`{_name_in_json(code[1])}`", text)
    text = _VALUE.sub(lambda word: _VALUES[word[1]], text)
    return _BREAK.sub(" ", text)


_CODE = patterns.compile("``(.+?)``")
_VALUE = patterns.compile(r"\b(None|True|False)\b")
_BREAK = patterns.compile(r"(?<!\n)\n(?!\n)")
_VALUES = {"None": "absent", "True": "true", "False": "false"}


def _name_in_json(code: str) -> str:
    """The name in JSON of a field; the name of a module stays."""
    return code if code.startswith("stream_sidecar.") else camel(code)


# Other types


def _without_none(hint: Any) -> Any:
    parts = [part for part in get_args(hint) if part is not NoneType]
    if _is_union(hint) and len(parts) < len(get_args(hint)):
        return Union[tuple(parts)]  # noqa: UP007 - made at run time
    return hint


def _or_null(part: JsonObject) -> JsonObject:
    """The schema of a field that may also be null, which means absent."""
    if not part:
        return part
    if "enum" in part:
        return {**part, "enum": [*part["enum"], None]} | _nullable_type(part)
    if "type" in part:
        return part | _nullable_type(part)
    options = part["anyOf"] if [*part] == ["anyOf"] else [part]
    return {"anyOf": [*options, {"type": "null"}]}


def _nullable_type(part: JsonObject) -> JsonObject:
    kinds = part.get("type", [])
    return {"type": [*([kinds] if isinstance(kinds, str) else kinds), "null"]}


def _is_union(hint: Any) -> bool:
    return get_origin(hint) in (Union, UnionType)


def _named_union(defs: Definitions, hint: Any, reads: bool) -> JsonObject:
    """A union of classes that differ in ``type``, with a variant for later versions."""
    name = defs.rules.unions[hint]
    kinds = get_args(hint)
    types = [vars(kind)["type"] for kind in kinds]
    unknown = {
        "description": f"`{name}` of a later version, which readers skip.",
        "type": "object",
        "properties": {"type": {"type": "string", "not": {"enum": types}}},
        "required": ["type"],
    }

    def make() -> JsonObject:
        numbered = all("seq" in fields_dict(kind) for kind in kinds)
        return {
            "description": "One of these, distinguished by `type`.",
            "type": "object",
            "required": ["type", "seq"] if numbered else ["type"],
            "oneOf": [
                *(defs.of(kind, reads=reads) for kind in kinds),
                defs.refer(f"Unknown{name}", f"Unknown{name}", reads, lambda: unknown),
            ],
        }

    return defs.refer(hint, name, reads, make)


def _union(defs: Definitions, hint: Any, reads: bool) -> JsonObject:
    options = [defs.of(part, reads=reads) for part in get_args(hint)]
    if all([*option] == ["type"] for option in options):
        return {"type": [option["type"] for option in options]}
    return {"anyOf": options}


def _literal(_: Definitions, hint: Any, reads: bool) -> JsonObject:
    key = "enum" if reads else "x-open-enum"
    return {"type": "string", key: [*get_args(hint)]}


def _list(defs: Definitions, hint: Any, reads: bool) -> JsonObject:
    items = defs.of(get_args(hint)[0], reads=reads)
    return {"type": "array", "items": items} if items else {"type": "array"}


def _span(defs: Definitions, _: Any, reads: bool) -> JsonObject:
    edge = {"type": "integer"}
    span = {
        "description": "A range of code points in the wire's channel, with removals.",
        "type": "object",
        "properties": {"start": edge, "end": edge},
        "required": ["start", "end"],
    }
    return defs.refer("Span", "Span", reads, lambda: span)


_MAKERS: tuple[tuple[Callable[[Any], bool], Maker], ...] = (
    (lambda hint: hint in (Any, object), lambda *_: {}),
    (
        lambda hint: isinstance(hint, NewType),
        lambda defs, hint, reads: defs.of(hint.__supertype__, reads=reads),
    ),
    (lambda hint: hint in _SIMPLE, lambda _made, hint, _: {"type": _SIMPLE[hint]}),
    (lambda hint: hint == Span, _span),
    (has, _class),
    (_is_union, _union),
    (lambda hint: get_origin(hint) in (tuple, list), _list),
    (lambda hint: get_origin(hint) is Literal, _literal),
    (lambda hint: get_origin(hint) is dict, lambda *_: {"type": "object"}),
)
"""The first row that fits counts, as in the converter's ``_READERS``."""
