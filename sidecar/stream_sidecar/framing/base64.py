"""Base64 in slices to bytes (RFC 4648, 4); padding and white space may stand anywhere.

After a quartet that is not base64, everything up to the next white space is reported as
one malformed piece. Time is linear in the input.
"""

from __future__ import annotations

from binascii import a2b_base64
from typing import TYPE_CHECKING

from stream_sidecar import patterns
from stream_sidecar.framing.frames import Held, take_junk
from stream_sidecar.framing.json_documents import end_of

if TYPE_CHECKING:
    from stream_sidecar.parts import DiagnosticPart

_WORDS = patterns.compile(r"\s+|\S+")
_ALPHABET = patterns.compile(r"[A-Za-z0-9+/]*+")
_PADDED = patterns.compile(r"[A-Za-z0-9+/]{2}(?:==|[A-Za-z0-9+/]=)")
_CUT_QUARTET = patterns.compile(r"[A-Za-z0-9+/]{0,3}|[A-Za-z0-9+/]{2}=")


class Base64Reader:
    """``push(text)`` returns the bytes that are complete, ``close()`` the rest."""

    def __init__(self, limit: int) -> None:
        self._quartet = ""
        self._junk = Held(limit)

    def push(self, text: str) -> list[bytes | DiagnosticPart]:
        pieces: list[bytes | DiagnosticPart] = []
        for word in _WORDS.findall(text):
            if word.isspace():
                pieces += self._end_junk()
            elif self._junk.pieces:
                self._junk.add(word)
            else:
                pieces.append(self._decode_word(word))
        return pieces

    def close(self) -> tuple[bytes, list[DiagnosticPart]]:
        """Returns the last bytes, and reports a left-over character."""
        last_characters, self._quartet = self._quartet, ""
        if len(last_characters) == 1:
            self._junk.add(last_characters)
            last_characters = ""
        return a2b_base64(last_characters.rstrip("=") + "=="), self._end_junk()

    def _decode_word(self, word: str) -> bytes:
        text, self._quartet = self._quartet + word, ""
        decoded = []
        start = 0
        while True:
            run_end = end_of(_ALPHABET, text, start)
            quartets_end = run_end - (run_end - start) % 4
            decoded.append(a2b_base64(text[start:quartets_end]))
            start = quartets_end + 4
            quartet = text[quartets_end:start]
            if _PADDED.fullmatch(quartet):
                decoded.append(a2b_base64(quartet))
            elif _CUT_QUARTET.fullmatch(quartet):
                self._quartet = quartet
                return b"".join(decoded)
            else:
                self._junk.add(text[quartets_end:])
                return b"".join(decoded)

    def _end_junk(self) -> list[DiagnosticPart]:
        return take_junk(self._junk, "Text that is not base64")
