"""Finds a value among the results that the host passed to the model.

The time for this is linear in the value's size, however many results there are. Indexes
are built on first use.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

from stream_sidecar.values.equality import key_of
from stream_sidecar.values.jsontext import loads

if TYPE_CHECKING:
    from collections.abc import Iterable

_Shape: TypeAlias = "frozenset[str] | int | None"

FEW = 32
"""With more results than this, `KnownResults.may_begin` assumes a match."""


class KnownResults:
    """``toolResults.known``. ``values``: each as `known_value` returns it."""

    def __init__(self, values: Iterable[Any] = ()) -> None:
        self._values = tuple(values)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, KnownResults) and self._values == other._values

    __hash__ = None  # type: ignore[assignment]

    def __len__(self) -> int:
        return len(self._values)

    def has(self, value: Any) -> bool:
        """Whether one of the results equals ``value``."""
        shape = _shape(value)
        alike = self._by_shape.get(shape)
        if alike is None:
            return False
        if shape not in self._keys:
            self._keys[shape] = frozenset(map(key_of, alike))
        return key_of(value) in self._keys[shape]

    def may_begin(self, keys: Iterable[str]) -> bool:
        """Whether a result may be an object with (at least) these ``keys``."""
        key_set = frozenset(keys)
        having = [self._having.get(key, ()) for key in key_set]
        fewest = min(having, key=len, default=self._objects)
        return len(fewest) > FEW or any(key_set <= names for names in fewest)

    @cached_property
    def _by_shape(self) -> dict[_Shape, list[Any]]:
        """The values, grouped by `_shape`: an object's keys, a list's length."""
        groups: dict[_Shape, list[Any]] = {}
        for value in self._values:
            groups.setdefault(_shape(value), []).append(value)
        return groups

    @cached_property
    def _keys(self) -> dict[_Shape, frozenset[str]]:
        """Shape -> the keys (see `key_of`) of its values. Filled on demand."""
        return {}

    @cached_property
    def _objects(self) -> list[frozenset[str]]:
        """The sets of keys that objects among the results have, each set once."""
        return [shape for shape in self._by_shape if isinstance(shape, frozenset)]

    @cached_property
    def _having(self) -> dict[str, list[frozenset[str]]]:
        """For each key: the key sets of the known objects that have this key."""
        sets_by_key: dict[str, list[frozenset[str]]] = {}
        for names in self._objects:
            for name in names:
                sets_by_key.setdefault(name, []).append(names)
        return sets_by_key


def known_value(known: Any) -> Any:
    """A known result for comparing; a string that is JSON is parsed."""
    if not isinstance(known, str):
        return known
    try:
        return loads(known)
    except ValueError:
        return known


def _shape(value: Any) -> _Shape:
    if isinstance(value, dict):
        return frozenset(value)
    return len(value) if isinstance(value, list) else None
