"""The LSP side: a pygls server whose transport and envelope are ours.

pygls does registration (``@server.feature``), the builtin document features,
capabilities, progress and requests to the client. This module replaces the parts of
pygls 2.1.1 that break the promise of exactly one answer: ``rpc.connection`` decodes and
checks the messages, params are read once at the top level, and every answer goes back
to the connection. Errors become answers or log lines.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from cattrs import transform_error
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer
from pygls.protocol import (
    JsonRPCNotification,
    JsonRPCRequestMessage,
    LanguageServerProtocol,
)

from stream_sidecar import __version__, errors, patterns
from stream_sidecar.rpc.envelope import usage_error
from stream_sidecar.rpc.logs import log

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

    from stream_sidecar.rpc.connection import Connection
    from stream_sidecar.rpc.envelope import Id

_ERRORS: dict[int, type[errors.UsageError]] = {
    kind.code: kind
    for kind in (
        errors.CancelledError,
        errors.InvalidParamsError,
        errors.InvalidRequestError,
        errors.MethodNotFoundError,
    )
}


class SidecarProtocol(LanguageServerProtocol):
    """Passes messages between the connection and pygls' handlers, on the LSP thread."""

    _server: SidecarServer

    # From the client

    def begin(self, params: Any) -> None:
        """Handles ``initialize``, which the connection has already answered."""
        self._run(types.INITIALIZE, self._initialize_params(params))

    def receive(self, message: dict[str, Any]) -> None:
        """Handles a request, notification or response of the client."""
        name, message_id = message.get("method"), message.get("id")
        try:
            if message_id in self._server.cancelled:
                raise errors.CancelledError("cancelled before it began")
            self.handle_message(self.structure_message(message))
        except Exception as error:
            problem = usage_error(error, name or "a response")
            if name is not None and message_id is not None:
                self._server.connection.refuse(message_id, problem)
            else:
                log.debug("ignored %s: %s", name or "a response", problem)

    def cancel(self, message_id: Id) -> None:
        """Handles ``$/cancelRequest``, after the request itself has had its turn."""
        self._server.cancelled.discard(message_id)
        if message_id in self._request_futures:
            self._handle_cancel_notification(message_id)

    def structure_message(self, data: dict[str, Any]) -> Any:
        """The typed message; params of methods outside LSP stay plain JSON."""
        name = data.get("method")
        if name is None:
            return super().structure_message(data)
        if name not in self.fm.builtin_features and name not in self.fm.features:
            raise errors.MethodNotFoundError(f"there is no method {name}")
        kind = self.get_message_type(name)
        if kind is None:
            untyped = JsonRPCRequestMessage if "id" in data else JsonRPCNotification
            return untyped(**{"params": None, **data})
        try:
            return self._converter.structure(data, kind)
        except Exception as error:
            raise errors.InvalidParamsError(_first_problem(error)) from error

    def _initialize_params(self, params: Any) -> types.InitializeParams:
        """The typed params of ``initialize``. Malformed ones are replaced by defaults,
        since the connection has already answered the request."""
        values: dict[str, Any] = {
            "capabilities": {},
            "processId": None,
            "rootUri": None,
        }
        values |= {name: v for name, v in (params or {}).items() if v is not None}
        try:
            return self._converter.structure(values, types.InitializeParams)
        except Exception as error:
            log.warning("initialize: %s", _first_problem(error))
            return types.InitializeParams(capabilities=types.ClientCapabilities())

    def _handle_request(self, msg_id: Id, method_name: str, params: Any) -> None:
        self._ctx_msg_id.set(msg_id)
        self._execute_handler(
            msg_id=msg_id,
            handler=self._get_handler(method_name),
            args=(params,),
            callback=partial(self._answer, msg_id=msg_id, name=method_name),
        )

    def _handle_notification(self, method_name: str, params: Any) -> None:
        if not self._server.handle_notification(method_name, params):
            self._run(method_name, params)

    def _run(self, name: str, params: Any) -> None:
        """Calls a handler whose result is not sent."""
        self._execute_handler(
            msg_id=str(uuid4()),
            handler=self._get_handler(name),
            args=(params,),
            callback=partial(self._log_failure, name=name),
        )

    # To the client

    def _answer(self, future: Future[Any], *, msg_id: Id, name: str) -> None:
        self._request_futures.pop(msg_id, None)
        connection = self._server.connection
        if future.cancelled():
            connection.refuse(msg_id, errors.CancelledError("cancelled by the client"))
            return
        try:
            connection.answer(msg_id, self._converter.unstructure(future.result()))
        except JsonRpcException as error:
            kind = _ERRORS.get(error.code)
            problem = kind(error.message) if kind else usage_error(error, name)
            connection.refuse(msg_id, problem)
        except Exception as error:
            connection.refuse(msg_id, usage_error(error, name))

    def _log_failure(self, future: Future[Any], *, name: str) -> None:
        if not future.cancelled() and (error := future.exception()) is not None:
            log.error("bug in %s", name, exc_info=error)

    def _send_data(self, data: Any) -> None:
        self._server.connection.send(self._converter.unstructure(data))


class SidecarServer(LanguageServer):
    """pygls' server object; ``feature`` registers LSP features on it.

    ``cancelled``: ids of requests that were cancelled before their turn.
    ``handle_notification`` gets every notification first and returns True if pygls must
    not see it.
    """

    protocol: SidecarProtocol

    def __init__(self, connection: Connection, cancelled: set[Id]) -> None:
        self.connection = connection
        self.cancelled = cancelled
        self.handle_notification: Callable[[str, Any], bool] = lambda _name, _params: (
            False
        )
        super().__init__("stream-sidecar", __version__, protocol_cls=SidecarProtocol)

    def report_server_error(self, error: Exception, source: Any) -> None:
        log.warning("%s", error)


_HUMP = patterns.compile("_([a-z])")


def _first_problem(error: Exception) -> str:
    """The first problem that cattrs reports, with our spelling of its place:
    ``params.position.line: required field missing``."""
    reason, _, path = transform_error(error, path="$")[0].rpartition(" @ ")
    camel_path = _HUMP.sub(lambda match: match[1].upper(), path[2:])
    return f"{camel_path}: {reason}"
