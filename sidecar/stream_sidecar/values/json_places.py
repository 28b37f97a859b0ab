"""Where values stand in a JSON text, so that single characters can be cut out of it.

`locate` finds values by their paths, `items` finds the items of an array, and `offsets`
finds characters of a string, where an escape counts as the character that it means. A
path may continue inside a string that is JSON itself. Positions are code points of the
text. The text must be valid JSON; if it is not, the result is a ValueError or a wrong
place. Linear: json's own scanner skips all other values.
"""

from __future__ import annotations

import json
import re
from bisect import bisect
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

from stream_sidecar import patterns
from stream_sidecar.records import frozen

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Path: TypeAlias = tuple[str | int, ...]
JsonSpan: TypeAlias = tuple[int, int]
"""``(start, end)``."""

_TOKEN = patterns.compile(
    r"""[^"\\]{1,256}+
    |\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}
    |\\u[0-9a-fA-F]{4}
    |\\.""",
    re.VERBOSE,
)
"""A piece of a string's text: an escape, or at most 256 plain characters, so that a
look-up does not read to the string's end."""

_APART = 1024
"""The least distance of two marks in a string, in characters."""


@frozen
class Place:
    """A value at ``start`` to ``end`` of a JSON ``text``, the quotes of a string
    included. ``holder``: if ``text`` is itself the value of a string in an outer text,
    the place of that string."""

    text: str
    start: int
    end: int
    holder: Place | None = None

    @property
    def span(self) -> JsonSpan:
        """The start and end of the value in the outermost text."""
        start, end = self.outward((self.start, self.end))
        return start, end

    def outward(self, positions: Iterable[int]) -> list[int]:
        """Converts sorted positions in ``text`` to positions in the outermost text."""
        positions = [*positions]
        if self.holder is None or not positions:
            return positions
        first = bisect(self.holder.marks, (positions[0], len(self.holder.text)))
        found = offsets(self.holder, positions, self.holder.marks[first - 1])
        return self.holder.outward(found)

    @cached_property
    def marks(self) -> list[JsonSpan]:
        """Pairs of a position in the string's value and the same position in ``text``.
        A character in a long string is found from the nearest pair, without reading
        from the beginning."""
        marks = [(0, self.start + 1)]
        value, at = marks[0]
        while token := _TOKEN.match(self.text, at):
            value, at = value + _size(token[0]), token.end()
            if value >= marks[-1][0] + _APART:
                marks.append((value, at))
        return marks


_DECODER = json.JSONDecoder(strict=False)
_SPACE = patterns.compile(r"[ \t\n\r]*")

_HERE: Any = object()
"""A key in a tree of paths: the path ends here."""

_Tree: TypeAlias = dict[Any, Any]


def locate(text: str, paths: Iterable[Path]) -> dict[Path, Place]:
    """Return path -> place, for the ``paths`` at which ``text`` has a value. If an
    object has a key twice, the last one counts."""
    tree: _Tree = {}
    for path in paths:
        inner = tree
        for name in path:
            inner = inner.setdefault(name, {})
        inner[_HERE] = True
    found: dict[Path, Place] = {}
    _visit(_Text(text, None, found), _skip(text, 0), tree, ())
    return found


def items(array: Place) -> list[JsonSpan]:
    """Return the start and end of each item of ``array``, in the text of ``array``."""
    text = array.text
    return [(at, _end(text, at)) for at in _array(text, array.start)]


def offsets(
    string: Place, positions: Iterable[int], mark: JsonSpan | None = None
) -> list[int]:
    """Return the positions in the JSON text of some characters of ``string``.

    ``positions`` are the sorted positions of the characters in the string's value (code
    points; the length of the value is allowed, too). ``mark``: the pair of
    `Place.marks` at which to start reading.
    """
    text, start = string.text, string.start
    found: list[int] = []
    value, at = mark or (0, start + 1)
    for position in positions:
        while value < position:
            token = _TOKEN.match(text, at)
            if token is None:
                raise ValueError(f"no string of {position} characters at {start}")
            size = _size(token[0])
            if value + size > position:
                at, value = at + position - value, position
            else:
                at, value = token.end(), value + size
        found.append(at)
    return found


@frozen
class _Text:
    """A JSON text, the string that holds it, and the places found so far."""

    text: str
    holder: Place | None
    found: dict[Path, Place]


def _visit(texts: _Text, at: int, tree: _Tree, path: Path) -> int:
    """Notes the places that ``tree`` names inside the value at ``at``, which has the
    path ``path``. Returns the end of the value."""
    text, found = texts.text, texts.found
    members = _MEMBERS.get(text[at : at + 1])
    if members is None or tree.keys() <= {_HERE}:
        end = _end(text, at)
        if text[at] == '"' and not tree.keys() <= {_HERE}:
            _visit_inside(Place(text, at, end, texts.holder), tree, path, found)
    else:
        end, seen = at + 1, set()
        for name, value in members(text, at):
            if name not in tree:
                end = _end(text, value)
                continue
            inner = (*path, name)
            if name in seen:
                # a key that comes again replaces what was found below it
                for known in [each for each in found if each[: len(inner)] == inner]:
                    del found[known]
            seen.add(name)
            end = _visit(texts, value, tree[name], inner)
        end = _skip(text, end) + 1
    if _HERE in tree:
        found[path] = Place(text, at, end, texts.holder)
    return end


def _size(token: str) -> int:
    """The number of characters that a piece of a string's text stands for."""
    return 1 if token[0] == "\\" else len(token)


def _visit_inside(
    string: Place, tree: _Tree, path: Path, found: dict[Path, Place]
) -> None:
    """Notes the wanted places inside the JSON that ``string`` has as its value."""
    value, _ = _DECODER.raw_decode(string.text, string.start)
    inner = {name: each for name, each in tree.items() if name is not _HERE}
    _visit(_Text(value, string, found), _skip(value, 0), inner, path)


def _object(text: str, start: int) -> Iterator[tuple[str, int]]:
    """The name of each member of an object, and the position at which its value
    begins."""
    at = _skip(text, start + 1)
    while text[at : at + 1] == '"':
        name, at = _DECODER.raw_decode(text, at)
        at = _skip(text, _skip(text, at) + 1)
        yield name, at
        at = _skip(text, _skip(text, _end(text, at)) + 1)


def _array(text: str, start: int) -> Iterator[int]:
    """The position at which each item of an array begins."""
    at = _skip(text, start + 1)
    if text[at : at + 1] == "]":
        return
    while True:
        yield at
        at = _skip(text, _end(text, at))
        if text[at : at + 1] != ",":
            return
        at = _skip(text, at + 1)


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return at if match is None else match.end()


def _end(text: str, at: int) -> int:
    try:
        return _DECODER.raw_decode(text, at)[1]
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


_MEMBERS: dict[str, Any] = {
    "{": _object,
    "[": lambda text, start: enumerate(_array(text, start)),
}
