"""The receiver of LSP messages, on an event loop: pygls, or a stand-in that refuses.

`open_receiver` imports pygls and lsprotocol, so a host that only streams never does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from stream_sidecar.errors import InternalError
from stream_sidecar.rpc.logs import log

if TYPE_CHECKING:
    from stream_sidecar.editor.server import SidecarProtocol
    from stream_sidecar.rpc.connection import Connection
    from stream_sidecar.rpc.envelope import Id

Receiver: TypeAlias = "SidecarProtocol | _Unavailable"
"""Gets the client's messages in their order, on the event loop."""


def open_receiver(connection: Connection, cancelled: set[Id]) -> Receiver:
    """``cancelled``: the ids of requests that were cancelled before their turn."""
    try:
        from stream_sidecar.editor.handlers import register
        from stream_sidecar.editor.server import SidecarServer

        server = SidecarServer(connection, cancelled)
        register(server, lambda: connection.stream_options)
        return server.protocol
    except Exception:
        log.exception("LSP methods are not available")
        return _Unavailable(connection)


class _Unavailable:
    """Refuses all requests, since pygls cannot be imported."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def begin(self, params: Any) -> None: ...

    def cancel(self, message_id: Id) -> None: ...

    def receive(self, message: dict[str, Any]) -> None:
        if "method" in message and "id" in message:
            error = InternalError("LSP methods are not available, see the log")
            self._connection.refuse(message["id"], error)
