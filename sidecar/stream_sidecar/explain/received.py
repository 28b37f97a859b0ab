"""The text of a stream's channels, and when it arrived: an explained stream's listener.

The ``span`` of an event counts in one of two texts of a choice: the answer, or the
native reasoning, which several fields may send. `ReceivedTexts` keeps the ``pieces`` of
both in their order, each with its step; ``texts`` joins them.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TypeAlias

from stream_sidecar.records import frozen
from stream_sidecar.values.surrogates import without_halves

Counted: TypeAlias = tuple[int, bool]
"""A text that spans count in: its choice, and whether it is native reasoning."""


@frozen
class ReceivedPiece:
    """``text`` arrived in ``step`` from ``field``; it begins at ``start`` of its
    counted text. ``repeated`` and ``mirrored`` came before it in the same delta. Spans
    do not count them: this field, or another one, had sent them already."""

    counted: Counted
    field: str
    step: int
    start: int
    text: str
    repeated: str = ""
    mirrored: str = ""


class CountedText:
    """A counted text, whole, and the step of each character."""

    def __init__(self, pieces: list[ReceivedPiece]) -> None:
        self.text = "".join(piece.text for piece in pieces)
        self._starts = [piece.start for piece in pieces]
        self._steps = [piece.step for piece in pieces]

    def step_of(self, position: int) -> int:
        """The step in which the character at ``position`` arrived."""
        return self._steps[bisect_right(self._starts, position) - 1]


ANSWER = "text"
"""The name of the answer's field here, whatever the wire calls it."""


class ReceivedTexts:
    """A listener (`stream_sidecar.message.outlet`) that keeps what it gets."""

    def __init__(self) -> None:
        self.step = 0
        self.pieces: list[ReceivedPiece] = []
        self._lengths: dict[Counted, int] = {}

    def text(self, choice: int, text: str) -> None:
        self._note((choice, False), ANSWER, text)

    def reasoning(
        self, choice: int, field: str, known: str, repeated: int, new: str
    ) -> None:
        known = without_halves(known)
        self._note((choice, True), field, new, known[:repeated], known[repeated:])

    def _note(self, counted: Counted, field: str, text: str, *copies: str) -> None:
        start = self._lengths.get(counted, 0)
        self._lengths[counted] = start + len(text)
        piece = ReceivedPiece(counted, field, self.step, start, text, *copies)
        self.pieces.append(piece)

    def texts(self) -> dict[Counted, CountedText]:
        """The whole texts."""
        parts: dict[Counted, list[ReceivedPiece]] = {}
        for piece in self.pieces:
            parts.setdefault(piece.counted, []).append(piece)
        return {counted: CountedText(pieces) for counted, pieces in parts.items()}
