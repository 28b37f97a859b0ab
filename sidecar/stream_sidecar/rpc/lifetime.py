"""The end of the process: signals, the parent's death, and the way out.

A sidecar that outlives its host is the top complaint about language servers
(openlawlibrary/pygls#130, rust-lang/rust-analyzer#5496, oraios/serena#1750), so several
signs are watched at once: the end of stdin is the reading loop's; here are SIGTERM,
SIGINT, the change of the parent's id, and the death of the process that the host names
(``processId``, LSP 3.17; ``--clientProcessId``, vscode-languageclient).
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from typing import NoReturn

from stream_sidecar.rpc.logs import log
from stream_sidecar.rpc.transport import Stderr

_POLL_SECONDS = 0.5
_STDERR_SECONDS = 0.1


def end(code: int) -> NoReturn:
    """Ends the process now, whatever its threads are waiting for."""
    if isinstance(sys.stderr, Stderr):
        sys.stderr.drain(_STDERR_SECONDS)
    os._exit(code)


def end_on_signals() -> None:
    """SIGTERM and SIGINT end the process with 128 and their number, as shells do."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda number, _frame: os._exit(128 + number))


class ParentWatch:
    """Ends the process when its parent, or a process given to ``add``, is gone."""

    def __init__(self) -> None:
        self._parent = os.getppid()
        self._watched: set[int] = set()
        self._never = threading.Event()

    def start(self) -> None:
        threading.Thread(target=self._run, daemon=True).start()

    def add(self, process_id: int) -> None:
        """Watches ``process_id`` too, if it can be seen: a host's number from another
        sandbox or container is nobody's here, and the end of stdin tells its death."""
        if 0 < process_id < 2**31 and is_alive(process_id):
            self._watched = self._watched | {process_id}
        else:
            log.warning("no process %s is seen, so that it is not watched", process_id)

    def _run(self) -> None:
        while (gone := self._gone()) is None:
            self._never.wait(_POLL_SECONDS)
        log.warning("ends because process %s has ended", gone)
        end(0)

    def _gone(self) -> int | None:
        """The first of those it is to end with that is there no more."""
        if os.getppid() != self._parent:
            return self._parent
        return next((each for each in self._watched if not is_alive(each)), None)


if sys.platform == "win32":
    import ctypes

    _SYNCHRONIZE = 0x0010_0000
    _WAIT_OBJECT_0 = 0

    def is_alive(process_id: int) -> bool:
        """Whether the process runs. ``os.kill(pid, 0)`` would end it on Windows."""
        kernel = ctypes.windll.kernel32
        handle = kernel.OpenProcess(_SYNCHRONIZE, False, process_id)
        if not handle:
            return False
        ended: int = kernel.WaitForSingleObject(handle, 0)
        kernel.CloseHandle(handle)
        return ended != _WAIT_OBJECT_0

else:

    def is_alive(process_id: int) -> bool:
        """Whether the process runs; a dead one that nobody waited for does not."""
        try:
            os.kill(process_id, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            return True
        return not _is_zombie(process_id)

    def _is_zombie(process_id: int) -> bool:
        """Known on Linux only; elsewhere the end of stdin has to do."""
        try:
            with open(f"/proc/{process_id}/stat", "rb") as file:
                status = file.read()
        except OSError:
            return False
        return status.rpartition(b")")[2].split()[:1] == [b"Z"]
