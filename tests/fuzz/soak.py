"""Soak: a thousand interleaved streams through the real process, for minutes.

``python3 tests/fuzz/soak.py [--minutes M] [--streams N] [--json FILE] [--svg FILE]``.
Chunks are cut at random; some streams are cancelled, some are left alone until they
expire, and now and then the host does not read what it is answered for a while. Every
answer is compared with a run that nobody disturbs (``fuzz.plans``). Prints the curve
of the process's resident memory; exits with 1 when it is not flat or an answer differs.
POSIX only; the curve is Linux's.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent


def main(arguments: list[str]) -> int:
    from fuzz.curve import MEGABYTE, as_svg, as_text, growth, is_flat
    from fuzz.soaking import soak

    chosen = _parser().parse_args(arguments)
    end = time.monotonic() + chosen.minutes * 60
    run = soak(
        chosen.streams,
        chosen.seed,
        idle_ms=chosen.idle_ms,
        continues=lambda: time.monotonic() < end,
    )
    if chosen.json:
        rows = [[round(each.seconds, 1), each.resident] for each in run.samples]
        Path(chosen.json).write_text(
            json.dumps({**run.counts, "curve": rows}) + "\n", encoding="utf-8"
        )
    if chosen.svg:
        picture = as_svg(run.samples, f"{chosen.streams} interleaved streams")
        Path(chosen.svg).write_text(picture, encoding="utf-8")
    print(as_text(run.samples))
    print(", ".join(f"{count:,} {what}" for what, count in run.counts.items()))
    flat = is_flat(run.samples)
    grown = growth(run.samples) / MEGABYTE
    print(f"memory is {'flat' if flat else 'NOT flat'}: {grown:+.1f} MB, all equal")
    return int(not flat)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--streams", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--idle-ms", type=int, default=20_000, help="streams expire")
    parser.add_argument("--json", metavar="FILE", help="write the curve there")
    parser.add_argument("--svg", metavar="FILE", help="draw the curve there")
    return parser


if __name__ == "__main__":
    sys.path[:0] = [str(TESTS), str(TESTS / "support")]
    from environment import enter

    code = enter(__file__, "test")
    sys.exit(main(sys.argv[1:]) if code is None else code)
