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
from pathlib import Path
from typing import Any

TESTS = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TESTS), str(TESTS / "support")]
COUNT = 20_000
"""Inputs of each lane, if nothing else is said."""


def main(arguments: list[str]) -> int:
    from fuzz.lanes import LANES
    from fuzz.running import fuzz

    chosen = _parser(list(LANES)).parse_args(arguments)
    names = chosen.lane or list(LANES)
    if chosen.given is not None:
        return _try(names[0], json.loads(chosen.given))
    minutes = chosen.minutes / len(names) if chosen.minutes else None
    count = None if minutes else chosen.count
    found = [fuzz(name, chosen.seed, count, minutes, chosen.workers) for name in names]
    return int(any(found))


def _try(name: str, given: Any) -> int:
    """One input as a find tells it; the code to exit with."""
    from fuzz.finds import alarm, examine_given
    from fuzz.lanes import LANES

    with alarm():
        find = examine_given(LANES[name], given)
    print("nothing is wrong" if find is None else find.report())
    return int(find is not None)


def _parser(known: list[str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
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
