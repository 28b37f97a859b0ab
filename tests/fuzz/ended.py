"""The end of standard input behind requests, on a busy machine: are they answered?

``python3 tests/fuzz/ended.py [--times 200]``. Four processes at a time are asked, while
all cores compute. Exits with 1 when a request was not answered.
"""

from __future__ import annotations

import argparse
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent


def main(arguments: list[str]) -> int:
    from ended_input import REQUESTS, all_cores_busy, not_answered

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=200)
    times = parser.parse_args(arguments).times
    editors = (number % 2 == 0 for number in range(times))
    with all_cores_busy(), ThreadPoolExecutor(4) as pool:
        missed = [each for found in pool.map(not_answered, editors) for each in found]
    print(f"{times} times {len(REQUESTS)} requests, {len(missed)} not answered")
    for name, said in missed[:20]:
        print(f"  {name}: {said}")
    return int(bool(missed))


if __name__ == "__main__":
    sys.path[:0] = [str(TESTS), str(TESTS / "support")]
    from environment import enter

    code = enter(__file__, "test", "lint", "sdks")
    sys.exit(main(sys.argv[1:]) if code is None else code)
