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
                pieces.append(self._bytes(word))
        return pieces

    def close(self) -> tuple[bytes, list[DiagnosticPart]]:
        """Returns the last bytes (their padding may be missing), and the diagnostics of
        the rest: a single left-over character is reported."""
        rest, self._quartet = self._quartet, ""
        if len(rest) == 1:
            self._junk.add(rest)
            rest = ""
        return a2b_base64(rest.rstrip("=") + "=="), self._end_junk()

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

    def _end_junk(self) -> list[DiagnosticPart]:
        return take_junk(self._junk, "Text that is not base64")
