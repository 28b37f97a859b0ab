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
_MIN_FRAME = _PRELUDE.size + _CHECKSUM_SIZE
"""Bytes of a frame without headers and payload."""

_MAY_BEGIN = patterns.compile(rb"(?!\0\0\0[\0-\x0f])[\0\1][\s\S]{3}\0[\0-\2][\s\S]{6}")
"""A possible prelude: frames have 16 bytes to 24 MiB, headers at most 128 KiB."""

_VALUE_SIZES = {0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}
_BYTES_TYPE, _STRING_TYPE = 6, 7
"""Types of a header's value. `_VALUE_SIZES` has the bytes of a value by its type; a
value of these two types begins with its length."""


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
        self._bytes = bytearray()
        #: bytes that are needed for the next decision
        self._needed_size = _PRELUDE.size
        #: bytes still to come of a frame that is too long
        self._skipped_left = 0
        #: bytes that are no frame, as one character for each byte
        self._junk = Held(limit)

    def push(self, data: bytes) -> list[Frame]:
        frames: list[Frame] = []
        self._bytes += data
        while len(self._bytes) >= self._needed_size:
            if self._skipped_left:
                self._skip_frame(frames)
            elif self._needed_size == _PRELUDE.size:
                self._read_prelude(frames)
            else:
                self._end_frame(frames)
        return frames

    def close(self) -> list[Frame]:
        """Reports the held bytes, which never became a frame."""
        frames: list[Frame] = []
        self._drop_bytes(len(self._bytes))
        self._needed_size, self._skipped_left = _PRELUDE.size, 0
        self._end_junk(frames)
        return frames

    def _read_prelude(self, frames: list[Frame]) -> None:
        size, headers_size, checksum = _PRELUDE.unpack_from(self._bytes)
        if crc32(self._bytes[:8]) != checksum or size < _MIN_FRAME + headers_size:
            prelude = _MAY_BEGIN.search(self._bytes, 1)
            junk_size = len(self._bytes) - _PRELUDE.size + 1
            self._drop_bytes(prelude.start() if prelude else junk_size)
            return
        self._end_junk(frames)
        if size - _MIN_FRAME - headers_size > self._kept:
            self._skipped_left, self._needed_size = size, 1
        else:
            self._needed_size = size

    def _end_frame(self, frames: list[Frame]) -> None:
        size, self._needed_size = self._needed_size, _PRELUDE.size
        data = bytes(self._bytes[:size])
        del self._bytes[:size]
        if crc32(data[:-_CHECKSUM_SIZE]) == int.from_bytes(
            data[-_CHECKSUM_SIZE:], "big"
        ):
            frames.append(self._limit_frame(_read_frame(data), data))
        else:
            frames.append(malformed(_printable(data), "A frame with a wrong checksum"))

    def _limit_frame(self, frame: Frame, data: bytes) -> Frame:
        """``frame`` of the bytes ``data``, which may have too long a payload."""
        headers_size = _PRELUDE.unpack_from(data)[1]
        size = len(data) - _MIN_FRAME - headers_size
        if size <= self._limit or not isinstance(frame, Document):
            return frame
        head = data[_PRELUDE.size + headers_size :][:HEAD].decode(errors="replace")
        diagnostic = too_long(size, self._limit, head, PASSED_ON)
        is_object = type(frame.value) is dict
        return LongDocument(frame, diagnostic) if is_object else diagnostic

    def _skip_frame(self, frames: list[Frame]) -> None:
        size = min(self._skipped_left, len(self._bytes))
        self._drop_bytes(size)
        self._skipped_left -= size
        if not self._skipped_left:
            self._needed_size = _PRELUDE.size
            self._end_junk(frames)

    def _drop_bytes(self, size: int) -> None:
        if size:
            self._junk.add(self._bytes[:size].decode("latin-1"))
            del self._bytes[:size]

    def _end_junk(self, frames: list[Frame]) -> None:
        if not self._junk.pieces:
            return
        junk = self._junk.take()
        if isinstance(junk, str):
            text = _printable(junk.encode("latin-1"))
            frames.append(malformed(text, "Input that is no event stream"))
        else:
            diagnostic = diagnostic_of(junk, "")
            text = diagnostic.raw.encode("latin-1").decode(errors="replace")
            frames.append(evolve(diagnostic, raw=text))


def _read_frame(data: bytes) -> Frame:
    """The frame of bytes with the right checksums."""
    start = _PRELUDE.size + _PRELUDE.unpack_from(data)[1]
    headers = _read_headers(data[_PRELUDE.size : start])
    if headers is not None:
        return _frame_document(headers, data[start:-_CHECKSUM_SIZE])
    return malformed(_printable(data), "A frame whose headers cannot be read")


def _read_headers(data: bytes) -> dict[str, str] | None:
    """The headers that are strings; None if the bytes are no headers."""
    headers, index = {}, 0
    while index < len(data):
        value = index + 2 + data[index]  # after the name and the type
        name, kind = (
            data[index + 1 : value - 1],
            int.from_bytes(data[value - 1 : value]),
        )
        size = _VALUE_SIZES.get(kind)
        if kind in (_BYTES_TYPE, _STRING_TYPE):
            size = int.from_bytes(data[value : value + 2], "big")
            value += 2
        if size is None or value + size > len(data):
            return None
        index = value + size
        if kind == _STRING_TYPE:
            text = data[value:index].decode("utf-8", "replace")
            headers[name.decode("utf-8", "replace")] = text
    return headers


def _frame_document(headers: dict[str, str], payload: bytes) -> Frame:
    value = _decode_json(payload) if payload else {}
    if isinstance(value, DiagnosticPart):
        return value
    if (kind := headers.get(":message-type")) == "error":
        error = {key: headers.get(f":error-{key}") for key in ("code", "message")}
        return Document(error, "error")
    if kind == "exception":
        return _exception_document(headers.get(":exception-type", ""), value)
    inner = value.get("bytes") if isinstance(value, dict) else None
    if not isinstance(inner, str):
        return Document(value, headers.get(":event-type"))
    try:
        value = _decode_json(b64decode(inner, validate=True))
    except ValueError:
        return malformed(inner, "A payload that is not base64")
    return value if isinstance(value, DiagnosticPart) else Document(value)


def _exception_document(name: str, value: Any) -> Document:
    """The document of an exception, whose event may be its name."""
    if name.endswith("Exception"):
        return Document(value, name)
    return Document({"error": {"type": name, "message": value}}, "error")


def _decode_json(data: bytes) -> Any:
    try:
        return decode(data)
    except ValueError:
        return malformed(_printable(data), "A payload that is not JSON")


def _printable(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return b64encode(data).decode()
