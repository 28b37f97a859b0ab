"""The TypeScript client compared with a bare echo, with the same frames.

Recorded streams, with strings cut into 200 characters, go through ``stream.pipe`` as
fast as possible, and through ``stream.push`` chunk by chunk: with a wait for each
answer, or all at the same time, which the client sends in few requests. The same chunks
go one by one to the bare orjson echo through vscode-jsonrpc
(``clients/typescript/bench``). The processor time of both processes is compared, each
stream in its best round, so the ratio shows the cost of engine and client besides the
pipes. Opening and closing are a good part of it, because a stream has 6.5 chunks on
average. Then a stream pushes short deltas one by one while another pushes a megabyte
with one call (``waiting``): its longest wait. Without Node.js nothing is measured.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator

from node_package import HOME, missing, prepare
from processes import ORJSON_ECHO, ROOT, SIDECAR
from round_trip import one_core
from rows import Bar, Row, microseconds
from waiting import Waits, texts_in, wait_rows

ROUNDS = 8
BARS = {
    "pipe": ("pipe", Bar(limit=1.5, aim=1.2)),
    "atOnce": ("push, all at once", Bar(limit=2, aim=1.5)),
    "push": ("push, awaited", Bar(limit=3, aim=2)),
}


def run() -> Iterator[Row]:
    if lacking := missing():
        yield Row("TypeScript client", f"not measured: {lacking}")
        return
    prepare()
    best = _measure()
    for key, (name, bar) in BARS.items():
        each, other = (best[which] / best["chunks"] for which in (key, "echo"))
        measured = f"{microseconds(each)}, echo {microseconds(other)} a chunk"
        what = f"TypeScript {name}, recorded streams, against orjson echo"
        yield Row(what, measured, each / other, bar)
    yield from wait_rows("TypeScript", _waits())


def _waits() -> Waits:
    with one_core(), texts_in() as file:
        sidecar = json.dumps([sys.executable, *SIDECAR])
        command = ["node", str(HOME / "bench" / "wait.mjs"), sidecar, file]
        waits: Waits = json.loads(subprocess.check_output(command, cwd=ROOT))
    return waits


def _measure() -> dict[str, float]:
    """Seconds of processor time, and how many chunks these were."""
    commands = [[sys.executable, *peer] for peer in (ORJSON_ECHO, SIDECAR)]
    arguments = [json.dumps(each) for each in (*commands, ROUNDS)]
    command = ["node", str(HOME / "bench" / "pipe.mjs"), *arguments]
    with one_core():
        output = subprocess.check_output(command, cwd=ROOT)
    best: dict[str, float] = json.loads(output)
    return best
