"""From the start of the process to the answer of ``initialize``, and to first events.

Compared with a stock pygls server, in turns; medians. The modules that read streams are
loaded after the answer to ``initialize``, so the first events of a stream are measured
too. Each has been started before, so the bytecode exists. The same is measured for the
file that extensions ship, compared with the installed package. The time of
``--version``, which hosts run before every start, is measured too.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from chunks import text_chunk
from processes import PYGLS_ECHO, ROOT, SIDECAR, Peer
from rows import Bar, Row, milliseconds

TURNS = 15
START = Bar(limit=0.7, aim=0.4)
BUNDLED = Bar(limit=1.15, aim=1.0)
BUNDLE = ROOT / "clients" / "bundle" / "bundle.py"


def run() -> Iterator[Row]:
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    with TemporaryDirectory() as folder:
        archive = str(Path(folder, "stream-sidecar.pyz"))
        _run(str(BUNDLE), archive)
        yield from _rows((archive, "--stdio"))


def _stop(_: Peer) -> None:
    """The answer of ``initialize`` was all."""


def _first_events(peer: Peer) -> None:
    peer.ask("stream/open", {"streamId": "s", "wire": "openai-chat"})
    peer.ask("stream/push", {"streamId": "s", "chunk": text_chunk("Hello")})


def _rows(bundle: tuple[str, ...]) -> Iterator[Row]:
    for each in (SIDECAR, PYGLS_ECHO, bundle):
        _start(each)
    ours, events, stock, bundled, version, bare = [], [], [], [], [], []
    for _ in range(TURNS):
        ours.append(_start(SIDECAR))
        events.append(_start(SIDECAR, _first_events))
        stock.append(_start(PYGLS_ECHO))
        bundled.append(_start(bundle))
        version.append(_run("-m", "stream_sidecar", "--version"))
        bare.append(_run("-c", "pass"))
    mine, other = median(ours), median(stock)
    measured = f"{milliseconds(mine)}, {milliseconds(other)}"
    yield Row("start to initialize, against stock pygls", measured, mine / other, START)
    first = median(events)
    measured = f"{milliseconds(first)}, {milliseconds(other)}"
    yield Row("start to first events, against the same", measured, first / other)
    zipped = median(bundled)
    measured = f"{milliseconds(zipped)}, {milliseconds(mine)}"
    yield Row(
        "initialize from one file, against installed", measured, zipped / mine, BUNDLED
    )
    fast, least = median(version), median(bare)
    measured = f"{milliseconds(fast)}, {milliseconds(least)}"
    yield Row("--version, against Python alone", measured, fast / least)


def _start(arguments: tuple[str, ...], go_on: Callable[[Peer], None] = _stop) -> float:
    """Seconds from the start to the answer, and to what comes next."""
    start = time.perf_counter()
    with Peer(arguments) as peer:
        peer.ask("initialize", {"capabilities": {}})
        go_on(peer)
        return time.perf_counter() - start


def _run(*arguments: str) -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, *arguments], cwd=ROOT, check=True, stdout=-3)
    return time.perf_counter() - start
