"""Framing: the chunks of a response body in, provider documents out.

`Framer` takes whatever a host pushes. A chunk that is no string is a decoded document;
strings are read as ``framing`` says (protocol.md, "stream/open"):

- ``json``: every string is one document.
- ``sse``: any slices of an event stream (``sidecar.sse``).
- ``ndjson``, ``json-array``: any slices of JSON documents (``sidecar.jsonstream``).
- ``text``: any slices of model text.
- ``auto``: ``ndjson``, ``json-array``, ``sse`` or ``text``, decided on the first
  characters that are neither byte order mark nor white space.

Nothing raises for what is in a chunk: what is no document is a ``malformed-chunk``
diagnostic, a document over the limit a ``document-limit`` one. Frames depend on the
characters of the input alone, never on its cuts (but for ``json``), and come with the
character that completes them. Time is linear in the input.
"""

from __future__ import annotations

import codecs
import re
from binascii import a2b_base64
from typing import Protocol, TypeAlias

from sidecar.jsonstream import ArrayReader, SequenceReader, end_of
from sidecar.sse import Frame, Held, SseReader, frame_of, malformed
from sidecar.text import SurrogateJoiner
from sidecar.wires.parts import DiagnosticPart, Document

__all__ = ["FRAMINGS", "Frame", "Framer"]

_BLANKS = " \t\n\r"
_BYTE_ORDER_MARK = "\ufeff"

_KEEPING = ("text", "auto")
"""In a model's text a byte order mark is a character; elsewhere it is transport."""


class Framer:
    """One stream's framing: ``push(chunk)`` and ``close()`` give frames.

    ``encoding`` is ``utf-8`` (strings are text) or ``base64`` (of UTF-8 bytes);
    ``max_document_chars`` counts code points.
    """

    def __init__(
        self,
        framing: str = "auto",
        encoding: str = "utf-8",
        max_document_chars: int = 8_388_608,
    ) -> None:
        self._decoder = _DECODERS[encoding](max_document_chars)
        self._reader = _READERS[framing](max_document_chars)
        self._started = False

    @property
    def framing(self) -> str:
        """``auto`` until the input has decided it, then what was decided."""
        return self._reader.framing

    def push(self, chunk: object) -> list[Frame]:
        if not isinstance(chunk, str):
            return [Document(chunk)]
        frames = self._read(self._decoder.push(chunk))
        return frames + self.close() if self.framing == "json" else frames

    def close(self) -> list[Frame]:
        frames = self._read(self._decoder.close())
        return frames + self._reader.close()

    def _read(self, pieces: list[Piece]) -> list[Frame]:
        frames: list[Frame] = []
        for piece in pieces:
            if isinstance(piece, DiagnosticPart):
                frames.append(piece)
            elif self._started:
                frames += self._reader.push(piece)
            elif piece:
                self._started = True
                if self.framing not in _KEEPING:
                    piece = piece.removeprefix(_BYTE_ORDER_MARK)
                frames += self._reader.push(piece)
        return frames


# --- Decoders: the strings of a host to characters ------------------------------------

Piece: TypeAlias = str | DiagnosticPart


class _Decoder(Protocol):
    def __init__(self, limit: int) -> None: ...

    def push(self, chunk: str) -> list[Piece]: ...

    def close(self) -> list[Piece]: ...


class _TextDecoder:
    """Strings of text, cut anywhere, also between the halves of a UTF-16 pair."""

    def __init__(self, _limit: int) -> None:
        self._joiner = SurrogateJoiner()

    def push(self, chunk: str) -> list[Piece]:
        return [self._joiner.push(chunk)]

    def close(self) -> list[Piece]:
        pieces: list[Piece] = [self._joiner.close()]
        count, self._joiner.repaired = self._joiner.repaired, 0
        if count:
            problem = f"Half characters without their partner became U+FFFD: {count}."
            pieces.append(DiagnosticPart("surrogate-repaired", problem, "info"))
        return pieces


_WORDS = re.compile(r"\s+|\S+")
_ALPHABET = re.compile(r"[A-Za-z0-9+/]*+")
_PADDED = re.compile(r"[A-Za-z0-9+/]{2}(?:==|[A-Za-z0-9+/]=)")
_CUT_QUARTET = re.compile(r"[A-Za-z0-9+/]{0,3}|[A-Za-z0-9+/]{2}=")


