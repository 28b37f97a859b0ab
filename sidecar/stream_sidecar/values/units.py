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
    size, unmeasured = 0, [value]
    while unmeasured:
        part = unmeasured.pop()
        if isinstance(part, str):
            size += len(part)
        elif isinstance(part, dict):
            unmeasured += part
            unmeasured += part.values()
        elif isinstance(part, list):
            unmeasured += part
        else:
            size += 1
    return size
