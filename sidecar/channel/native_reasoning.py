"""Native reasoning: read once, however often a provider says it (contract 7.4).

`NativeText` joins the fields in which one reasoning is mirrored; `SameText` tells
whether tagged text sent before is a prefix of the native text, in constant memory.
"""

from __future__ import annotations

import hashlib

from attrs import define

_SNAPSHOT_SIZE = 3
"""A field that repeats itself and goes on is a snapshot from this length on: shorter
texts ("ha", "haha") may really be said twice."""


@define
class _Field:
    """How far one field has come in the text given so far."""

    position: int = 0


class NativeText:
    """``push(field, text, document)`` gives what of ``text`` is new.

    Per field a running position in the text given; only what exceeds that text is new.
    A field that says something else at its position goes its own way. ``document``
    counts documents: fields that come first in the same document mirror each other
    there, whatever came before. A text that repeats everything given and goes on is a
    cumulative snapshot. Linear: each character is compared a bounded number of times.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit  # bytes kept for comparison; positions are bytes, too
        self.size = 0
        self._given = bytearray()
        self._fields: dict[str, _Field] = {}
        self._document = -1
        self._document_start = 0

    def push(self, field: str, text: str, document: int) -> str:
        if document != self._document:
            self._document, self._document_start = document, self.size
        state = self._fields.get(field)
        if state is None:
            state = self._fields[field] = _Field()
        data = text.encode("utf-8", "surrogatepass")
        old = self._mirrored(state, data)
        state.position += old
        new = data[old:] if old else data
        if new:
            self._append(new)
            state.position = self.size
        return new.decode("utf-8", "surrogatepass") if old else text

    def head(self, size: int) -> str:
        """The first ``size`` characters given, or somewhat more."""
        end = min(4 * size, len(self._given))
        while end < len(self._given) and self._given[end] & 0xC0 == 0x80:
            end -= 1  # inside a character
        return self._slice(0, end).decode("utf-8", "surrogatepass")

    def _mirrored(self, state: _Field, text: bytes) -> int:
        """How many bytes of ``text`` have been given already."""
        if self._is_snapshot(text):
            state.position = 0
            return self.size
        if state.position == self.size or self.size > self.limit:
            return 0
        for position in (state.position, self._document_start):
            if position < state.position:
                continue
            known = self._slice(position, len(text))
            if known and text.startswith(known):
                state.position = position
                return len(known)
        return 0

    def _is_snapshot(self, text: bytes) -> bool:
        if not _SNAPSHOT_SIZE <= self.size < len(text) or self.size > self.limit:
            return False
        return text.startswith(self._slice(0, self.size))

    def _slice(self, start: int, size: int) -> bytes:
        return bytes(self._given[start : start + size])

    def _append(self, text: bytes) -> None:
        self.size += len(text)
        if self.size <= self.limit:
            self._given += text


class Collapsed:
    """Text with every run of white space as one blank, none at the ends."""

    def __init__(self) -> None:
        self._blank = False
        self._begun = False

    def push(self, text: str) -> str:
        words = text.split()
        if not words:
            self._blank = self._blank or bool(text)
            return ""
        lead = self._begun and (self._blank or text[0].isspace())
        self._blank, self._begun = text[-1].isspace(), True
        return (" " if lead else "") + " ".join(words)


class SameText:
    """Is the tagged text equal to the native text, or a prefix of it?

    ``tagged`` text comes first, then ``native``. White space is collapsed. ``same`` is
    None until the native text is as long, then the answer.
    """

    def __init__(self) -> None:
        self.size = 0
        self.same: bool | None = None
        self._tagged, self._native = Collapsed(), Collapsed()
        self._want, self._have = hashlib.blake2b(), hashlib.blake2b()
        self._read = 0

    def tagged(self, text: str) -> None:
        text = self._tagged.push(text)
        self.size += len(text)
        self._want.update(text.encode())

    def native(self, text: str) -> bool:
        """True when this text made it known that the tagged text is the same."""
        text = self._native.push(text)[: self.size - self._read]
        self._read += len(text)
        self._have.update(text.encode())
        if self._read == self.size:
            self.same = self.size > 0 and self._want.digest() == self._have.digest()
        return bool(self.same)
