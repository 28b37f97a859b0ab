"""Logs into which other files point by bytes: a cut must not move what follows it.

A fork of a session may say how many bytes of its parent it begins with, and an index
may say where in the file a turn is. `padding` makes up for the cuts in a line, with
blanks before the line's last bracket, where JSON allows them. Example: ``{"a": "bc"}``
without the ``b`` is ``{"a": "c" }``. Pure.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from stream_sidecar import patterns
from stream_sidecar.values.units import width

if TYPE_CHECKING:
    from collections.abc import Iterable

    from stream_sidecar.history.cuts import Change
    from stream_sidecar.parts import Json

_CODEX = frozenset(
    ("compacted", "event_msg", "response_item", "session_meta", "turn_context")
)
"""Types of lines in Codex's logs, into which its forks and its index point."""

_OFFSETS = (
    "byte_?(?:end|offset|pos|position|range|start)s?",
    "offset_?(?:in_?)?bytes?",
    "pos(?:ition)?_?(?:in_?)?bytes?",
    "file_?offset",
)
"""How the names of members and columns end that hold a place in a file. Each pattern
begins with letters, which `re` finds fast, so that a long log costs little."""

_MEMBERS = [patterns.compile(rf'{each}"\s*:'.encode()) for each in _OFFSETS]
_COLUMN = patterns.compile(rf"(?:{'|'.join(_OFFSETS)})\b", re.IGNORECASE)


def is_pointed_at(line: Json) -> bool:
    """Whether a line is of a log into which other files always point."""
    return (
        isinstance(line, dict)
        and isinstance(line.get("type"), str)
        and line["type"] in _CODEX
        and isinstance(line.get("payload"), dict)
    )


def says_offsets(text: bytes) -> bool:
    """Whether JSON text has a member that holds a place in a file, in bytes."""
    small = text.lower()
    return any(each.search(small) for each in _MEMBERS)


def has_offsets(definition: str) -> bool:
    """Whether a table has a column for places in a file; ``definition`` is its SQL."""
    return _COLUMN.search(definition) is not None


def padding(line: str, changes: Iterable[Change]) -> tuple[int, str]:
    """A place in ``line``, which is JSON, and the blanks to insert there, so that the
    line has as many bytes after the ``changes`` as before."""
    lost = sum(
        width(line[start:end], "byte") - width(new, "byte")
        for start, end, new in changes
    )
    return len(line.rstrip(" \t\r\n")) - 1, " " * lost
