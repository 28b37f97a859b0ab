"""JSON values without what was already sent, so that output is linear in the input.

A provider names a source once and then refers to it by number. If each reference wrote
out the whole source, a long address with many references would give the product of
both sizes. Lengths are code points, of strings or of JSON text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stream_sidecar.records import define

if TYPE_CHECKING:
    from collections.abc import Collection

LONG = 256
"""The most code points of a value that is sent more than once."""

_DEEPEST = 32
"""The levels that are searched; `without` keeps deeper values, `light` drops them."""

_MOST_ITEMS = 16
"""The most items of a list that is sent more than once."""

_GONE = object()


def is_long(value: object) -> bool:
    """Whether ``value`` is a string that is sent only once."""
    return isinstance(value, str) and len(value) > LONG


def without(value: Any, texts: Collection[str], depth: int = _DEEPEST) -> Any:
    """Return ``value`` without the strings in ``texts``: as members of objects they are
    removed, as items of lists or as the whole value they become None.

    Example: ``without({"url": u, "at": 3}, {u})`` is ``{"at": 3}``.
    """
    if isinstance(value, str):
        return None if value in texts else value
    if not depth or not isinstance(value, dict | list):
        return value
    if isinstance(value, list):
        return [without(item, texts, depth - 1) for item in value]
    return {
        name: without(item, texts, depth - 1)
        for name, item in value.items()
        if not (isinstance(item, str) and item in texts)
    }


def light(value: Any) -> Any:
    """Return the short parts of ``value``: without long strings and lists, and at most
    `LONG` code points of JSON in total (escapes not counted). None if the value itself
    is too long; an object or list is left empty if all its values are.

    Example: ``light({"n": 1, "text": "x" * 300})`` is ``{"n": 1}``.
    """
    left = _Scale(LONG).weigh(value, _DEEPEST)
    return None if left is _GONE else left


_MARKS = 4
"""Code points around a value: quotes or brackets, and separators."""


@define
class _Scale:
    """Weighs the parts of a value for `light`. ``room``: the code points that may still
    be used."""

    room: int

    def weigh(self, value: Any, depth: int) -> Any:
        if isinstance(value, dict):
            return self._members(value, depth - 1) if self._take("") else _GONE
        if isinstance(value, list):
            if len(value) > _MOST_ITEMS or not self._take(""):
                return _GONE
            items = [self.weigh(item, depth - 1) for item in value] if depth else []
            return [item for item in items if item is not _GONE]
        return value if self._take(value) else _GONE

    def _members(self, value: dict[str, Any], depth: int) -> Any:
        kept: dict[str, Any] = {}
        for name, item in value.items():
            if self.room < _MARKS or not depth:
                break
            if self._take(name):
                left = self.weigh(item, depth)
                if left is not _GONE:
                    kept[name] = left
        return kept

    def _take(self, value: Any) -> bool:
        """Uses room for a string, a number or a literal (for brackets: ""); returns
        whether there was enough."""
        size = len(value) if isinstance(value, str) else len(str(value)[: LONG + 1])
        if size + _MARKS > self.room:
            return False
        self.room -= size + _MARKS
        return True
