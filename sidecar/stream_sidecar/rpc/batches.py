"""Batches: long requests, answered one after the other when there is time for them.

A batch reports its progress under its ``workDoneToken`` (``$/progress`` as in LSP). A
cancelled batch stops before its next message. Each batch is answered exactly once.
``submit`` and ``cancel`` may be called while ``answer_next`` runs, from another thread
or from ``pause``, which is called before each message of a batch.
"""

from __future__ import annotations

import threading
from collections import deque
from typing import TYPE_CHECKING, Any, Protocol

from stream_sidecar.errors import CancelledError
from stream_sidecar.records import define
from stream_sidecar.rpc.envelope import notification, usage_error

if TYPE_CHECKING:
    from collections.abc import Callable

    from stream_sidecar.errors import UsageError
    from stream_sidecar.protocol.methods import Method
    from stream_sidecar.protocol.sessions import Sessions
    from stream_sidecar.rpc.envelope import Id


class Client(Protocol):
    """What gets the answers to batches, on any thread: the connection."""

    def answer(self, message_id: Id, result: Any) -> None: ...

    def refuse(self, message_id: Id, error: UsageError) -> None: ...

    def send(self, message: dict[str, Any]) -> None: ...


@define(eq=False)
class Batch:
    """A request that waits or runs; ``percent``: the last report, -1 before it."""

    message_id: Id
    method: Method
    sessions: Sessions
    params: Any
    cancelled: bool = False
    percent: int = -1

    @property
    def token(self) -> str | int | None:
        """The token of progress reports, if any; wrong params are refused elsewhere."""
        token = self.params.get("workDoneToken") if type(self.params) is dict else None
        return token if type(token) in (str, int) else None


class Batches:
    """Answers batches to ``client``; ``arrived`` is notified when a batch arrives."""

    def __init__(
        self, client: Client, pause: Callable[[], None] = lambda: None
    ) -> None:
        self.arrived = threading.Condition()
        self._client = client
        self._pause = pause
        self._batches: dict[Id, Batch] = {}
        self._waiting: deque[Batch] = deque()

    def submit(self, batch: Batch) -> None:
        with self.arrived:
            self._batches[batch.message_id] = batch
            self._waiting.append(batch)
            self.arrived.notify()

    def cancel(self, message_id: Id) -> None:
        """Makes the batch with this id end before its next message."""
        with self.arrived:
            if (batch := self._batches.get(message_id)) is not None:
                batch.cancelled = True

    def cancel_all(self) -> None:
        with self.arrived:
            for batch in self._batches.values():
                batch.cancelled = True

    def is_waiting(self) -> bool:
        """Whether there is a batch to answer next."""
        return bool(self._waiting)

    def answer_next(self) -> None:
        """Answers the batch that has waited longest."""
        with self.arrived:
            batch = self._waiting.popleft()
        message_id, client = batch.message_id, self._client
        try:
            client.answer(message_id, self._result(batch))
        except Exception as error:
            client.refuse(message_id, usage_error(error, batch.method.name))

    def _result(self, batch: Batch) -> Any:
        def watch(count: int, total: int) -> None:
            if batch.cancelled:
                raise CancelledError("cancelled by the client")
            self._report(batch, count, total)
            self._pause()

        try:
            return batch.method.call(batch.sessions, batch.params, watch)
        finally:
            if batch.percent >= 0:
                self._send(batch, {"kind": "end"})
            with self.arrived:  # the client may use the id again after the answer
                del self._batches[batch.message_id]

    def _report(self, batch: Batch, count: int, total: int) -> None:
        percent = 100 * count // total
        if percent == batch.percent or batch.token is None:
            return
        value: dict[str, Any] = {"kind": "report"}
        if batch.percent < 0:
            value = {"kind": "begin", "title": batch.method.name, "cancellable": True}
        batch.percent = percent
        progress = {"message": f"{count} of {total} messages", "percentage": percent}
        self._send(batch, {**value, **progress})

    def _send(self, batch: Batch, value: dict[str, Any]) -> None:
        params = {"token": batch.token, "value": value}
        self._client.send(notification("$/progress", params))
