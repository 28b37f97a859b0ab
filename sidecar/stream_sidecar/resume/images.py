"""Images in stored records: their size, read from their first bytes. No decoder."""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING

from stream_sidecar import patterns
from stream_sidecar.records import frozen

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stream_sidecar.parts import Json
    from stream_sidecar.values.json_places import Path


@frozen
class StoredImage:
    """An image in a record. ``part``: the path of the part of the content that holds
    it. ``declared``: its media type as the record says it; ``found``: as its first
    bytes do; each "" if unknown. ``width``, ``height``: in pixels, 0 if unknown.
    ``size``: in bytes. ``type_at``: the path of the declared type, () if it is no value
    of its own."""

    part: Path
    declared: str
    found: str
    width: int
    height: int
    size: int
    type_at: Path = ()


_HEAD = 1 << 20
"""The most characters of base64 that are read: a JPEG may have a large preview before
its size."""

_URL = patterns.compile(r"data:(image/[a-z.+-]{1,40});base64,", 0)
_TYPES = ("media_type", "mediaType", "mimeType", "mime_type", "mime", "MIMEType")
_DATA = ("data", "bytes", "base64", "Data")
_WORDS = (b"image", b"format", b"\\u00")
_DEEPEST = 32


def may_have_image(text: bytes) -> bool:
    """Whether the JSON ``text`` may have an image: as most has none, it need not be
    searched. An escaped letter may hide the words of one."""
    return any(word in text for word in _WORDS)


def images_in(value: Json, path: Path = ()) -> tuple[StoredImage, ...]:
    """The images in a record's ``value``, which is whole, in their order. ``path``: of
    the value."""
    return tuple(_images(value, path, path))


def _images(value: Json, path: Path, part: Path) -> Iterator[StoredImage]:
    """``part``: the nearest part of a list around ``path``."""
    if len(path) > _DEEPEST:
        return
    if isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _images(inner, (*path, number), (*path, number))
    elif isinstance(value, dict):
        held = _data_of(value)
        if held is not None:
            name = next((n for n in _TYPES if value.get(n) == held[0]), None)
            yield _image(part, *held, () if name is None else (*path, name))
            return
        for name, inner in value.items():
            if isinstance(inner, str):
                if url := _URL.match(inner):
                    yield _image(part, url.group(1), inner, url.end())
            else:
                yield from _images(inner, (*path, name), part)


def _data_of(value: dict[str, Json]) -> tuple[str, str, int] | None:
    """The declared type, the base64 and where it begins, if an object has an image."""
    declared = next((value[n] for n in _TYPES if isinstance(value.get(n), str)), "")
    if isinstance(value.get("format"), str) and isinstance(value.get("source"), dict):
        value, declared = value["source"], f"image/{value['format']}"  # Bedrock
    if not str(declared).startswith("image/"):
        return None
    data = next((value[name] for name in _DATA if isinstance(value.get(name), str)), "")
    if not data:
        return None
    url = _URL.match(str(data))
    return str(declared), str(data), url.end() if url else 0


def _image(
    part: Path, declared: str, data: str, start: int, type_at: Path = ()
) -> StoredImage:
    head = _decoded(data[start : start + _HEAD])
    found, width, height = _measured(head)
    length = len(data) - start - data[-2:].count("=")
    size = length * 3 // 4
    return StoredImage(part, declared, found, width, height, size, type_at)


def _decoded(text: str) -> bytes:
    """The bytes of the beginning of base64; b"" if it is none."""
    try:
        return base64.b64decode(text[: len(text) // 4 * 4])
    except (binascii.Error, ValueError):
        return b""


def _measured(head: bytes) -> tuple[str, int, int]:
    """The media type, and the size in pixels, 0 if it is not in the ``head``."""
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png", _big(head, 16, 4), _big(head, 20, 4)
    if head.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif", _little(head, 6, 2), _little(head, 8, 2)
    if head.startswith(b"RIFF") and head[8:12] == b"WEBP":
        return ("image/webp", *_webp(head))
    if head.startswith(b"\xff\xd8\xff"):
        return ("image/jpeg", *_jpeg(head))
    return "", 0, 0


def _big(head: bytes, start: int, length: int) -> int:
    return int.from_bytes(head[start : start + length], "big")


def _little(head: bytes, start: int, length: int) -> int:
    return int.from_bytes(head[start : start + length], "little")


def _webp(head: bytes) -> tuple[int, int]:
    kind = head[12:16]
    if kind == b"VP8X":
        return _little(head, 24, 3) + 1, _little(head, 27, 3) + 1
    if kind == b"VP8L":
        bits = _little(head, 21, 4)
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    return _little(head, 26, 2) & 0x3FFF, _little(head, 28, 2) & 0x3FFF


_NO_FRAMES = (0xC4, 0xC8, 0xCC)
"""Markers between 0xC0 and 0xCF that begin no frame."""


def _jpeg(head: bytes) -> tuple[int, int]:
    """The size in the first frame, behind the segments before it, such as EXIF."""
    at = 2
    while at + 9 <= len(head) and head[at] == 0xFF:
        marker = head[at + 1]
        if marker == 0xFF:  # fill
            at += 1
        elif 0xC0 <= marker <= 0xCF and marker not in _NO_FRAMES:
            return _big(head, at + 7, 2), _big(head, at + 5, 2)
        else:
            at += 2 + max(2, _big(head, at + 2, 2))
    return 0, 0
