"""How a class of fields is made: attrs, and no method that is not asked for.

`evolve` makes a copy with other values in some fields, as attrs' own does at several
times the cost.

``frozen``, ``define`` and ``field`` are attrs' own to people and type checkers. At run
time two things differ, because attrs writes and compiles the methods of each class
while it is imported, and 200 classes were two fifths of the start of the process:
``==``, ``hash`` and ``repr`` are the three functions below for every class, which look
at its fields when they are called; and a class that is made for every chunk (``hot``)
is not really frozen, because that doubles the time to make one.

Example: ``@frozen class Pair: left: int; right: int`` compares, hashes and shows itself
as if attrs had written the methods, and ``eq=False`` leaves comparing and hashing out.
"""

from __future__ import annotations

from functools import cache, partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import field, fields

if TYPE_CHECKING:
    from collections.abc import Callable

    from attrs import define, frozen
    from attrs import frozen as hot
else:
    import attrs

    def _made(
        make: Callable[..., type],
        hashed: bool,
        kind: type | None = None,
        *,
        eq: bool = True,
    ) -> Any:
        """``kind`` as attrs makes it, or what does so where options came first."""
        if kind is None:
            return partial(_made, make, hashed, eq=eq)
        kind.__repr__ = _shown
        if eq:
            kind.__eq__, kind.__hash__ = _is_same, _hash if hashed else None
        return make(kind, eq=False, repr=False)

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
