"""What the gateway adds to a stream, compared with the same upstream without it.

One chunk at a time: the time from the upstream to the client, with and without the
gateway. Then 200 concurrent streams that get one chunk each in turn: processor time of
the gateway and of its sidecars for a chunk, memory for a stream, and how many streams
of 50 chunks a second a core can serve. ``clients/gateway/bench/gateway.mjs``
measures; only on Linux, which has the figures of a process in ``/proc``.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from node_package import GATEWAY, missing, prepare
from processes import ROOT, SIDECAR
from rows import Row

WORKERS = (1, 2)
A_SECOND = 50
"""Chunks of a fast model."""


def run() -> Iterator[Row]:
    lacking = missing() or ("" if Path("/proc/self/stat").exists() else "no /proc")
    if lacking:
        yield Row("gateway", f"not measured: {lacking}")
        return
    prepare(GATEWAY)
    for workers in WORKERS:
        yield from _rows(f"gateway, {workers} of the sidecar", _measure(workers))


def _measure(workers: int) -> Any:
    sidecar = json.dumps([sys.executable, *SIDECAR])
    command = ["node", str(GATEWAY / "bench" / "gateway.mjs"), sidecar, str(workers)]
    return json.loads(subprocess.check_output(command, cwd=ROOT))


def _rows(name: str, found: Any) -> Iterator[Row]:
    straight, behind, load = found["direct"], found["behind"], found["load"]
    for each in ("p50", "p99"):
        added = behind[each] - straight[each]
        measured = f"{behind[each]:.2f} ms, straight {straight[each]:.2f} ms"
        yield Row(f"{name}: a chunk, {each}", f"{measured}, added {added:.2f} ms")
    gateway, sidecars = (load[each] * 1e6 for each in ("gateway", "sidecars"))
    measured = f"{gateway:.0f} µs in the gateway, {sidecars:.0f} µs in the sidecar"
    yield Row(f"{name}: processor time of a chunk", measured)
    streams = 1e6 / (gateway + sidecars) / A_SECOND
    yield Row(f"{name}: streams of {A_SECOND} chunks a second", f"{streams:.0f} a core")
    yield Row(f"{name}: memory of a stream", f"{load['bytes'] / 1e3:.0f} kB")
