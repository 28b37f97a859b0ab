"""The ways in which one input is cut: whole, by character, at every place, at random.

Deterministic: the same text gives the same cuts. Of the two-way cuts `FEW` are taken.
The plugins `every_cut` and `some_cuts` take every one; texts over `EVERY` characters
are then cut near delimiters and line breaks and at `SEEDED` places. ``SIDECAR_LONG=1``
takes every cut of every text.
"""

from __future__ import annotations

import os
import random
import re
from itertools import islice, pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

LONG = bool(os.environ.get("SIDECAR_LONG"))
IS_FEW = not LONG and not os.environ.get("SIDECAR_EVERY_CUT")
FEW = 4
EVERY = 2_000
SEEDED = 200
_NEAR = 12
"""How far around an interesting character a long text is cut."""

_INTERESTING = re.compile("[<>\\[\\]◁▷`\r\n]")


def pieces(text: str, places: list[int]) -> list[str]:
    """``text`` cut at ``places``; no piece is empty, unless the text is."""
    edges = sorted({0, len(text), *places})
    cut = [text[start:end] for start, end in pairwise(edges)]
    return cut or [text]


def at_random(text: str, seed: int, average: int = 8) -> list[str]:
    """``text`` in pieces of random size."""
    generator = random.Random(f"{seed} {len(text)}")
    places, position = [], 0
    while position < len(text):
        position += generator.randint(1, 2 * average)
        places.append(position)
    return pieces(text, [place for place in places if place < len(text)])


def two_way(text: str, every: int = EVERY, seeded: int = SEEDED) -> list[int]:
    """The places for two-way cuts."""
    if IS_FEW:
        return list(range(1, len(text), len(text) // FEW + 1))
    if LONG or len(text) <= every:
        return list(range(1, len(text)))
    generator = random.Random(len(text))
    places = {generator.randrange(1, len(text)) for _ in range(seeded)}
    for match in islice(_INTERESTING.finditer(text), seeded // 16):
        places |= set(range(match.start() - _NEAR, match.start() + _NEAR))
    return sorted(place for place in places if 0 < place < len(text))


def cuttings(
    text: str, *, every: int = EVERY, seeded: int = SEEDED
) -> Iterator[list[str]]:
    """All the ways: lists of chunks that are ``text`` when joined."""
    yield [text]
    yield list(text)
    for place in two_way(text, every, seeded):
        yield [text[:place], text[place:]]
    for seed in range(5):
        yield at_random(text, seed, (2, 3, 5, 8, 13)[seed])
