"""What work costs on a busy machine: processor time, not the time on the wall."""

from __future__ import annotations

from time import thread_time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def seconds(work: Callable[[], object]) -> float:
    """The processor time that this thread needs for ``work``."""
    begun = thread_time()
    work()
    return thread_time() - begun


def grows_linearly(few: float, many: Callable[[], float], most: float = 35) -> bool:
    """Whether work on ten times the text takes less than ``most`` times as long as
    ``few`` seconds: ``many`` measures it, up to three times. Linear work takes some ten
    times as long, quadratic work a hundred times; a busy machine decides nothing."""
    return any(many() <= most * few for _ in range(3))
