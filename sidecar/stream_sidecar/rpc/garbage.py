"""When Python's garbage collector runs: over all objects only while the process idles.

The objects of a stream or a request are freed without the collector, which only finds
circular references. A pass over all objects needs tenths of a second at thousands of
open streams, longer than a host should wait. So while there is work, only new objects
are collected; all objects are, when there has been no work for a while. What was loaded
at the start is never collected.
"""

from __future__ import annotations

import gc
import threading
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_NEW_OBJECTS = 3_000
"""Threshold of the new objects (made less freed) for a pass over them. With
4,000 open streams, such a pass took at most 4 ms."""

_YOUNG_PASSES = 2
"""Passes over new objects before a pass over the objects that survived them. That
pass took at most 10 ms with 4,000 open streams. A larger number makes it longer and
saves nothing: it reads each survivor once in any case."""

_SURVIVOR_PASSES = 1_000_000
"""Passes over survivors before a pass over all objects: so many that none happens."""

_PAUSE_SECONDS = 30.0
_IDLE_SECONDS = 0.05
"""Processor seconds; a process that uses fewer in a pause is idle."""


def begin() -> None:
    """Starts collecting in this way; call it when everything common is loaded."""
    gc.freeze()
    gc.set_threshold(_NEW_OBJECTS, _YOUNG_PASSES, _SURVIVOR_PASSES)
    never = threading.Event()
    watch = threading.Thread(target=collect_when_idle, args=(never.wait,), daemon=True)
    watch.start()


def collect_when_idle(wait: Callable[[float], object]) -> None:
    """Collects all objects when the process was idle in a pause, unless hardly any
    objects are new since the last time."""
    passes, work = _passes(), time.process_time()
    while True:
        wait(_PAUSE_SECONDS)
        last_work, work = work, time.process_time()
        if work - last_work < _IDLE_SECONDS and _passes() > passes:
            gc.collect()
            passes = _passes()


def _passes() -> int:
    """The number of passes over objects that had survived an earlier pass."""
    return sum(generation["collections"] for generation in gc.get_stats()[1:])
