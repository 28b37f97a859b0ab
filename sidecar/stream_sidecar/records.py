"""How a class of fields is made: with attrs, which adds methods on first use.

`evolve` makes a copy with other values in some fields, as attrs' own does at several
times the cost.

``frozen``, ``define`` and ``field`` are attrs' own to people and type checkers. At run
time three things differ, because attrs writes and compiles the methods of each class
while it is imported, and 215 classes were a third of the way to a first event:

1. ``==``, ``hash`` and ``repr`` are the three functions below for every class. They
   look at its fields when they are called.
2. A class has its slots at once. attrs makes the rest (``__init__``, the list of
   fields) when something asks for it. A first event asks for that of 61 classes.
3. A class that is made for every chunk (``hot``) is not really frozen, because that
   doubles the time to make one.

Example: ``@frozen class Pair: left: int; right: int`` compares, hashes and shows itself
as if attrs had written the methods, and ``eq=False`` leaves comparing and hashing out.
A method of a record cannot call ``super()`` without arguments.
"""

from __future__ import annotations

from functools import cache, cached_property, partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import field, fields

if TYPE_CHECKING:
    from collections.abc import Callable

    from attrs import define, frozen
    from attrs import frozen as hot
else:
    import attrs

    _NO_SLOT = ("__dict__", "__weakref__")

    class _Later:
        """Stands for the methods that attrs adds to a class, until the first use."""

        def __init__(self, name: str, complete: Callable[[], None]) -> None:
            self._name, self._complete = name, complete

        def __get__(self, record: Any, kind: type) -> Any:
            self._complete()
            return getattr(kind if record is None else record, self._name)

    def _made(
        make: Callable[..., type],
        hashed: bool,
        kind: type | None = None,
        *,
        eq: bool = True,
    ) -> Any:
        """``kind`` with slots, or what makes it where options came first."""
        if kind is None:
            return partial(_made, make, hashed, eq=eq)
        body = {"__repr__": _shown, **vars(kind)}
        if eq:
            body |= {"__eq__": _is_same, "__hash__": _hash if hashed else None}
        body = {name: value for name, value in body.items() if name not in _NO_SLOT}
        made = _slotted(kind, body)
        complete = partial(_complete, made, make, body)
        for each in ("__init__", "__attrs_attrs__", "__match_args__", "__setstate__"):
            setattr(made, each, _Later(each, complete))
        return made

    def _slotted(kind: type, body: dict[str, Any]) -> type:
        names = [
            name
            for name, annotation in kind.__annotations__.items()
            if "ClassVar" not in str(annotation)
        ]
        more = ["__weakref__"]
        if any(type(value) is cached_property for value in body.values()):
            more.append("__dict__")  # where such a property keeps its value
        taken = {
            each for base in kind.__mro__ for each in vars(base).get("__slots__", ())
        }
        slots = tuple(each for each in (*names, *more) if each not in taken)
        rest = {name: value for name, value in body.items() if name not in names}
        return type(kind)(kind.__name__, kind.__bases__, {**rest, "__slots__": slots})

    def _complete(made: type, make: Callable[..., type], body: dict[str, Any]) -> None:
        """attrs makes a twin of ``made``, and ``made`` gets the members that it
        lacks."""
        fields_only = {
            name: value
            for name, value in body.items()
            if type(value) is not cached_property
        }
        kind = type(made)(made.__name__, made.__bases__, fields_only)
        twin = make(kind, eq=False, repr=False)
        own = dict(vars(made))
        for name, value in vars(twin).items():
            if name not in own or type(own[name]) is _Later:
                setattr(made, name, value)

    define = partial(_made, attrs.define, False)
    frozen = partial(_made, attrs.frozen, True)
    hot = partial(_made, attrs.define, True)

__all__ = ["define", "evolve", "field", "frozen", "hot"]

T = TypeVar("T")


@cache
def _names(kind: Any) -> tuple[str, ...]:
    return tuple(each.name for each in fields(kind))


@cache
def _places(kind: Any) -> dict[str, int]:
    return {name: place for place, name in enumerate(_names(kind))}


@cache
def _values_of(kind: Any) -> Callable[[Any], Any]:
    """Gives what an instance is compared by."""
    names = _names(kind)
    if len(names) > 1:
        return attrgetter(*names)
    return lambda record: tuple(getattr(record, name) for name in names)


def evolve(record: T, **changes: Any) -> T:
    """A copy of ``record`` with the ``changes``; all its fields are parameters."""
    kind: Any = type(record)
    values, places = list(_values_of(kind)(record)), _places(kind)
    for name, value in changes.items():
        values[places[name]] = value
    copied: T = kind(*values)
    return copied


def _is_same(self: Any, other: Any) -> Any:
    if other.__class__ is not self.__class__:
        return NotImplemented
    values = _values_of(self.__class__)
    return values(self) == values(other)


def _hash(self: Any) -> int:
    return hash(_values_of(self.__class__)(self))


def _shown(self: Any) -> str:
    values = (f"{name}={getattr(self, name)!r}" for name in _names(self.__class__))
    return f"{self.__class__.__qualname__}({', '.join(values)})"
