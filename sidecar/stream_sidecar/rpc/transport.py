"""The process's standard streams, when stdout is a protocol.

Three promises, all learnt from complaints about language servers: nobody but us writes
to the protocol (`claim`), the reader never waits for the writer (`Writer`), and stderr
never blocks or fails (`Stderr`). `pump` is the reading loop. Only the standard library
is imported here, because `claim` has to run before anything else does.
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
# What a descriptor that is ready takes without blocking (POSIX, write()).
_READY_SIZE: int = getattr(select, "PIPE_BUF", 512)


def claim() -> tuple[int, int]:
    """Takes stdin and stdout for the protocol and gives their descriptors.

    Afterwards whatever anybody prints, or writes to descriptor 1, goes to stderr.
    """
    for descriptor in (0, 1, 2):
        _ensure_open(descriptor)
    stdout = os.dup(1)
    os.dup2(2, 1)
    if sys.platform == "win32":
        import msvcrt

        msvcrt.setmode(0, os.O_BINARY)
        msvcrt.setmode(stdout, os.O_BINARY)
    sys.stdout = sys.stderr = Stderr(2)
    return 0, stdout


def _ensure_open(descriptor: int) -> None:
    """A closed standard descriptor would be given to the next file that is opened."""
    try:
        os.fstat(descriptor)
    except OSError:
        null = os.open(os.devnull, os.O_RDWR)
        if null != descriptor:
            os.dup2(null, descriptor)
            os.close(null)


class Conversation(Protocol):
    """What the reading loop drives: bytes in, bytes out."""

    exit_code: int | None

    def push(self, data: bytes) -> bytes: ...


def pump(stdin: int, connection: Conversation, writer: Writer) -> None:
    """Reads until the end of input or until the connection has an exit code."""
    while connection.exit_code is None and (data := _read(stdin)):
        writer.send(connection.push(data))


def _read(descriptor: int) -> bytes:
    """Some bytes; none at the end of input."""
    while True:
        try:
            return os.read(descriptor, _READ_SIZE)
        except BlockingIOError:  # the host has made its end, and so ours, non-blocking
            select.select([descriptor], [], [])
        except OSError:  # a terminal that is gone
            return b""


class Writer:
    """Writes bytes in order; ``send`` never waits for whoever reads them.

    What the descriptor takes at once is written by the caller, the rest by a thread.
    ``failed`` is called when nobody can read any more. With ``backlog`` at most so many
    bytes wait, and what does not fit is dropped. ``ready`` is what `without_waiting`
    gives for the same descriptor.
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
        self._queued = 0  # bytes, those that the thread is writing included
        self._piece = 65_536
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)
        self._thread: threading.Thread | None = None
        self._ready = ready
        self._poll = _poll(descriptor)

    def send(self, data: bytes) -> None:
        """Writes ``data``, now or later."""
        with self._lock:
            rest = data if self._queued else self._write_ready(data)
            if rest and (self._backlog is None or self._queued < self._backlog):
                self._enqueue(rest)

    def drain(self, patience: float) -> None:
        """Waits for the thread as long as the reader takes something.

        ``patience``: seconds without progress after which the rest is given up.
        """
        with self._changed:
            self._piece = _READY_SIZE  # so that slow readers are seen to read
            while before := self._queued:
                self._changed.wait(patience)
                if self._queued == before:
                    return

    def _write_ready(self, data: bytes) -> bytes | memoryview:
        """Writes what can be written without waiting; gives the rest."""
        if self._ready is not None:
            return data[self._write(data, self._ready) :]
        if self._poll is None:
            return data
        if len(data) <= _READY_SIZE:
            is_ready = self._poll.poll(0)
            return data[self._write(data, self._descriptor) :] if is_ready else data
        rest = memoryview(data)
        while rest and self._poll.poll(0):
            written = self._write(rest[:_READY_SIZE], self._descriptor)
            if not written:
                break
            rest = rest[written:]
        return rest

    def _enqueue(self, data: bytes | memoryview) -> None:
        self._queue.append(data)
        self._queued += len(data)
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, daemon=True)
            self._thread.start()
        self._changed.notify_all()

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._queue)
                data = memoryview(b"".join(self._queue))
                self._queue.clear()
            while data:
                written = self._write(data[: self._piece], self._descriptor)
                if not written:
                    select.select([], [self._descriptor], [])
                data = data[written:]
                with self._changed:
                    self._queued -= written
                    self._changed.notify_all()

    def _write(self, data: bytes | memoryview, descriptor: int) -> int:
        """Bytes written; 0 when a non-blocking descriptor takes none just now."""
        try:
            return os.write(descriptor, data)
        except BlockingIOError:
            return 0
        except OSError:
            self._failed()
            return len(data)


def without_waiting(descriptor: int) -> int | None:
    """Another descriptor of the same pipe, to which writing never waits; Linux has it.

    It saves a system call per answer. Those who share ``descriptor`` with us see
    nothing of it, as they would if that itself were made non-blocking.
    """
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
        """Gives the reader of stderr a last chance."""
        self._writer.drain(patience)

    def _ignore(self) -> None:
        """A closed stderr is no error: to report it would write to it once more."""
