"""Text that a hash protects: its store does not load when a character is missing.

A store that is addressed by content has a member for a digest beside a message or
around it, or a manifest with the name of a file and its digest. Example: in
``{"record": {"role": "assistant", "content": "Hi"}, "record_sha256": "9f86.."}`` the
message is sealed. Sealed text is reported and never edited. Pure.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from stream_sidecar import patterns
from stream_sidecar.history.paths import at

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from stream_sidecar.parts import Json
    from stream_sidecar.values.json_places import Path

SEALED = "a hash of it is stored beside it"
"""Why a message is not edited, for people."""

_HASHED = (
    "body",
    "chain",
    "chunk",
    "content",
    "entry",
    "event",
    "line",
    "message",
    "parent",
    "prev",
    "previous",
    "record",
)
_DIGESTS = (
    r"sha[_-]?(?:1|2|224|256|384|512)",
    r"sha3\w{0,8}",
    r"blake[23]\w{0,4}",
    "md5",
    "digest",
    "checksum",
    f"hash(?:{'|'.join(f'(?<={n}hash)|(?<={n}[_-]hash)' for n in _HASHED)})",
)
"""How the names of members end that hold a digest of stored text. A ``hash`` alone does
not count: it may be the hash of a commit or of a folder's name. Each pattern begins
with letters, which `re` finds fast, so that a long file costs little."""

_NAME = patterns.compile(f"(?:{'|'.join(_DIGESTS)})$", re.IGNORECASE)
_MEMBERS = [patterns.compile(rf'{each}"\s*:'.encode()) for each in _DIGESTS]

_DIGEST = patterns.compile(
    r"(?:[\w-]{1,20}[:=])?(?:[0-9a-f]{32,128}|[0-9a-z+/_-]{43,88}={0,2})", re.IGNORECASE
)
"""A digest in hexadecimal digits or in base64, perhaps after the name of its kind."""


@lru_cache(maxsize=1024)
def is_digest_name(name: str) -> bool:
    return _NAME.search(name) is not None


def says_digests(text: bytes) -> bool:
    small = text.lower()
    return any(each.search(small) for each in _MEMBERS)


def has_digest(value: Json) -> bool:
    """Whether a member of ``value``, an object, is a digest."""
    return isinstance(value, dict) and any(
        isinstance(digest, str)
        and is_digest_name(name)
        and _DIGEST.fullmatch(digest) is not None
        for name, digest in value.items()
    )


def seal_of(document: Json, paths: Iterable[Path]) -> str | None:
    """Why the strings at ``paths`` are not edited: an object around one of them has a
    digest. None if no object has one."""
    holders = (at(document, path[:end]) for path in paths for end in range(len(path)))
    return SEALED if any(map(has_digest, holders)) else None


def names_sealed_in(manifest: Json) -> Iterator[str]:
    """The strings beside a digest in ``manifest``: mostly names of files.

    Example: ``a.json`` in ``{"path": "a.json", "sha256": "3bd6.."}``.
    """
    if has_digest(manifest):
        yield from (value for value in manifest.values() if isinstance(value, str))
    if isinstance(manifest, dict):
        manifest = [*manifest.values()]
    for member in manifest if isinstance(manifest, list) else ():
        yield from names_sealed_in(member)
