"""Chunks that differ from the one before in their text alone, which most do.

When ``{"choices": [{"delta": {"content": "Hi"}}]}`` gave the text ``Hi`` and nothing
else, then ``{"choices": [{"delta": {"content": "you"}}]}`` gives ``you`` and nothing
else: it need not be read, only compared. `alike_object` learns a decoded document,
`alike_string` a chunk of a framing; each gives a function that finds the text of a
chunk like it. ``intake`` asks for that only where it holds: the wire must say so
(`WireRow.alike`), and framing must hold nothing back.

Nothing is guessed: one value only may be the text, and a string is learned only if it
reads as it should with another text. Numbers and truth values have to be of the same
type: false is not 0, and 0.0 is no index.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from sidecar.values.jsontext import loads

if TYPE_CHECKING:
    from collections.abc import Callable

TextOf: TypeAlias = "Callable[[object], str | None]"
"""The text of a chunk, if it is like the one that was learned; else None or nothing."""

_DEEPEST = 8
"""Levels of a document that is learned; no text of a delta stands deeper."""


class _Leaf:
    """Equal to any text, which it remembers as ``found``."""

    __slots__ = ("count", "found")

    def __init__(self) -> None:
        self.count = 0  # places in the document
        self.found = ""

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str):
            self.found = other
            return True
        return False

    __hash__ = None  # type: ignore[assignment]


class _Exactly:
    """Equal to what is equal and of the same type."""

    __slots__ = ("kind", "value")

    def __init__(self, value: object) -> None:
        self.value = value
        self.kind = type(value)

    def __eq__(self, other: object) -> bool:
        return type(other) is self.kind and other == self.value

    __hash__ = None  # type: ignore[assignment]


def alike_object(document: Any, text: str) -> TextOf | None:
    """For objects like ``document``, which holds ``text``; None: it cannot be told."""
    leaf = _Leaf()
    pattern = _pattern(document, text, leaf, _DEEPEST)
    if type(document) is not dict or leaf.count != 1:
        return None

    def text_of(chunk: object) -> str | None:
        return leaf.found if type(chunk) is dict and chunk == pattern else None

    return text_of


def _pattern(value: Any, text: str, leaf: _Leaf, depth: int) -> Any:
    """``value`` with ``leaf`` in place of ``text``."""
    if type(value) is str:
        if value != text:
            return value
        leaf.count += 1
        return leaf
    if type(value) is dict and depth:
        return {
            key: _pattern(item, text, leaf, depth - 1) for key, item in value.items()
        }
    if type(value) is list and depth:
        return [_pattern(item, text, leaf, depth - 1) for item in value]
    if isinstance(value, dict | list):
        leaf.count += 2  # too deep to be learned
    return value if value is None else _Exactly(value)


def alike_string(
    chunk: str, text: str, limit: int, reads: Callable[[str, str], bool]
) -> TextOf | None:
    """For strings like ``chunk`` of at most ``limit`` code points.

    ``reads(chunk, text)`` says whether a chunk is read as a document that is the same
    but for its text.
    """
    before, found, behind = chunk.partition(f'"{text}"')
    before, behind = before + '"', '"' + behind
    other = text + "."
    if not (found and _is_plain(text) and reads(before + other + behind, other)):
        return None
    start, end = len(before), -len(behind)

    def text_of(chunk: object) -> str | None:
        if (
            type(chunk) is str
            and chunk.startswith(before)
            and chunk.endswith(behind)
            and len(chunk) <= limit
        ):
            text = chunk[start:end]
            return text if _is_plain(text) else _unescaped(text)
        return None

    return text_of


def _unescaped(text: str) -> str | None:
    """What stands in a JSON string as ``text``; None where a string is no more."""
    try:
        return str(loads(f'"{text}"'))
    except ValueError:
        return None


def _is_plain(text: str) -> bool:
    """Whether ``text`` stands for itself in a JSON string."""
    return text.isprintable() and '"' not in text and "\\" not in text
