"""One client: lifecycle, routing, and exactly one answer for every request.

The protocol's own methods are called here, one after the other, except batches, which
have their own thread (`Batching`). pygls handles the methods of LSP on another thread
(`Lsp`). Each of the two starts when its first method arrives; LSP starts at
``initialized`` if the client has documents. Two thirds of the modules read streams.
They are loaded after the answer to ``initialize``, when the next message arrives,
usually ``initialized``.

Errors, in the order of the checks (protocol.md, "Errors"): not JSON -32700, not a
request -32600, before ``initialize`` -32002, after ``shutdown`` -32600, an id that is
still in flight -32600, then the errors of the method. A notification that cannot be
used is ignored and logged.
"""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Protocol

from stream_sidecar.errors import (
    CancelledError,
    InvalidRequestError,
    MethodNotFoundError,
    NotInitializedError,
    ParseError,
)
from stream_sidecar.options import Limits, StreamOptions
from stream_sidecar.protocol.handshake import shake_hands
from stream_sidecar.rpc.base_protocol import BaseProtocolReader, UnreadableFrame, frame
from stream_sidecar.rpc.batch_thread import BatchThread
from stream_sidecar.rpc.batches import Batch
from stream_sidecar.rpc.envelope import (
    Id,
    answer,
    answer_text,
    error_object,
    fault,
    is_id,
    notification,
    recover_id,
    refusal,
    usage_error,
)
from stream_sidecar.rpc.logs import log
from stream_sidecar.rpc.lsp_methods import LSP_METHODS
from stream_sidecar.rpc.skipped_documents import CLOSE, document_in
from stream_sidecar.values.jsontext import decode, encode

if TYPE_CHECKING:
    from collections.abc import Callable

    from stream_sidecar.errors import UsageError
    from stream_sidecar.protocol.handshake import Handshake
    from stream_sidecar.protocol.methods import Method
    from stream_sidecar.protocol.sessions import Sessions
    from stream_sidecar.rpc.base_protocol import ReadFrame
    from stream_sidecar.rpc.batches import Client

_LIFECYCLE = ("initialized", "$/setTrace")
"""Notifications that are passed on to the LSP side if it runs, but do not start it."""

_IDLE_SECONDS = 0.01
"""Processor seconds; a process that uses fewer while it waits is idle."""


class Lsp(Protocol):
    """The LSP side, which calls the connection's ``answer`` and ``refuse``."""

    def submit(self, message: dict[str, Any]) -> None:
        """Accepts a request, a notification or a response of the client."""

    def cancel(self, message_id: Id) -> None:
        """Notes that the client no longer wants the answer to a submitted request."""

    def turn(self, callback: Callable[[], None]) -> None:
        """Calls ``callback`` when everything submitted before it was looked at."""


class Batching(Protocol):
    """What answers batches, by the connection's ``answer`` and ``refuse``."""

    def submit(self, batch: Batch) -> None: ...

    def cancel(self, message_id: Id) -> None: ...

    def cancel_all(self) -> None: ...


