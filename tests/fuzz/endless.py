"""One stream of a gigabyte in bounded memory: ``message.parts: false``.

``python3 tests/fuzz/endless.py [--megabytes N] [--text KIND]``. Pushes model text
through the real process, compares what comes back with what went in, and prints the
peak of the process's resident memory on the way. Exits with 1 when text was lost or
when the peak grows by more than `ROOM` after the first tenth. Linux only.
"""

from __future__ import annotations

import argparse
import sys
from functools import partial
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent


def main(arguments: list[str]) -> int:
    from fuzz.long_stream import KINDS, ROOM, run

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=1_000, help="10^6 characters")
    parser.add_argument("--text", choices=KINDS, default="answer")
    chosen = parser.parse_args(arguments)
    peaks = run(chosen.text, chosen.megabytes, partial(print, flush=True))
    grown = (peaks[-1] - peaks[0]) / 1e6
    print(f"peak {peaks[-1] / 1e6:.1f} MB, {grown:+.1f} MB since the first tenth")
    return int(peaks[-1] - peaks[0] > ROOM)


if __name__ == "__main__":
    sys.path[:0] = [str(TESTS), str(TESTS / "support")]
    from environment import enter

    code = enter(__file__, "test")
    sys.exit(main(sys.argv[1:]) if code is None else code)
