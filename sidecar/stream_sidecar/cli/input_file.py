"""The arguments of commands that read what a provider sent: its file and its format.

`InputFile` opens a file, and `Input` reads it: as UTF-8, whatever byte order mark it
begins with (Windows PowerShell writes UTF-16), and without the heads that ``curl -i``
prints before a body. An input that is no text ends the command with one sentence.
"""

from __future__ import annotations

import base64
import codecs
import os
import sys
import zlib
from itertools import chain
from typing import TYPE_CHECKING, Any

import click

from stream_sidecar import patterns
from stream_sidecar.cli import Failure
from stream_sidecar.cli.terminal import warn
from stream_sidecar.events import Diagnostic, Metadata, ProviderError
from stream_sidecar.framing.framer import FRAMINGS
from stream_sidecar.options import StreamOptions
from stream_sidecar.session_files.file_kinds import kind_of
from stream_sidecar.stream.stream import Stream
from stream_sidecar.wires import WIRES

if TYPE_CHECKING:
    from collections.abc import Iterator
    from io import BufferedReader

wire_option = click.option(
    "--wire",
    type=click.Choice(["auto", *WIRES]),
    default="auto",
    metavar="WIRE",
    show_default=True,
    help=f"The provider's format: auto, {', '.join(WIRES)}.",
)

framing_option = click.option(
    "--framing",
    type=click.Choice(FRAMINGS),
    default="auto",
    show_default=True,
    help="How the documents in FILE are separated.",
)

_SLICE = 65_536
_START = 8192
"""How many bytes at the beginning of a body decide whether it is text."""

_MOST_NON_TEXT = 0.1
"""A text has fewer characters than this share that cannot be decoded."""

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # begins with the mark of UTF-16
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_LONGEST_MARK = 4

_STATUS = patterns.compile(rb"HTTP/[0-9](?:\.[0-9])? ([0-9]{3})")
_LONGEST_STATUS = len(b"HTTP/1.1 200")
_HEAD_END = patterns.compile(rb"\r?\n\r?\n")
_LONGEST_HEAD = 1 << 18

_NON_TEXT = patterns.compile("[\0-\x06\x0e-\x1a\x1c-\x1f\x7f\ufffd]")
"""What text does not have: controls, and what could not be decoded."""


class InputFile(click.File):
    """A file that is read whole or as it arrives; ``-`` is standard input. Raises
    `Failure` if the parent process has closed standard input."""

    def __init__(self) -> None:
        super().__init__("rb")

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Any:
        if value == "-" and sys.stdin is None:
            raise Failure("standard input is closed")
        file: Any = super().convert(value, param, ctx)
        return Input(file, value)


_PRELUDE = 12
"""The bytes before the headers of AWS's event stream: two sizes and their checksum."""


class Input:
    """What a file says. ``path``: its name on the command line; ``name``: without the
    folder, for messages.

    ``status`` and ``headers``: those of the last head that ``curl -i`` wrote before the
    body; None and empty if there is none. They are known when `pieces` returns.
    """

    def __init__(self, file: BufferedReader, path: str) -> None:
        self.path = path
        self.name = "standard input" if path == "-" else os.path.basename(path)
        self.status: int | None = None
        self.headers: dict[str, str] = {}
        self._file = file

    @property
    def failed(self) -> bool:
        """Whether the head says that the request failed."""
        return self.status is not None and not 200 <= self.status < 300

    @property
    def emptiness(self) -> str:
        """The sentence about an input without a body."""
        if self.status is None:
            return f"{self.name} is empty"
        return f"{self.name} has nothing after its head"

    def text(self) -> bytes:
        """All of a file that is no response, as UTF-8."""
        return b"".join(self._checked(_Peekable(_in_utf8(self._read()))))

    def json(self, option: str) -> Any:
        """The value of a file of JSON, which ``option`` named. Raises `Failure` if it
        is none."""
        from stream_sidecar.values.jsontext import decode

        text = self.text()
        if not text.strip():
            raise Failure(f"{option} {self.emptiness}")
        try:
            return decode(text)
        except ValueError as error:
            raise Failure(f"{option} {self.name} is not JSON: {error}") from None

    def pieces(self, framing: str) -> Iterator[bytes]:
        """The body in pieces as they arrive, in UTF-8 unless it is an event stream of
        AWS. Raises `Failure` when it turns out to be no text. With the framing ``text``
        everything is the body, whatever it looks like."""
        if framing == "aws-eventstream":
            source = _Peekable(self._read())
        else:
            source = _Peekable(_in_utf8(self._read()))
        if framing != "text":
            self._read_heads(source)
        if framing == "aws-eventstream" or _is_event_stream(source.reach(_PRELUDE)):
            return source.remainder()
        return self._checked(source)

    def error(self, body: bytes) -> dict[str, Any]:
        """The ``error`` for ``Stream.close`` after a request that failed."""
        text = body.decode("utf-8", "replace")
        return {"status": self.status, "headers": self.headers, "body": text}

    def _read(self) -> Iterator[bytes]:
        while data := self._file.read1(_SLICE):
            yield data

    def _read_heads(self, source: _Peekable) -> None:
        """Removes all heads: of redirects, of a proxy, and of the answer."""
        while status := _STATUS.match(source.reach(_LONGEST_STATUS)):
            while (end := _HEAD_END.search(source.start)) is None:
                if source.has_ended or source.size > _LONGEST_HEAD:
                    return
                source.reach(source.size + 1)
            self.status = int(status[1])
            lines = source.start[: end.start()].decode("latin-1").splitlines()[1:]
            fields = (line.partition(":") for line in lines)
            self.headers = {
                key.strip().lower(): value.strip() for key, _, value in fields
            }
            source.skip(end.end())

    def _checked(self, source: _Peekable) -> Iterator[bytes]:
        """The pieces of a text. They wait while the beginning has something that text
        does not have, until enough of it is known."""
        source.reach(16)  # what begins the files of the known kinds
        start, size = b"", 0  # and how much of it is yielded
        pieces = source.remainder()
        for piece in pieces:
            start += piece
            if len(start) >= _START:
                break
            if not _is_non_text(start):
                yield start[size:]
                size = len(start)
        self._refuse_non_text(start[:_START])
        is_utf8 = True
        decoder = codecs.getincrementaldecoder("utf-8")("strict")
        for piece in chain((start[size:],), pieces):
            try:
                if is_utf8:
                    decoder.decode(piece)
            except UnicodeDecodeError:
                is_utf8 = False
                words = "has bytes that are not UTF-8; U+FFFD stands in their place"
                warn(f"{self.name} {words}")
            yield piece

    def _refuse_non_text(self, start: bytes) -> None:
        """Raises `Failure` if a text does not begin like this."""
        kind = kind_of(start)
        if kind is None and not _is_non_text(start, _MOST_NON_TEXT):
            return
        coding = self.headers.get("content-encoding", "identity")
        if coding != "identity":
            reason = f"it is compressed ({coding}): curl --compressed decompresses it"
        elif kind is None:
            reason = "it is no text in UTF-8"
        else:
            reason = kind.sentence
        raise Failure(f"{self.name} cannot be read: {reason}")


