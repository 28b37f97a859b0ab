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
    skipped message has a ``sample``, its first and last bytes, and the ``digest`` of a
    text in it."""

    error: UsageError
    id: Id | None = None
    sample: bytes = b""
    digest: TextDigest = field(factory=TextDigest)


ReadFrame: TypeAlias = bytes | UnreadableFrame

_NAME = b"content-length"
# The header that nearly all messages have; it is read without looking for lines.
_PLAIN = patterns.compile(rb"Content-Length: ([0-9]{1,15})\r\n\r\n")
_HEADER = patterns.compile(
    rb"content-length[ \t]{0,8}:[ \t]{0,8}[0-9]{1,15}[ \t]{0,8}\r?\n", re.IGNORECASE
)
_MESSAGE_KEYS = (b'"jsonrpc"', b'"method"')
_LENGTH = patterns.compile(rb"[0-9]{1,15}")
_LONGEST_HEADER = 64
_LONGEST_LINE = 65_536
_WINDOW = 256
_NOTHING = (None, None, None)


def frame(body: bytes) -> bytes:
    """``body`` with the one header, spelled as the strictest readers expect it."""
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


class BaseProtocolReader:
    """Cuts frames out of bytes. ``limit``: the largest body, in bytes."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._buffer = b""
        self._at = 0  # everything before this position was read
        self._more: list[bytes] = []  # what came after the buffer, for a long body
        self._missing = 0  # bytes that must come before reading can continue
        self._searched = 0  # there is no line break between _at and here
        self._doubted = 0  # the end of a body that contained headers
        self._length: bytes | None = None  # of the header that is being read
        self._awaited: int | None = None  # size of the body that is being read
        self._skipped: _Skipped | None = None  # a body over the limit
        self._inside = False  # whether one of these three is not None

    def first(self, data: bytes) -> ReadFrame | None:
        """Accepts bytes from the client; returns the next frame, like `next`."""
        if self._at == len(self._buffer) and not self._inside:
            match = _PLAIN.match(data)
            if match:
                start = match.end()
                size = int(match[1])
                if start + size == len(data) and size <= self.limit:
                    self._buffer = data
                    self._at = self._searched = len(data)
                    self._doubted = 0
                    return data[start:]
        self.feed(data)
        return self.next()

    def feed(self, data: bytes) -> None:
        """Accepts bytes from the client."""
        if self._missing > len(data):
            self._more.append(data)
            self._missing -= len(data)
            return
        if self._more or self._at < len(self._buffer):
            data = b"".join((self._buffer[self._at :], *self._more, data))
            self._more.clear()
        self._buffer = data
        self._missing = 0
        self._searched -= self._at
        self._doubted -= self._at
        self._at = 0

    def next(self) -> ReadFrame | None:
        """The next frame; None if more bytes are needed."""
        buffer = self._buffer
        if self._missing or (self._at == len(buffer) and self._awaited != 0):
            return None
        if not self._inside:
            match = _PLAIN.match(buffer, self._at)
            if match:
                start = match.end()
                end = start + int(match[1])
                whole = end <= len(buffer) and end - start <= self.limit
                if whole and start >= self._doubted:
                    self._at = self._searched = end
                    return buffer[start:end]
        found = self._next_by_line()
        begun = self._awaited, self._length, self._skipped
        self._inside = begun != _NOTHING
        return found

    def _next_by_line(self) -> ReadFrame | None:
        if self._awaited is None:
            unreadable = self._read_header()
            if self._awaited is None:
                return unreadable
        end = self._at + self._awaited
        if self._at < self._doubted:  # a header inside the body ends it
            found = _find_header(self._buffer, self._at, end)
            end = end if found < 0 else found
        if end > len(self._buffer):
            self._missing = end - len(self._buffer)
            return None
        body = self._buffer[self._at : end]
        self._move_to(end)
        self._awaited = None
        return body

    def finish(self) -> ReadFrame | None:
        """The frame of the last, unfinished message at the end of input, if any."""
        self._missing = 0
        self.feed(b"")
        rest = self._buffer
        self._move_to(len(rest))
        if self._skipped:
            return self._skipped.consume(rest, b"", over=True)
        if self._awaited is None:
            return self._read_line(rest)
        return rest or None

    def reject(self, body: bytes) -> bytes | None:
        """Returns what precedes the first header in ``body``, and continues reading at
        this header; None if ``body`` has no header.

        ``body`` is the last frame of `next` or `finish`, and is not JSON. If its length
        was wrong, the lengths of the messages in it may be wrong, too. So a header that
        follows ends each of these messages, whatever their lengths are; otherwise all
        of the rest would be read again for each of them.
        """
        at = _find_header(body, 0, len(body))
        if at < 0:
            at = _find_header_start(body)
        if at < 0:
            return None
        self._doubted = max(self._doubted, self._at)
        self._move_to(self._at - len(body) + at)
        return body[:at]

    def _move_to(self, position: int) -> None:
        self._at = self._searched = position

    def _read_header(self) -> UnreadableFrame | None:
        if self._skipped:
            unreadable = self._skip(self._skipped)
            if unreadable or self._skipped:
                return unreadable
        while self._awaited is None and not self._skipped:
            end = self._buffer.find(b"\n", self._searched)
            if end < 0:
                self._searched = len(self._buffer)
                if self._searched - self._at > _LONGEST_LINE:
                    self._at = self._searched - _LONGEST_HEADER
                return None
            line = self._buffer[self._at : end]
            self._move_to(end + 1)
            if unreadable := self._read_line(line):
                return unreadable
        return None

    def _read_line(self, line: bytes) -> UnreadableFrame | None:
        """Reads a header line, the empty line after a header, or noise."""
        line = line.strip()
        if not line and self._length is not None:
            length, self._length = self._length, None
            return self._begin_body(length)
        name, _, value = line[max(0, line.lower().rfind(_NAME)) :].partition(b":")
        if name.strip().lower() == _NAME:
            if self._length is None:
                self._length = value.strip()
        elif line.startswith(b"{") and any(key in line for key in _MESSAGE_KEYS):
            error = ParseError("a message needs a Content-Length header before it")
            return UnreadableFrame(error, recover_id(line))
        return None

    def _begin_body(self, length: bytes) -> UnreadableFrame | None:
        if not _LENGTH.fullmatch(length):
            return UnreadableFrame(ParseError("Content-Length must be a byte count"))
        size = int(length)
        if size > self.limit:
            self._skipped = _Skipped(size, self.limit, left=size)
            return self._skip(self._skipped)
        self._awaited = size
        return None

    def _skip(self, skipped: _Skipped) -> UnreadableFrame | None:
        """Skips a body, but never the header of another message."""
        start = self._at
        last = min(len(self._buffer), start + skipped.left)
        end = _find_header(self._buffer, start, last)
        over = end >= 0 or last - start == skipped.left
        if end < 0:  # near the last byte a header may have begun
            end = last if over else max(start, last - _LONGEST_HEADER)
        rest = b"" if over else self._buffer[end:last]
        if over:
            self._skipped = None
        self._move_to(end)
        return skipped.consume(self._buffer[start:end], rest, over)


