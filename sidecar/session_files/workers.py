"""Many session files on all cores.

A worker is a process of its own, started anew on every platform, so nothing is shared
but one counter of bytes. The removals of each file go into a file of their own, so that
their number does not matter, and are handed over in the order of the files.
"""

from __future__ import annotations

import multiprocessing
import os
import tempfile
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import nullcontext
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from sidecar.session_files.files import repair_file
from sidecar.values.jsontext import encode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from multiprocessing.sharedctypes import Synchronized

    from sidecar.session_files.files import Job
    from sidecar.session_files.reports import FileReport

_TELL_BYTES = 1 << 18
"""So many bytes a worker reads before it says so."""

_WAIT_SECONDS = 0.1
_AHEAD = 4
"""So many files for each worker wait for their turn; a list of files may be long."""

_read: Synchronized[int] | None = None
"""In a worker: bytes that all workers have read."""


def repair_files(
    paths: list[Path],
    job: Job,
    advance: Callable[[int], None],
    records: IO[bytes] | None,
    workers: int | None = None,
) -> Iterator[FileReport]:
    """The report of every file, in their order.

    ``advance`` is told how many bytes were read since. ``records`` gets every removal
    as a line of JSON. One file, or one worker, needs no further process.
    """
    count = min(workers or os.cpu_count() or 1, len(paths))
    if count < 2:
        for path in paths:
            yield repair_file(path, job, advance, _writer(records))
        return
    with tempfile.TemporaryDirectory() as folder:
        yield from _in_workers(paths, job, advance, records, count, Path(folder))


def _in_workers(
    paths: list[Path],
    job: Job,
    advance: Callable[[int], None],
    records: IO[bytes] | None,
    workers: int,
    folder: Path,
) -> Iterator[FileReport]:
    context = multiprocessing.get_context("spawn")
    read = context.Value("q", 0)
    with ProcessPoolExecutor(workers, context, _begin, (read,)) as pool:
        futures: dict[int, Future[FileReport]] = {}
        told = started = 0
        for number in range(len(paths)):
            while started < min(len(paths), number + _AHEAD * workers):
                part = folder / str(started) if records is not None else None
                futures[started] = pool.submit(_work, paths[started], job, part)
                started += 1
            future = futures.pop(number)
            while not future.done():
                wait([future], _WAIT_SECONDS, FIRST_COMPLETED)
                advance(read.value - told)
                told = read.value
            if records is not None:
                _append(records, folder / str(number))
            yield future.result()
        advance(read.value - told)


def _begin(read: Synchronized[int]) -> None:
    global _read
    _read = read


def _work(path: Path, job: Job, part: Path | None) -> FileReport:
    """In a worker: one file, its removals into ``part``."""
    waiting = 0

    def advance(size: int) -> None:
        nonlocal waiting
        waiting += size
        if waiting >= _TELL_BYTES:
            flush()

    def flush() -> None:
        nonlocal waiting
        assert _read is not None
        with _read.get_lock():
            _read.value += waiting
        waiting = 0

    with nullcontext() if part is None else part.open("wb") as records:
        report = repair_file(path, job, advance, _writer(records))
    flush()
    return report


def _writer(records: IO[bytes] | None) -> Callable[[dict[str, Any]], None] | None:
    if records is None:
        return None
    write = records.write
    return lambda record: void(write(encode(record) + b"\n"))


def void(_value: object) -> None:
    """Nothing, of whatever a call gives."""


def _append(records: IO[bytes], part: Path) -> None:
    with part.open("rb") as file:
        while data := file.read(_TELL_BYTES):
            records.write(data)
    part.unlink()
