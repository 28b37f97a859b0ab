"""A stored session as the request that its agent would send, and what stays out of it.

The readers of the agents (one file each) make a `ResumedConversation` of records, and
`judge` says what the provider refuses of it. Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stream_sidecar.records import field, frozen
from stream_sidecar.resume.records import StoredPlace

if TYPE_CHECKING:
    from collections.abc import Mapping

    from stream_sidecar.parts import JsonObject
    from stream_sidecar.resume.findings import FileEdit, ResumeKind
    from stream_sidecar.values.json_places import Path

__all__ = ["LeftOut", "ResumedConversation", "SentItem", "StoredPlace"]

_CONTENTS = ("content", "parts")
"""The members of an item that hold the parts of its content."""


@frozen
class SentItem:
    """An item of the request: a turn, or on Responses an item of ``input``. ``source``:
    where it is stored. ``parts``: if the agent makes it of several places (the blocks
    of one answer in several records), the source of each part of its content.
    ``places``: the paths of the item that are stored elsewhere than at the same path
    below ``source`` -> where they are stored."""

    item: JsonObject
    source: StoredPlace
    parts: tuple[StoredPlace, ...] = ()
    places: Mapping[Path, StoredPlace] = field(factory=dict)

    def stored(self, path: Path) -> StoredPlace:
        """Where the value at ``path`` of the item is stored."""
        for length in range(len(path), 0, -1):
            place = self.places.get(path[:length])
            if place is None and length == 2 and path[0] in _CONTENTS and self.parts:
                place = self.parts[path[1]] if isinstance(path[1], int) else None
            if place is not None:
                return StoredPlace(place.record, (*place.path, *path[length:]))
        return StoredPlace(self.source.record, (*self.source.path, *path))


@frozen
class LeftOut:
    """A record that the agent will not send, though a person would expect it. ``why``:
    a sentence that says it, such as "its parent is in no record". ``rule``: the name of
    the rule that the agent keeps by this, "" if none. ``edits``: what puts it back.
    ``kind``: ``refused`` if the agent does not open the session because of it."""

    source: StoredPlace
    why: str
    rule: str = ""
    edits: tuple[FileEdit, ...] = ()
    kind: ResumeKind = "left-out"


@frozen
class ResumedConversation:
    """What the agent would send if the user resumed the session and asked the next
    question. ``wire``: a name of `WIRES`. ``provider`` and ``model``: as the store, or
    the agent, names them; "" if nobody does. ``settings``: further members of the
    request's body that the rules depend on (``{"store": False}`` of Codex).
    ``repeats``: what the agent sends once more, though ``items`` have it once."""

    wire: str
    provider: str = ""
    model: str = ""
    items: tuple[SentItem, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    settings: JsonObject = field(factory=dict)
    repeats: tuple[StoredPlace, ...] = ()
