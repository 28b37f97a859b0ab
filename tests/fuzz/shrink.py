"""Makes an input that fails smaller, by leaving things out (delta debugging).

``shrunk(value, fails)`` takes JSON data and a test, and gives a value of the same shape
that still fails and from which nothing can be left out: no item, no field, no run of
characters. Numbers and names stay as they are, and so do the words of ``params``: half
a tag is another tag.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

Fails = Callable[[Any], bool]

TRIES = 4_000
"""So many smaller inputs are tried; then the smallest so far has to do."""


def shrunk(value: Any, fails: Fails, tries: int = TRIES) -> Any:
    """The smallest value that was found."""
    left = tries
    found = True
    while found and left > 0:
        found = False
        for smaller in _smaller(value):
            left -= 1
            if fails(smaller):
                value, found = smaller, True
                break
            if left <= 0:
                break
    return value


def _smaller(value: Any, *, words: bool = True) -> Iterator[Any]:
    """``value`` with one thing left out, the largest things first; ``words``: also out
    of strings."""
    if isinstance(value, str):
        yield from _without_runs(value) if words else ()
    elif isinstance(value, list):
        yield from _without_runs(value)
        yield from _joined(value) if words else ()
        for index, item in enumerate(value):
            for less in _smaller(item, words=words):
                yield [*value[:index], less, *value[index + 1 :]]
    elif isinstance(value, dict):
        for key in value:
            yield {name: item for name, item in value.items() if name != key}
        for key, item in value.items():
            for less in _smaller(item, words=words and key != "params"):
                yield {**value, key: less}


def _without_runs(value: Any) -> Iterator[Any]:
    """A string or list without a half, a quarter ... a single one of its items."""
    size = len(value)
    while size:
        for start in range(0, len(value), size):
            yield value[:start] + value[start + size :]
        size //= 2


def _joined(items: list[Any]) -> Iterator[list[Any]]:
    """Two neighbouring strings as one: a cut less."""
    for index in range(len(items) - 1):
        first, second = items[index : index + 2]
        if isinstance(first, str) and isinstance(second, str):
            yield [*items[:index], first + second, *items[index + 2 :]]
