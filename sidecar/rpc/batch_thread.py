"""The thread of batches: long requests, one after the other, beside the connection.

Streams go on meanwhile. A batch tells how far it is under its ``workDoneToken``
(``$/progress`` as in LSP), stops between two messages when it is cancelled, and is
answered exactly once. The thread starts with the first batch.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from typing import TYPE_CHECKING, Any, Protocol

from attrs import define

from sidecar.errors import CancelledError
from sidecar.rpc.envelope import notification, usage_error

if TYPE_CHECKING:
    from sidecar.errors import UsageError
    from sidecar.protocol.methods import Method
    from sidecar.protocol.sessions import Sessions
    from sidecar.rpc.envelope import Id


class Client(Protocol):
    """Whom a batch answers, on any thread: the connection."""

    def answer(self, message_id: Id, result: Any) -> None: ...

    def refuse(self, message_id: Id, error: UsageError) -> None: ...

    def send(self, message: dict[str, Any]) -> None: ...


@define(eq=False)
class _Batch:
    """A request that waits or runs; ``percent`` is what was told last."""

    message_id: Id
    method: Method
    sessions: Sessions
    params: Any
    cancelled: bool = False
    percent: int = -1

    @property
    def token(self) -> str | int | None:
        """Where progress is told; params that are wrong are refused elsewhere."""
        told = self.params.get("workDoneToken") if type(self.params) is dict else None
        return told if type(told) in (str, int) else None


class BatchThread:
    """Answers to ``client``, which says ``submit`` and ``cancel``."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._batches: dict[Id, _Batch] = {}
        self._waiting: deque[_Batch] = deque()
        self._arrived = threading.Condition()
        self._thread: threading.Thread | None = None

    def submit(
        self, message_id: Id, method: Method, sessions: Sessions, params: Any
    ) -> None:
        batch = _Batch(message_id, method, sessions, params)
        with self._arrived:
            self._batches[message_id] = batch
            self._waiting.append(batch)
            self._arrived.notify()
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, daemon=True)
            self._thread.start()

    def cancel(self, message_id: Id) -> None:
        """A batch of that id ends before its next message."""
        with self._arrived:
            if (batch := self._batches.get(message_id)) is not None:
                batch.cancelled = True

    def cancel_all(self) -> None:
        with self._arrived:
            for batch in self._batches.values():
                batch.cancelled = True

    def _run(self) -> None:
        while True:
            with self._arrived:
                self._arrived.wait_for(lambda: self._waiting)
                batch = self._waiting.popleft()
            self._answer(batch)

    def _answer(self, batch: _Batch) -> None:
        message_id, client = batch.message_id, self._client
        try:
            client.answer(message_id, self._result(batch))
        except Exception as error:
            client.refuse(message_id, usage_error(error, batch.method.name))

    def _result(self, batch: _Batch) -> Any:
        def watch(done: int, total: int) -> None:
            if batch.cancelled:
                raise CancelledError("cancelled by the client")
            self._report(batch, done, total)
            time.sleep(0)  # whoever waits for the interpreter goes first

        try:
            return batch.method.call(batch.sessions, batch.params, watch)
        finally:
            if batch.percent >= 0:
                self._tell(batch, {"kind": "end"})
            with self._arrived:  # after the answer the id may be used again
                del self._batches[batch.message_id]

    def _report(self, batch: _Batch, done: int, total: int) -> None:
        percent = 100 * done // total
        if percent == batch.percent or batch.token is None:
            return
        value: dict[str, Any] = {"kind": "report"}
        if batch.percent < 0:
            value = {"kind": "begin", "title": batch.method.name, "cancellable": True}
        batch.percent = percent
        progress = {"message": f"{done} of {total} messages", "percentage": percent}
        self._tell(batch, {**value, **progress})

    def _tell(self, batch: _Batch, value: dict[str, Any]) -> None:
        params = {"token": batch.token, "value": value}
        self._client.send(notification("$/progress", params))
