"""The sidecar without a process of its own: no threads, pipes, sockets or files.

Whoever has an interpreter and an event loop, as a web worker with Pyodide has, gives a
`Worker` the client's bytes and passes on what it sends. Everything else is as with the
process (protocol.md), but for what only a process can do:

- A batch is answered on the same thread. Between two of its messages ``received`` is
  called for the bytes that the client has sent meanwhile, so that streams continue and
  a cancel arrives. Without ``received`` they wait for the batch.
- At the end of input, requests of LSP that have no answer yet are given up at once.

pygls and lsprotocol are imported when the first method of LSP arrives, or the client
says ``initialized`` and has documents.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stream_sidecar.rpc.batches import Batches
from stream_sidecar.rpc.connection import Connection
from stream_sidecar.rpc.logs import start as start_logs

if TYPE_CHECKING:
    from collections.abc import Callable

    from stream_sidecar.rpc.batches import Client
    from stream_sidecar.rpc.envelope import Id


def start(
    send: Callable[[bytes], None], received: Callable[[], bytes], log_level: str
) -> Worker:
    """A worker that logs to standard error, as the process does."""
    start_logs(log_level, None)
    return Worker(send, received)


class Worker:
    """One client; ``exit_code`` is set when there is nothing more to do for it.

    ``send`` takes bytes for the client. Call every method on one thread.
    """

    def __init__(
        self,
        send: Callable[[bytes], None],
        received: Callable[[], bytes] = lambda: b"",
    ) -> None:
        self.exit_code: int | None = None
        self._send = send
        self._received = received
        self._is_answering = False
        self._batches: Batches
        self._connection = Connection(
            send, _LspHere, lambda _process_id: None, self._open_batches
        )

    def push(self, data: bytes) -> None:
        """Bytes of the client, cut anywhere."""
        self._pass_on(self._connection.push(data))
        self.exit_code = self._connection.exit_code
        if not self._is_answering:
            self._answer_batches()

    def close(self) -> None:
        """The end of the client's bytes, if it has not said ``exit`` before."""
        self._pass_on(self._connection.close(0))
        self.exit_code = self._connection.exit_code or 0

    def _pass_on(self, data: bytes) -> None:
        if data:
            self._send(data)

    def _open_batches(self, client: Client) -> Batches:
        self._batches = Batches(client, self._look)
        return self._batches

    def _look(self) -> None:
        """Between two messages of a batch: everybody else has a turn."""
        if data := self._received():
            self.push(data)

    def _answer_batches(self) -> None:
        self._is_answering = True
        try:
            while self.exit_code is None and self._batches.is_waiting():
                self._batches.answer_next()
        finally:
            self._is_answering = False


class _LspHere:
    """The LSP side on the event loop that runs already."""

    def __init__(self, connection: Connection, initialize_params: Any) -> None:
        import asyncio

        from stream_sidecar.editor.receiver import open_receiver

        self._cancelled: set[Id] = set()
        self._loop = asyncio.get_running_loop()
        self._receiver = open_receiver(connection, self._cancelled)
        self._loop.call_soon(self._receiver.begin, initialize_params)

    def submit(self, message: dict[str, Any]) -> None:
        self._loop.call_soon(self._receiver.receive, message)

    def turn(self, reported: Callable[[], None]) -> None:
        self._loop.call_soon(reported)

    def cancel(self, message_id: Id) -> None:
        self._cancelled.add(message_id)
        self._loop.call_soon(self._receiver.cancel, message_id)
