"""How much text there is: in code points, UTF-8 bytes or UTF-16 units, in any value."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

Unit: TypeAlias = Literal["code-point", "byte", "utf16"]

ENCODINGS: dict[Unit, tuple[str, int]] = {
    "byte": ("utf-8", 1),
    "utf16": ("utf-16-le", 2),
}
"""The encoding of a unit, and how many bytes of it are one unit."""


def width(text: str, unit: Unit) -> int:
    """How many of ``unit`` the text has."""
    encoding, size = ENCODINGS[unit]
    return len(text.encode(encoding, "surrogatepass")) // size


def text_size(value: Any) -> int:
    """Code points of all strings in ``value``, names of members included, and one for
    any other scalar: what bounds of memory are counted with. Example: of
    ``{"a": ["bc", 1]}`` that is 4."""
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
