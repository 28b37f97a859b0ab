"""Where the values of a JSON text stand in it, so that single characters can be cut.

`locate` gives the places of values by their paths, `items` those of an array's items,
`offsets` the places of characters of a string, whose escapes count as what they stand
for. A path may lead on into a string that is JSON itself. Positions are code points of
the text. The text must have been read as JSON before: what is not is a ValueError here,
or a wrong place. Linear; what is not asked for is skipped by the library's scanner.
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


@frozen
class Place:
    """A value at ``start`` to ``end`` of a JSON ``text``; a string's quotes are inside.
    ``holder``: the string that has this text as its value, in another text."""

    text: str
    start: int
    end: int
    holder: Place | None = None

    @property
    def span(self) -> JsonSpan:
        """Where it stands in the outermost text."""
        start, end = self.outward((self.start, self.end))
        return start, end

    def outward(self, positions: Iterable[int]) -> list[int]:
        """Sorted positions of its text as such of the outermost one."""
        positions = [*positions]
        if self.holder is None or not positions:
            return positions
        first = bisect(self.holder.marks, (positions[0], len(self.holder.text)))
        found = offsets(self.holder, positions, self.holder.marks[first - 1])
        return self.holder.outward(found)

    @cached_property
    def marks(self) -> list[JsonSpan]:
        """Some positions in the string's value and where they stand in the text: a
        long string that holds much is not read from its beginning for each of it."""
        marks = [(0, self.start + 1)]
        value, at = marks[0]
        while token := _TOKEN.match(self.text, at):
            value, at = value + _size(token[0]), token.end()
            if value >= marks[-1][0] + _APART:
                marks.append((value, at))
        return marks


_DECODER = json.JSONDecoder(strict=False)
_SPACE = patterns.compile(r"[ \t\n\r]*")
_TOKEN = patterns.compile(
    r"""[^"\\]{1,256}+
    |\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}
    |\\u[0-9a-fA-F]{4}
    |\\.""",
    re.VERBOSE,
)
"""A piece of a string's text. Plain characters are bounded: what is looked up next may
stand among them, and they are not read to the string's end for each.
"""

_APART = 1024
"""Marks in a string are so many characters apart, or more."""

_HERE: Any = object()
"""In a tree of paths: this value itself is wanted."""

_Tree: TypeAlias = dict[Any, Any]


def locate(text: str, paths: Iterable[Path]) -> dict[Path, Place]:
    """The places of those values that are there; of equal keys the last one counts."""
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
    """Where the items of an array stand in its text."""
    text = array.text
    return [(at, _end(text, at)) for at in _array(text, array.start)]


def offsets(
    string: Place, positions: Iterable[int], mark: JsonSpan | None = None
) -> list[int]:
    """Where characters of a string stand in its text.

    ``positions`` are sorted code points of the string's value; its length is one, too.
    ``mark``: one of `Place.marks` before them.
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
    """A JSON text, the string that holds it, and the places that are found."""

    text: str
    holder: Place | None
    found: dict[Path, Place]


def _visit(texts: _Text, at: int, tree: _Tree, path: Path) -> int:
    """Notes what is wanted of the value at ``at``; gives its end."""
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
                _forget(inner, found)
            seen.add(name)
            end = _visit(texts, value, tree[name], inner)
        end = _skip(text, end) + 1
    if _HERE in tree:
        found[path] = Place(text, at, end, texts.holder)
    return end


def _size(token: str) -> int:
    """The characters of a string's value that a piece of its text stands for."""
    return 1 if token[0] == "\\" else len(token)


def _visit_inside(
    string: Place, tree: _Tree, path: Path, found: dict[Path, Place]
) -> None:
    """Notes what is wanted of the JSON that a string is."""
    value, _ = _DECODER.raw_decode(string.text, string.start)
    inner = {name: each for name, each in tree.items() if name is not _HERE}
    _visit(_Text(value, string, found), _skip(value, 0), inner, path)


def _forget(path: Path, found: dict[Path, Place]) -> None:
    """Forgets what was at ``path``, whose key comes again."""
    for known in [each for each in found if each[: len(path)] == path]:
        del found[known]


def _object(text: str, start: int) -> Iterator[tuple[str, int]]:
    """Names and the places where their values begin."""
    at = _skip(text, start + 1)
    while text[at : at + 1] == '"':
        name, at = _DECODER.raw_decode(text, at)
        at = _skip(text, _skip(text, at) + 1)
        yield name, at
        at = _skip(text, _skip(text, _end(text, at)) + 1)


def _array(text: str, start: int) -> Iterator[int]:
    """The places where the items begin."""
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
