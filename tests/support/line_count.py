"""How much work something needs, counted in executed lines of our code."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from cutting import pieces

if TYPE_CHECKING:
    from collections.abc import Callable


def lines_of(run: Callable[[], object]) -> int:
    """How many lines of the engine are executed."""
    count = 0

    def trace(frame: Any, event: str, _argument: object) -> Any:
        nonlocal count
        if event == "call" and "stream_sidecar" not in frame.f_code.co_filename:
            return None
        count += event == "line"
        return trace

    run()  # what is made once and kept is not counted
    before = sys.gettrace()
    sys.settrace(trace)
    try:
        run()
    finally:
        sys.settrace(before)
    return count


SIZES = (300, 3_000)
LATER = (2_000, 4_000, 8_000), (8_000, 16_000, 32_000)


def is_linear(work: Callable[[int], object]) -> bool:
    """Ten times the input executes about ten times the lines. If the first part costs
    less (until a limit of nesting, waiting or reading again is reached), twice the
    input executes twice the lines from some size on.
    """
    few, many = (lines_of(lambda size=size: work(size)) for size in SIZES)
    if many < 11 * few + 2_000:
        return True
    return any(_doubles(work, sizes) for sizes in LATER)


def _doubles(work: Callable[[int], object], sizes: tuple[int, ...]) -> bool:
    few, some, many = (lines_of(lambda size=size: work(size)) for size in sizes)
    return many - some < 2.4 * (some - few) + 2_000


def in_slices(text: str) -> list[str]:
    """``text`` in chunks of three characters."""
    return pieces(text, list(range(3, len(text), 3)))
