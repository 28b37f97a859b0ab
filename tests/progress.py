"""Says every minute where a long run is, and at its end how long each file took.

`each_minute` prints what a function says, from a thread of its own, whatever else the
process waits for. As a pytest plugin (``-p tests.progress``) this module writes which
test begins, and how many have run, to the file that SIDECAR_PROGRESS names; `read`
gives the last of these lines while pytest's own output is kept until its end. Beside
this file stand at the end the seconds of processor time of each file of tests, which
`durations` gives: a busy machine does not change them.
Standard library only.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import Any, TextIO

VARIABLE = "SIDECAR_PROGRESS"
SECONDS = 60.0


@contextmanager
def each_minute(
    say: Callable[[], str], seconds: float = SECONDS, file: TextIO | None = None
) -> Iterator[None]:
    """Prints the minutes since the beginning and ``say()`` every minute."""
    begun, ended = time.monotonic(), Event()

    def report() -> None:
        while not ended.wait(seconds):
            minutes = (time.monotonic() - begun) / 60
            print(f"-- {minutes:.0f} min: {say()}", file=file, flush=True)

    reporter = Thread(target=report, daemon=True)
    reporter.start()
    try:
        yield
    finally:
        ended.set()
        reporter.join()


def read(path: Path) -> str:
    """Where the pytest that writes to ``path`` is."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return lines[-1] if lines else "runs"


def durations(path: Path) -> dict[str, float]:
    """The processor seconds of the files that the pytest that wrote to ``path`` has
    run."""
    file = path.with_suffix(".json")
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}


class Progress:
    """The plugin: one line of ``path`` for each test that begins."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.all = self.begun = 0
        self.began = 0.0
        self.durations: dict[str, float] = {}

    def pytest_collection_finish(self, session: Any) -> None:
        self.all = len(session.items)

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        name = nodeid.encode("ascii", "backslashreplace").decode()
        with self.path.open("a", encoding="utf-8") as lines:
            lines.write(f"{self.begun} of {self.all} tests done, now {name[:120]}\n")
        self.begun += 1
        self.began = _processor_seconds()

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        file = nodeid.partition("::")[0]
        seconds = _processor_seconds() - self.began
        self.durations[file] = self.durations.get(file, 0.0) + seconds

    def pytest_sessionfinish(self) -> None:
        file = self.path.with_suffix(".json")
        file.write_text(json.dumps(self.durations), encoding="utf-8")


def _processor_seconds() -> float:
    """Of this process and of those that it has waited for (on POSIX)."""
    return sum(os.times()[:4])


def pytest_configure(config: Any) -> None:
    config.pluginmanager.register(Progress(Path(os.environ[VARIABLE])))