@define
class _Skipped:
    """A body over the limit; its beginning and end are kept to find the id in them."""

    size: int
    limit: int
    left: int
    head: bytes = b""
    tail: bytes = b""
    digest: TextDigest = field(factory=TextDigest)
    answered: bool = False

    def consume(self, part: bytes, rest: bytes, over: bool) -> UnreadableFrame | None:
        """Consumes ``part`` of the body. Returns the frame once: when the id is known,
        at the latest when the body is ``over``.

        ``rest`` follows ``part`` in the body; it is empty when the body is over.
        """
        self.left -= len(part)
        if self.answered:
            return None
        self.digest.feed(part)
        room = SAMPLE - len(self.head)
        self.head += part[:room]
        self.tail = (self.tail + part[room:])[-SAMPLE:]
        if not (room or over):
            return None
        found = recover_id(self.head + (self.tail if over else rest))
        if found is None and not over:
            return None
        self.answered = True
        error = LimitExceededError(
            f"message of {self.size} bytes, maxMessageBytes is {self.limit}",
            limit=self.limit,
            value=self.size,
            retryable=False,
        )
        return UnreadableFrame(error, found, self.head + self.tail, self.digest)


def _find_header(data: bytes, start: int, end: int) -> int:
    """The start of the first whole Content-Length line between two positions, or -1.

    The search uses windows of growing size, so it reads at most about twice the
    distance to the header.
    """
    end, size = min(end, len(data)), _WINDOW
    while start < end:
        window = data[start : min(end, start + size + _LONGEST_HEADER)].lower()
        at = window.find(_NAME)
        while at >= 0 and not _HEADER.match(window, at):
            at = window.find(_NAME, at + 1)
        if at >= 0:
            return start + at
        start += size
        size *= 2
    return -1


def _find_header_start(data: bytes) -> int:
    """The start of a Content-Length line that the end of ``data`` cuts off, or -1."""
    end = bytes(data[-_LONGEST_HEADER:].lower())
    at = end.rfind(_NAME)
    if at < 0:
        sizes = range(len(_NAME) - 1, 0, -1)
        at = next((len(end) - n for n in sizes if end.endswith(_NAME[:n])), -1)
    return at if at < 0 else at + len(data) - len(end)
