"""A connection without a process whose every answer is due at a known moment.

On top of `MemoryHost`: time stands still until the test moves it, batches wait until
the test runs them, and the LSP side knows no method but ``slow/*``, whose answers
wait until they are cancelled. So a sequence of messages has one outcome.
"""

from __future__ import annotations

from typing import Any

from memory_host import FakeLsp, MemoryHost

from stream_sidecar.errors import CancelledError, MethodNotFoundError
from stream_sidecar.rpc.batches import Batches
from stream_sidecar.rpc.connection import Connection

SLOW = "textDocument/hover"


class Clock:
    """Seconds, as often as asked the same."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


class KnowingLsp(FakeLsp):
    """Refuses what it does not know, and what is cancelled, at once."""

    def submit(self, submitted: dict[str, Any]) -> None:
        super().submit(submitted)
        name = submitted.get("method")
        if name == "shutdown":
            self.connection.answer(submitted["id"], None)
        elif "id" in submitted and name is not None and name != SLOW:
            error = MethodNotFoundError(f"there is no method {name}")
            self.connection.refuse(submitted["id"], error)

    def cancel(self, message_id: Any) -> None:
        super().cancel(message_id)
        if any(each.get("id") == message_id for each in self.submitted):
            error = CancelledError("cancelled by the client")
            self.connection.refuse(message_id, error)


class SteppedHost(MemoryHost):
    """``clock`` is the time of the streams; ``step`` lets a batch run."""

    def __init__(self, **ours: Any) -> None:
        self.clock = Clock()
        super().__init__(**ours)
        connection: Any = self.connection
        connection.push(b"")  # the first bytes behind initialize make the sessions
        connection._sessions._monotonic = self.clock
        self._batches = connection._batches = Batches(connection)

    def take(self, *pieces: bytes) -> list[Any]:
        """The messages that bytes are answered with, now and by others."""
        answers = [*self.push(*pieces), *self.sent]
        self.sent.clear()
        return answers

    def step(self) -> list[Any]:
        if self._batches.is_waiting():
            self._batches.answer_next()
        return self.take()

    def end(self) -> list[Any]:
        """The end of input; nobody waits."""
        return [*self.close(), *self.sent]

    def _open_lsp(self, connection: Connection, params: Any) -> FakeLsp:
        self.lsp = KnowingLsp(connection, params)
        return self.lsp
