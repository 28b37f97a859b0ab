"""What is said of one stored message: the reference of protocol.md, "message/inspect".

Frozen and complete. Paths are JSON Pointers into the message; positions are code points
of the string at the path as it is stored, or UTF-16 units where a name says so.
"""

# The converter reads the annotations at run time.
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from stream_sidecar.events import ToolCall, ToolResult
from stream_sidecar.records import field, frozen
from stream_sidecar.values.absent import NULLABLE

if TYPE_CHECKING:
    from collections.abc import Collection

KINDS: Final = (
    *("reasoning", "delimiter", "tool-result", "tool-call"),
    *("marker", "white-space"),
)
"""What a removal may be; ``delimiter`` is a stray one, or a stop token and its kin,
``marker`` what no event tells of."""


def chosen_kinds(only: Collection[str], but: Collection[str]) -> frozenset[str] | None:
    """The kinds of ``only``, or all, without those of ``but``; None: nobody chose."""
    if not (only or but):
        return None
    return frozenset(only or KINDS) - frozenset(but)


@frozen
class Finding:
    """Something that does not belong into the answer.

    ``path`` is a JSON Pointer into the message.
    """

    kind: str
    path: str
    start: int
    end: int
    start_utf16: int
    end_utf16: int
    text: str


@frozen
class Inspection:
    """What was found in one item; ``malformed``: repair would change it, or cannot."""

    malformed: bool
    findings: list[Finding]


@frozen
class Edit:
    """``new_text`` replaces a span of the string at ``path``, in old positions."""

    path: str
    start: int
    end: int
    start_utf16: int
    end_utf16: int
    new_text: str


@frozen
class Removal:
    """What was taken out of the string at ``path``, and where it was."""

    kind: str
    path: str
    start: int
    end: int
    text: str


@frozen
class Repair:
    """What became of one item. ``blocked``: nothing would be left, so it is unchanged.

    ``message`` is the item without what was removed; it is not there where it cannot
    be written back exactly (protocol.md, "JSON"). ``dropped`` are parts that were left
    empty and went. The rest is what the engine took out: reasoning, echoes, calls.
    """

    changed: bool
    blocked: bool
    message: Any = field(metadata=NULLABLE)
    edits: list[Edit] = field(factory=list)
    removed: list[Removal] = field(factory=list)
    dropped: list[str] = field(factory=list)
    reasoning: str | None = None
    tool_results: list[ToolResult] | None = None
    tool_calls: list[ToolCall] | None = None
