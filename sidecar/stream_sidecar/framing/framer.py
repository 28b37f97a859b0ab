"""Framing: the chunks of a response body in, provider documents out.

`Framer` accepts any chunk that a host pushes. A chunk that is not a string is a decoded
document. ``framing`` says how strings are read (protocol.md, "stream/open"):

- ``json``: every string is one document.
- ``sse``: any slices of an event stream (``sse``).
- ``ndjson``, ``json-array``: any slices of JSON documents (``json_documents``).
- ``aws-eventstream``: any slices of the bytes (``aws_eventstream``), as base64.
- ``text``: any slices of model text.
- ``auto``: the first characters after byte order mark and white space choose
  ``ndjson``, ``json-array``, ``sse`` or ``text``. Bytes that begin with a zero, as no
  text does, are an ``aws-eventstream``.

No content of a chunk raises an error. Input that is no document gives a
``malformed-chunk`` diagnostic, a document over the limit a ``document-limit`` one; up
to another limit the document itself is a frame, too (`LongDocument`).
Frames depend only on the characters of the input, never on its cuts (except with
``json``), and each is returned with the character that completes it. Time is linear in
the input.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from stream_sidecar.framing.aws_eventstream import EventStreamReader
from stream_sidecar.framing.decoders import Slice, decoder_of
from stream_sidecar.framing.frames import HEAD, Frame, Held, frames_of, malformed
from stream_sidecar.framing.json_documents import ArrayReader, SequenceReader
from stream_sidecar.framing.sse import SseReader
from stream_sidecar.parts import DiagnosticPart, Document
from stream_sidecar.values.surrogates import has_half

if TYPE_CHECKING:
    from stream_sidecar.values.surrogates import SurrogateJoiner

__all__ = ["FRAMINGS", "Frame", "Framer"]

_BLANKS = " \t\n\r"
BYTE_ORDER_MARK = "\ufeff"

_COMPRESSED_STARTS = ("\x1f\x8b", "\x1f\ufffd", "(\xb5/\xfd", "(\ufffd/\ufffd")
"""How gzip (RFC 1952) and Zstandard (RFC 8878) begin, also as broken UTF-8."""

_BOM_FRAMINGS = ("text", "auto")
"""Framings with a model's text, in which a byte order mark is a character."""


class Framer:
    """The framing of one stream: ``push(chunk)`` and ``close()`` return frames.

    ``encoding`` is ``utf-8`` (strings are text) or ``base64`` (of the body's bytes);
    ``limit`` is the most code points of a document that is read, ``kept`` of one that
    is passed on.
    """

    def __init__(
        self, framing: str, encoding: str = "utf-8", *, limit: int, kept: int = 0
    ) -> None:
        self._decoder = decoder_of(framing, encoding, limit)
        self._reader = _READER_OF_FRAMING[framing](limit, kept)
        self._beginning = ""  # may be the beginning of a compressed body
        self._has_started = False  # some input has arrived
        self._closes_each = framing == "json"  # every string is a document
        #: joins the halves of characters, if the input is text
        self.joiner: SurrogateJoiner | None = getattr(self._decoder, "joiner", None)
        self._most_held = 2 * max(limit, kept)  # a document, and a line after it
        self._held_size = 0  # code points since the last push that gave frames

    @property
    def framing(self) -> str:
        """The framing; ``auto`` until the input has decided it."""
        return self._reader.framing

    @property
    def idle(self) -> bool:
        """Whether strings are text, and no part of them is held back."""
        joiner = self.joiner
        return joiner is not None and not joiner.held and self._reader.idle

    @property
    def held(self) -> int:
        """An upper bound for the code points that are held back."""
        return 0 if self.idle else min(self._held_size, self._most_held)

    def push(self, chunk: object) -> list[Frame]:
        if not isinstance(chunk, str):
            return [Document(chunk)]
        joiner = self.joiner
        is_text = self._has_started and joiner is not None and not joiner.held
        if is_text and (chunk.isascii() or not has_half(chunk)):
            frames = self._reader.push(chunk)  # the decoder would not change it
        else:
            frames = self._read_pieces(self._decoder.push(chunk))
        if self._closes_each:
            return frames + self.close()
        self._held_size = len(chunk) if frames else self._held_size + len(chunk)
        return frames

    def close(self) -> list[Frame]:
        frames = self._read_pieces(self._decoder.close())
        if start := self._beginning:
            self._beginning, self._has_started = "", True
            frames += self._reader.push(start)
        return frames + self._reader.close()

    def _read_pieces(self, pieces: list[Slice]) -> list[Frame]:
        frames: list[Frame] = []
        for piece in pieces:
            if isinstance(piece, DiagnosticPart):
                frames.append(piece)
            elif piece:
                if not self._has_started and isinstance(piece, str):
                    piece = self._begin_body(piece)
                self._has_started = not self._beginning
                frames += self._reader.push(piece) if self._has_started else []
        return frames

    def _begin_body(self, piece: str) -> str:
        """Returns the beginning of the body for the reader. Keeps it in ``_beginning``
        while it may be the beginning of a compressed body; then the reader gets nothing
        yet."""
        start, self._beginning = self._beginning + piece, ""
        if self.framing == "text":
            return start
        if start.startswith(_COMPRESSED_STARTS):
            self._reader = _CompressedReader(self._reader.framing)
        elif any(sign.startswith(start) for sign in _COMPRESSED_STARTS):
            self._beginning = start
        elif self.framing not in _BOM_FRAMINGS:
            start = start.removeprefix(BYTE_ORDER_MARK)
        return start


