"""The thread that answers batches while the connection serves streams. It starts with
the first batch.
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from stream_sidecar.rpc.batches import Batches

if TYPE_CHECKING:
    from stream_sidecar.rpc.batches import Batch, Client
    from stream_sidecar.rpc.envelope import Id


class BatchThread:
    """Answers batches to ``client``, which calls ``submit`` and ``cancel``."""

    def __init__(self, client: Client) -> None:
        # Between two messages, other threads get the interpreter first.
        self._batches = Batches(client, lambda: time.sleep(0))
        self._thread: threading.Thread | None = None

    def submit(self, batch: Batch) -> None:
        self._batches.submit(batch)
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, daemon=True)
            self._thread.start()

    def cancel(self, message_id: Id) -> None:
        self._batches.cancel(message_id)

    def cancel_all(self) -> None:
        self._batches.cancel_all()

    def _run(self) -> None:
        batches = self._batches
        while True:
            with batches.arrived:
                batches.arrived.wait_for(batches.is_waiting)
            batches.answer_next()
