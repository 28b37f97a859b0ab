"""The base protocol: bytes of stdin in, message bodies out (LSP 3.17, "Base Protocol").

Call ``first(data)``, then ``next()`` until it returns None; ``finish()`` at the end of
input. A frame is the body of a message, or an `UnreadableFrame` that says why there is
none. The reader finds the next header after any input:

- Header names may have any case, lines end in LF or CRLF, and spacing is free. Unknown
  headers, repeated ones (the first Content-Length counts) and noise before a header are
  ignored.
- A body over ``limit`` bytes is skipped and not kept in memory.
- A body that is not JSON may have been cut with a wrong length: `reject` searches it
  for the header of the next message. A header line cannot be part of a JSON text,
  because its line break would be escaped.
- A JSON-RPC message without a header, as NDJSON hosts and people send it, is reported.

Sans-IO, linear in the input.
"""

from __future__ import annotations

import re
from typing import TypeAlias

from stream_sidecar import patterns
from stream_sidecar.errors import LimitExceededError, ParseError, UsageError
from stream_sidecar.records import define, field, frozen
from stream_sidecar.rpc.envelope import SAMPLE, Id, recover_id
from stream_sidecar.rpc.text_digest import TextDigest


@frozen
class UnreadableFrame:
    """A message whose body could not be used. ``id`` is None if it was not found. A
    skipped message has a ``sample``, its first and last bytes, and a ``digest``."""

    error: UsageError
    id: Id | None = None
    sample: bytes = b""
    digest: TextDigest = field(factory=TextDigest)


ReadFrame: TypeAlias = bytes | UnreadableFrame

_NAME = b"content-length"
# The header that nearly all messages have; it is read without looking for lines.
_PLAIN_HEADER = patterns.compile(rb"Content-Length: ([0-9]{1,15})\r\n\r\n")
_HEADER = patterns.compile(
    rb"content-length[ \t]{0,8}:[ \t]{0,8}[0-9]{1,15}[ \t]{0,8}\r?\n", re.IGNORECASE
)
_MESSAGE_KEYS = (b'"jsonrpc"', b'"method"')
_LENGTH = patterns.compile(rb"[0-9]{1,15}")
_LONGEST_HEADER = 64
_LONGEST_LINE = 65_536
_WINDOW = 256
_NO_BODY = (None, None, None)


def frame(body: bytes) -> bytes:
    """``body`` with the one header, spelled as the strictest readers expect it."""
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


