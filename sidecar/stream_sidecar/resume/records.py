"""The records of a stored session: what its file, its documents or its rows hold.

A record is an *outline* of what is stored: long texts are shortened to their beginning,
so that a session of any length fits into the memory, and all that providers check stays
(whether a text is blank, the members of arguments, marks of encrypted state). Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stream_sidecar.records import field, frozen, hot
from stream_sidecar.values.jsontext import dumps, loads

if TYPE_CHECKING:
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


_LONGEST = 256
"""Longer texts are shortened, in code points."""

_WHOLE = frozenset(("signature", "encrypted_content", "thoughtSignature", "data"))
"""Members that are kept whole unless they are very long: seals."""

_LONGEST_SEAL = 1 << 16


def outline(value: Json, name: str = "") -> Json:
    """``value`` with its long texts shortened. Arguments that are an object in JSON
    text stay one. ``name``: the member that holds the value."""
    if isinstance(value, dict):
        return {
            key: inner
            if type(inner) is str and len(inner) <= _LONGEST
            else outline(inner, key)
            for key, inner in value.items()
        }
    if isinstance(value, list):
        return [outline(inner, name) for inner in value]
    if not isinstance(value, str) or len(value) <= _LONGEST:
        return value
    if name in _WHOLE and len(value) <= _LONGEST_SEAL:
        return value
    return _shortened(value)


def _shortened(text: str) -> str:
    """The beginning of a long text; of an object in JSON text, an object again. A text
    whose beginning is blank keeps its first word."""
    if text.lstrip().startswith("{"):
        try:
            inner = loads(text)
        except (ValueError, RecursionError):
            inner = None
        if isinstance(inner, dict):
            return dumps(outline(inner))
    beginning = text[:_LONGEST]
    return beginning if beginning.strip() else beginning + text.strip()[:1]
