"""Whether two readers may read different values from the same arguments.

JSON lets an object name a member twice and does not say which one counts (RFC 8259, 4):
the program that checks a call may read another value than the program that runs it.
Names that differ only in half surrogates are written as one name, with U+FFFD.
"""

from __future__ import annotations

import re
from typing import Any

from stream_sidecar import patterns
from stream_sidecar.values.surrogates import has_half, without_halves

_STRING = patterns.compile(r'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)


def is_ambiguous(text: str, value: dict[str, Any] | None) -> bool:
    """Whether an object in ``text`` has two members of one name. ``value`` is the value
    of the JSON ``text``; without it the result is False. Members are counted by their
    colons, in linear time."""
    if value is None:
        return False
    if text.count(":") == len(value) and "\\" not in text and not has_half(text):
        return False  # the most common case: nothing is nested, no colon in a string
    return _count_members(value) < _STRING.sub("", text).count(":")


def _count_members(value: dict[str, Any]) -> int:
    """The number of members of ``value`` and of all objects in it, as JSON. Names that
    differ only in half surrogates are written alike and count once."""
    count, remaining = 0, list[Any]([value])
    while remaining:
        item = remaining.pop()
        if isinstance(item, dict):
            count += len(set(map(without_halves, item)))
            item = item.values()
        remaining += [child for child in item if isinstance(child, dict | list)]
    return count