class BaseProtocolReader:
    """Cuts frames out of bytes. ``limit``: the largest body, in bytes."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._buffer = b""
        self._read_until = 0  # everything before this position was read
        self._later_data: list[bytes] = []  # after the buffer, for a long body
        self._missing_size = 0  # bytes that must come before reading can continue
        self._searched_until = 0  # no line break stands between _read_until and here
        self._doubted_until = 0  # the end of a body that contained headers
        self._header_length: bytes | None = None  # of the header that is being read
        self._body_size: int | None = None  # size of the body that is being read
        self._skipped: _Skipped | None = None  # a body over the limit
        self._in_message = False  # whether one of these three is not None

    def first(self, data: bytes) -> ReadFrame | None:
        """Accepts bytes from the client; returns the next frame, like `next`."""
        if self._read_until == len(self._buffer) and not self._in_message:
            match = _PLAIN_HEADER.match(data)
            if match:
                start = match.end()
                size = int(match[1])
                if start + size == len(data) and size <= self.limit:
                    self._buffer = data
                    self._read_until = self._searched_until = len(data)
                    self._doubted_until = 0
                    return data[start:]
        self.feed(data)
        return self.next()

    def feed(self, data: bytes) -> None:
        """Accepts bytes from the client."""
        if self._missing_size > len(data):
            self._later_data.append(data)
            self._missing_size -= len(data)
            return
        if self._later_data or self._read_until < len(self._buffer):
            data = b"".join((self._buffer[self._read_until :], *self._later_data, data))
            self._later_data.clear()
        self._buffer = data
        self._missing_size = 0
        self._searched_until -= self._read_until
        self._doubted_until -= self._read_until
        self._read_until = 0

    def next(self) -> ReadFrame | None:
        """The next frame; None if more bytes are needed."""
        buffer = self._buffer
        if self._missing_size or (
            self._read_until == len(buffer) and self._body_size != 0
        ):
            return None
        if not self._in_message:
            match = _PLAIN_HEADER.match(buffer, self._read_until)
            if match:
                start = match.end()
                end = start + int(match[1])
                is_whole = end <= len(buffer) and end - start <= self.limit
                if is_whole and start >= self._doubted_until:
                    self._read_until = self._searched_until = end
                    return buffer[start:end]
        frame_read = self._next_by_line()
        message_state = self._body_size, self._header_length, self._skipped
        self._in_message = message_state != _NO_BODY
        return frame_read

    def _next_by_line(self) -> ReadFrame | None:
        if self._body_size is None:
            unreadable = self._read_header()
            if self._body_size is None:
                return unreadable
        end = self._read_until + self._body_size
        if self._read_until < self._doubted_until:  # a header inside the body ends it
            header_start = _find_header(self._buffer, self._read_until, end)
            end = end if header_start < 0 else header_start
        if end > len(self._buffer):
            self._missing_size = end - len(self._buffer)
            return None
        body = self._buffer[self._read_until : end]
        self._move_to(end)
        self._body_size = None
        return body

    def finish(self) -> ReadFrame | None:
        """The frame of the last, unfinished message at the end of input, if any."""
        self._missing_size = 0
        self.feed(b"")
        last_bytes = self._buffer
        self._move_to(len(last_bytes))
        if self._skipped:
            return self._skipped.consume(last_bytes, b"", is_over=True)
        if self._body_size is None:
            return self._read_line(last_bytes)
        return last_bytes or None

    def reject(self, body: bytes) -> bytes | None:
        """Returns what precedes the first header in ``body``, and continues reading at
        this header; None if ``body`` has no header.

        ``body`` is the last frame of `next` or `finish`, and is not JSON. If its length
        was wrong, the lengths of the messages in it may be wrong, too. So a header that
        follows ends each of these messages, whatever their lengths are; otherwise all
        of the rest would be read again for each of them.
        """
        header_start = _find_header(body, 0, len(body))
        if header_start < 0:
            header_start = _find_header_start(body)
        if header_start < 0:
            return None
        self._doubted_until = max(self._doubted_until, self._read_until)
        self._move_to(self._read_until - len(body) + header_start)
        return body[:header_start]

    def _move_to(self, position: int) -> None:
        self._read_until = self._searched_until = position

    def _read_header(self) -> UnreadableFrame | None:
        if self._skipped:
            unreadable = self._skip(self._skipped)
            if unreadable or self._skipped:
                return unreadable
        while self._body_size is None and not self._skipped:
            end = self._buffer.find(b"\n", self._searched_until)
            if end < 0:
                self._searched_until = len(self._buffer)
                if self._searched_until - self._read_until > _LONGEST_LINE:
                    self._read_until = self._searched_until - _LONGEST_HEADER
                return None
            line = self._buffer[self._read_until : end]
            self._move_to(end + 1)
            if unreadable := self._read_line(line):
                return unreadable
        return None

    def _read_line(self, line: bytes) -> UnreadableFrame | None:
        """Reads a header line, the empty line after a header, or noise."""
        line = line.strip()
        if not line and self._header_length is not None:
            length, self._header_length = self._header_length, None
            return self._begin_body(length)
        name, _, value = line[max(0, line.lower().rfind(_NAME)) :].partition(b":")
        if name.strip().lower() == _NAME:
            if self._header_length is None:
                self._header_length = value.strip()
        elif line.startswith(b"{") and any(key in line for key in _MESSAGE_KEYS):
            error = ParseError("a message needs a Content-Length header before it")
            return UnreadableFrame(error, recover_id(line))
        return None

    def _begin_body(self, length: bytes) -> UnreadableFrame | None:
        if not _LENGTH.fullmatch(length):
            return UnreadableFrame(ParseError("Content-Length must be a byte count"))
        size = int(length)
        if size > self.limit:
            self._skipped = _Skipped(size, self.limit, size_left=size)
            return self._skip(self._skipped)
        self._body_size = size
        return None

    def _skip(self, skipped: _Skipped) -> UnreadableFrame | None:
        """Skips a body, but never the header of another message."""
        start = self._read_until
        body_end = min(len(self._buffer), start + skipped.size_left)
        end = _find_header(self._buffer, start, body_end)
        is_over = end >= 0 or body_end - start == skipped.size_left
        if end < 0:  # near the last byte a header may have begun
            end = body_end if is_over else max(start, body_end - _LONGEST_HEADER)
        tail = b"" if is_over else self._buffer[end:body_end]
        if is_over:
            self._skipped = None
        self._move_to(end)
        return skipped.consume(self._buffer[start:end], tail, is_over)


@define
class _Skipped:
    """A body over the limit; its beginning and end are kept to find the id in them."""

    size: int
    limit: int
    size_left: int
    head: bytes = b""
    tail: bytes = b""
    digest: TextDigest = field(factory=TextDigest)
    is_answered: bool = False

    def consume(
        self, part: bytes, tail: bytes, is_over: bool
    ) -> UnreadableFrame | None:
        """Consumes ``part`` of the body, which ``tail`` follows. Returns the frame
        once: when the id is known, at the latest when the body is over."""
        self.size_left -= len(part)
        if self.is_answered:
            return None
        self.digest.feed(part)
        room = SAMPLE - len(self.head)
        self.head += part[:room]
        self.tail = (self.tail + part[room:])[-SAMPLE:]
        if not (room or is_over):
            return None
        message_id = recover_id(self.head + (self.tail if is_over else tail))
        if message_id is None and not is_over:
            return None
        self.is_answered = True
        error = LimitExceededError(
            f"message of {self.size} bytes, maxMessageBytes is {self.limit}",
            limit=self.limit,
            value=self.size,
            retryable=False,
        )
        return UnreadableFrame(error, message_id, self.head + self.tail, self.digest)


def _find_header(data: bytes, start: int, end: int) -> int:
    """The start of the first whole Content-Length line between two positions, or -1.
    The windows grow, so at most about twice the distance to the header is read."""
    end, size = min(end, len(data)), _WINDOW
    while start < end:
        window = data[start : min(end, start + size + _LONGEST_HEADER)].lower()
        index = window.find(_NAME)
        while index >= 0 and not _HEADER.match(window, index):
            index = window.find(_NAME, index + 1)
        if index >= 0:
            return start + index
        start += size
        size *= 2
    return -1


def _find_header_start(data: bytes) -> int:
    """The start of a Content-Length line that the end of ``data`` cuts off, or -1."""
    end = bytes(data[-_LONGEST_HEADER:].lower())
    index = end.rfind(_NAME)
    if index < 0:
        sizes = range(len(_NAME) - 1, 0, -1)
        index = next(
            (len(end) - size for size in sizes if end.endswith(_NAME[:size])), -1
        )
    return index if index < 0 else index + len(data) - len(end)
