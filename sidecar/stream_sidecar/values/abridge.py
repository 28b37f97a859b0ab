"""JSON values without what has been told before, so that output is linear in the input.

A provider names a source once and refers to it by number; whoever writes the source out
at every reference turns a long address and many references into their product. Lengths
are code points, of strings or of JSON text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stream_sidecar.records import define

if TYPE_CHECKING:
    from collections.abc import Collection

LONG = 256
"""Code points up to which a value is reported again and again."""

_DEEPEST = 32
"""Levels that are looked through; what lies deeper stays, or goes, as it is."""

_MOST_ITEMS = 16
"""Items of a list that is reported again."""

_GONE = object()


def is_long(value: object) -> bool:
    """Whether ``value`` is a string that is reported once only."""
    return isinstance(value, str) and len(value) > LONG


def without(value: Any, texts: Collection[str], depth: int = _DEEPEST) -> Any:
    """``value`` without the strings in ``texts``: members of objects go, items of lists
    become null, and so does the whole value.

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
    """What of ``value`` is short: without long strings and lists, and, but for escapes,
    no more than `LONG` code points of JSON altogether. None where it is long itself; an
    object or list whose values all went is left empty.

    Example: ``light({"n": 1, "text": "x" * 300})`` is ``{"n": 1}``.
    """
    left = _Scale(LONG).weigh(value, _DEEPEST)
    return None if left is _GONE else left


_MARKS = 4
"""Code points beside a value: quotes or brackets, and what parts it from the next."""


@define
class _Scale:
    """``room``: the code points that may still be taken."""

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
        taken: dict[str, Any] = {}
        for name, item in value.items():
            if self.room < _MARKS or not depth:
                break
            if self._take(name):
                left = self.weigh(item, depth)
                if left is not _GONE:
                    taken[name] = left
        return taken

    def _take(self, value: Any) -> bool:
        """Takes a string, a number or a literal, if there is room; brackets are ""."""
        size = len(value) if isinstance(value, str) else len(str(value)[: LONG + 1])
        if size + _MARKS > self.room:
            return False
        self.room -= size + _MARKS
        return True
