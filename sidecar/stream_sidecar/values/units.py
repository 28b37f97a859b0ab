"""The length of text in code points, UTF-8 bytes or UTF-16 units."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

Unit: TypeAlias = Literal["code-point", "byte", "utf16"]

ENCODINGS: dict[Unit, tuple[str, int]] = {
    "byte": ("utf-8", 1),
    "utf16": ("utf-16-le", 2),
}
"""Unit -> its encoding, and the bytes of one unit."""


def width(text: str, unit: Unit) -> int:
    """The length of ``text`` in ``unit``, which must not be ``code-point``."""
    encoding, size = ENCODINGS[unit]
    return len(text.encode(encoding, "surrogatepass")) // size


def text_size(value: Any) -> int:
    """The size of ``value`` for limits of memory: the code points of all strings, names
    of members included, and 1 for any other scalar. Example: ``{"a": ["bc", 1]}`` has
    4."""
    size, waiting = 0, [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, str):
            size += len(each)
        elif isinstance(each, dict):
            waiting += each
            waiting += each.values()
        elif isinstance(each, list):
            waiting += each
        else:
            size += 1
    return size
