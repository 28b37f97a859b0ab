"""What stands in a JSON value behind a path: the names and numbers that lead there.

Example: in ``{"a": [{"b": 1}]}`` the 1 stands behind ``("a", 0, "b")``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from stream_sidecar.values.json_places import Path


def values_at(value: Any, paths: Iterable[Path]) -> list[tuple[Path, Any]]:
    """The values behind those of the ``paths`` that are there."""
    found = []
    for path in paths:
        inner = value
        for step in path:
            is_there = step in inner if type(inner) is dict else _is_item(inner, step)
            if not is_there:
                break
            inner = inner[step]
        else:
            found.append((path, inner))
    return found


def _is_item(value: Any, step: int | str) -> bool:
    """Whether ``value`` is a list that has an item with this number."""
    return type(value) is list and type(step) is int and step < len(value)


def put(value: Any, path: Path, other: Any) -> None:
    """Puts an ``other`` value behind a ``path`` that is there."""
    for step in path[:-1]:
        value = value[step]
    value[path[-1]] = other
