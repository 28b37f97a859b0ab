"""A program that repairs copies of a folder and kills itself at chosen moments.

``python killed_while_writing.py FOLDER SEED COUNT`` repairs FOLDER/0 whole, and
FOLDER/last once more, counting the calls of functions that this takes when everything
is imported; and then each of FOLDER/1 ... FOLDER/COUNT in a process of its own that
gets SIGKILL at a random one of those calls.
"""

from __future__ import annotations

import os
import random
import signal
import sys
from pathlib import Path
from typing import Any

from sidecar.session_files.files import Job, find_files
from sidecar.session_files.workers import repair_files


def repair(folder: Path, moment: int | None) -> int:
    """How many calls the repair took; it is killed at call number ``moment``."""
    calls = 0

    def count(_frame: Any, event: str, _argument: Any) -> None:
        nonlocal calls
        if event in ("call", "c_call", "c_return"):
            calls += 1
            if calls == moment:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.setprofile(count)
    paths = find_files([folder])
    reports = list(repair_files(paths, Job(write=True), lambda _size: None, None, 1))
    sys.setprofile(None)
    assert all(report.written for report in reports), reports
    return calls


def main(folder: Path, seed: int, count: int) -> None:
    repair(folder / "0", None)
    last = repair(folder / "last", None)
    moments = random.Random(seed).sample(range(1, last), count)
    killed = 0
    for number, moment in enumerate(moments, 1):
        child = os.fork()
        if not child:
            repair(folder / str(number), moment)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        killed += os.WIFSIGNALED(status)
    sys.stdout.write(f"{killed} killed\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
