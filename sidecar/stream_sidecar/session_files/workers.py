"""Many session files on all cores.

A worker is a process of its own, started anew on every platform. Workers share only a
counter of bytes and a flag that stops them. The removals of each file go into a file of
their own, so their number does not matter, and they are handed over in the order of the
files. If a run has to end, no file is finished first: a worker checks the flag after
each piece that it reads, but never while it puts a new file in an old one's place.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import shutil
import signal
import sys
import tempfile
import threading
from collections import deque
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from stream_sidecar.records import frozen
from stream_sidecar.session_files.blocks import LARGE, LinesOnAllCores, read_block
from stream_sidecar.session_files.documents import Stopped
from stream_sidecar.session_files.files import NO_MEMORY, forget, format_of, repair_file
from stream_sidecar.session_files.new_file import remove_leftovers
from stream_sidecar.session_files.reports import FileReport, record_writer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from multiprocessing.sharedctypes import Synchronized

    from stream_sidecar.session_files.blocks import LineBlock, RepairedLines
    from stream_sidecar.session_files.documents import TextSession
    from stream_sidecar.session_files.files import Job

_PROGRESS_BYTES = 1 << 18
"""A worker reports its progress after so many bytes."""

_MOST = 61 if sys.platform == "win32" else 1 << 16
"""The most workers that one process can wait for; on Windows they are few."""

_WAIT_SECONDS = 0.1
_AHEAD = 4
"""So many files for each worker wait for their turn; the list of files may be long."""

_NEW_OBJECTS = 10_000
"""Threshold of the new objects for a pass of the garbage collector."""

_KILLED = "a process that reads the files was killed"
"""The system does so when memory is short; the other workers end with that one."""

_read: Synchronized[int] | None = None
"""In a worker: the bytes that all workers have read."""

_stop: Any = None
"""In a worker: its ``value`` says whether the run has to end."""

_job: Job | None = None
"""In a worker: what to do with every file. It has everything that reading them needs,
so it is sent once."""


def repair_files(
    paths: list[Path],
    job: Job,
    advance: Callable[[int], None],
    records: IO[bytes] | None,
    workers: int | None = None,
    is_stopped: Callable[[], bool] = lambda: False,
) -> Iterator[FileReport]:
    """The report of every file, in their order.

    ``advance`` gets the number of bytes that were read since its last call. ``records``
    gets every removal as a line of JSON. One file that is not large, or one worker,
    needs no further process. Once ``is_stopped`` returns True, no further file is
    begun, and the files in work are left as they are: their reports say so, and the
    other files have no report. Before anything is written, the files that killed runs
    have left are removed.
    """
    run = _Run(job, advance, records, is_stopped)
    forget()
    if job.write:
        remove_leftovers({Path(os.path.realpath(path)).parent for path in paths})
    cores = min(workers or os.cpu_count() or 1, _MOST)
    in_order = job.unseal  # whether a seal is broken depends on the lines before it
    if cores > 1 and len(paths) == 1 and _is_large(paths[0]) and not in_order:
        yield run.by_blocks(paths[0], cores)
        return
    count = min(cores, len(paths))
    if count > 1:
        with tempfile.TemporaryDirectory() as folder:
            yield from run.in_workers(paths, count, Path(folder))
        return
    for path in paths:
        if is_stopped():
            return
        yield repair_file(path, job, run.checked, record_writer(records))


def _is_large(path: Path) -> bool:
    """Whether the file is JSONL that all cores should read."""
    try:
        return path.stat().st_size >= LARGE and format_of(path) == "jsonl"
    except OSError:
        return False


@frozen
class _Run:
    """What `repair_files` was asked for, without the files."""

    job: Job
    advance: Callable[[int], None]
    records: IO[bytes] | None
    is_stopped: Callable[[], bool]

    def checked(self, size: int) -> None:
        """Calls ``advance``; raises `Stopped` if the run has to end."""
        if self.is_stopped():
            raise Stopped
        self.advance(size)

    def by_blocks(self, path: Path, workers: int) -> FileReport:
        """The report of one file; all ``workers`` read its blocks."""
        pool, _, _ = _pool(workers, self.job)
        with pool:

            def submit(block: LineBlock) -> Future[RepairedLines]:
                with _unsignalled():
                    return pool.submit(read_block, block)

            on_all_cores = LinesOnAllCores(
                path, self.job, self.records, submit, 2 * workers
            )

            def lines(session: TextSession, file: IO[bytes]) -> None:
                try:
                    on_all_cores(session, file)
                except BrokenProcessPool:
                    raise ChildProcessError(_KILLED) from None

            record = record_writer(self.records)
            try:
                return repair_file(path, self.job, self.checked, record, lines)
            finally:
                pool.shutdown(cancel_futures=True)

    def in_workers(
        self, paths: list[Path], workers: int, folder: Path
    ) -> Iterator[FileReport]:
        """The reports of files; ``folder`` has their removals meanwhile."""
        pool, read, stop = _pool(workers, self.job)
        records = self.records
        futures: deque[Future[FileReport]] = deque()
        queue = deque(enumerate(paths))
        reported = 0
        with pool:
            try:
                for number in range(len(paths)):
                    stop.value = self.is_stopped()
                    while queue and len(futures) < _AHEAD * workers and not stop.value:
                        index, path = queue.popleft()
                        part = folder / str(index) if records is not None else None
                        with _unsignalled():
                            futures.append(_submit(pool, path, part))
                    if not futures:
                        break
                    future = futures.popleft()
                    while not future.done():
                        wait([future], _WAIT_SECONDS, FIRST_COMPLETED)
                        stop.value = self.is_stopped()
                        self.advance(read.value - reported)
                        reported = read.value
                    if (reason := _failure(future)) is not None:
                        yield FileReport(str(paths[number]), error=reason)
                        continue
                    if records is not None:
                        part = folder / str(number)
                        with part.open("rb") as file:
                            shutil.copyfileobj(file, records, _PROGRESS_BYTES)
                        part.unlink()
                    yield future.result()
            finally:
                stop.value = True  # nobody waits for the rest
            self.advance(read.value - reported)


def _pool(workers: int, job: Job) -> tuple[ProcessPoolExecutor, Synchronized[int], Any]:
    """Processes, the counter of the bytes they have read, and their stop flag."""
    context = multiprocessing.get_context("spawn")
    read, stop = context.Value("q", 0), context.RawValue("b", 0)
    return ProcessPoolExecutor(workers, context, _begin, (read, stop, job)), read, stop


def _submit(
    pool: ProcessPoolExecutor, path: Path, part: Path | None
) -> Future[FileReport]:
    """The future report of a file, or an error if a worker was killed before."""
    try:
        return pool.submit(_work, path, part)
    except BrokenProcessPool as error:
        failed: Future[FileReport] = Future()
        failed.set_exception(error)
        return failed


def _failure(future: Future[FileReport]) -> str | None:
    """Why there is no report of a file; None if there is one."""
    error = future.exception()
    if isinstance(error, MemoryError):
        return NO_MEMORY
    return _KILLED if isinstance(error, BrokenProcessPool) else None


ENDING = {
    number
    for name in ("SIGINT", "SIGTERM", "SIGHUP")
    if (number := getattr(signal, name, None)) is not None
}
"""Signals that end a run; Windows has no SIGHUP."""


@contextmanager
def _unsignalled() -> Iterator[None]:
    """Blocks signals to a process that is started here, until it can say that it
    ignores them: Ctrl-C goes to all processes of a terminal."""
    if sys.platform == "win32":
        yield
    else:
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
        try:
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def collect_seldom() -> None:
    """Lets the garbage collector of a process that reads sessions run seldom. What a
    session leaves is kept to the session's end, then freed without the collector; a
    pass only reads all of it again, which was a sixth of the time."""
    gc.set_threshold(_NEW_OBJECTS)


def _begin(read: Synchronized[int], stop: Any, job: Job) -> None:
    """Begins a worker. Signals are for the process that started the worker, and reach
    the worker through ``stop``. The worker ends with that process."""
    global _read, _stop, _job
    _read, _stop, _job = read, stop, job
    collect_seldom()
    for number in ENDING:
        signal.signal(number, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


def _work(path: Path, part: Path | None) -> FileReport:
    """Repairs one file in a worker, and writes its removals into ``part``."""
    assert _job is not None
    waiting = 0

    def advance(size: int) -> None:
        nonlocal waiting
        if _stop.value:
            raise Stopped
        waiting += size
        if waiting >= _PROGRESS_BYTES:
            flush()

    def flush() -> None:
        nonlocal waiting
        assert _read is not None
        with _read.get_lock():
            _read.value += waiting
        waiting = 0

    with nullcontext() if part is None else part.open("wb") as records:
        if _stop.value:
            return FileReport(str(path), stopped=True)
        report = repair_file(path, _job, advance, record_writer(records))
    flush()
    return report
