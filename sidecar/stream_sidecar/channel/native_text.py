"""Native text: sent once, however often it is repeated (text rule 8.6).

`NativeText` joins the fields that mirror one reasoning: if ``reasoning`` and
``reasoning_content`` both have "why", it is sent once. `SameText` decides, in
constant memory, whether tagged text that was sent before is the beginning of the native
text.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from stream_sidecar.records import define, field

if TYPE_CHECKING:
    from collections.abc import Collection

_RESEND_SIZE = 16
"""A resend (see `NativeText`) has at least this many code points. A model may well
write a shorter text twice."""

_SNAPSHOT_SIZE = 32
"""A snapshot (see `NativeText`) repeats at least this many code points. A model may
well write shorter texts like this ("No, ", "No, no")."""


@define
class _Field:
    """The text of one field: ``size`` code points in ``deltas``.

    The text is in the native text given so far at ``spans``, and then from ``start`` to
    ``position``, all in bytes. ``cumulative``: each delta is known to repeat everything
    before. ``document``: the number of the last document with text of the field.
    """

    cumulative: bool
    size: int = 0
    deltas: int = 0
    document: int = -1
    start: int = 0
    position: int = 0
    spans: list[tuple[int, int]] = field(factory=list)

    def jump(self, position: int) -> None:
        """Notes that the field's next text is at ``position`` of the native text."""
        if position != self.position:
            self.spans.append((self.start, self.position))
            self.start = self.position = position


