"""AWS event streams in, provider documents out: framing ``aws-eventstream``.

A frame has (AWS, "Amazon event stream encoding"; numbers are big-endian): total length,
length of the headers, CRC-32 of these eight bytes, headers, payload, CRC-32 of
everything before it. The payload is JSON. The document's ``event`` is the
``:event-type``, for an exception the ``:exception-type``, for an error ``error``. The
payload of an InvokeModel stream has the model's own document as base64 in ``bytes``;
the result is that document, without a name.

Bytes that are no frame become a ``malformed-chunk`` diagnostic, as text or base64. A
frame with a wrong checksum is left out as a whole. Where no frame begins, everything up
to the next eight bytes with the right checksum is left out. Linear in the input.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from struct import Struct
from typing import Any
from zlib import crc32

from attrs import evolve

from stream_sidecar import patterns
from stream_sidecar.framing.frames import (
    HEAD,
    PASSED_ON,
    Frame,
    Held,
    LongDocument,
    diagnostic_of,
    malformed,
    too_long,
)
from stream_sidecar.parts import DiagnosticPart, Document
from stream_sidecar.values.jsontext import decode

_PRELUDE = Struct(">III")
_CHECKSUM_SIZE = 4
_AROUND = _PRELUDE.size + _CHECKSUM_SIZE
"""Bytes of a frame without headers and payload."""

_BEGIN = patterns.compile(rb"(?!\0\0\0[\0-\x0f])[\0\1][\s\S]{3}\0[\0-\2][\s\S]{6}")
"""A possible prelude: frames have 16 bytes to 24 MiB, headers at most 128 KiB."""

_SIZES = {0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}
_BYTES, _STRING = 6, 7
"""Types of a header's value. `_SIZES` has the bytes of a value by its type; a value of
these two types begins with its length."""


class EventStreamReader:
    """``push(data)`` and ``close()`` return the frames that are complete by then.

    ``limit``: the most bytes of a payload that is read, ``kept`` of one that is passed
    on.
    """

    framing = "aws-eventstream"
    idle = False  # its input is bytes, not text

    def __init__(self, limit: int, kept: int = 0) -> None:
        self._limit = limit
        self._kept = max(limit, kept)
        self._held = bytearray()
        #: bytes that are needed for the next decision
        self._needed = _PRELUDE.size
        #: bytes still to come of a frame that is too long
        self._left = 0
        #: bytes that are no frame, as one character for each byte
        self._junk = Held(limit)

    def push(self, data: bytes) -> list[Frame]:
        frames: list[Frame] = []
        self._held += data
        while len(self._held) >= self._needed:
            if self._left:
                self._skip(frames)
            elif self._needed == _PRELUDE.size:
                self._begin(frames)
            else:
                self._finish(frames)
        return frames

    def close(self) -> list[Frame]:
        """Reports the held bytes, which never became a frame."""
        frames: list[Frame] = []
        self._drop(len(self._held))
        self._needed, self._left = _PRELUDE.size, 0
        self._end_junk(frames)
        return frames

    def _begin(self, frames: list[Frame]) -> None:
        total, headers, checksum = _PRELUDE.unpack_from(self._held)
        if crc32(self._held[:8]) != checksum or total < _AROUND + headers:
            found = _BEGIN.search(self._held, 1)
            rest = len(self._held) - _PRELUDE.size + 1
            self._drop(found.start() if found else rest)
            return
        self._end_junk(frames)
        if total - _AROUND - headers > self._kept:
            self._left, self._needed = total, 1
        else:
            self._needed = total

    def _finish(self, frames: list[Frame]) -> None:
        size, self._needed = self._needed, _PRELUDE.size
        data = bytes(self._held[:size])
        del self._held[:size]
        if crc32(data[:-_CHECKSUM_SIZE]) == int.from_bytes(
            data[-_CHECKSUM_SIZE:], "big"
        ):
            frames.append(self._limited(_frame(data), data))
        else:
            frames.append(malformed(_shown(data), "A frame with a wrong checksum"))

    def _limited(self, frame: Frame, data: bytes) -> Frame:
        """``frame`` of the bytes ``data``, which may have too long a payload."""
        headers = _PRELUDE.unpack_from(data)[1]
        size = len(data) - _AROUND - headers
        if size <= self._limit or not isinstance(frame, Document):
            return frame
        shown = data[_PRELUDE.size + headers :][:HEAD].decode(errors="replace")
        diagnostic = too_long(size, self._limit, shown, PASSED_ON)
        is_object = type(frame.value) is dict
        return LongDocument(frame, diagnostic) if is_object else diagnostic

    def _skip(self, frames: list[Frame]) -> None:
        size = min(self._left, len(self._held))
        self._drop(size)
        self._left -= size
        if not self._left:
            self._needed = _PRELUDE.size
            self._end_junk(frames)

    def _drop(self, size: int) -> None:
        if size:
            self._junk.add(self._held[:size].decode("latin-1"))
            del self._held[:size]

    def _end_junk(self, frames: list[Frame]) -> None:
        if not self._junk.pieces:
            return
        junk = self._junk.take()
        if isinstance(junk, str):
            shown = _shown(junk.encode("latin-1"))
            frames.append(malformed(shown, "Input that is no event stream"))
        else:
            long = diagnostic_of(junk, "")
            shown = long.raw.encode("latin-1").decode(errors="replace")
            frames.append(evolve(long, raw=shown))


def _frame(data: bytes) -> Frame:
    """The frame of bytes with the right checksums."""
    start = _PRELUDE.size + _PRELUDE.unpack_from(data)[1]
    headers = _headers(data[_PRELUDE.size : start])
    if headers is not None:
        return _document(headers, data[start:-_CHECKSUM_SIZE])
    return malformed(_shown(data), "A frame whose headers cannot be read")


def _headers(data: bytes) -> dict[str, str] | None:
    """The headers that are strings; None if the bytes are no headers."""
    found, at = {}, 0
    while at < len(data):
        value = at + 2 + data[at]  # after the name and the type
        name, kind = data[at + 1 : value - 1], int.from_bytes(data[value - 1 : value])
        size = _SIZES.get(kind)
        if kind in (_BYTES, _STRING):
            size = int.from_bytes(data[value : value + 2], "big")
            value += 2
        if size is None or value + size > len(data):
            return None
        at = value + size
        if kind == _STRING:
            text = data[value:at].decode("utf-8", "replace")
            found[name.decode("utf-8", "replace")] = text
    return found


def _document(headers: dict[str, str], payload: bytes) -> Frame:
    value = _json(payload) if payload else {}
    if isinstance(value, DiagnosticPart):
        return value
    if (kind := headers.get(":message-type")) == "error":
        error = {key: headers.get(f":error-{key}") for key in ("code", "message")}
        return Document(error, "error")
    if kind == "exception":
        return _exception(headers.get(":exception-type", ""), value)
    inner = value.get("bytes") if isinstance(value, dict) else None
    if not isinstance(inner, str):
        return Document(value, headers.get(":event-type"))
    try:
        value = _json(b64decode(inner, validate=True))
    except ValueError:
        return malformed(inner, "A payload that is not base64")
    return value if isinstance(value, DiagnosticPart) else Document(value)


def _exception(name: str, value: Any) -> Document:
    """The document of an exception. Its event is ``name`` if the name ends with
    ``Exception``, else ``error``."""
    if name.endswith("Exception"):
        return Document(value, name)
    return Document({"error": {"type": name, "message": value}}, "error")


def _json(data: bytes) -> Any:
    try:
        return decode(data)
    except ValueError:
        return malformed(_shown(data), "A payload that is not JSON")


def _shown(data: bytes) -> str:
    """``data`` as text, or as base64 if it is not UTF-8."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return b64encode(data).decode()
