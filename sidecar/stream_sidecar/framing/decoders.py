"""Decoders: from a host's strings to characters, or to the bytes of an event stream."""

from __future__ import annotations

import codecs
from typing import Protocol, TypeAlias

from stream_sidecar.framing.base64 import Base64Reader
from stream_sidecar.framing.frames import Held, take_junk
from stream_sidecar.parts import DiagnosticPart
from stream_sidecar.values.surrogates import SurrogateJoiner

Slice: TypeAlias = str | bytes | DiagnosticPart


class Decoder(Protocol):
    def push(self, chunk: str) -> list[Slice]: ...

    def close(self) -> list[Slice]: ...


class TextDecoder:
    """Decodes strings of text, cut anywhere, even inside a surrogate pair."""

    def __init__(self) -> None:
        self.joiner = SurrogateJoiner()

    def push(self, chunk: str) -> list[Slice]:
        return [self.joiner.push(chunk)]

    def close(self) -> list[Slice]:
        pieces: list[Slice] = [self.joiner.close()]
        count, self.joiner.repaired = self.joiner.repaired, 0
        if count:
            problem = f"Half characters without their partner became U+FFFD: {count}."
            pieces.append(DiagnosticPart("surrogate-repaired", problem, "info"))
        return pieces


class Base64Decoder:
    """Decodes base64 of UTF-8 or of an event stream, cut anywhere.

    With ``is_binary`` None the first byte decides: an event stream begins with a zero
    byte, and text never does. Bytes that are not UTF-8 become U+FFFD.
    """

    def __init__(self, limit: int, is_binary: bool | None) -> None:
        self._base64 = Base64Reader(limit)
        self._utf8 = codecs.getincrementaldecoder("utf-8")("replace")
        self._is_binary = is_binary

    def push(self, chunk: str) -> list[Slice]:
        return [self._decode_piece(piece) for piece in self._base64.push(chunk)]

    def close(self) -> list[Slice]:
        last_bytes, junk = self._base64.close()
        last_piece = self._decode_piece(last_bytes)
        if isinstance(last_piece, str):
            last_piece += self._utf8.decode(b"", final=True)
        return [last_piece, *junk]

    def _decode_piece(self, piece: bytes | DiagnosticPart) -> Slice:
        if isinstance(piece, DiagnosticPart):
            return piece
        if self._is_binary is None and piece:
            self._is_binary = piece[0] == 0
        return piece if self._is_binary else self._utf8.decode(piece)


class NoBytes:
    """Decodes nothing: the framing needs base64, and the host sends text."""

    def __init__(self, limit: int) -> None:
        self._held = Held(limit)

    def push(self, chunk: str) -> list[Slice]:
        if chunk:
            self._held.add(chunk)
        return []

    def close(self) -> list[Slice]:
        problem = "Text where an event stream needs base64 (encoding)"
        return [*take_junk(self._held, problem)]


_IS_BINARY_FRAMING = {"aws-eventstream": True, "auto": None}
"""Framing -> whether its bytes are an event stream; None: the first byte decides."""


def decoder_of(framing: str, encoding: str, limit: int) -> Decoder:
    is_binary = _IS_BINARY_FRAMING.get(framing, False)
    if encoding == "base64":
        return Base64Decoder(limit, is_binary)
    return NoBytes(limit) if is_binary else TextDecoder()
