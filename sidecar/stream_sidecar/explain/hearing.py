"""What a stream's channels said, and when: the listener of an explained stream.

The engine has two texts of each choice, in which it counts: the answer's and that of
the native reasoning, which may come from several fields. `Hearing` notes each piece of
them with its step; ``said`` are the pieces in their order, ``texts`` the whole texts.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TypeAlias

from stream_sidecar.records import frozen
from stream_sidecar.values.surrogates import without_halves

Counted: TypeAlias = tuple[int, bool]
"""A text that the engine counts in: its choice, and whether it is native reasoning."""


@frozen
class Said:
    """``text`` came in ``step`` from ``field`` and begins at ``start`` of its counted
    text. ``repeated`` and ``mirrored`` came with it and are none of that."""

    counted: Counted
    field: str
    step: int
    start: int
    text: str
    repeated: str = ""
    mirrored: str = ""


class HeardText:
    """A counted text, whole, and when its characters ``came``."""

    def __init__(self, pieces: list[Said]) -> None:
        self.text = "".join(piece.text for piece in pieces)
        self._starts = [piece.start for piece in pieces]
        self._steps = [piece.step for piece in pieces]

    def came(self, position: int) -> int:
        """The step of the character at ``position``."""
        return self._steps[bisect_right(self._starts, position) - 1]


ANSWER = "text"
"""What the field of the answer is called, whatever the wire calls it."""


class Hearing:
    """A listener (`stream_sidecar.message.outlet`). ``step`` is the one that is going
    on."""

    def __init__(self) -> None:
        self.step = 0
        self.said: list[Said] = []
        self._lengths: dict[Counted, int] = {}

    def text(self, choice: int, text: str) -> None:
        self._note((choice, False), ANSWER, text)

    def reasoning(
        self, choice: int, field: str, known: str, repeated: int, new: str
    ) -> None:
        known = without_halves(known)
        self._note((choice, True), field, new, known[:repeated], known[repeated:])

    def _note(self, counted: Counted, field: str, text: str, *known: str) -> None:
        start = self._lengths.get(counted, 0)
        self._lengths[counted] = start + len(text)
        self.said.append(Said(counted, field, self.step, start, text, *known))

    def texts(self) -> dict[Counted, HeardText]:
        """What was heard, by what it counts for."""
        parts: dict[Counted, list[Said]] = {}
        for said in self.said:
            parts.setdefault(said.counted, []).append(said)
        return {counted: HeardText(pieces) for counted, pieces in parts.items()}
