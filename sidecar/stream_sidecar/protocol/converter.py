"""The one converter between attrs classes and JSON values: generic, knows no class.

Spelling: fields are camelCase, unknown fields are ignored. Reading (`structure`) is
strict about types: a wrong type is the host's mistake and raises InvalidParamsError,
whose message begins with the field's path. null equals absent, except in fields of type
``Any``. Writing (`unstructure`) gives the class's constants (``type``, ``role``), then
the fields in their order: those that are not None, and ``choice`` and ``seq`` only if
they are not 0. Values of type ``Any`` are made portable (protocol.md, "JSON"). A new
field of a class needs no change here.
"""

from __future__ import annotations

from collections.abc import Callable
from types import NoneType, UnionType
from typing import (
    Any,
    ClassVar,
    Literal,
    TypeAlias,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from attrs import NOTHING, fields, has
from cattrs import Converter, override
from cattrs.fns import identity
from cattrs.gen import make_dict_unstructure_fn_from_attrs

from stream_sidecar import patterns
from stream_sidecar.errors import InvalidParamsError
from stream_sidecar.events import Span
from stream_sidecar.records import PublicRecord
from stream_sidecar.values.absent import ABSENT, NULLABLE
from stream_sidecar.values.jsontext import dumps, portable, whole

T = TypeVar("T")
ValueReader: TypeAlias = Callable[[Any, Any], Any]
ValueWriter: TypeAlias = Callable[[Any], Any]

CHECKS: dict[tuple[type, str], Callable[[Any], None]] = {}
"""Checks of what types cannot express, by class and field.

The field ``""`` stands for the whole instance. A check raises `Invalid`.
"""


class Invalid(Exception):  # noqa: N818 - never leaves the converter
    """A value that does not fit. Each enclosing value prepends its step to ``path``."""

    def __init__(self, reason: str, path: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.path = path


_HUMP = patterns.compile(r"_(\w)")


def camel(name: str) -> str:
    """``tool_call_id`` -> ``toolCallId``."""
    return _HUMP.sub(lambda match: match[1].upper(), name)


def structure(value: Any, kind: type[T], path: str) -> T:
    """``value`` as a ``kind``; error messages call the value ``path``."""
    try:
        return converter.structure(value, kind)
    except Invalid as error:
        where = path + error.path
        raise InvalidParamsError(f"{where}: {error.reason}", path=where) from None


def unstructure(value: Any) -> Any:
    """The JSON value of an instance of any attrs class."""
    return _WRITERS[type(value)](value)


def _to_dict(self: PublicRecord) -> dict[str, Any]:
    """The JSON value as the protocol writes it."""
    written: dict[str, Any] = whole(unstructure(self))
    return written


PublicRecord.to_dict = _to_dict  # type: ignore[method-assign]


# Reading


def class_reader(kind: Any) -> ValueReader:
    """A reader of objects as instances of the attrs class ``kind``."""
    read = fields_reader(kind, converter.get_structure_hook)
    required = [each.name for each in fields(kind) if each.default is NOTHING]

    def read_class(value: Any, _kind: Any) -> Any:
        arguments = read(value, kind)
        for name in required:
            if name not in arguments:
                raise Invalid("is missing", f".{camel(name)}")
        return kind(**arguments)

    return _checked(read_class, CHECKS.get((kind, "")))


def patch_reader(kind: Any) -> ValueReader:
    """A reader of the fields of ``kind`` that an object has, in nested classes, too."""

    def reader_of(part: Any) -> ValueReader:
        return patch_reader(part) if has(part) else converter.get_structure_hook(part)

    return fields_reader(kind, reader_of)


def fields_reader(kind: Any, reader_of: Callable[[Any], ValueReader]) -> ValueReader:
    """A reader of the fields of ``kind`` that an object has: values by Python name."""
    types = get_type_hints(kind)
    steps: dict[str, tuple[str, Any, ValueReader | None]] = {}
    for name in (each.name for each in fields(kind)):
        part, check = types[name], CHECKS.get((kind, name))
        # A value of any type is passed on as it is, null too.
        read = None if part is Any else _checked(reader_of(part), check)
        steps[camel(name)] = (name, part, read)
    get = steps.get

    def read_fields(value: Any, _kind: Any) -> dict[str, Any]:
        if type(value) is not dict:
            raise Invalid("must be an object")
        values = {}
        try:
            for key, item in value.items():
                step = get(key)
                if step is None:
                    continue
                name, part, read = step
                if read is None:
                    values[name] = item
                elif item is not None:
                    values[name] = read(item, part)
        except Invalid as error:
            raise Invalid(error.reason, f".{key}{error.path}") from None
        return values

    return read_fields


def _checked(read: ValueReader, check: Callable[[Any], None] | None) -> ValueReader:
    if check is None:
        return read

    def read_checked(value: Any, kind: Any) -> Any:
        result = read(value, kind)
        check(result)
        return result

    return read_checked


def _exact_reader(kind: type, description: str) -> ValueReader:
    def read_exactly(value: Any, _kind: Any) -> Any:
        if type(value) is not kind:
            raise Invalid(f"must be {description}")
        return value

    return read_exactly


_LEAST, _MOST = -(2**63), 2**63 - 1


def _read_integer(value: Any, _kind: Any) -> int:
    """An integer of at most 64 bits, which clients in any language can read back."""
    if type(value) is not int:
        raise Invalid("must be an integer")
    if not _LEAST <= value <= _MOST:
        raise Invalid("must be an integer of at most 64 bits")
    return value


def _list_reader(kind: Any) -> ValueReader:
    part, build = get_args(kind)[0], get_origin(kind)
    read = converter.get_structure_hook(part)

    def read_list(value: Any, _kind: Any) -> Any:
        if type(value) not in (list, tuple):  # a host in Python may give a tuple
            raise Invalid("must be an array")
        if part is Any:
            return build(value)
        items = []
        for number, item in enumerate(value):
            try:
                items.append(read(item, part))
            except Invalid as error:
                raise Invalid(error.reason, f"[{number}]{error.path}") from None
        return build(items)

    return read_list


def _literal_reader(kind: Any) -> ValueReader:
    values = get_args(kind)
    choice = " or ".join(dumps(value) for value in values)

    def read_literal(value: Any, _kind: Any) -> Any:
        if type(value) is not str or value not in values:
            raise Invalid(f"must be {choice}")
        return value

    return read_literal


def _union_reader(kind: Any) -> ValueReader:
    parts = [part for part in get_args(kind) if part is not NoneType]
    readers = [(converter.get_structure_hook(part), part) for part in parts]

    def read_union(value: Any, _kind: Any) -> Any:
        reasons = []
        for read, part in readers:
            try:
                return read(value, part)
            except Invalid as error:
                if error.path or len(readers) == 1:
                    raise
                reasons.append(error.reason)
        raise Invalid(", or ".join(reasons))

    return read_union


# Writing

NOT_ZERO = ("choice", "seq")
"""Fields that are left out when they are 0: ``choice`` for the first choice, ``seq``
outside of a stream."""


def class_writer(kind: Any) -> ValueWriter:
    """A writer of instances of the attrs class ``kind`` as objects. It is called for
    every event, so cattrs generates its code from the fields."""
    types, attributes = get_type_hints(kind), fields(kind)
    constants = [name for name, hint in types.items() if get_origin(hint) is ClassVar]
    members = [attributes[0].evolve(name=name, default=NOTHING) for name in constants]
    members += [each.evolve(default=_left_out(each)) for each in attributes]
    rows: dict[str, Any] = {
        member.name: override(
            rename=camel(member.name),
            omit_if_default=True,
            unstruct_hook=_value_writer(types[member.name]) or identity,
        )
        for member in members
    }
    return make_dict_unstructure_fn_from_attrs(members, kind, converter, **rows)


def _left_out(attribute: Any) -> Any:
    """The value with which the attribute is left out."""
    if attribute.name in NOT_ZERO:
        return 0
    return ABSENT if attribute.metadata == NULLABLE else None


SHARED: set[type] = set()
"""Frozen classes whose instances occur in many results; see `_remembering`."""


class _Writers(dict[type, ValueWriter]):
    """Writers by class, made when they are first needed."""

    def __missing__(self, kind: type) -> ValueWriter:
        write = class_writer(kind)
        write = self[kind] = _remembering(write) if kind in SHARED else write
        return write


_MOST_SHARED = 32


def _remembering(write: ValueWriter) -> ValueWriter:
    """A writer that remembers what it wrote for the last few instances."""
    pairs: dict[int, tuple[Any, Any]] = {}  # by id, which an instance in here keeps

    def write_once(value: Any) -> Any:
        pair = pairs.get(id(value))
        if pair is None:
            if len(pairs) == _MOST_SHARED:
                pairs.clear()
            pair = pairs[id(value)] = value, write(value)
        return pair[1]

    return write_once


_WRITERS = _Writers()


def _value_writer(kind: Any) -> ValueWriter | None:
    """A writer of values of type ``kind``; None if they are JSON already."""
    origin = get_origin(kind)
    if kind in (Any, object) or origin is dict:
        return portable
    if kind == Span:
        return lambda span: {"start": span[0], "end": span[1]}
    if has(kind):
        return unstructure
    if origin in (tuple, list):
        write = _value_writer(get_args(kind)[0])
        if write is None:
            return None if origin is list else list
        return lambda items: [write(item) for item in items]
    if origin in (Union, UnionType):
        return _union_writer([part for part in get_args(kind) if part is not NoneType])
    return None


def _union_writer(parts: list[Any]) -> ValueWriter | None:
    """A writer of values of one of the types ``parts``, chosen by the value's class."""
    writers = {get_origin(part) or part: _value_writer(part) for part in parts}
    if len({*writers.values()}) == 1:
        return next(iter(writers.values()))

    def write_union(value: Any) -> Any:
        write = writers.get(type(value))
        return value if write is None else write(value)

    return write_union


_READERS: tuple[tuple[Callable[[Any], bool], Callable[[Any], ValueReader]], ...] = (
    (has, class_reader),
    (lambda kind: get_origin(kind) in (tuple, list), _list_reader),
    (lambda kind: get_origin(kind) is dict, lambda _: _exact_reader(dict, "an object")),
    (lambda kind: get_origin(kind) is Literal, _literal_reader),
    (lambda kind: get_origin(kind) in (Union, UnionType), _union_reader),
)

converter = Converter()
for _fits, _make in _READERS:
    converter.register_structure_hook_factory(_fits, _make)
converter.register_structure_hook(str, _exact_reader(str, "a string"))
converter.register_structure_hook(int, _read_integer)
converter.register_structure_hook(bool, _exact_reader(bool, "true or false"))
