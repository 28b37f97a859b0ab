"""Runs inputs of a lane, and tells what does not hold, small and reproducible.

``examine(lane, number)`` gives None or a `Find`. An input that takes long for its size
is measured again before it counts; what does not end is interrupted by an `alarm`. The
kind of a find is where its exception was raised, so that equal ones are printed once.
"""

from __future__ import annotations

import json
import shlex
import signal
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from attrs import evolve, frozen

from fuzz.lanes import Input, Lane
from fuzz.shrink import shrunk

COMMAND = "python3 tests/fuzz/run.py"

PATIENCE = 120
"""Seconds after which an input is said not to end; at most a quarter of them less."""

BASE_SECONDS = 0.05
SECONDS_PER_CHARACTER = 0.000_5
"""A generous budget of processor time: many times what any input should take, even on
a slow machine. What grows exponentially exceeds it at once."""

MEASURED = 3


class SlowError(AssertionError):
    """Time is not linear in the input."""


class EndlessError(AssertionError):
    """The input was not read to its end."""


@frozen
class Find:
    """``kind`` is the exception and its place; ``number`` None: not one of ours."""

    lane: str
    number: int | None
    kind: str
    message: str
    given: Input

    def report(self) -> str:
        """What is wrong, the input as it is now, and how to try both again."""
        name = self.lane if self.number is None else f"{self.lane} {self.number}"
        head = f"{name}: {self.kind}: {self.message}"
        lines = [head, f"{COMMAND} --lane {self.lane} --given {quote(self.given)}"]
        if self.number is not None:
            lines.append(f"{COMMAND} --lane {self.lane} --seed {self.number} --count 1")
        return "\n  ".join(lines)


def quote(given: Input) -> str:
    """An input as a word of a shell."""
    return shlex.quote(json.dumps(given))


def examine(lane: Lane, number: int, *, timed: bool = True) -> Find | None:
    """What is wrong with the input of a number."""
    return examine_given(lane, lane.draw(number), number, timed=timed)


def examine_given(
    lane: Lane, given: Input, number: int | None = None, *, timed: bool = True
) -> Find | None:
    """What is wrong with an input; ``timed``: also when it takes too long."""
    try:
        seconds = _run(lane, given, time.perf_counter)  # the cheapest clock
        slow = seconds > BASE_SECONDS and seconds > _budget(given)
        if slow and timed and lane.timed:
            _measure_again(lane, given)
    except Exception as error:
        return Find(lane.name, number, _kind(error), _first_line(error), given)
    return None


def minimal(lane: Lane, find: Find) -> Find:
    """The find with the smallest input that shows it, as far as time allows."""
    end = time.monotonic() + PATIENCE

    def fails(given: Any) -> bool:
        if time.monotonic() > end:
            return False
        try:
            if find.kind.startswith(SlowError.__name__):
                _measure_again(lane, given)
            else:
                lane.check(given)
        except Exception as error:
            return _kind(error) == find.kind
        return False

    if find.kind == EndlessError.__name__:  # each try would take for ever
        return find
    return evolve(find, given=shrunk(find.given, fails))


def _run(lane: Lane, given: Input, clock: Callable[[], float]) -> float:
    """Seconds that the check of an input took."""
    start = clock()
    lane.check(given)
    return clock() - start


def _budget(given: Input) -> float:
    return BASE_SECONDS + SECONDS_PER_CHARACTER * len(repr(given))


def _measure_again(lane: Lane, given: Input) -> None:
    """The best of some runs: what else the machine does is no fault of the input."""
    best = min(_run(lane, given, time.process_time) for _ in range(MEASURED))
    if best > _budget(given):
        raise SlowError(f"{best:.2f} s, and no more than {_budget(given):.2f} s is due")


@contextmanager
def alarm(seconds: float = PATIENCE) -> Iterator[Callable[[], None]]:
    """EndlessError in whatever runs so long; nothing where there are no signals.

    Gives a function that says, between two inputs, that it goes on: the clock is set
    again, but not for each of them, because that takes longer than a short input.
    """
    if not hasattr(signal, "setitimer"):  # Windows
        yield lambda: None
        return
    armed = time.monotonic()

    def continues() -> None:
        nonlocal armed
        if time.monotonic() - armed > seconds / 4:
            armed = time.monotonic()
            signal.setitimer(signal.ITIMER_REAL, seconds)

    before = signal.signal(signal.SIGALRM, _ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield continues
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _ring(_number: int, _frame: object) -> None:
    raise EndlessError("it does not end")


def _kind(error: Exception) -> str:
    name = type(error).__name__
    if isinstance(error, SlowError | EndlessError):
        return name
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{name} at {Path(last.filename).name}:{last.lineno}"


def _first_line(error: Exception) -> str:
    return str(error).split("\n", 1)[0][:200]
