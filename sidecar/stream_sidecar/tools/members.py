"""Whether it depends on the reader what arguments say.

JSON lets an object name a member twice and does not say which one counts (RFC 8259, 4):
who checks a call may read another value than who runs it. Names that differ in half
surrogates only are one name as soon as they are written, as U+FFFD.
"""

from __future__ import annotations

import re
from typing import Any

from stream_sidecar import patterns
from stream_sidecar.values.surrogates import has_half, without_halves

_STRING = patterns.compile(r'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)


def is_ambiguous(text: str, value: dict[str, Any] | None) -> bool:
    """Whether an object in ``text``, JSON whose value is ``value``, has two members of
    one name; False where there is no value. Every member has a colon, so that they can
    be counted; linear."""
    if value is None:
        return False
    if text.count(":") == len(value) and "\\" not in text and not has_half(text):
        return False  # the commonest: nothing is nested, and no string has a colon
    return _names_in(value) < _STRING.sub("", text).count(":")


def _names_in(value: dict[str, Any]) -> int:
    """How many members the objects of ``value`` have when they are written."""
    count, todo = 0, list[Any]([value])
    while todo:
        item = todo.pop()
        if isinstance(item, dict):
            count += len(set(map(without_halves, item)))
            item = item.values()
        todo += [each for each in item if isinstance(each, dict | list)]
    return count
