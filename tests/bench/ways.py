"""The size and the cost of each form of the sidecar: installed, one file, with an
interpreter, as WebAssembly.

Through the TypeScript client, one push for each delta of Chat Completions, one after
the other. Costs are processor time of the host and the sidecar together, so a busy
machine does not change them much; the cost of Node.js alone is subtracted. It builds
what it measures, which needs the package indexes. ``--write`` writes the table of
clients/README.md.
"""

from __future__ import annotations

import json
import os
import re
import resource
import subprocess
import sys
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from attrs import define
from node_package import HOME, missing, prepare
from processes import ROOT
from rows import Bar, Row, microseconds, milliseconds

if TYPE_CHECKING:
    from collections.abc import Iterator

STARTS = 5
PUSHES = 10_000
START_BAR = Bar(limit=2.0, aim=1.0, unit=" s")
PUSH_BAR = Bar(limit=4.0, aim=3.0)
PAGE = ROOT / "clients" / "README.md"
TABLE = re.compile(r"(<!-- ways: begin -->\n).*?(<!-- ways: end -->)", re.DOTALL)
WEBASSEMBLY = "webassembly"


@define
class Way:
    """``packed`` and ``placed``: bytes that are downloaded, and that are on the disk.
    In seconds: a start until the answer, and what it and a push cost."""

    title: str
    way: Any
    packed: int
    placed: int
    wall: float = 0.0
    start: float = 0.0
    push: float = 0.0


def run() -> Iterator[Row]:
    if lacking := missing():
        yield Row("ways to a sidecar", f"not measured: {lacking}")
        return
    ways = measured()
    native = ways[0]
    for way in ways:
        sizes = f"{_megabytes(way.packed)} packed, {_megabytes(way.placed)} on disk"
        yield Row(f"{way.title}: size", sizes)
        only = way.way == WEBASSEMBLY
        times = f"{milliseconds(way.start)}, {milliseconds(way.wall)} on the clock"
        start, bar = (way.start, START_BAR) if only else (None, None)
        yield Row(f"{way.title}: start", times, start, bar)
        cost = f"{microseconds(way.push)}, installed {microseconds(native.push)}"
        ratio = way.push / native.push
        yield Row(f"{way.title}: push", cost, ratio, PUSH_BAR if only else None)


def write() -> None:
    """The table of the page, of what was measured just now."""
    lines = [
        "| way | packed, MB | on disk, MB | start, ms | processor time of a start, ms "
        "| of a push, µs | push against installed |",
        "| --- | --: | --: | --: | --: | --: | --: |",
    ]
    ways = measured()
    for way in ways:
        cells = (
            way.title,
            f"{way.packed / 1e6:.1f}",
            f"{way.placed / 1e6:.1f}",
            f"{way.wall * 1e3:.0f}",
            f"{way.start * 1e3:.0f}",
            f"{way.push * 1e6:.0f}",
            f"{way.push / ways[0].push:.2f}",
        )
        lines.append(f"| {' | '.join(cells)} |")
    text = PAGE.read_text(encoding="utf-8")
    table = "\n".join(lines) + "\n"
    new = TABLE.sub(lambda match: match[1] + table + match[2], text)
    PAGE.write_text(new, encoding="utf-8")


_measured: list[Way] = []


def measured() -> list[Way]:
    """All of them, measured once, in turns."""
    if not _measured:
        os.environ.pop(
            "PYTHONDONTWRITEBYTECODE", None
        )  # as it is where it is installed
        with TemporaryDirectory(prefix="stream-sidecar-") as folder:
            _measured.extend(_built(Path(folder)))
            _measure(_measured)
    return _measured


def _built(folder: Path) -> Iterator[Way]:
    prepare()
    bundle = ROOT / "clients" / "bundle"
    archive = folder / "stream-sidecar.pyz"
    for script, output in (("bundle.py", archive), ("binary.py", folder / "binary")):
        _run(sys.executable, str(bundle / script), str(output))
    _run("node", str(HOME / "scripts" / "pack.mjs"), str(folder))
    wheel = folder / "wheel"
    _run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(wheel))
    installed = (sys.executable, "-P", "-m", "stream_sidecar", "--stdio")
    libraries = ("attr", "attrs", "cattrs", "click", "lsprotocol", "pygls", "rich")
    site = Path(sys.prefix).glob("lib/python*/site-packages")
    places = [home / name for home in site for name in libraries]
    ours = sum(map(_size, [ROOT / "sidecar", *places]))
    yield Way("installed", installed, _size(wheel), ours)
    zipped = (sys.executable, str(archive), "--stdio")
    yield Way("one file", zipped, _size(archive), _size(archive))
    (npm,) = (folder / "binary").glob("*.tgz")
    program = folder / "binary" / "stream-sidecar"
    command = (str(program / "stream-sidecar"), "--stdio")
    yield Way("with an interpreter", command, _size(npm), _size(program))
    pyodide = _size(HOME / "node_modules" / "pyodide")
    wasm = _size(HOME / "wasm")
    yield Way("WebAssembly", WEBASSEMBLY, wasm + pyodide, wasm + pyodide)


def _measure(ways: list[Way]) -> None:
    for way in ways:
        _cost(way.way, 0)  # what is read has been read before
    alone = median(_cost(None, 0)[0] for _ in range(STARTS))
    starts: list[list[tuple[float, float]]] = [[] for _ in ways]
    for _ in range(STARTS):
        for way, costs in zip(ways, starts, strict=True):
            costs.append(_cost(way.way, 0))
    for way, costs in zip(ways, starts, strict=True):
        way.start = median(cost for cost, _ in costs) - alone
        way.wall = median(wall for _, wall in costs)
    for way in ways:
        pushes = min(_cost(way.way, PUSHES)[0] for _ in range(2))
        way.push = (pushes - way.start - alone) / PUSHES


def _cost(way: Any, count: int) -> tuple[float, float]:
    """Seconds of processor time, and until the answer, of one run."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    script = str(HOME / "bench" / "ways.mjs")
    said = _run("node", script, json.dumps(way), str(count))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return used, float(said or 0) / 1e3


def _run(*command: str) -> str:
    return subprocess.check_output(command, cwd=ROOT, text=True)


def _size(path: Path) -> int:
    if path.is_file():
        return path.stat().st_size
    files = (each for each in path.rglob("*") if each.is_file())
    return sum(each.stat().st_size for each in files if "__pycache__" not in each.parts)


def _megabytes(size: int) -> str:
    return f"{size / 1e6:.1f} MB"
