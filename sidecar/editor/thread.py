"""The thread of the LSP side: imports pygls, then runs its event loop.

What arrives while pygls is still being imported waits; everything goes through in the
order in which it was submitted. Hosts that only stream never start this thread.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from sidecar.errors import InternalError
from sidecar.rpc.logs import log

if TYPE_CHECKING:
    import asyncio

    from sidecar.rpc.connection import Connection
    from sidecar.rpc.envelope import Id


class Receiver(Protocol):
    """What runs on the thread: pygls, or what stands in for it."""

    def begin(self, params: Any) -> None: ...

    def receive(self, message: dict[str, Any]) -> None: ...

    def cancel(self, message_id: Id) -> None: ...


_Job: TypeAlias = Callable[[Receiver], None]


class LspThread:
    """The LSP side of ``connection``, begun with the params of ``initialize``.

    Cancelled requests that are still waiting for their turn are in ``cancelled``.
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
        lsp = self._open()
        with self._lock:
            self._running = loop, lsp
            for job in self._jobs:
                loop.call_soon(job, lsp)
        loop.run_forever()

    def _open(self) -> Receiver:
        try:
            from sidecar.editor.handlers import register
            from sidecar.editor.server import SidecarServer

            server = SidecarServer(self._connection, self.cancelled)
            register(server, lambda: self._connection.stream_options)
            return server.protocol
        except Exception:
            log.exception("LSP methods are not available")
            return _Unavailable(self._connection)


class _Unavailable:
    """Answers in place of a pygls that cannot be imported."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def begin(self, params: Any) -> None: ...

    def cancel(self, message_id: Id) -> None: ...

    def receive(self, message: dict[str, Any]) -> None:
        if "method" in message and "id" in message:
            error = InternalError("LSP methods are not available, see the log")
            self._connection.refuse(message["id"], error)
