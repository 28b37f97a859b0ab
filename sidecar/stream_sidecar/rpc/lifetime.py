"""The end of the process: signals, the parent's death, and the way out.

Processes that outlive their host are the top complaint about language servers
(openlawlibrary/pygls#130, rust-lang/rust-analyzer#5496, oraios/serena#1750), so the
sidecar watches for several signs. The reading loop sees the end of stdin. This module
watches for SIGTERM, SIGINT, the end of the parent, and the end of the process that the
host names (``processId``, LSP 3.17; ``--clientProcessId``, vscode-languageclient).
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from typing import TYPE_CHECKING, NoReturn

from stream_sidecar.rpc.logs import log
from stream_sidecar.rpc.processes import parent, watched
from stream_sidecar.rpc.transport import Stderr

if TYPE_CHECKING:
    from stream_sidecar.rpc.processes import HasEnded

_POLL_SECONDS = 0.5
_STDERR_SECONDS = 0.1


def end(code: int) -> NoReturn:
    """Ends the process now, whatever its threads are waiting for."""
    if isinstance(sys.stderr, Stderr):
        sys.stderr.drain(_STDERR_SECONDS)
    os._exit(code)


def end_on_signals() -> None:
    """Makes SIGTERM and SIGINT end the process with the exit code 128 plus their
    number, which is the convention of shells."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda number, _frame: os._exit(128 + number))


class ParentWatch:
    """Ends the process when its parent, or a process given to ``add``, is gone."""

    def __init__(self) -> None:
        self._watched: dict[int, HasEnded] = {}
        self._never = threading.Event()
        if (has_ended := parent()) is not None:
            self._watched[os.getppid()] = has_ended

    def start(self) -> None:
        threading.Thread(target=self._run, daemon=True).start()

    def add(self, process_id: int) -> None:
        """Watches ``process_id`` as well, if it can be seen. A host in another sandbox
        or container cannot be seen; then the end of stdin shows that it has ended."""
        has_ended = watched(process_id) if 0 < process_id < 2**31 else None
        if has_ended is not None:
            self._watched = {process_id: has_ended, **self._watched}
        else:
            log.warning("cannot see process %s, so it is not watched", process_id)

    def _run(self) -> None:
        while True:
            for process_id, has_ended in self._watched.items():
                if has_ended():
                    log.warning("ends because process %s has ended", process_id)
                    end(0)
            self._never.wait(_POLL_SECONDS)
