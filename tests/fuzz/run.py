"""Fuzzing by command: seeded inputs for the engine and the protocol, on all cores.

``python3 tests/fuzz/run.py [--lane NAME] [--count N | --minutes M] [--seed N]``.
Without ``--lane`` all lanes run one after the other. An input is its number:
``--seed`` is the first one, so the same command tries the same inputs. Prints the count
and the rate of each lane, and each kind of find once, with the smallest input that
shows it and the command that tries it again. Exits with 1 when there are finds.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator
from multiprocessing import get_context
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
BLOCK = 512
"""Inputs that one process takes at a time."""

COUNT = 20_000


def main(arguments: list[str]) -> int:
    chosen = _parser().parse_args(arguments)
    names = chosen.lane or _names()
    if chosen.given is not None:
        return _try(names[0], json.loads(chosen.given))
    minutes = chosen.minutes / len(names) if chosen.minutes else None
    failed = False
    for name in names:
        count = None if minutes else chosen.count
        failed |= fuzz(name, chosen.seed, count, minutes, chosen.workers)
    return int(failed)


def fuzz(
    name: str, seed: int, count: int | None, minutes: float | None, workers: int
) -> bool:
    """Runs a lane for so many inputs or minutes and prints; True: it found something.

    Process ``n`` of ``workers`` takes every ``workers``-th block.
    """
    begun = time.monotonic()
    end = begun + minutes * 60 if minutes else None
    tasks = [(name, seed, count, end, first, workers) for first in range(workers)]
    with get_context().Pool(workers) as pool:
        done = pool.map(_work, tasks, chunksize=1)
    seconds = time.monotonic() - begun
    total = sum(tried for tried, _ in done)
    rate = total / seconds / workers
    finds = _distinct(find for _, found in done for find in found)
    print(
        f"{name}: {total:,} inputs in {seconds:,.0f} s, {rate:,.0f}/s a process, "
        f"{len(finds)} kinds of finds",
        flush=True,
    )
    for number, find in finds:
        print(f"{number} times, the smallest:\n{_small(find).report()}", flush=True)
    return bool(finds)


def _try(name: str, given: Any) -> int:
    """One input as a find tells it; the code to exit with."""
    from fuzz.finds import alarm, examine_given
    from fuzz.lanes import LANES

    with alarm():
        find = examine_given(LANES[name], given)
    print("nothing is wrong" if find is None else find.report())
    return int(find is not None)


def _work(task) -> tuple[int, list[tuple[int, object]]]:
    """The number of inputs tried, and of each kind of find the smallest."""
    from fuzz.finds import alarm, examine
    from fuzz.lanes import LANES

    name, seed, count, end, first, workers = task
    lane, tried = LANES[name], 0
    found: dict[str, tuple[int, object]] = {}
    for numbers in _blocks(seed, count, end, first, workers):
        with alarm():
            for number in numbers:
                find = examine(lane, number)
                if find is not None:
                    times, known = found.get(find.kind, (0, find))
                    found[find.kind] = times + 1, min(known, find, key=_size)
        tried += len(numbers)
    return tried, list(found.values())


def _blocks(
    seed: int, count: int | None, end: float | None, first: int, step: int
) -> Iterator[range]:
    """The numbers of one process; blocks begin at whole multiples, for any seed."""
    block = seed // BLOCK + first
    while end is None or time.monotonic() < end:
        start = block * BLOCK
        stop = start + BLOCK if count is None else min(start + BLOCK, seed + count)
        if start >= stop:
            return
        yield range(max(start, seed), stop)
        block += step


def _distinct(found: Iterator[tuple[int, object]]) -> list[tuple[int, object]]:
    kinds: dict[str, tuple[int, object]] = {}
    for times, find in found:
        before, known = kinds.get(find.kind, (0, find))
        kinds[find.kind] = times + before, min(known, find, key=_size)
    return list(kinds.values())


def _size(find) -> int:
    return len(repr(find.given))


def _small(find):
    from fuzz.finds import minimal
    from fuzz.lanes import LANES

    return minimal(LANES[find.lane], find)


def _names() -> list[str]:
    from fuzz.lanes import LANES

    return list(LANES)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    known = _names()
    parser.add_argument(
        "--lane", action="append", choices=known, help="may be repeated"
    )
    amount = parser.add_mutually_exclusive_group()
    amount.add_argument("--count", type=int, default=COUNT, help="inputs of each lane")
    amount.add_argument("--given", metavar="JSON", help="this input of the lane alone")
    amount.add_argument("--minutes", type=float, help="of all lanes together")
    parser.add_argument("--seed", type=int, default=0, help="number of the first input")
    cores = os.cpu_count() or 1
    parser.add_argument("--workers", type=int, default=cores, help="processes")
    return parser


if __name__ == "__main__":
    from environment import enter

    code = enter(__file__, "test")
    sys.exit(main(sys.argv[1:]) if code is None else code)
