"""Where the values of a JSON text stand in it, so that single characters can be cut.

`locate` gives the places of values by their paths, `items` those of an array's items,
`offsets` the places of characters of a string, whose escapes count as what they stand
for. Positions are code points of the text. The text must have been read as JSON before:
what is not is a ValueError here, or a wrong place. Linear; what is not asked for is
skipped by the library's scanner.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, TypeAlias

from stream_sidecar import patterns

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Path: TypeAlias = tuple[str | int, ...]
Place: TypeAlias = tuple[int, int]
"""``(start, end)``; a string's quotes are inside."""

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
    _visit(text, _skip(text, 0), tree, (), found)
    return found


def items(text: str, start: int) -> list[Place]:
    """The places of the items of the array at ``start``."""
    return [(at, _end(text, at)) for at in _array(text, start)]


def offsets(text: str, start: int, positions: Iterable[int]) -> list[int]:
    """Where characters of the string that begins at ``start`` stand in the text.

    ``positions`` are sorted code points of the string's value; its length is one, too.
    """
    found, at, value = [], start + 1, 0
    for position in positions:
        while value < position:
            token = _TOKEN.match(text, at)
            if token is None:
                raise ValueError(f"no string of {position} characters at {start}")
            size = len(token[0]) if text[at] != "\\" else 1
            if value + size > position:
                at, value = at + position - value, position
            else:
                at, value = token.end(), value + size
        found.append(at)
    return found


def _visit(
    text: str, at: int, tree: _Tree, path: Path, found: dict[Path, Place]
) -> int:
    """Notes what is wanted of the value at ``at``; gives its end."""
    members = _MEMBERS.get(text[at : at + 1])
    if members is None or tree.keys() <= {_HERE}:
        end = _end(text, at)
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
            end = _visit(text, value, tree[name], inner, found)
        end = _skip(text, end) + 1
    if _HERE in tree:
        found[path] = (at, end)
    return end


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
