"""What positions in a text are counted in: code points, UTF-8 bytes, UTF-16 units."""

from __future__ import annotations

from typing import Literal, TypeAlias

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
