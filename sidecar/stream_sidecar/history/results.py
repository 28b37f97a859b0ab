"""The results for one stored message: the reference of protocol.md, "message/inspect".

Frozen and complete. Paths are JSON Pointers into the message; positions are code points
of the string at the path as it is stored, or UTF-16 units where a name says so.
"""

# The converter reads the annotations at run time.
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from stream_sidecar.events import ToolCall, ToolResult
from stream_sidecar.records import PublicRecord, field, frozen
from stream_sidecar.values.absent import NULLABLE

if TYPE_CHECKING:
    from collections.abc import Collection

SURROGATE: Final = "surrogate"
"""Half of a character, which providers refuse. U+FFFD replaces it."""

KINDS: Final = (
    "reasoning",
    "delimiter",
    "tool-result",
    "tool-call",
    "marker",
    "white-space",
    SURROGATE,
)
"""The kinds of findings. ``delimiter``: a stray delimiter, or a stop token or the like;
``marker``: any other mark of a protocol."""


BOUND_KIND: Final = "bound"
"""A leak of any kind that stays, because a later seal is bound to its text."""

CHOICES: Final = (*KINDS, BOUND_KIND, "refused", "left-out", "broken")
"""What can be chosen: the kinds of leaks, and what stands in the way of a session that
is resumed (`resume.findings`)."""


def chosen_kinds(only: Collection[str], but: Collection[str]) -> frozenset[str] | None:
    """The kinds in ``only`` (or all) without ``but``. None if nobody chose. Who wants a
    kind of leak wants those that are bound, too, unless they are in ``but``."""
    if not (only or but):
        return None
    implied = () if frozenset(KINDS).isdisjoint(only) else (BOUND_KIND,)
    return frozenset((*only, *implied) or CHOICES) - frozenset(but)


def counts(kind: str, kinds: Collection[str] | None, *, is_bound: bool) -> bool:
    """Whether a leak is of the chosen ``kinds``. Without a kind of leak among them,
    `BOUND_KIND` means the bound ones of all kinds."""
    if kinds is None:
        return True
    if not is_bound:
        return kind in kinds
    return BOUND_KIND in kinds and (kind in kinds or frozenset(KINDS).isdisjoint(kinds))


@frozen
class Finding(PublicRecord):
    """Something that does not belong in the answer.

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
class Inspection(PublicRecord):
    """The findings in one item. ``malformed``: repair would change the item, or would
    be blocked."""

    malformed: bool
    findings: list[Finding]


@frozen
class Edit(PublicRecord):
    """``new_text`` replaces a span of the string at ``path``; positions are those in
    the old string."""

    path: str
    start: int
    end: int
    start_utf16: int
    end_utf16: int
    new_text: str


@frozen
class Removal(PublicRecord):
    """What was removed from the string at ``path``, and where it was."""

    kind: str
    path: str
    start: int
    end: int
    text: str


@frozen
class Repair(PublicRecord):
    """The repair of one item. ``blocked``: nothing would be left, so the item is
    unchanged. ``bound``: a text is unchanged, because a seal after it is bound to it;
    ``stays``: what was found in such texts.

    ``message`` is the item without the removals. It is absent if it cannot be written
    back exactly (protocol.md, "JSON"). ``dropped`` are the parts that became empty and
    were removed. The other fields hold what the engine took out: reasoning, echoes,
    calls.
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
    bound: bool | None = None
    stays: list[Removal] | None = None

    @property
    def leaks(self) -> list[Removal]:
        """What was found: what is removed, and what stays."""
        return [*self.removed, *(self.stays or ())]
