"""One stream of 100 MB through the gateway: its memory, and the wait of a neighbour.

Peak memory of the gateway and of its sidecar is counted from the start of the stream.
The neighbour gets a chunk every 10 ms through the same sidecar. On a busy machine its
waits are those of the machine, so compare them with those before the stream.
``clients/gateway/bench/long.mjs`` measures; only on Linux, which has the figures of a
process in ``/proc``. ``SIDECAR_LONG=1`` takes 1 GB.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from cutting import LONG
from node_package import GATEWAY, missing, prepare
from processes import ROOT, SIDECAR
from rows import Bar, Row

MEGABYTES = 1_000 if LONG else 100
EVENT = 100_000
"""Characters of text in an event, as a replayed or a very fast model sends them."""

MEMORY = Bar(50, 20, unit=" MB")
WAIT = Bar(50, 20, unit=" ms")


def run() -> Iterator[Row]:
    lacking = missing() or ("" if Path("/proc/self/stat").exists() else "no /proc")
    if lacking:
        yield Row("a long stream", f"not measured: {lacking}")
        return
    prepare(GATEWAY)
    script = str(GATEWAY / "bench" / "long.mjs")
    sidecar = shlex.join([sys.executable, *SIDECAR[:-1]])  # the client adds --stdio
    environment = os.environ | {"STREAM_SIDECAR": sidecar}
    command = ["node", script, str(MEGABYTES), str(EVENT)]
    found = json.loads(
        subprocess.check_output(command, cwd=ROOT, env=environment, timeout=3_600)
    )
    name = f"a stream of {MEGABYTES} MB through the gateway"
    if not found["isWhole"]:
        yield Row(name, "it did not arrive whole", 1, Bar(0, 0, unit=" lost"))
    for process, grown in found["grown"].items():
        measured = f"peak {grown / 1e6:.1f} MB above the start"
        yield Row(f"{name}: the {process}", measured, grown / 1e6, MEMORY)
    alone, wait = found["alone"]["longest"], found["neighbour"]["longest"]
    measured = f"{wait:.1f} ms, alone {alone:.1f} ms"
    yield Row(f"{name}: a neighbour's longest wait", measured, wait, WAIT)
