"""How much text a JSON value holds: what bounds of memory are counted with."""

from __future__ import annotations

from typing import Any


def text_size(value: Any) -> int:
    """Code points of all strings in ``value``, names of members included, and one for
    any other scalar. Example: of ``{"a": ["bc", 1]}`` that is 4."""
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
