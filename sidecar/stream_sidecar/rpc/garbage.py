"""When circles of garbage are looked for: among all that lives only while nobody asks.

What a stream or a request leaves is free at once, without a collector. A pass over all
objects takes longer than a host should wait, at thousands of open streams tenths of a
second. So while there is work only new objects are looked at, and all of them once
there has been none for a while. What was loaded at the start stays, and is passed over.
"""

from __future__ import annotations

import gc
import threading
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_NEW = 10_000
"""So many objects more than were freed, and they are looked at. With Python's own 700
that takes 2 to 4 % of the time of short streams."""

_LATELY = 4
"""So many passes over new objects, and what was left by all of them is looked at."""

_NEVER = 1_000_000
"""So many of these passes, and all objects are looked at: a million is for ever."""

_PAUSE_SECONDS = 30.0
_IDLE_SECONDS = 0.05
"""Of processor time in a pause: who takes less does nothing."""


def begin() -> None:
    """From now on garbage is looked for so; all is loaded that every host needs."""
    gc.freeze()
    gc.set_threshold(_NEW, _LATELY, _NEVER)
    never = threading.Event()
    watch = threading.Thread(target=collect_when_idle, args=(never.wait,), daemon=True)
    watch.start()


def collect_when_idle(wait: Callable[[float], object]) -> None:
    """Looks at all objects whenever nothing was done between two waits, unless hardly
    any are new since the last time."""
    seen, spent = _passes(), time.process_time()
    while True:
        wait(_PAUSE_SECONDS)
        before, spent = spent, time.process_time()
        if spent - before < _IDLE_SECONDS and _passes() > seen:
            gc.collect()
            seen = _passes()


def _passes() -> int:
    """How often objects were looked at that had been looked at before."""
    return sum(each["collections"] for each in gc.get_stats()[1:])
