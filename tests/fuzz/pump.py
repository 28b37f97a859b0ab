"""Texts with something repeated in their middle: the lane ``pump``.

Work is counted as processor time, because a regular expression that tries the same
characters again runs no line of ours. Ten times the middle may take some ten times as
long; quadratic work takes a hundred times.
"""

from __future__ import annotations

from random import Random
from typing import Any

from checking import feed
from oracle import healed
from processor_time import grows_linearly, seconds

from fuzz import inputs
from fuzz.fragments import LITERALS

FEW, MANY = 5_000, 50_000
"""Code points of the middle."""

SHORTEST = 0.001
"""Seconds that may be taken for nothing: a stream is opened and closed in them."""

CHARACTERS = "a1 !(<>[{\"'`\n,.:=/\\|_*#-"


def draw_pumped(number: int) -> dict[str, Any]:
    """What stands before, what is repeated, and what stands behind it."""
    generator = Random(number)
    params = inputs.text_params(generator)
    params.pop("limits", None)
    pump = "".join(generator.choices(CHARACTERS, k=generator.choice((1, 1, 2, 3))))
    if generator.random() < 0.3:
        pump += generator.choice(LITERALS)
    head, tail = (healed(inputs.text_of(generator, 2)) for _ in range(2))
    if generator.random() < 0.5:
        head += generator.choice(LITERALS)
    return {"params": params, "head": head, "pump": pump, "tail": tail}


def check_pumped(given: dict[str, Any]) -> None:
    """Ten times the middle takes about ten times as long."""
    few = max(SHORTEST, min(_seconds(given, FEW) for _ in range(2)))
    assert grows_linearly(few, lambda: _seconds(given, MANY)), "more than linear work"


def _seconds(given: dict[str, Any], size: int) -> float:
    pump = given["pump"] or "a"
    text = given["head"] + pump * (size // len(pump) + 1) + given["tail"]
    return seconds(lambda: feed(given["params"], [text]))
