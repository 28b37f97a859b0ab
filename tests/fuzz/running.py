"""Runs a lane over many inputs, on all cores, and keeps what it found.

Inputs are dealt out in blocks, process ``n`` of ``workers`` takes every ``workers``-th:
which process tries an input changes nothing about it.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from multiprocessing import get_context

from attrs import frozen

from fuzz.finds import Find, alarm, examine, minimal
from fuzz.lanes import LANES

BLOCK = 512
"""Inputs in a row that one process takes."""

KEPT = 6
"""How many finds of a kind are printed: one place in a check may show several bugs."""

Found = dict[str, tuple[int, list[Find]]]
"""By kind: how often, and the smallest ones."""


@frozen
class Task:
    """What one process does: its blocks, up to ``count`` inputs or until ``end``."""

    lane: str
    seed: int
    count: int | None
    end: float | None
    first: int
    step: int


def fuzz(
    name: str, seed: int, count: int | None, minutes: float | None, workers: int
) -> bool:
    """Runs a lane for so many inputs or minutes and prints; True: there are finds."""
    begun = time.monotonic()
    end = begun + minutes * 60 if minutes else None
    tasks = [Task(name, seed, count, end, first, workers) for first in range(workers)]
    with get_context().Pool(workers) as pool:
        done = pool.map(work, tasks, chunksize=1)
    seconds = time.monotonic() - begun
    total = sum(tried for tried, _ in done)
    found = _joined(found for _, found in done)
    print(
        f"{name}: {total:,} inputs in {seconds:,.0f} s, "
        f"{total / seconds / workers:,.0f}/s a process, {len(found)} kinds of finds",
        flush=True,
    )
    for times, finds in found.values():
        print(f"{times:,} times, the smallest:", flush=True)
        small = (minimal(LANES[name], find) for find in finds)
        distinct = {repr(find.given): find for find in small}
        for find in distinct.values():
            print(find.report(), flush=True)
    return bool(found)


def work(task: Task) -> tuple[int, Found]:
    """The number of inputs tried, and what was found."""
    lane, tried = LANES[task.lane], 0
    found: Found = {}
    with alarm() as continues:
        for number in _numbers(task):
            continues()
            tried += 1
            find = examine(lane, number)
            if find is not None:
                _keep(found, 1, [find])
    return tried, found


def _numbers(task: Task) -> Iterator[int]:
    """Blocks begin at whole multiples, whatever the seed is."""
    block = task.seed // BLOCK + task.first
    while True:
        start = max(block * BLOCK, task.seed)
        stop = (block + 1) * BLOCK
        if task.count is not None:
            stop = min(stop, task.seed + task.count)
        if start >= stop:
            return
        for number in range(start, stop):
            if task.end is not None and time.monotonic() >= task.end:
                return
            yield number
        block += task.step


def _joined(all_found: Iterable[Found]) -> Found:
    joined: Found = {}
    for found in all_found:
        for times, finds in found.values():
            _keep(joined, times, finds)
    return joined


def _keep(found: Found, times: int, finds: list[Find]) -> None:
    kind = finds[0].kind
    before, known = found.get(kind, (0, []))
    smallest = sorted([*known, *finds], key=lambda find: len(repr(find.given)))
    found[kind] = before + times, smallest[:KEPT]
