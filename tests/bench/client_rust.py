"""The Rust client compared with the bare sidecar and a bare echo, with the same frames.

Recorded streams, with strings cut into 200 characters, go through ``pipe`` as fast as
possible, and through ``push`` chunk by chunk. The same chunks go one by one, with only
the crate's frames, to a sidecar and to the bare orjson echo
(``clients/rust/examples/bench.rs``). The streams are short, so open and close are a
good part of the cost, in all four ways. The ratio to the echo shows the cost of engine
and client besides the pipes; the ratio to the bare sidecar shows what the client costs
or, because it joins pushes, saves. Then a stream pushes short deltas one by one while
another pushes a megabyte with one call (``waiting``,
``clients/rust/examples/waiting.rs``): its longest wait. Without cargo nothing is
measured.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator

from processes import ORJSON_ECHO, ROOT, SIDECAR
from round_trip import one_core
from rows import Bar, Row, microseconds
from waiting import Waits, texts_in, wait_rows

HOME = ROOT / "clients" / "rust"
ROUNDS = 8
EXAMPLES = ("bench", "waiting")
AGAINST: tuple[tuple[str, str, str, Bar | None], ...] = (
    ("pipe", "bare", "bare sidecar", Bar(limit=1, aim=0.8)),
    ("push", "bare", "bare sidecar", Bar(limit=1.5, aim=1.2)),
    ("pipe", "echo", "orjson echo", None),
    ("push", "echo", "orjson echo", None),
)


def run() -> Iterator[Row]:
    cargo = shutil.which("cargo")
    if cargo is None:
        yield Row("Rust client", "not measured: there is no cargo")
        return
    _build(cargo)
    best = _measure()
    for name, other, called, bar in AGAINST:
        ours, theirs = (best[key] / best["requests"] for key in (name, other))
        measured = f"{microseconds(ours)}, {microseconds(theirs)} a request"
        what = f"Rust {name}, recorded streams, against {called}"
        yield Row(what, measured, ours / theirs, bar)
    with texts_in() as file:
        waits: Waits = json.loads(_output("waiting", file))
    yield from wait_rows("Rust", waits)


def _measure() -> dict[str, float]:
    """Seconds of the best rounds, and how many requests these were."""
    output = _output("bench", str(ROUNDS), sys.executable, *ORJSON_ECHO)
    best: dict[str, float] = json.loads(output)
    return best


def _build(cargo: str) -> None:
    examples = [word for name in EXAMPLES for word in ("--example", name)]
    build = [cargo, "build", "--quiet", "--release", "--locked", *examples]
    subprocess.run(build, cwd=HOME, env=_environment(), check=True)


def _output(example: str, *arguments: str) -> bytes:
    program = HOME / "target" / "release" / "examples" / example
    with one_core():
        return subprocess.check_output(
            [str(program), *arguments], cwd=ROOT, env=_environment()
        )


def _environment() -> dict[str, str]:
    return {
        **os.environ,
        "CARGO_TARGET_DIR": str(HOME / "target"),
        "STREAM_SIDECAR": " ".join((sys.executable, *SIDECAR)),
        "PYTHONPATH": str(ROOT / "sidecar"),
    }
