"""How a program packs text into a cell or a file, and how to pack it again.

Text and JSON are stored as they are; ``zstd`` is compressed (Zed, old sessions of
Codex). Text is never edited if its packing cannot be repeated exactly:
`CannotEditError`.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

from stream_sidecar.session_files import size_limits
from stream_sidecar.session_files.size_limits import CannotEditError, too_large


def unpacked(cell: str | bytes, packing: str | None) -> str:
    """The text of a cell; ValueError if it has none."""
    if isinstance(cell, bytes) and packing == "zstd":
        cell = unpack_zstd(cell)
    elif packing in _OPAQUE:
        raise CannotEditError(f"packed as {packing}")
    return cell if isinstance(cell, str) else cell.decode("utf-8")


def packed(text: str, like: str | bytes, packing: str | None) -> str | bytes:
    """A cell with ``text``, in the type and the packing of ``like``."""
    if isinstance(like, str):
        return text
    data = text.encode("utf-8")
    return pack_zstd(data) if packing == "zstd" else data


def unpack_zstd(data: bytes) -> bytes:
    """The data of one compressed frame; ValueError if it is not one frame,
    CannotEditError if the data is too large."""
    zstd, most = _zstd(), size_limits.LARGEST_DOCUMENT
    unpacking = zstd.ZstdDecompressor()
    try:
        unpacked_data: bytes = unpacking.decompress(data, most + 1)
    except zstd.ZstdError as error:
        raise ValueError(str(error)) from None
    if len(unpacked_data) > most:
        raise too_large("packed text", most)
    if not unpacking.eof or unpacking.unused_data:
        raise ValueError("no whole frame, or more than one")
    return unpacked_data


def pack_zstd(data: bytes) -> bytes:
    compressed: bytes = _zstd().compress(data)
    return compressed


def _zstd() -> Any:
    """The module of the standard library (from 3.14 on), or its backport."""
    name = "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd"
    try:
        return import_module(name)
    except ImportError:
        hint = "zstd: pip install backports.zstd lets it be read"
        raise CannotEditError(f"packed as {hint}") from None


_OPAQUE = frozenset(("msgpack", "pickle"))
