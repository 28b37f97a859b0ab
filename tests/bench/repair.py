"""Session files: one of 200 MB in bounded memory, and a thousand small ones.

Both are generated, one message in twenty with reasoning in its answer, and repaired
with ``--write`` by a process of their own, whose peak of resident memory is taken.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from rows import Bar, Row

if TYPE_CHECKING:
    from collections.abc import Iterator

SIZE = 200_000_000
FILES = 1_000
MEMORY = Bar(100, 64, unit=" MB")
_MEGABYTE = 1e6

_ANSWER = (
    "The function reads the whole file before it looks at the first line. A stream "
    "would do: see `read_lines` in the same module, which takes é and 😀 as well.\n\n"
    "- it is shorter,\n- it needs no memory to speak of,\n- and it can be stopped.\n\n"
) * 4
_QUESTION = "What does this do, and why is it slow? " * 6


def run() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        yield from _large(Path(folder))
    with tempfile.TemporaryDirectory() as folder:
        yield from _many(Path(folder))


def _large(folder: Path) -> Iterator[Row]:
    path = folder / "session.jsonl"
    messages = _write(path, SIZE)
    seconds, peak = _repair(path)
    size = path.with_name("session.jsonl.bak").stat().st_size
    rate = (
        f"{size / _MEGABYTE / seconds:.1f} MB/s, {messages / seconds:,.0f} messages/s"
    )
    yield Row(f"repair --write, one session of {size / _MEGABYTE:.0f} MB", rate)
    yield Row("its peak of resident memory", f"{peak:.0f} MB", peak, MEMORY)


def _many(folder: Path) -> Iterator[Row]:
    for number in range(FILES):
        _write(folder / f"{number}.jsonl", 50_000)
    seconds, _ = _repair(folder)
    told = f"{seconds:.1f} s, {FILES / seconds:,.0f} files/s on {os.cpu_count()} cores"
    yield Row(f"repair --write, {FILES:,} sessions of 50 kB", told)


def _write(path: Path, size: int) -> int:
    """Writes a session of ``size`` bytes; how many messages it has."""
    number = written = 0
    with path.open("w", encoding="utf-8") as file:
        while written < size:
            number += 1
            leak = "<think>Let me see.</think>" if number % 20 == 0 else ""
            role, text = (
                ("assistant", leak + _ANSWER)
                if number % 2 == 0
                else (
                    "user",
                    _QUESTION,
                )
            )
            event = {"type": role, "message": {"role": role, "content": text}}
            line = json.dumps(event, ensure_ascii=number % 3 == 0) + "\n"
            written += file.write(line)
    return number


def _repair(path: Path) -> tuple[float, float]:
    """Seconds, and the peak of resident memory in megabytes."""
    command = [sys.executable, "-m", "sidecar", "repair", str(path), "--write"]
    begun = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - begun
    assert status == 0, status
    unit = 1 if sys.platform == "darwin" else 1024
    return seconds, usage.ru_maxrss * unit / _MEGABYTE
