"""The sidecar without a process of its own: no threads, pipes, sockets or files.

A program with an interpreter and an event loop, for example a web worker with Pyodide,
passes the client's bytes to a `Worker` and forwards what it sends. Everything else is
like the process (protocol.md), with two exceptions:

- A batch is answered on the same thread. Before each of its messages, ``received`` is
  called for the bytes that the client has sent in the meantime, so streams continue and
  a cancellation arrives. Without ``received``, they wait for the end of the batch.
- At the end of input, requests of LSP that have no answer yet are refused immediately.

pygls and lsprotocol are imported when the first method of LSP arrives, or when the
client sends ``initialized`` and has documents.
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
    """The sidecar for one client.

    The host passes the function ``send``; the `Worker` calls it with the bytes for the
    client. ``exit_code`` is None until the connection has ended. Call every method on
    the same thread.
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
        """Accepts bytes of the client, cut anywhere."""
        self._pass_on(self._connection.push(data))
        self.exit_code = self._connection.exit_code
        if not self._is_answering:
            self._answer_batches()

    def close(self) -> None:
        """Ends the connection at the end of the client's bytes; not needed after
        ``exit``."""
        self._pass_on(self._connection.close(0, 0))
        self.exit_code = self._connection.exit_code or 0

    def _pass_on(self, data: bytes) -> None:
        if data:
            self._send(data)

    def _open_batches(self, client: Client) -> Batches:
        self._batches = Batches(client, self._look)
        return self._batches

    def _look(self) -> None:
        """Handles, before a message of a batch, what the client has sent."""
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
    """The LSP side, on the event loop that is already running."""

    def __init__(self, connection: Connection, initialize_params: Any) -> None:
        import asyncio

        from stream_sidecar.editor.receiver import open_receiver

        self._cancelled: set[Id] = set()
        self._loop = asyncio.get_running_loop()
        self._receiver = open_receiver(connection, self._cancelled)
        self._loop.call_soon(self._receiver.begin, initialize_params)

    def submit(self, message: dict[str, Any]) -> None:
        self._loop.call_soon(self._receiver.receive, message)

    def turn(self, callback: Callable[[], None]) -> None:
        self._loop.call_soon(callback)

    def cancel(self, message_id: Id) -> None:
        self._cancelled.add(message_id)
        self._loop.call_soon(self._receiver.cancel, message_id)
