"""A digest of the text in a JSON message that is too long to be kept in memory.

The message comes in parts, which may end inside a character or an escape.
"""

from __future__ import annotations

import codecs
import hashlib
import json

from stream_sidecar import patterns

_TEXT = patterns.compile(r'"text"\s{0,9}:\s{0,9}"')
_INSIDE = patterns.compile(r'(?:[^"\\]++|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+')
_LONGEST_MEMBER = 32
_LONGEST_ESCAPE = 6


class TextDigest:
    """The digest of the one string member ``text`` in a JSON message."""

    def __init__(self) -> None:
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._remainder = ""
        self._is_inside = False
        self._count = 0
        self._hash = hashlib.sha256()

    def feed(self, part: bytes) -> None:
        text, position = self._remainder + self._decode(part), 0
        while True:
            if not self._is_inside:
                member = _TEXT.search(text, position)
                if member is None:
                    start = max(position, len(text) - _LONGEST_MEMBER)
                    self._remainder = text[start:]
                    return
                position, self._is_inside = member.end(), True
                self._count += 1
            string = _INSIDE.match(text, position)
            assert string is not None  # it may be empty
            self._hash.update(_units(json.loads(f'"{string[0]}"', strict=False)))
            position = string.end()
            if not text.startswith('"', position):
                self._remainder = text[position : position + _LONGEST_ESCAPE]
                return
            position, self._is_inside = position + 1, False

    def is_of(self, text: str) -> bool:
        """Whether the message had exactly one ``text``, and it is equal to ``text``."""
        digest = hashlib.sha256(_units(text)).digest()
        is_one = self._count == 1 and not self._is_inside
        return is_one and self._hash.digest() == digest


def _units(text: str) -> bytes:
    """``text`` in UTF-16, where two surrogates from different parts form a pair."""
    return text.encode("utf-16-le", "surrogatepass")