# --- Readers: characters to documents -------------------------------------------------


class _Reader(Protocol):
    framing: str

    @property
    def idle(self) -> bool:
        """Whether the reader holds nothing."""

    def __init__(self, limit: int, kept: int) -> None: ...

    def push(self, text: Any) -> list[Frame]: ...

    def close(self) -> list[Frame]: ...


class _TextReader:
    framing = "text"
    idle = True

    def __init__(self, _limit: int, _kept: int) -> None: ...

    def push(self, text: str) -> list[Frame]:
        return [Document(text)] if text else []

    def close(self) -> list[Frame]:
        return []


class _JsonReader:
    """Reads all text before a ``close`` as one document, unless it is blank."""

    framing = "json"
    idle = True  # every string is closed

    def __init__(self, limit: int, kept: int) -> None:
        self._held = Held(limit, kept)

    def push(self, text: str) -> list[Frame]:
        self._held.add(text.removeprefix(BYTE_ORDER_MARK))
        return []

    def close(self) -> list[Frame]:
        text = self._held.take()
        is_blank = isinstance(text, str) and not text.strip()
        return [] if is_blank else frames_of(text)


_COMPRESSION_MESSAGE = (
    "The body is compressed (gzip or zstd): the HTTP client did not decode its"
    " content-encoding"
)


class _CompressedReader:
    """A body that the host's HTTP client did not decompress; reported as an error."""

    idle = False

    def __init__(self, framing: str) -> None:
        self.framing = framing
        self._body_head = Held(HEAD)

    def push(self, text: str) -> list[Frame]:
        self._body_head.add(text)
        return []

    def close(self) -> list[Frame]:
        if not self._body_head.pieces:
            return []
        error = {"type": "compressed_body", "message": _COMPRESSION_MESSAGE}
        head = malformed("".join(self._body_head.pieces)[:HEAD], "A compressed body")
        self._body_head = Held(HEAD)
        return [head, Document({"error": error}, "error")]


_FRAMING_OF_OPENER = {
    "{": "ndjson",
    "[DONE]": "ndjson",
    "data:": "sse",
    "event:": "sse",
    "id:": "sse",
    "retry:": "sse",
    "error: {": "sse",
    ":": "sse",
}


class _AutoReader:
    """Holds the beginning of the input until it decides which reader to use.

    White space longer than ``limit`` is text, whatever follows.
    """

    def __init__(self, limit: int, kept: int) -> None:
        self.framing = "auto"
        self._limit = limit
        self._kept = kept
        self._reader: _Reader | None = None
        self._blanks: list[str] = []
        self._blank_size = 0
        self._beginning = ""

    def push(self, text: str | bytes) -> list[Frame]:
        if self._reader is not None:
            return self._reader.push(text)
        if isinstance(text, bytes):
            self.framing = EventStreamReader.framing
            self._reader = EventStreamReader(self._limit, self._kept)
            return self._reader.push(text)
        if not self._beginning:
            visible = text.lstrip(_BLANKS + BYTE_ORDER_MARK)
            self._blanks.append(text[: len(text) - len(visible)])
            self._blank_size += len(text) - len(visible)
            text = visible
        self._beginning += text
        framing = "text" if self._blank_size > self._limit else _guess(self._beginning)
        return self._start_with(framing) if framing else []

    @property
    def idle(self) -> bool:
        return self._reader is not None and self._reader.idle

    def close(self) -> list[Frame]:
        frames: list[Frame] = []
        if self._reader is None and self._blank_size + len(self._beginning):
            frames = self._start_with(
                "json-array" if self._beginning[:1] == "[" else "text"
            )
        return frames + self._reader.close() if self._reader else frames

    def _start_with(self, framing: str) -> list[Frame]:
        """Starts a reader; only text keeps white space before it."""
        self.framing = framing
        self._reader = _READER_OF_FRAMING[framing](self._limit, self._kept)
        blanks = "".join(self._blanks) if framing == "text" else ""
        return self._reader.push(blanks + self._beginning)


def _guess(start: str) -> str | None:
    """The framing of a body with this ``start``; None while several are possible."""
    for opener, framing in _FRAMING_OF_OPENER.items():
        if start.startswith(opener):
            return framing
    if any(opener.startswith(start) for opener in _FRAMING_OF_OPENER):
        return None
    return "json-array" if start[0] == "[" else "text"


# --- The tables -----------------------------------------------------------------------

_READER_OF_FRAMING: dict[str, type[_Reader]] = {
    "auto": _AutoReader,
    "json": _JsonReader,
    "sse": SseReader,
    "ndjson": SequenceReader,
    "json-array": ArrayReader,
    "aws-eventstream": EventStreamReader,
    "text": _TextReader,
}
FRAMINGS: tuple[str, ...] = tuple(_READER_OF_FRAMING)
"""The names of all framings, ``auto`` first."""
