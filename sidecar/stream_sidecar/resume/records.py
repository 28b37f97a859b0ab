"""The records of a stored session: what its file, its documents or its rows hold.

A record is an *outline* of what is stored: long texts are shortened to their beginning,
so that a session of any length fits into the memory, and all that providers check stays
(whether a text is blank, the members of arguments, marks of encrypted state). Pure.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

from stream_sidecar.records import field, frozen, hot
from stream_sidecar.values.jsontext import dumps, loads
from stream_sidecar.wires.shared.rendering import is_base64

if TYPE_CHECKING:
    from collections.abc import Mapping

    from stream_sidecar.parts import Json
    from stream_sidecar.resume.images import StoredImage
    from stream_sidecar.values.json_places import Path


@frozen
class StoredRecord:
    """A record of a session. ``number``: its place in the session, from 0. ``value``:
    its outline. ``place``: where it is in its file, as reports have it: ``{"line": 3}``
    for a line of a log (from 1), ``{}`` for a whole document, ``{"table": "message",
    "row": 7}`` for a row. ``path``: of ``value`` in the document at that place.
    ``images``: the images in it, which the outline does not have whole."""

    number: int
    value: Json
    place: dict[str, Any] = field(factory=dict)
    path: Path = ()
    images: tuple[StoredImage, ...] = ()


@hot
class StoredPlace:
    """Where a part of the request comes from: the value at ``path`` of a ``record``'s
    document."""

    record: StoredRecord
    path: Path


Members: TypeAlias = "Mapping[str, Members]"
"""The members of an object that are read, and of each those that are read there; empty:
all of them."""


def members(*whole: str, **partly: Members) -> Members:
    """Members that are read as a ``whole``, and ``partly``."""
    return {**{name: {} for name in whole}, **partly}


_LONGEST = 256
"""Longer texts are shortened, in code points."""

_SEALS = frozenset(("signature", "encrypted_content", "thoughtSignature", "data"))
"""Members with seals. One that is no base64 is refused for what it has somewhere, so it
stays whole unless it is very long."""

_LONGEST_SEAL = 1 << 16

_MOST_SHARED = 1024


class Outlines:
    """Makes the outlines of a session's records. Short texts of records that are near
    each other are kept once: names of members, ids, types, folders.

    ``reads``: the type of a record -> the members that are read; "" for all other
    types. Empty: all members of all records.
    """

    def __init__(self, reads: Mapping[str, Members] = MappingProxyType({})) -> None:
        self._reads = reads
        self._shared: dict[str, str] = {}

    def of(self, record: Json) -> Json:
        """``record`` with its long texts shortened, and without what is not read.
        Arguments that are an object in JSON text stay one."""
        if not (self._reads and isinstance(record, dict)):
            return self._outline(record, "")
        kind = str(record.get("type"))
        return self._read(record, self._reads.get(kind, self._reads[""]))

    def _read(self, value: Json, members: Members) -> Json:
        if not (members and isinstance(value, dict)):
            return self._outline(value, "")
        return {
            name: self._read(value[name], inner)
            for name, inner in members.items()
            if name in value
        }

    def _outline(self, value: Json, name: str) -> Json:
        """``name``: the member that holds the value."""
        if isinstance(value, dict):
            return {
                self._once(key): self._outline(inner, key)
                for key, inner in value.items()
            }
        if isinstance(value, list):
            return [self._outline(inner, name) for inner in value]
        if not isinstance(value, str):
            return value
        if len(value) <= _LONGEST:
            return self._once(value)
        if name in _SEALS and len(value) <= _LONGEST_SEAL:
            return value[:_LONGEST] if is_base64(value) else value
        return self._shortened(value)

    def _once(self, text: str) -> str:
        """The text, as the object that an earlier record has."""
        if len(self._shared) >= _MOST_SHARED:
            self._shared.clear()
        return self._shared.setdefault(text, text)

    def _shortened(self, text: str) -> str:
        """The beginning of a long text; of an object in JSON text, an object again. A
        text whose beginning is blank keeps its first word."""
        if text.lstrip().startswith("{"):
            try:
                inner = loads(text)
            except (ValueError, RecursionError):
                inner = None
            if isinstance(inner, dict):
                return dumps(self._outline(inner, ""))
        beginning = text[:_LONGEST]
        return beginning if beginning.strip() else beginning + text.strip()[:1]


def outline(record: Json) -> Json:
    """The outline of a record whose members are all read."""
    return Outlines().of(record)
