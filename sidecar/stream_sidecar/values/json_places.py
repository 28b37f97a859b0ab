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
"""An escape, or at most 256 plain characters, so that look-ups end soon."""

_MARK_DISTANCE = 1024
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
        mark = bisect(self.holder.marks, (positions[0], len(self.holder.text)))
        outer_positions = offsets(self.holder, positions, self.holder.marks[mark - 1])
        return self.holder.outward(outer_positions)

    @cached_property
    def marks(self) -> list[JsonSpan]:
        """Pairs of a position in the string's value and the same position in ``text``.
        A character in a long string is found from the nearest pair, without reading
        from the beginning."""
        marks = [(0, self.start + 1)]
        value, index = marks[0]
        while token := _TOKEN.match(self.text, index):
            value, index = value + _token_size(token[0]), token.end()
            if value >= marks[-1][0] + _MARK_DISTANCE:
                marks.append((value, index))
        return marks


_DECODER = json.JSONDecoder(strict=False)
_SPACE = patterns.compile(r"[ \t\n\r]*")

_PATH_END: Any = object()
"""A key in a tree of paths: the path ends here."""

_Tree: TypeAlias = dict[Any, Any]


def locate(text: str, paths: Iterable[Path]) -> dict[Path, Place]:
    """Path -> place, for ``paths`` in ``text``; of equal keys the last counts."""
    tree: _Tree = {}
    for path in paths:
        inner = tree
        for name in path:
            inner = inner.setdefault(name, {})
        inner[_PATH_END] = True
    places: dict[Path, Place] = {}
    _visit(_Text(text, None, places), _skip_blanks(text, 0), tree, ())
    return places


def items(array: Place) -> list[JsonSpan]:
    """Return the start and end of each item of ``array``, in the text of ``array``."""
    text = array.text
    return [
        (index, _value_end(text, index)) for index in _array_items(text, array.start)
    ]


def offsets(
    string: Place, positions: Iterable[int], mark: JsonSpan | None = None
) -> list[int]:
    """Return the positions in the JSON text of some characters of ``string``.

    ``positions`` are the sorted positions of the characters in the string's value (code
    points; the length of the value is allowed, too). ``mark``: the pair of
    `Place.marks` at which to start reading.
    """
    text, start = string.text, string.start
    indexes: list[int] = []
    value, index = mark or (0, start + 1)
    for position in positions:
        while value < position:
            token = _TOKEN.match(text, index)
            if token is None:
                raise ValueError(f"no string of {position} characters at {start}")
            size = _token_size(token[0])
            if value + size > position:
                index, value = index + position - value, position
            else:
                index, value = token.end(), value + size
        indexes.append(index)
    return indexes


@frozen
class _Text:
    """A JSON text, the string that holds it, and the places found so far."""

    text: str
    holder: Place | None
    places: dict[Path, Place]


def _visit(texts: _Text, start: int, tree: _Tree, path: Path) -> int:
    """Notes the places of ``tree`` in the value at ``start``; returns its end."""
    text, places = texts.text, texts.places
    members = _MEMBERS.get(text[start : start + 1])
    if members is None or tree.keys() <= {_PATH_END}:
        end = _value_end(text, start)
        if text[start] == '"' and not tree.keys() <= {_PATH_END}:
            _visit_inside(Place(text, start, end, texts.holder), tree, path, places)
    else:
        end, seen_names = start + 1, set()
        for name, value_start in members(text, start):
            if name not in tree:
                end = _value_end(text, value_start)
                continue
            inner_path = (*path, name)
            if name in seen_names:
                # a key that comes again replaces what was found below it
                below = [
                    place for place in places if place[: len(inner_path)] == inner_path
                ]
                for names in below:
                    del places[names]
            seen_names.add(name)
            end = _visit(texts, value_start, tree[name], inner_path)
        end = _skip_blanks(text, end) + 1
    if _PATH_END in tree:
        places[path] = Place(text, start, end, texts.holder)
    return end


def _token_size(token: str) -> int:
    """The number of characters that a piece of a string's text stands for."""
    return 1 if token[0] == "\\" else len(token)


def _visit_inside(
    string: Place, tree: _Tree, path: Path, places: dict[Path, Place]
) -> None:
    """Notes the wanted places inside the JSON that ``string`` has as its value."""
    value, _ = _DECODER.raw_decode(string.text, string.start)
    inner_tree = {name: part for name, part in tree.items() if name is not _PATH_END}
    _visit(_Text(value, string, places), _skip_blanks(value, 0), inner_tree, path)


def _object_members(text: str, start: int) -> Iterator[tuple[str, int]]:
    """Each member's name, and where its value begins."""
    index = _skip_blanks(text, start + 1)
    while text[index : index + 1] == '"':
        name, index = _DECODER.raw_decode(text, index)
        index = _skip_blanks(text, _skip_blanks(text, index) + 1)
        yield name, index
        index = _skip_blanks(text, _skip_blanks(text, _value_end(text, index)) + 1)


def _array_items(text: str, start: int) -> Iterator[int]:
    """The position at which each item of an array begins."""
    index = _skip_blanks(text, start + 1)
    if text[index : index + 1] == "]":
        return
    while True:
        yield index
        index = _skip_blanks(text, _value_end(text, index))
        if text[index : index + 1] != ",":
            return
        index = _skip_blanks(text, index + 1)


def _skip_blanks(text: str, start: int) -> int:
    match = _SPACE.match(text, start)
    return start if match is None else match.end()


def _value_end(text: str, start: int) -> int:
    try:
        return _DECODER.raw_decode(text, start)[1]
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


_MEMBERS: dict[str, Any] = {
    "{": _object_members,
    "[": lambda text, start: enumerate(_array_items(text, start)),
}