class Connection:
    """Bytes in, bytes out; ``exit_code`` is set when ``exit`` was read.

    ``send`` accepts bytes for the client from any thread at any time. ``open_lsp``
    makes the LSP side of this connection, and ``open_batches`` makes what answers
    batches. ``watch`` is called with the client's process id.
    """

    def __init__(
        self,
        send: Callable[[bytes], None],
        open_lsp: Callable[[Connection, Any], Lsp],
        watch: Callable[[int], None],
        open_batches: Callable[[Client], Batching] = BatchThread,
    ) -> None:
        self.exit_code: int | None = None
        self._send = send
        self._open_lsp = open_lsp
        self._watch = watch
        self._reader = BaseProtocolReader(Limits().max_message_bytes)
        self._output: list[bytes] = []
        self._methods: dict[str, Method] = {}
        self._agreed: Handshake | None = None  # from initialize until `_serve`
        self._sessions: Sessions | None = None  # from `_serve` until shutdown
        self._shut_down = False
        self._initialize_params: Any = None
        self._initialized: dict[str, Any] | None = None
        self._lsp: Lsp | None = None
        self._batches = open_batches(self)
        self._in_flight: set[Id] = set()
        self._warned: set[str] = set()  # uris of documents that were skipped
        self._answered = threading.Condition()

    def push(self, data: bytes) -> bytes:
        """Accepts bytes from the client; returns the answers that are ready."""
        if self._agreed is not None:
            self._serve(self._agreed)
        if self._sessions is not None:
            self._sessions.room -= len(data)
        read_frame = self._reader.first(data)
        while read_frame is not None and self.exit_code is None:
            self._receive(read_frame)
            read_frame = self._reader.next()
        return self._take_output()

    def close(self, patience: float, most_work: float) -> bytes:
        """Ends the connection, at the end of input or after ``exit``: waits for the
        answers to requests in flight, and then refuses the rest.

        ``patience``: the seconds for which this process may wait while it is idle. Its
        own work may need longer on a busy machine, up to ``most_work`` seconds of the
        processor.
        """
        if self.exit_code is None:
            if (read_frame := self._reader.finish()) is not None:
                self._receive(read_frame)
            self._wait_for_answers(patience, most_work)
        # a copy, because each refusal removes its id
        for message_id in list(self._in_flight):
            self.refuse(message_id, CancelledError("the process is ending"))
        return self._take_output()

    def _wait_for_answers(self, patience: float, most_work: float) -> None:
        start = work = time.process_time()
        turned = self._turned()
        with self._answered:
            while not self._answered.wait_for(lambda: not self._in_flight, patience):
                last_work, work = work, time.process_time()
                is_idle = turned.is_set() and work - last_work < _IDLE_SECONDS
                if is_idle or work - start > most_work:
                    return
                turned = self._turned() if turned.is_set() else turned

    def _turned(self) -> threading.Event:
        """An event that is set when the LSP side has looked at all it has so far."""
        turned = threading.Event()
        if self._lsp is None:
            turned.set()
        else:
            self._lsp.turn(turned.set)
        return turned

    # From the LSP side, on any thread

    @property
    def stream_options(self) -> StreamOptions:
        """The options of a stream that is opened with nothing but defaults."""
        defaults = self._sessions or self._agreed
        if defaults is None:
            return StreamOptions()
        return StreamOptions(policy=defaults.policy, limits=defaults.limits)

    def answer(self, message_id: Id, result: Any) -> None:
        """Sends the result of a submitted request, unless it was answered already."""
        self._finish(message_id, encode(answer(message_id, result)))

    def refuse(self, message_id: Id, error: UsageError) -> None:
        """Sends the error of a submitted request, unless it was answered already."""
        self._finish(message_id, encode(refusal(message_id, error)))

    def send(self, message: dict[str, Any]) -> None:
        """Sends a notification or a request to the client."""
        self._send(frame(encode(message)))

    def _finish(self, message_id: Id, body: bytes) -> None:
        with self._answered:
            if message_id in self._in_flight:
                self._in_flight.remove(message_id)
                self._send(frame(body))
                self._answered.notify_all()

    # From the client

    def _take_output(self) -> bytes:
        output = self._output
        if len(output) == 1:
            return output.pop()
        self._output = []
        return b"".join(output)

    def _write(self, message: dict[str, Any]) -> None:
        self._output.append(frame(encode(message)))

    def _receive(self, read_frame: ReadFrame) -> None:
        if isinstance(read_frame, UnreadableFrame):
            if not self._read_skipped(read_frame):
                self._write(refusal(read_frame.id, read_frame.error))
            return
        try:
            message = decode(read_frame)
        except ValueError as error:
            self._unreadable(read_frame, error)
        else:
            self._route(message)

    def _read_skipped(self, skipped: UnreadableFrame) -> bool:
        """Whether a skipped message was about an editor's document, which is then read
        from its file. If that fails, the user gets one warning."""
        is_editor = _has_documents(self._initialize_params) and not self._shut_down
        document = document_in(skipped) if is_editor else None
        if document is None:
            return False
        message = document.message()
        self._lsp_side().submit(message)
        if message["method"] == CLOSE and document.uri not in self._warned:
            self._warned.add(document.uri)
            self._write(document.warning(self._reader.limit))
        return True

    def _unreadable(self, body: bytes, error: ValueError) -> None:
        """Answers a body that is not JSON. If its length was wrong, ``body`` may begin
        with a whole message, which is then routed."""
        start = self._reader.reject(body)
        if start is not None:
            with suppress(ValueError):
                self._route(decode(start))
                return
        problem = ParseError(f"the message is not JSON: {error}")
        self._write(refusal(recover_id(body if start is None else start), problem))

    def _route(self, message: Any) -> None:
        # a request may come in one piece with `initialize`, which `push` saw too early
        if self._agreed is not None:
            self._serve(self._agreed)
        reason = fault(message)
        if reason is not None:
            self._accept_response_or_refuse(message, reason)
        elif "id" in message:
            self._request(message["id"], message["method"], message)
        else:
            self._notification(message["method"], message)

    def _accept_response_or_refuse(self, message: Any, reason: str) -> None:
        """Refuses ``message``, unless it is a response: two peers that answer each
        other's responses with errors would never stop."""
        members: dict[str, Any] = message if isinstance(message, dict) else {}
        if "method" not in members and ("result" in members or "error" in members):
            if self._lsp is not None:
                self._lsp.submit(members)
            return
        message_id = members.get("id")
        error = InvalidRequestError(reason)
        self._write(refusal(message_id if is_id(message_id) else None, error))

    def _request(self, message_id: Id, name: str, message: dict[str, Any]) -> None:
        try:
            if message_id in self._in_flight:
                raise InvalidRequestError(f"id {message_id!r} is still in flight")
            method, sessions = self._methods.get(name), self._sessions
            if method is None or sessions is None:
                result = self._call_other(message_id, name, message)
            elif method.batch:
                self._in_flight.add(message_id)
                params = message.get("params")
                self._batches.submit(Batch(message_id, method, sessions, params))
                return
            else:
                result = method.write(sessions, message.get("params"))
            if result is None:  # the answer comes later
                return
            body = answer_text(message_id, result)
        except Exception as error:
            body = encode(refusal(message_id, usage_error(error, name)))
        self._output.append(frame(body))

    def _call_other(
        self, message_id: Id, name: str, message: dict[str, Any]
    ) -> bytes | None:
        """The result, as JSON text, of a request that is for no method of the protocol
        or came at a wrong time; None if the LSP side will answer."""
        if name == "initialize":
            return encode(self._initialize(message.get("params")))
        if self._shut_down:
            raise InvalidRequestError(f"{name} after shutdown")
        if self._sessions is None:
            raise NotInitializedError(f"{name} before initialize")
        if name == "shutdown":
            return self._shutdown(message_id, message)
        if name not in LSP_METHODS:
            raise MethodNotFoundError(f"there is no method {name}")
        return self._submit(message_id, message)

    def _initialize(self, params: Any) -> Any:
        if self._sessions is not None or self._shut_down:
            raise InvalidRequestError("initialize was answered before")
        self._agreed = handshake = shake_hands(params)
        self._reader.limit = handshake.limits.max_message_bytes
        self._initialize_params = params
        if handshake.process_id is not None:
            self._watch(handshake.process_id)
        return handshake.result

    def _serve(self, agreed: Handshake) -> None:
        """Makes the connection ready for streams; loads the modules that read them."""
        from stream_sidecar.protocol.methods import METHODS
        from stream_sidecar.protocol.sessions import Sessions

        self._agreed = None
        self._methods = METHODS
        self._sessions = Sessions(agreed.policy, agreed.limits)

    def _shutdown(self, message_id: Id, message: dict[str, Any]) -> bytes | None:
        """Ends streams and batches; pygls ends the requests of LSP."""
        self._shut_down = True
        self._sessions = None
        self._batches.cancel_all()
        return b"null" if self._lsp is None else self._submit(message_id, message)

    def _submit(self, message_id: Id, message: dict[str, Any]) -> bytes | None:
        self._in_flight.add(message_id)
        self._lsp_side().submit(message)
        return None

    def _lsp_side(self) -> Lsp:
        """The LSP side. If it is started now, it gets ``initialized`` first."""
        if self._lsp is None:
            self._lsp = self._open_lsp(self, self._initialize_params)
            if self._initialized is not None:
                self._lsp.submit(self._initialized)
        return self._lsp

    def _notification(self, name: str, message: dict[str, Any]) -> None:
        if name == "exit":
            self.exit_code = 0 if self._shut_down else 1
        elif self._sessions is None or name in ("initialize", "shutdown"):
            log.debug("ignored notification %s", name)
        elif (method := self._methods.get(name)) is not None:
            self._notify(method, self._sessions, message.get("params"))
        elif name == "$/cancelRequest":
            self._cancel(message.get("params"))
        elif name == "initialized" and self._lsp is None:
            self._initialized = message
            if _has_documents(self._initialize_params):
                self._lsp_side()
        elif name in LSP_METHODS or (name in _LIFECYCLE and self._lsp is not None):
            self._lsp_side().submit(message)
        else:
            log.debug("ignored notification %s", name)

    def _notify(self, method: Method, sessions: Sessions, params: Any) -> None:
        """Calls a method for a notification; some answer with a notification."""
        if method.batch:
            log.debug("ignored notification %s, which cannot be answered", method)
            return
        try:
            result = method.call(sessions, params)
        except Exception as error:
            problem = usage_error(error, method.name)
            log.info("notification %s: %s", method.name, problem)
            stream_id = params.get("streamId") if isinstance(params, dict) else None
            has_id = isinstance(stream_id, str)
            result = {"streamId": stream_id} if has_id else {}
            result["error"] = error_object(problem)
        if method.notifies is not None:
            self._write(notification(method.notifies, result))

    def _cancel(self, params: Any) -> None:
        """Cancels a batch or an LSP request; no other request is ever in flight."""
        message_id = params.get("id") if isinstance(params, dict) else None
        if is_id(message_id) and message_id in self._in_flight:
            self._batches.cancel(message_id)
            if self._lsp is not None:
                self._lsp.cancel(message_id)


def _has_documents(initialize_params: Any) -> bool:
    """Whether the client is an editor, which will need the language server."""
    params = initialize_params if isinstance(initialize_params, dict) else {}
    capabilities = params.get("capabilities")
    return isinstance(capabilities, dict) and "textDocument" in capabilities
