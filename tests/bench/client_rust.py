"""The Rust client against a bare echo, through the same frames.

Recorded streams, their strings cut into 200 characters, go through ``pipe`` as fast as
they can and through ``push`` chunk by chunk; the same chunks go one by one to the bare
orjson echo, with the crate's frames and nothing else
(``clients/rust/examples/bench.rs``). So the ratio is what engine and client cost beside
the pipes. Without cargo there is nothing to measure.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator

from peers import ORJSON_ECHO, ROOT, SIDECAR
from round_trip import one_core
from rows import Bar, Row, microseconds

HOME = ROOT / "clients" / "rust"
ROUNDS = 8
BAR = Bar(limit=2.5, aim=1.5)


def run() -> Iterator[Row]:
    cargo = shutil.which("cargo")
    if cargo is None:
        yield Row("Rust client", "not measured: there is no cargo")
        return
    best = _measure(cargo)
    for name, bar in (("pipe", BAR), ("push", None)):
        each, other = (best[key] / best["chunks"] for key in (name, "echo"))
        measured = f"{microseconds(each)}, echo {microseconds(other)} a chunk"
        what = f"Rust {name}, recorded streams, against orjson echo"
        yield Row(what, measured, each / other, bar)


def _measure(cargo: str) -> dict[str, float]:
    """Seconds of the best rounds, and how many chunks these were."""
    environment = {
        **os.environ,
        "CARGO_TARGET_DIR": str(HOME / "target"),
        "STREAM_SIDECAR": " ".join((sys.executable, *SIDECAR)),
        "PYTHONPATH": str(ROOT),
    }
    build = [cargo, "build", "--quiet", "--release", "--locked", "--example", "bench"]
    subprocess.run(build, cwd=HOME, env=environment, check=True)
    program = HOME / "target" / "release" / "examples" / "bench"
    command = [str(program), str(ROUNDS), sys.executable, *ORJSON_ECHO]
    with one_core():
        output = subprocess.check_output(command, cwd=ROOT, env=environment)
    best: dict[str, float] = json.loads(output)
    return best
