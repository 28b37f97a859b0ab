"""From the start of the process to the answer of ``initialize``.

Against a stock pygls server, in turns; medians. The bytecode is there: each has been
started before. The same for the file that extensions carry, against the installed
package. Also the time of ``--version``, which hosts ask for before every start.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from processes import PYGLS_ECHO, ROOT, SIDECAR, Peer
from rows import Bar, Row, milliseconds

TURNS = 15
BAR = Bar(limit=1.15, aim=1.0)
BUNDLE = ROOT / "clients" / "bundle" / "bundle.py"


def run() -> Iterator[Row]:
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    with TemporaryDirectory() as folder:
        archive = str(Path(folder, "stream-sidecar.pyz"))
        _run(str(BUNDLE), archive)
        yield from _rows((archive, "--stdio"))


def _rows(bundle: tuple[str, ...]) -> Iterator[Row]:
    for each in (SIDECAR, PYGLS_ECHO, bundle):
        _start(each)
    ours, stock, bundled, version, bare = [], [], [], [], []
    for _ in range(TURNS):
        ours.append(_start(SIDECAR))
        stock.append(_start(PYGLS_ECHO))
        bundled.append(_start(bundle))
        version.append(_run("-m", "sidecar", "--version"))
        bare.append(_run("-c", "pass"))
    mine, other = median(ours), median(stock)
    measured = f"{milliseconds(mine)}, {milliseconds(other)}"
    yield Row("start to initialize, against stock pygls", measured, mine / other, BAR)
    zipped = median(bundled)
    measured = f"{milliseconds(zipped)}, {milliseconds(mine)}"
    yield Row("the same from one file, against installed", measured, zipped / mine, BAR)
    fast, least = median(version), median(bare)
    measured = f"{milliseconds(fast)}, {milliseconds(least)}"
    yield Row("--version, against Python alone", measured, fast / least)


def _start(arguments: tuple[str, ...]) -> float:
    """Seconds from the start to the answer."""
    start = time.perf_counter()
    with Peer(arguments) as peer:
        peer.ask("initialize", {"capabilities": {}})
        return time.perf_counter() - start


def _run(*arguments: str) -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, *arguments], cwd=ROOT, check=True, stdout=-3)
    return time.perf_counter() - start
