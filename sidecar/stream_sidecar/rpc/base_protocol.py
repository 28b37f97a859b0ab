"""The base protocol: bytes of stdin in, message bodies out (LSP 3.17, "Base Protocol").

``first(data)``, then ``next()`` until it gives None; ``finish()`` at the end of input.
A frame is the body of a message, or an `UnreadableFrame` that says why there is none.
Whatever comes, the reader finds the next header and never goes deaf:

- Header names in any case, LF or CRLF, any spacing, unknown and repeated headers (the
  first Content-Length counts), and noise before a header are read over.
- A body over ``limit`` bytes is skipped without being held.
- A body that turns out to be no JSON may have been cut with a wrong length: `reject`
  looks into it for the header of a message that it swallowed. A header line cannot be
  part of a JSON text: its line break would be escaped.
- A JSON-RPC message without a header, as NDJSON hosts send it, is reported.

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
    """A message whose body could not be used; ``id`` where it could be found, and of
    one that was skipped a ``sample``: its first and last bytes, and the ``digest`` of a
    text in it."""

    error: UsageError
    id: Id | None = None
    sample: bytes = b""
    digest: TextDigest = field(factory=TextDigest)


ReadFrame: TypeAlias = bytes | UnreadableFrame

_NAME = b"content-length"
# The header that nearly all messages have: read without looking at lines.
_PLAIN = patterns.compile(rb"Content-Length: ([0-9]{1,15})\r\n\r\n")
_HEADER = patterns.compile(
    rb"content-length[ \t]{0,8}:[ \t]{0,8}[0-9]{1,15}[ \t]{0,8}\r?\n", re.IGNORECASE
)
_LENGTH = patterns.compile(rb"[0-9]{1,15}")
_LONGEST_HEADER = 64
_LONGEST_LINE = 65_536
_WINDOW = 256
_NOTHING = (None, None, None)


def frame(body: bytes) -> bytes:
    """``body`` as it is written: one header, exactly as the strictest readers want."""
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


class BaseProtocolReader:
    """Cuts frames out of bytes. ``limit``: the largest body, in bytes."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._buffer = b""
        self._at = 0  # what is before was read
        self._more: list[bytes] = []  # what came while a long body is awaited
        self._missing = 0  # so many bytes more, until it makes sense to look again
        self._searched = 0  # there is no line break between _at and here
        self._doubted = 0  # up to here reached a body that swallowed headers
        self._length: bytes | None = None  # of the header that is being read
        self._awaited: int | None = None  # size of the body that is being read
        self._skipped: _Skipped | None = None  # a body over the limit
        self._inside = False  # there is one of these three

    def first(self, data: bytes) -> ReadFrame | None:
        """More bytes from the client; the next frame, as `next` gives it."""
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
        """More bytes from the client."""
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
        """The next frame; None when more bytes are needed."""
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
        if self._at < self._doubted:  # what has a header inside needs no more bytes
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
        """What can be said of the last, unfinished message at the end of input."""
        self._missing = 0
        self.feed(b"")
        rest = self._buffer
        self._move_to(len(rest))
        if self._skipped:
            return self._skipped.take(rest, b"", over=True)
        if self._awaited is None:
            return self._read_line(rest)
        return rest or None

    def reject(self, body: bytes) -> bytes | None:
        """Takes back the next message's header from a ``body`` that is no JSON: the
        one that `next` or `finish` gave last.

        Gives what came before it, or None when there is no header in ``body``. Where
        one length was wrong, those of the messages that ``body`` swallowed may be, too:
        none of them is believed over a header that follows, or all of the rest would be
        read again for each of them.
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
                self._wait_for_line()
                return None
            line = self._buffer[self._at : end]
            self._move_to(end + 1)
            if unreadable := self._read_line(line):
                return unreadable
        return None

    def _wait_for_line(self) -> None:
        self._searched = len(self._buffer)
        if self._searched - self._at > _LONGEST_LINE:
            self._at = self._searched - _LONGEST_HEADER

    def _read_line(self, line: bytes) -> UnreadableFrame | None:
        """One header line, or noise; an empty line ends a header."""
        line = line.strip()
        if not line and self._length is not None:
            length, self._length = self._length, None
            return self._begin_body(length)
        name, _, value = line[max(0, line.lower().rfind(_NAME)) :].partition(b":")
        if name.strip().lower() == _NAME:
            if self._length is None:
                self._length = value.strip()
        elif line.startswith(b"{") and b'"jsonrpc"' in line:
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
        """Reads over a body, but never over the header of another message."""
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
        return skipped.take(self._buffer[start:end], rest, over)


@define
class _Skipped:
    """A body over the limit: its ends, in which the id may stand."""

    size: int
    limit: int
    left: int
    head: bytes = b""
    tail: bytes = b""
    digest: TextDigest = field(factory=TextDigest)
    answered: bool = False

    def take(self, part: bytes, rest: bytes, over: bool) -> UnreadableFrame | None:
        """Some more of the body; the answer, once, as soon as the id is known.

        ``rest`` follows ``part``, and is of the body unless this is ``over``.
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
    """Where the first whole Content-Length line begins between the places, or -1.

    ``data`` is looked through in windows that grow, so that no more of it is read than
    about twice the way to the header.
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
    """Where a Content-Length line begins that is cut off by the end, or -1."""
    end = bytes(data[-_LONGEST_HEADER:].lower())
    at = end.rfind(_NAME)
    if at < 0:
        sizes = range(len(_NAME) - 1, 0, -1)
        at = next((len(end) - n for n in sizes if end.endswith(_NAME[:n])), -1)
    return at if at < 0 else at + len(data) - len(end)
