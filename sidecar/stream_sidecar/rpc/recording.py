"""Recordings of the conversation with the host (``--record``).

The file has everything that the host sends and gets, including text of models; nothing
else in the process writes content anywhere. Its lines are those of a transcript: a
header, then ``{"dir": "in" | "out", "msg": ...}``; input that is no message becomes
``{"dir": "in", "base64": ...}``. It is a new file that only the user may read. An old
file is never replaced, because it may be the recording of a crash. If writing fails,
the recording ends with a warning, and the conversation continues.
"""

from __future__ import annotations

import os
import sys
import threading
from base64 import b64encode
from typing import TYPE_CHECKING, Any

from stream_sidecar import __version__
from stream_sidecar.protocol.handshake import PROTOCOL_VERSION
from stream_sidecar.rpc.base_protocol import BaseProtocolReader, frame
from stream_sidecar.rpc.connection import Connection
from stream_sidecar.rpc.logs import log
from stream_sidecar.rpc.new_files import open_new
from stream_sidecar.values.jsontext import decode, encode

if TYPE_CHECKING:
    from collections.abc import Callable

    from stream_sidecar.rpc.connection import Lsp

_HEADER = {
    "transcript": 1,
    "protocolVersion": PROTOCOL_VERSION,
    "title": f"recorded by stream-sidecar {__version__}",
}


class Recording:
    """An open recording. ``%p`` in ``path`` is replaced by the process id.

    Raises FileExistsError if there is such a file, another OSError if it cannot be
    made.
    """

    def __init__(self, path: str) -> None:
        path = path.replace("%p", str(os.getpid()))
        self._file: int | None = open_new(path)
        self._lock = threading.Lock()
        self._readers = {
            direction: BaseProtocolReader(sys.maxsize) for direction in ("in", "out")
        }
        log.warning("all messages, with their contents, are recorded in %s", path)
        self._write([_HEADER])

    def note(self, direction: str, data: bytes) -> None:
        """Adds data from the host (``in``) or for it (``out``)."""
        reader, lines = self._readers[direction], []
        with self._lock:
            reader.feed(data)
            while (body := reader.next()) is not None:
                if isinstance(body, bytes):
                    lines.append({"dir": direction, **_message(body)})
                else:
                    lines.append({"comment": f"unreadable: {body.error}"})
            self._write(lines)

    def _write(self, lines: list[dict[str, Any]]) -> None:
        text = b"".join(encode(line) + b"\n" for line in lines)
        try:
            while text and self._file is not None:
                text = text[os.write(self._file, text) :]
        except OSError as error:
            self._file = None
            log.warning("the recording ends here: %s", error)


def _message(body: bytes) -> dict[str, Any]:
    try:
        return {"msg": decode(body)}
    except ValueError:
        return {"base64": b64encode(frame(body)).decode()}


class RecordedConnection(Connection):
    """A connection that writes its conversation into a `Recording`."""

    def __init__(
        self,
        recording: Recording,
        send: Callable[[bytes], None],
        open_lsp: Callable[[Connection, Any], Lsp],
        watch: Callable[[int], None],
    ) -> None:
        def send_recorded(data: bytes) -> None:
            recording.note("out", data)
            send(data)

        super().__init__(send_recorded, open_lsp, watch)
        self._recording = recording

    def push(self, data: bytes) -> bytes:
        self._recording.note("in", data)
        return self._record(super().push(data))

    def close(self, patience: float, most_work: float) -> bytes:
        return self._record(super().close(patience, most_work))

    def _record(self, data: bytes) -> bytes:
        self._recording.note("out", data)
        return data