class _Base64Decoder:
    """Base64 of UTF-8 bytes (RFC 4648, 4), cut anywhere, padding and blanks anywhere.

    From the quartet that cannot be one up to the next white space nothing can be
    trusted: reported as one piece. Bytes that are no UTF-8 become U+FFFD.
    """

    def __init__(self, limit: int) -> None:
        self._utf8 = codecs.getincrementaldecoder("utf-8")("replace")
        self._quartet = ""
        self._junk = Held(limit)

    def push(self, chunk: str) -> list[Piece]:
        pieces: list[Piece] = []
        for word in _WORDS.findall(chunk):
            if word.isspace():
                pieces += self._end_junk()
            elif self._junk.pieces:
                self._junk.add(word)
            else:
                pieces.append(self._utf8.decode(self._bytes(word)))
        return pieces

    def close(self) -> list[Piece]:
        """Padding may be missing at the end; a single character is no byte."""
        rest, self._quartet = self._quartet, ""
        if len(rest) == 1:
            self._junk.add(rest)
            rest = ""
        last = self._utf8.decode(a2b_base64(rest.rstrip("=") + "=="), final=True)
        return [last, *self._end_junk()]

    def _bytes(self, word: str) -> bytes:
        text, self._quartet = self._quartet + word, ""
        found = []
        at = 0
        while True:
            run = end_of(_ALPHABET, text, at)
            whole = run - (run - at) % 4
            found.append(a2b_base64(text[at:whole]))
            at = whole + 4
            quartet = text[whole:at]
            if _PADDED.fullmatch(quartet):
                found.append(a2b_base64(quartet))
            elif _CUT_QUARTET.fullmatch(quartet):
                self._quartet = quartet
                return b"".join(found)
            else:
                self._junk.add(text[whole:])
                return b"".join(found)

    def _end_junk(self) -> list[Piece]:
        if not self._junk.pieces:
            return []
        junk = self._junk.take()
        problem = "Text that is not base64"
        return [malformed(junk, problem) if isinstance(junk, str) else junk]


# --- Readers: characters to documents -------------------------------------------------


class _Reader(Protocol):
    framing: str

    def __init__(self, limit: int) -> None: ...

    def push(self, text: str) -> list[Frame]: ...

    def close(self) -> list[Frame]: ...


class _TextReader:
    framing = "text"

    def __init__(self, _limit: int) -> None: ...

    def push(self, text: str) -> list[Frame]:
        return [Document(text)] if text else []

    def close(self) -> list[Frame]:
        return []


class _JsonReader:
    """What is pushed up to a close is one document; blank text is none."""

    framing = "json"

    def __init__(self, limit: int) -> None:
        self._held = Held(limit)

    def push(self, text: str) -> list[Frame]:
        self._held.add(text.removeprefix(_BYTE_ORDER_MARK))
        return []

    def close(self) -> list[Frame]:
        text = self._held.take()
        blank = isinstance(text, str) and not text.strip()
        return [] if blank else [frame_of(text)]


_OPENERS = {
    "{": "ndjson",
    "[DONE]": "ndjson",
    "data:": "sse",
    "event:": "sse",
    "id:": "sse",
    "retry:": "sse",
    ":": "sse",
}


class _AutoReader:
    """Holds the beginning of the input until it decides who reads it.

    White space longer than a document may be is text, whatever follows.
    """

    def __init__(self, limit: int) -> None:
        self.framing = "auto"
        self._limit = limit
        self._reader: _Reader | None = None
        self._blanks: list[str] = []
        self._size = 0
        self._start = ""

    def push(self, text: str) -> list[Frame]:
        if self._reader is not None:
            return self._reader.push(text)
        if not self._start:
            start = text.lstrip(_BLANKS + _BYTE_ORDER_MARK)
            self._blanks.append(text[: len(text) - len(start)])
            self._size += len(text) - len(start)
            text = start
        self._start += text
        framing = "text" if self._size > self._limit else _guess(self._start)
        return self._decide(framing) if framing else []

    def close(self) -> list[Frame]:
        frames: list[Frame] = []
        if self._reader is None and self._size + len(self._start):
            frames = self._decide("json-array" if self._start[:1] == "[" else "text")
        return frames + self._reader.close() if self._reader else frames

    def _decide(self, framing: str) -> list[Frame]:
        """White space before documents means nothing; before text it is text."""
        self.framing = framing
        self._reader = _READERS[framing](self._limit)
        blanks = "".join(self._blanks) if framing == "text" else ""
        return self._reader.push(blanks + self._start)


def _guess(start: str) -> str | None:
    """The framing of a body that starts like this; None: it may be one or another."""
    for opener, framing in _OPENERS.items():
        if start.startswith(opener):
            return framing
    if any(opener.startswith(start) for opener in _OPENERS):
        return None
    return "json-array" if start[0] == "[" else "text"


# --- The tables -----------------------------------------------------------------------

_DECODERS: dict[str, type[_Decoder]] = {
    "utf-8": _TextDecoder,
    "base64": _Base64Decoder,
}
_READERS: dict[str, type[_Reader]] = {
    "auto": _AutoReader,
    "json": _JsonReader,
    "sse": SseReader,
    "ndjson": SequenceReader,
    "json-array": ArrayReader,
    "text": _TextReader,
}
FRAMINGS: tuple[str, ...] = tuple(_READERS)
"""The names of all framings, ``auto`` first."""
