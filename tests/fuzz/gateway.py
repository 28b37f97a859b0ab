"""Soak of the gateway: its sidecars are killed at random while many streams pass.

``python3 tests/fuzz/gateway.py [--minutes M] [--streams N] [--workers N]
[--kill-every S] [--seed N]``. Some clients leave, some answers of the provider break
off, and a fifth of the answers is whole. Every answer must be equal to the one before
the first kill, or its beginning with an error behind it; nothing may leak or pass
uncleaned. The gateway has a small heap, so a leak of memory ends it.
``clients/gateway/bench/soak.mjs`` does the work. Prints what happened and the curve of
the gateway's resident memory; exits with 1 if anything is wrong. Linux only.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent


def main(arguments: list[str]) -> int:
    from node_package import GATEWAY, missing, prepare

    from fuzz.curve import MEGABYTE, Sample, as_text

    chosen = _parser().parse_args(arguments)
    if lacking := missing():
        print(f"not run: {lacking}")
        return 1
    prepare(GATEWAY)
    seconds = chosen.minutes * 60
    numbers = (seconds, chosen.streams, chosen.workers, chosen.seed, chosen.kill_every)
    done = subprocess.run(
        ["node", str(GATEWAY / "bench" / "soak.mjs"), *map(str, numbers)],
        env={**os.environ, "STREAM_SIDECAR": f'"{sys.executable}" -m stream_sidecar'},
        stdout=subprocess.PIPE,
        encoding="utf-8",
        check=False,
    )
    if done.returncode:
        return 1
    run = json.loads(done.stdout)
    print(as_text([Sample(when, gateway) for when, gateway, _ in run["samples"]]))
    most = max(sidecar for *_, sidecar in run["samples"]) / MEGABYTE
    print(", ".join(f"{count:,} {what}" for what, count in run["counts"].items()))
    print(f"a sidecar had {most:.0f} MB at most; the gateway counted {run['requests']}")
    for fault in run["faults"]:
        print(json.dumps(fault))
    for line, count in run["trouble"].items():
        print(f"{count} x {line}")
    return int(bool(run["faults"] or run["requests"]["uncleaned"]))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--streams", type=int, default=50)
    parser.add_argument("--workers", type=int, default=2, help="sidecars")
    parser.add_argument("--kill-every", type=float, default=3, help="mean, in seconds")
    parser.add_argument("--seed", type=int, default=0)
    return parser


if __name__ == "__main__":
    sys.path[:0] = [str(TESTS), str(TESTS / "support")]
    from environment import enter

    code = enter(__file__, "test")
    sys.exit(main(sys.argv[1:]) if code is None else code)