class NativeText:
    """``push(field, text, document)`` returns the part of ``text`` that is new, and the
    part that the field itself has repeated.

    Each field has a position in the native text so far, and only text beyond the end is
    new: after "why" in one field, "why not" in another adds " not". If the text of a
    field differs from the native text at its position, all of it is new. ``document``
    counts documents: fields that begin in the same document mirror each other from
    there on, whatever came before.

    A delta equal to all text of its field so far is a resend. A delta that begins with
    all of this text and continues is a snapshot. Both need a certain size, except in
    the fields that are known to be ``cumulative`` (text rule 8.7). Each character is
    compared a bounded number of times. A text that comes with its signature and equals
    its whole block is a resend of any size, in all fields of its document.
    """

    def __init__(self, limit: int, cumulative: Collection[str] = ()) -> None:
        self.limit = limit  # bytes kept for comparison; positions are bytes, too
        self.size = 0
        self._cumulative = cumulative
        self._given = bytearray()
        self._fields: dict[str, _Field] = {}
        #: the fields with text of the current block, in the order of their first text
        self.fields: list[str] = []
        self._document = -1
        self._document_start = 0
        self._block_start = 0
        self._latest_start = 0
        #: the document in which a block came again, signed, and the block's text
        self._signed: tuple[int, str] | None = None

    def push(
        self, field: str, text: str, document: int, *, same_block: bool = False
    ) -> tuple[str, str]:
        """The part of ``text`` that is new, and the repeated one (text rule 8.6).
        ``same_block``: it belongs to the provider's block of the text before it."""
        if document != self._document:
            self._document, self._document_start = document, self.size
        state = self._fields.get(field)
        if state is None:
            state = self._fields[field] = _Field(field in self._cumulative)
        self._latest_start = self.size
        if self._signed == (document, text) and state.position == self.size:
            return "", text
        repetition = ""
        is_further = state.deltas > 1 or (same_block and state.document == document)
        state.document = document
        if 0 < state.size <= len(text) and self._repeats(state, text, is_further):
            repetition, text = text[: state.size], text[state.size :]
        state.size += len(text)
        state.deltas += 1
        data = text.encode("utf-8", "surrogatepass")
        mirrored = self._mirrored(state, data)
        state.position += mirrored
        if mirrored:
            data = data[mirrored:]
            text = data.decode("utf-8", "surrogatepass")
        if data:
            state.jump(self.size)
            self._append(data)
            state.position = self.size
        return text, repetition

    def in_step(self, fields: list[str]) -> bool:
        """Whether each of ``fields`` has said all of the native text so far. Then text
        that comes next in all of them, in this order, is new and is given once."""
        are_different = len(set(fields)) == len(fields)
        positions = {self._fields[name].position for name in fields}
        return are_different and positions <= {self.size}

    def longest(self, fields: list[str], count: int) -> int:
        """How many code points each of the next ``count`` texts may have without a
        comparison. Texts of this length can neither repeat all of their field nor
        exceed the limit."""
        sizes = (self._fields[name].size - 1 for name in fields)
        return min(*sizes, (self.limit - self.size) // (4 * count))

    def extend(self, fields: list[str], text: str, deltas: int) -> None:
        """Adds ``text``, which each of ``fields`` has said in this number of
        ``deltas``. The fields must be `in_step`."""
        self._append(text.encode("utf-8", "surrogatepass"))
        for name in fields:
            state = self._fields[name]
            state.size += len(text)
            state.deltas += deltas
            state.position = self.size

    def says(self, field: str, *, restarts: bool) -> None:
        """Notes that the current block, or a new one, has text in ``field``."""
        if restarts:
            self.fields = []
            self._block_start = self._latest_start
        if field not in self.fields:
            self.fields.append(field)

    def sign(self, text: str, document: int) -> None:
        """Notes that ``text`` came with its signature. If it is all of the current
        block, it is what the fields of this document repeat."""
        data = text.encode("utf-8", "surrogatepass")
        block = self.size - self._block_start
        if block == len(data) and data == self._slice(self._block_start, block):
            self._signed = document, text

    def head(self, size: int) -> str:
        """The beginning of the native text so far: ``size`` characters or somewhat
        more; all of the text if it is shorter."""
        end = min(4 * size, len(self._given))
        while end < len(self._given) and self._given[end] & 0xC0 == 0x80:
            end -= 1  # it is inside a character
        return self._slice(0, end).decode("utf-8", "surrogatepass")

    def _mirrored(self, state: _Field, text: bytes) -> int:
        """The number of bytes at the start of ``text`` that are in the native text
        already, at the position of the field or at the beginning of this document."""
        if state.position == self.size or self.size > self.limit:
            return 0
        for position in (state.position, self._document_start):
            if position < state.position:
                continue
            mirrored = self._slice(position, len(text))
            if mirrored and text.startswith(mirrored):
                state.jump(position)
                return len(mirrored)
        return 0

    def _repeats(self, state: _Field, text: str, is_further: bool) -> bool:
        """Whether ``text`` begins with all text of its field so far, which is not
        longer, and is long enough to be a resend or a snapshot. ``is_further``: the
        field has said something in this document, or more than one delta before."""
        size = state.size
        if len(text) == size:
            is_long = size >= _RESEND_SIZE and is_further
        else:
            is_long = size >= _SNAPSHOT_SIZE
        if self.size > self.limit or not (is_long or state.cumulative):
            return False
        spans = [*state.spans, (state.start, state.position)]
        field_text = b"".join(self._given[start:end] for start, end in spans)
        return text.startswith(field_text.decode("utf-8", "surrogatepass"))

    def _slice(self, start: int, size: int) -> bytes:
        return bytes(self._given[start : start + size])

    def _append(self, text: bytes) -> None:
        self.size += len(text)
        if self.size <= self.limit:
            self._given += text


class Collapsed:
    """Collapses white space: each run becomes one blank, and the ends have none."""

    def __init__(self) -> None:
        self._ends_blank = False
        self._has_words = False

    def push(self, text: str) -> str:
        words = text.split()
        if not words:
            self._ends_blank = self._ends_blank or bool(text)
            return ""
        is_apart = self._has_words and (self._ends_blank or text[0].isspace())
        self._ends_blank, self._has_words = text[-1].isspace(), True
        return (" " if is_apart else "") + " ".join(words)


class SameText:
    """Compares tagged text with native text: is the tagged text the same, or a prefix?

    ``tagged`` adds tagged text, and then ``native`` adds native text. White space is
    collapsed. ``same`` is None until the native text is as long as the tagged text,
    then True or False.
    """

    def __init__(self) -> None:
        self.size = 0
        self.same: bool | None = None
        self._tagged, self._native = Collapsed(), Collapsed()
        self._tagged_hash, self._native_hash = hashlib.blake2b(), hashlib.blake2b()
        self._native_size = 0

    def tagged(self, text: str) -> None:
        text = self._tagged.push(text)
        self.size += len(text)
        self._tagged_hash.update(text.encode())

    def native(self, text: str) -> bool:
        """Adds native text. Returns whether the tagged text is known to be the same."""
        text = self._native.push(text)[: self.size - self._native_size]
        self._native_size += len(text)
        self._native_hash.update(text.encode())
        if self._native_size == self.size:
            is_equal = self._tagged_hash.digest() == self._native_hash.digest()
            self.same = self.size > 0 and is_equal
        return bool(self.same)
