"""What the files around a session say of it: who wrote its text, whether something
points into it by bytes, whether a hash protects it.

The last two are looked for only if a session is to be changed: in the heads of files
and in small manifests, once for each folder in a run. `forget` begins a new run.
"""

from __future__ import annotations

import hashlib
import os
import re
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stream_sidecar import patterns
from stream_sidecar.history.digests import names_sealed_in, says_digests, seal_of
from stream_sidecar.history.lengths import has_offsets, is_pointed_at, says_offsets
from stream_sidecar.records import frozen
from stream_sidecar.session_files import part_files
from stream_sidecar.session_files.names import is_made_by_repair
from stream_sidecar.session_files.part_files import is_before_seal
from stream_sidecar.session_files.roles import roles_beside
from stream_sidecar.values.jsontext import decode

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stream_sidecar.values.json_places import Path as JsonPath

_HEAD = 1 << 16
_LARGEST_MANIFEST = 1 << 22
_CHUNK = 1 << 20
_FOLDERS_UP = 3
"""Manifests are looked for in so many folders: the file's own and those above it."""

_KINDS = frozenset(("", ".db", ".json", ".jsonl", ".sqlite", ".sqlite3"))
"""Endings of files that may be a manifest or an index."""

_SQLITE = b"SQLite format 3\0"
_HEX = patterns.compile(r"[0-9a-f]+", re.IGNORECASE)
_HASH_DIGITS = 64
"""A name of so many hexadecimal digits is a hash; a shorter one may be any id."""

_HASHES = {32: "md5", 40: "sha1", 56: "sha224"}

NAMED = "its file is named after a hash of its content"
LISTED = "a file beside it has its name and its hash"
"""Why a message is not edited, for people."""


class SurroundingFiles:
    """The files around the session at ``path``."""

    def __init__(self, path: Path) -> None:
        self._path = path.absolute()
        self.role = roles_beside(self._path)

    def keeps_length(self, line: Any) -> bool:
        """Whether a ``line`` of the session must keep its length: offsets follow it."""
        return is_pointed_at(line) or self.is_pointed_into()

    def is_pointed_into(self) -> bool:
        """Whether the session, or a file beside it, has places in a file."""
        return _is_pointed_into(self._path)

    def is_before_seal(self, document: Any, model: str | None) -> bool:
        """Whether the document comes before a bound seal that is in another file.
        ``model``: the model of messages that name none."""
        return is_before_seal(self._path, document, model)

    def seal(self, document: Any, paths: list[JsonPath]) -> str | None:
        """Why the strings at ``paths`` of a document in the session are not edited;
        None if they may be."""
        return seal_of(document, paths) or _seal(self._path)


def forget() -> None:
    """Forgets what was read of files, which may have changed."""
    for cached in (_is_pointed_into, _seal, _look):
        cached.cache_clear()
    part_files.forget()


@lru_cache(maxsize=256)
def _is_pointed_into(path: Path) -> bool:
    """Whether the file at ``path``, or a file beside it, has a place in a file."""
    with suppress(OSError), path.open("rb") as file:
        pieces = iter(lambda: file.read(_CHUNK), b"")
        if any(map(says_offsets, _overlapping(pieces))):
            return True
    return _look(path.parent).has_offsets


def _overlapping(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """The pieces, each with the end of the piece before it: nothing is cut apart."""
    tail = b""
    for piece in pieces:
        yield tail + piece
        tail = piece[-64:]


@lru_cache(maxsize=256)
def _seal(path: Path) -> str | None:
    if _is_named_by_hash(path):
        return NAMED
    for folder in (path.parent, *path.parent.parents)[:_FOLDERS_UP]:
        if path.relative_to(folder).as_posix() in _look(folder).sealed:
            return LISTED
    return None


def _is_named_by_hash(path: Path) -> bool:
    name = path.name.partition(".")[0]
    if not _HEX.fullmatch(name):
        return False
    kind = _HASHES.get(len(name))
    if kind is None:
        return len(name) >= _HASH_DIGITS
    with suppress(OSError), path.open("rb") as file:
        return hashlib.file_digest(file, kind).hexdigest() == name.lower()
    return False


@frozen
class _Folder:
    """``has_offsets``: a file in the folder has places in files. ``sealed``: the names
    beside digests in its manifests."""

    has_offsets: bool
    sealed: frozenset[str]


@lru_cache(maxsize=64)
def _look(folder: Path) -> _Folder:
    offsets, sealed = False, set()
    for path in _files(folder):
        with suppress(OSError), path.open("rb") as file:
            head = file.read(_HEAD)
            if head.startswith(_SQLITE):  # the definitions of its tables come first
                offsets = offsets or has_offsets(head.decode("latin-1"))
            else:
                offsets = offsets or says_offsets(head)
            if says_digests(head):
                sealed |= _names_sealed_by(path)
    return _Folder(offsets, frozenset(sealed))


def _files(folder: Path) -> Iterator[Path]:
    """The files in ``folder`` that may be a manifest or an index."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            path = Path(entry.path)
            is_kind = path.suffix in _KINDS and not is_made_by_repair(path.name)
            if is_kind and entry.is_file(follow_symlinks=False):
                yield path


def _names_sealed_by(path: Path) -> set[str]:
    """The strings beside digests in the file at ``path``, if it is a document."""
    if path.stat().st_size > _LARGEST_MANIFEST:
        return set()
    try:
        return {*names_sealed_in(decode(path.read_bytes()))}
    except (ValueError, RecursionError):
        return set()
