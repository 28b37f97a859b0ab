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

_MOST_LEVELS = 32
"""The levels that are searched; `without` keeps deeper values, `light` drops them."""

_MOST_ITEMS = 16
"""The most items of a list that is sent more than once."""

_LEFT_OUT = object()


def is_long(value: object) -> bool:
    """Whether ``value`` is a string that is sent only once."""
    return isinstance(value, str) and len(value) > LONG


def without(value: Any, texts: Collection[str], depth: int = _MOST_LEVELS) -> Any:
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
    short_part = _Scale(LONG).weigh(value, _MOST_LEVELS)
    return None if short_part is _LEFT_OUT else short_part


_MARK_SIZE = 4
"""Code points around a value: quotes or brackets, and separators."""


@define
class _Scale:
    """Weighs parts of a value. ``size_left``: the code points still free."""

    size_left: int

    def weigh(self, value: Any, depth: int) -> Any:
        if isinstance(value, dict):
            return self._weigh_members(value, depth - 1) if self._use("") else _LEFT_OUT
        if isinstance(value, list):
            if len(value) > _MOST_ITEMS or not self._use(""):
                return _LEFT_OUT
            items = [self.weigh(item, depth - 1) for item in value] if depth else []
            return [item for item in items if item is not _LEFT_OUT]
        return value if self._use(value) else _LEFT_OUT

    def _weigh_members(self, value: dict[str, Any], depth: int) -> Any:
        short_members: dict[str, Any] = {}
        for name, item in value.items():
            if self.size_left < _MARK_SIZE or not depth:
                break
            if self._use(name):
                short_item = self.weigh(item, depth)
                if short_item is not _LEFT_OUT:
                    short_members[name] = short_item
        return short_members

    def _use(self, value: Any) -> bool:
        """Uses room for a scalar (for brackets: ""), if there is enough."""
        size = len(value) if isinstance(value, str) else len(str(value)[: LONG + 1])
        if size + _MARK_SIZE > self.size_left:
            return False
        self.size_left -= size + _MARK_SIZE
        return True
