"""A host of `Worker`, in this process: the methods of `RpcClient`, without a process.

Everything runs on a separate event loop, which runs only while an answer is awaited, as
the loop of a web worker does. While it is open no thread can be started.
"""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from memory_host import split
from rpc_client import frame, message, result_of

from stream_sidecar.worker import Worker

if TYPE_CHECKING:
    from collections.abc import Callable

TURNS = 1_000
"""So often the loop goes round before there is no answer."""


class WorkerHost:
    """``received`` is asked between two messages of a batch."""

    def __init__(self, received: Callable[[], bytes] = lambda: b"") -> None:
        self.sent: list[Any] = []
        self.worker = Worker(lambda data: self.sent.extend(split(data)), received)
        self._loop = asyncio.new_event_loop()
        self._no_threads = patch.object(threading.Thread, "start", _refuse)

    def __enter__(self) -> WorkerHost:
        self._no_threads.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._no_threads.stop()
        for task in asyncio.all_tasks(self._loop):
            task.cancel()
        self._run(asyncio.sleep(0))
        self._loop.close()

    def request(self, method: str, params: Any = None) -> Any:
        self.send(message(method, params, id="r"))
        return result_of(self.read())

    def send(self, *messages: Any) -> None:
        self.send_bytes(b"".join(map(frame, messages)))

    def send_bytes(self, data: bytes) -> None:
        async def push() -> None:
            self.worker.push(data)

        self._run(push())

    def end_input(self) -> None:
        self.worker.close()

    def read(self) -> Any:
        self._run(self._turn())
        assert self.sent, "no answer"
        return self.sent.pop(0)

    def read_all(self) -> list[Any]:
        """What came and was not asked for; its end as a process's."""
        if self.worker.exit_code is not None:
            self.worker.close()
        return self.sent

    def wait(self) -> int | None:
        return self.worker.exit_code

    def stderr(self) -> str:
        return ""

    async def _turn(self) -> None:
        turns = iter(range(TURNS))
        while not self.sent and next(turns, None) is not None:
            await asyncio.sleep(0)

    def _run(self, work: Any) -> None:
        self._loop.run_until_complete(work)


def _refuse(thread: threading.Thread) -> None:
    raise RuntimeError("can't start new thread")
