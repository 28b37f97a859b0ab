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
        self._rest = ""
        self._is_inside = False
        self._count = 0
        self._hash = hashlib.sha256()

    def feed(self, part: bytes) -> None:
        text, at = self._rest + self._decode(part), 0
        while True:
            if not self._is_inside:
                begun = _TEXT.search(text, at)
                if begun is None:
                    self._rest = text[max(at, len(text) - _LONGEST_MEMBER) :]
                    return
                at, self._is_inside = begun.end(), True
                self._count += 1
            inside = _INSIDE.match(text, at)
            assert inside is not None  # it may be empty
            self._hash.update(_units(json.loads(f'"{inside[0]}"', strict=False)))
            at = inside.end()
            if not text.startswith('"', at):
                self._rest = text[at : at + _LONGEST_ESCAPE]
                return
            at, self._is_inside = at + 1, False

    def is_of(self, text: str) -> bool:
        """Whether the message had exactly one ``text``, and it is equal to ``text``."""
        own = hashlib.sha256(_units(text)).digest()
        return self._count == 1 and not self._is_inside and self._hash.digest() == own


def _units(text: str) -> bytes:
    """``text`` in UTF-16, where two surrogates from different parts form a pair."""
    return text.encode("utf-16-le", "surrogatepass")