class _Peekable:
    """Pieces of bytes, whose ``start`` can be looked at before it is used."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self.start = b""
        self.has_ended = False

    @property
    def size(self) -> int:
        return len(self.start)

    def reach(self, size: int) -> bytes:
        """The beginning, with at least ``size`` bytes if there are so many."""
        while self.size < size and not self.has_ended:
            piece = next(self._pieces, None)
            self.has_ended = piece is None
            self.start += piece or b""
        return self.start

    def skip(self, size: int) -> None:
        self.start = self.start[size:]

    def remainder(self) -> Iterator[bytes]:
        if self.start:
            yield self.start
        yield from self._pieces


def _in_utf8(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """The pieces in UTF-8 without a byte order mark; unchanged if there is none."""
    source = _Peekable(pieces)
    start = source.reach(_LONGEST_MARK)
    mark, codec = next((row for row in _MARKS if start.startswith(row[0])), (b"", ""))
    if not codec or _is_event_stream(source.reach(_PRELUDE)):
        yield from source.remainder()
        return
    source.skip(len(mark))
    if codec == "utf-8":
        yield from source.remainder()
        return
    decoder = codecs.getincrementaldecoder(codec)("replace")
    for piece in source.remainder():
        yield decoder.decode(piece).encode()
    yield decoder.decode(b"", final=True).encode()


def _is_event_stream(start: bytes) -> bool:
    prelude, checksum = start[:8], start[8:_PRELUDE]
    return start[:1] == b"\0" and zlib.crc32(prelude).to_bytes(4, "big") == checksum


def _is_non_text(start: bytes, share: float = 0.0) -> bool:
    """Whether a larger share of the characters is no text, or one is NUL."""
    text = codecs.getincrementaldecoder("utf-8")("replace").decode(start)
    count = len(_NON_TEXT.findall(text))
    return kind_of(start) is not None or count > share * len(text) or "\0" in text


class WireCheck:
    """Whether a named wire is the wrong one: the input begins as on another wire."""

    def __init__(self, name: str, *, wire: str, framing: str) -> None:
        self._name = name
        self._wire = wire
        self._room = 0 if wire == "auto" or framing == "text" else _SLICE
        self._stream = Stream(StreamOptions(encoding="base64", framing=framing))
        self._types: set[type] = set()
        self._codes: set[str] = set()

    def push(self, piece: bytes) -> None:
        """Reads a piece. Raises `Failure` if the wire is ``text`` and the input is that
        of a provider: what is shown would be no answer."""
        if self._room > 0:
            start, self._room = piece[: self._room], self._room - len(piece)
            events = self._stream.push(base64.b64encode(start).decode())
            self._types.update(map(type, events))
            self._codes.update(e.code for e in events if isinstance(e, Diagnostic))
            if self._wire == "text":
                self.refuse()

    def refuse(self) -> None:
        """Raises `Failure` if the beginning is of another wire."""
        wire, is_text = self._stream.wire, self._wire == "text"
        # JSON that nobody knows has a wire, too.
        has_answer = not self._types <= {Metadata, Diagnostic}
        is_unknown = "unknown-chunk" in self._codes and not has_answer
        if is_text and wire == "auto" and ProviderError in self._types:
            kind = "a provider's error"
        elif wire in ("auto", "text", self._wire) or is_unknown:
            return
        else:
            kind = f"of the wire {wire}"
        hint = "; --framing text reads it as plain text" if is_text else ""
        raise Failure(
            f"{self._name} is {kind}, not {self._wire}: leave --wire out{hint}"
        )
