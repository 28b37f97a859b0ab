"""The process's standard streams, when stdout carries the protocol.

Complaints about language servers led to three promises: only the sidecar writes to the
protocol (`claim`), reading never waits for writing (`Writer`), and stderr never blocks
or fails (`Stderr`). `pump` is the reading loop. This module imports only the standard
library, because `claim` has to run before anything else does.
"""

from __future__ import annotations

import io
import os
import select
import stat
import sys
import threading
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

_READ_SIZE = 65_536
_STDERR_BACKLOG = 65_536
# How many bytes a descriptor that is ready accepts without blocking (POSIX, write()).
_READY_SIZE: int = getattr(select, "PIPE_BUF", 512)


def claim() -> tuple[int, int]:
    """Reserves stdin and stdout for the protocol and returns their descriptors.

    From then on, everything that is printed or written to descriptor 1 goes to stderr.
    """
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:  # closed: the next file that is opened would get its number
            null = os.open(os.devnull, os.O_RDWR)
            if null != descriptor:
                os.dup2(null, descriptor)
                os.close(null)
    stdout = os.dup(1)
    os.dup2(2, 1)
    if sys.platform == "win32":
        import msvcrt

        msvcrt.setmode(0, os.O_BINARY)
        msvcrt.setmode(stdout, os.O_BINARY)
    sys.stdout = sys.stderr = Stderr(2)
    return 0, stdout


class Conversation(Protocol):
    """What `pump` needs of a connection: bytes in, bytes out."""

    exit_code: int | None

    def push(self, data: bytes) -> bytes: ...


def pump(stdin: int, connection: Conversation, writer: Writer) -> None:
    """Reads until the end of input or until the connection has an exit code."""
    while connection.exit_code is None and (data := _read(stdin)):
        writer.send(connection.push(data))


def _read(descriptor: int) -> bytes:
    """The next bytes; empty at the end of input."""
    while True:
        try:
            return os.read(descriptor, _READ_SIZE)
        except BlockingIOError:  # the host made its end non-blocking, and so this one
            select.select([descriptor], [], [])
        except OSError:  # a terminal that is gone
            return b""


class Writer:
    """Writes bytes in order; ``send`` never waits for the reader.

    The caller writes what the descriptor accepts without blocking, a thread the rest.
    ``failed`` is called when nobody can read any more. With ``backlog``, data is
    dropped while that many bytes wait. ``ready`` is the result of `without_waiting` for
    the same descriptor.
    """

    def __init__(
        self,
        descriptor: int,
        failed: Callable[[], None],
        backlog: int | None = None,
        ready: int | None = None,
    ) -> None:
        self._descriptor = descriptor
        self._failed = failed
        self._backlog = backlog
        self._queue: list[bytes | memoryview] = []
        self._queued = 0  # bytes, including what the thread is writing
        self._piece = 65_536
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)
        self._thread: threading.Thread | None = None
        self._ready = ready
        self._poll = _poll(descriptor)

    def send(self, data: bytes | memoryview) -> None:
        """Writes ``data``, now or from the thread."""
        with self._lock:
            data = data if self._queued else self._write_ready(data)
            if data and (self._backlog is None or self._queued < self._backlog):
                self._queue.append(data)
                self._queued += len(data)
                if self._thread is None:
                    self._thread = threading.Thread(target=self._run, daemon=True)
                    self._thread.start()
                self._changed.notify_all()

    def drain(self, patience: float) -> None:
        """Waits for the thread as long as the reader reads.

        ``patience``: the seconds without progress after which it stops waiting.
        """
        with self._changed:
            self._piece = _READY_SIZE  # small, so that a slow reader shows progress
            while size := self._queued:
                self._changed.wait(patience)
                if self._queued == size:
                    return

    def _write_ready(self, data: bytes | memoryview) -> bytes | memoryview:
        """Writes what can be written without waiting; returns the rest."""
        if self._ready is not None:
            return data[self._write(data, self._ready) :]
        if self._poll is None:
            return data
        if len(data) <= _READY_SIZE:
            is_ready = self._poll.poll(0)
            return data[self._write(data, self._descriptor) :] if is_ready else data
        data = memoryview(data)
        while data and self._poll.poll(0):
            size = self._write(data[:_READY_SIZE], self._descriptor)
            if not size:
                break
            data = data[size:]
        return data

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._queue)
                data = memoryview(b"".join(self._queue))
                self._queue.clear()
            while data:
                size = self._write(data[: self._piece], self._descriptor)
                if not size:
                    select.select([], [self._descriptor], [])
                data = data[size:]
                with self._changed:
                    self._queued -= size
                    self._changed.notify_all()

    def _write(self, data: bytes | memoryview, descriptor: int) -> int:
        """The number of bytes written; 0 if a non-blocking descriptor is full."""
        try:
            return os.write(descriptor, data)
        except BlockingIOError:
            return 0
        except OSError:
            self._failed()
            return len(data)


def without_waiting(descriptor: int) -> int | None:
    """Another, non-blocking descriptor of the same pipe, which saves a system call for
    each answer. ``descriptor`` itself stays blocking, because other processes may share
    it. None where that is impossible (only Linux has it)."""
    try:
        if stat.S_ISFIFO(os.fstat(descriptor).st_mode):
            flags = os.O_WRONLY | os.O_NONBLOCK
            return os.open(f"/proc/self/fd/{descriptor}", flags)
    except (AttributeError, OSError):  # Windows has no such flag
        pass
    return None


def _poll(descriptor: int) -> select.poll | None:
    if not hasattr(select, "poll"):  # Windows
        return None
    poll = select.poll()
    poll.register(descriptor, select.POLLOUT)
    return poll


class Stderr(io.TextIOBase):
    """A text stream whose ``write`` neither waits nor raises."""

    def __init__(self, descriptor: int) -> None:
        self._writer = Writer(descriptor, self._ignore, _STDERR_BACKLOG)
        self._descriptor = descriptor

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._descriptor

    def write(self, text: str) -> int:
        self._writer.send(text.encode("utf-8", "backslashreplace"))
        return len(text)

    def drain(self, patience: float) -> None:
        """Waits for the reader; ``patience``: the seconds without progress."""
        self._writer.drain(patience)

    def _ignore(self) -> None:
        """Does nothing: reporting that stderr is closed would write to stderr again."""
