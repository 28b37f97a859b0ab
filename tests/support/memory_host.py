"""A connection without a process: bytes in, checked messages out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from rpc_client import RpcError, frame, message, result_of, strict_json

from stream_sidecar.rpc.connection import Connection

if TYPE_CHECKING:
    from collections.abc import Iterable


class FakeLsp:
    """Remembers what it was given; the test gives the answers."""

    def __init__(self, connection: Connection, params: Any) -> None:
        self.connection = connection
        self.params = params
        self.submitted: list[dict[str, Any]] = []
        self.cancelled: list[Any] = []

    def submit(self, submitted: dict[str, Any]) -> None:
        self.submitted.append(submitted)

    def cancel(self, message_id: Any) -> None:
        self.cancelled.append(message_id)

    def turn(self, callback: Any) -> None:
        """It answers when the test does."""
        callback()


class MemoryHost:
    """``lsp`` is None until the first LSP message; ``sent``: messages of other threads.

    ``ours`` is ``initializationOptions.streamSidecar``; without ``started`` the host
    has to initialize the connection itself.
    """

    def __init__(self, *, started: bool = True, **ours: Any) -> None:
        self.sent: list[Any] = []
        self.watched: list[int] = []
        self.lsp: FakeLsp | None = None
        self.connection = Connection(self._send, self._open_lsp, self.watched.append)
        if started:
            options = {"streamSidecar": ours}
            self.request("initialize", {"initializationOptions": options})

    def request(self, method: str, params: Any = None) -> Any:
        """The result of a request; raises RpcError."""
        (answer,) = self.push(frame(message(method, params, id="r")))
        return result_of(answer)

    def notify(self, method: str, params: Any = None) -> list[Any]:
        return self.push(frame(message(method, params)))

    def push(self, *pieces: bytes) -> list[Any]:
        """The messages that bytes are answered with."""
        return split(b"".join(map(self.connection.push, pieces)))

    def close(self) -> list[Any]:
        return split(self.connection.close(0, 0))

    def _send(self, data: bytes) -> None:
        self.sent += split(data)

    def _open_lsp(self, connection: Connection, params: Any) -> FakeLsp:
        self.lsp = FakeLsp(connection, params)
        return self.lsp


def error_of(host: MemoryHost, method: str, params: Any = None) -> RpcError:
    """What a request is refused with."""
    with pytest.raises(RpcError) as caught:
        host.request(method, params)
    return caught.value


def split(data: bytes) -> list[Any]:
    """The messages in ``data``, which must be nothing but frames."""
    messages = []
    while data:
        header, _, rest = data.partition(b"\r\n\r\n")
        assert header.startswith(b"Content-Length: ")
        size = int(header[16:])
        assert len(rest) >= size
        messages.append(strict_json(rest[:size]))
        data = rest[size:]
    return messages


def two_way_cuts(data: bytes) -> Iterable[tuple[bytes, ...]]:
    """``data`` whole, byte by byte, and cut in two at every place."""
    yield (data,)
    yield tuple(data[at : at + 1] for at in range(len(data)))
    for at in range(1, len(data)):
        yield data[:at], data[at:]
