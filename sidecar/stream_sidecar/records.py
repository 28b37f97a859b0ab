"""Classes of fields, made with attrs, which adds most methods only on first use.

``frozen``, ``define`` and ``field`` look like attrs' own to people and type checkers.
`evolve` makes a copy with some fields changed, several times faster than attrs' own.

attrs writes and compiles the methods of each class during the import; for 215 classes
that was a third of the time to the first event. So at run time three things differ:

1. ``==``, ``hash`` and ``repr`` are the same three functions for every class. They read
   the class's fields when they are called.
2. A class gets its slots at once. attrs makes the rest (``__init__``, the list of
   fields) on first use. Up to its first event, a process needs the rest of 61 classes.
3. Instances of a ``hot`` class, which are made for every chunk, are not really frozen,
   because that would double the time to make them.

Example: ``@frozen class Pair: left: int; right: int`` has comparison, hash and repr as
if attrs had written them; ``eq=False`` leaves out comparison and hash. A method of a
record cannot call ``super()`` without arguments.
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
        """A placeholder for a method that attrs adds to a class on first use."""

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
        """The class ``kind`` with slots, or a decorator if ``kind`` is None, as in
        ``@frozen(eq=False)``. ``make``: attrs' own decorator; ``hashed``: whether
        instances have a hash."""
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
            more.append("__dict__")  # a cached property keeps its value there
        inherited = {
            each for base in kind.__mro__ for each in vars(base).get("__slots__", ())
        }
        slots = tuple(each for each in (*names, *more) if each not in inherited)
        rest = {name: value for name, value in body.items() if name not in names}
        return type(kind)(kind.__name__, kind.__bases__, {**rest, "__slots__": slots})

    def _complete(made: type, make: Callable[..., type], body: dict[str, Any]) -> None:
        """Lets attrs make a complete twin of ``made``, and gives ``made`` the members
        that it lacks."""
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

__all__ = ["PublicRecord", "define", "evolve", "field", "frozen", "hot"]

T = TypeVar("T")


class PublicRecord:
    """The base of the records that hosts get. ``protocol.converter``, which alone knows
    how the protocol writes them, supplies the function."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """The JSON value as the protocol writes it."""
        raise NotImplementedError


@cache
def _names(kind: Any) -> tuple[str, ...]:
    return tuple(each.name for each in fields(kind))


@cache
def _places(kind: Any) -> dict[str, int]:
    return {name: place for place, name in enumerate(_names(kind))}


@cache
def _values_of(kind: Any) -> Callable[[Any], Any]:
    """A function from an instance to the tuple of its fields' values."""
    names = _names(kind)
    if len(names) > 1:
        return attrgetter(*names)
    return lambda record: tuple(getattr(record, name) for name in names)


def evolve(record: T, **changes: Any) -> T:
    """Return a copy of ``record`` with the ``changes``. All fields of its class must be
    parameters of ``__init__``."""
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
