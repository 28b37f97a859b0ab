"""The thread of the LSP side: imports pygls, then runs its event loop.

Messages that arrive during the import wait; all are handled in the order in which they
were submitted. Hosts that only stream never start this thread.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

from stream_sidecar.editor.receiver import open_receiver

if TYPE_CHECKING:
    import asyncio

    from stream_sidecar.editor.receiver import Receiver
    from stream_sidecar.rpc.connection import Connection
    from stream_sidecar.rpc.envelope import Id

_Job: TypeAlias = Callable[["Receiver"], None]


class LspThread:
    """The LSP side of ``connection``, started with the params of ``initialize``.

    ``cancelled``: ids of cancelled requests that still wait for their turn.
    """

    def __init__(self, connection: Connection, initialize_params: Any) -> None:
        self.cancelled: set[Id] = set()
        self._connection = connection
        self._lock = threading.Lock()
        self._jobs: list[_Job] = [lambda lsp: lsp.begin(initialize_params)]
        self._running: tuple[asyncio.AbstractEventLoop, Receiver] | None = None
        threading.Thread(target=self._run, daemon=True).start()

    def submit(self, message: dict[str, Any]) -> None:
        self._do(lambda lsp: lsp.receive(message))

    def cancel(self, message_id: Id) -> None:
        self.cancelled.add(message_id)
        self._do(lambda lsp: lsp.cancel(message_id))

    def turn(self, callback: Callable[[], None]) -> None:
        """Calls ``callback`` after everything that was submitted before."""
        self._do(lambda _: callback())

    def _do(self, job: _Job) -> None:
        with self._lock:
            if self._running is None:
                self._jobs.append(job)
            else:
                loop, lsp = self._running
                loop.call_soon_threadsafe(job, lsp)

    def _run(self) -> None:
        import asyncio

        loop = asyncio.new_event_loop()
        lsp = open_receiver(self._connection, self.cancelled)
        with self._lock:
            self._running = loop, lsp
            for job in self._jobs:
                loop.call_soon(job, lsp)
        loop.run_forever()
