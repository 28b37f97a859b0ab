"""The work of a cleaning transport, without I/O.

`Cleaner` prepares a request and cleans a whole response, `CleanBody` cleans a body that
arrives in slices.

A response that cannot be cleaned passes unchanged, and ``on_lost`` is called; without
it there is one warning.
"""

from __future__ import annotations

import logging
import warnings
from inspect import iscoroutinefunction
from typing import TYPE_CHECKING, Any

from stream_sidecar import patterns
from stream_sidecar.api import Diagnostic, ProviderError, Stream, normalize, prepare
from stream_sidecar.api.calls import new_id
from stream_sidecar.errors import InvalidParamsError
from stream_sidecar.protocol.announced import HEADER_NAMES
from stream_sidecar.records import frozen
from stream_sidecar.transports.endpoints import object_in
from stream_sidecar.values.jsontext import encode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from stream_sidecar.api import (
        CloseResult,
        EmitClaims,
        Event,
        Message,
        NormalizeResult,
        PolicyOptions,
    )
    from stream_sidecar.api.option_types import JsonObject
    from stream_sidecar.transports.body_formats import BodyFormat
    from stream_sidecar.transports.endpoints import ModelRequest

_LOGGER = logging.getLogger("stream_sidecar")

_END_MARK = patterns.compile(rb"[\r\n]data: ?\[DONE\][ \t]{0,8}(?:\r\n\r\n|\n\n|\r\r)")
_LONGEST_MARK = 32
"""The end mark of server-sent events, and how many bytes it takes at most. A reader may
stop at it, and does not learn how the connection ends."""

_MOST_KEPT = 16 * 1024 * 1024
"""The most bytes of a body that are kept before its first clean document."""

_UNREAD = frozenset(("malformed-chunk", "unknown-chunk"))
"""Codes of diagnostics for a document that the wire cannot read."""


class UncleanedError(Exception):
    """Why a response passes uncleaned, or a request unprepared."""


@frozen
class AnswerInfo:
    """Which answer an event or a message belongs to: several may arrive at a time."""

    stream_id: str
    model: str | None


class Cleaner:
    """The options of a transport; a wrong one raises a `UsageError`.

    - ``claims``: what happens to calls that the model wrote into its text ("drop",
      "text", "promote").
    - ``rewrite``: whether documents that the provider's official SDKs cannot read are
      written anew.
    - ``policy``, ``response_template``: how the text is read.
    - ``prepare``: whether requests are prepared.
    - ``provider``: the name of the provider, if the address does not say it.
    - ``on_event`` is called with each event of an answer, ``on_message`` with the
      message at its end; both also with an `AnswerInfo`.
    - ``on_lost`` is called with the exception when a body passes unchanged or is cut
      off, and with what ``on_event`` and ``on_message`` raise.
    """

    def __init__(
        self,
        *,
        claims: EmitClaims = "drop",
        rewrite: bool = False,
        policy: PolicyOptions | None = None,
        response_template: JsonObject | None = None,
        prepare: bool = True,
        provider: str | None = None,
        on_event: Callable[[Event, AnswerInfo], object] | None = None,
        on_message: Callable[[Message, AnswerInfo], object] | None = None,
        on_lost: Callable[[Exception], object] | None = None,
    ) -> None:
        listeners = {"on_event": on_event, "on_message": on_message, "on_lost": on_lost}
        for name, listener in listeners.items():
            if listener is not None:
                _check_listener(name, listener)
        if not isinstance(prepare, bool):
            raise InvalidParamsError("prepare: must be a boolean", path="prepare")
        self._claims = claims
        self._rewrites = rewrite
        self._prepares = prepare
        self._provider = provider
        self._reading: dict[str, Any] = {
            "policy": policy,
            "response_template": response_template,
        }
        self._on_event = on_event
        self._on_message = on_message
        self._on_lost = on_lost
        self._has_warned = False
        Stream(
            provider=provider,
            emit={"wire": "openai-chat", "claims": claims, "rewrite": rewrite},
            **self._reading,
        )

    def prepared(
        self, request: ModelRequest, headers: Mapping[str, str]
    ) -> tuple[bytes, JsonObject] | None:
        """The body to send, with headers; None: the caller's own."""
        if not self._is_prepared(request):
            return None
        announced = {
            n: value for n, value in headers.items() if n.lower() in HEADER_NAMES
        }
        try:
            result = prepare(
                request.body,
                request.wire,
                headers=announced,
                provider=self._provider or request.host,
                model=request.model,
                tools=request.tools,
                claims="include" if self._claims == "text" else "drop",
                **self._reading,
            )
        except Exception as error:
            self.report_loss(error)
            return None
        for loss in result.lost:
            if not loss.path:
                self.report_loss(
                    UncleanedError(f"the request passes unprepared: {loss.why}")
                )
        if not result.changed:
            return None
        return encode(result.body), result.headers or {}

    def _is_prepared(self, request: ModelRequest) -> bool:
        return self._prepares and not request.is_signed

    def streamed(self, request: ModelRequest, media_type: str) -> CleanBody | None:
        """The clean body of a stream; None if it cannot be cleaned."""
        form = request.format_of(media_type)
        if form is None:
            return None
        try:
            return CleanBody(self, request, form)
        except Exception as error:
            self.report_loss(error)
            return None

    def whole(self, request: ModelRequest, body: bytes) -> bytes | None:
        """The clean body of a document; None if nothing leaked or it is unreadable."""
        if (original := object_in(body)) is None:
            return None
        try:
            options = self.options(request)
            result = normalize(original, framing="json", **options)
        except Exception as error:
            self.report_loss(error)
            return None
        if _is_unread(result):
            return None
        self.listen(result, AnswerInfo(options["stream_id"], request.model))
        return None if result.body == original else encode(result.body)

    def options(self, request: ModelRequest) -> dict[str, Any]:
        """The options of a stream. If requests like this one are prepared, reasoning
        from the text goes to the wire's field for it. Each response has a new id, so
        that calls of two turns never share an id."""
        emit: dict[str, Any] = {
            "wire": request.wire,
            "claims": self._claims,
            "rewrite": self._rewrites,
        }
        if self._is_prepared(request):
            emit["reasoning"] = "include"
        return {
            "wire": request.wire,
            "provider": self._provider,
            "model": request.model,
            "tools": request.tools,
            "emit": emit,
            "stream_id": new_id(),
            **self._reading,
        }

    def stream_options(self, request: ModelRequest) -> dict[str, Any]:
        """The `options` of a response that streams. Nobody but ``on_message`` needs the
        text of its message, which may be very long."""
        options = self.options(request)
        if self._on_message is None:
            without_parts = {"message": {"parts": False}}
            options["policy"] = {**without_parts, **(options["policy"] or {})}
        return options

    def listen(self, result: CloseResult | NormalizeResult, answer: AnswerInfo) -> None:
        """Gives the end of an answer to the listeners."""
        self.listen_to(result.events, answer)
        self._call(self._on_message, result.message, answer)

    def listen_to(self, events: Iterable[Event], answer: AnswerInfo) -> None:
        """Gives events to their listener, and reports what was passed on unread."""
        for event in events:
            if isinstance(event, Diagnostic) and _is_loss(event):
                self.report_loss(UncleanedError(event.message))
            self._call(self._on_event, event, answer)

    def report_loss(self, error: Exception) -> None:
        """Reports that something passes uncleaned, or is cut off."""
        if self._on_lost is not None:
            self._call(self._on_lost, error)
        elif not self._has_warned:
            self._has_warned = True
            message = (
                "stream_sidecar: responses pass uncleaned, or requests unprepared"
                f" (on_lost gets each error): {error!r}"
            )
            _LOGGER.warning(message)
            warnings.warn(message, RuntimeWarning, stacklevel=2)

    def _call(self, listener: Any, *values: Any) -> None:
        """Calls a listener; its exception does not change the answer."""
        try:
            if listener is not None:
                listener(*values)
        except Exception as error:
            if self._on_lost is None or listener == self._on_lost:
                _LOGGER.exception("a listener of a transport raised an exception")
            else:
                self._call(self._on_lost, error)


class CleanBody:
    """A clean body, made while the slices of the original body are pushed.

    After an error before its first byte, the original body passes unchanged. A later
    error is raised, and any error of a body that says nothing for too long.
    """

    def __init__(
        self, cleaner: Cleaner, request: ModelRequest, form: BodyFormat
    ) -> None:
        self._cleaner = cleaner
        self._format = form
        options = cleaner.stream_options(request)
        self._answer = AnswerInfo(options["stream_id"], request.model)
        self._stream = Stream(framing=form.framing, **options)
        self._kept: bytearray | None = bytearray()  # None: it is not needed any more
        self._is_first = True
        self._passes = False
        self._is_over = False
        self._tail = b"\n"

    def push(self, data: bytes) -> bytes:
        """The next part of the clean body; ``data`` may be cut anywhere. Nothing if the
        body was stopped: the source then says to its reader what happened."""
        if self._passes:
            return data
        if self._is_over:
            return b""
        if self._kept is not None:
            self._kept += data
            if len(self._kept) > _MOST_KEPT:
                self._kept = None
        try:
            result = self._stream.push(data)
        except Exception as error:
            # Another thread may have stopped the body meanwhile.
            return b"" if self._is_over else self._passed(error)
        self._cleaner.listen_to(result.events, self._answer)
        written = self._written(result.chunks)
        return written + self.close() if self._ends_in(data) else written

    def close(self) -> bytes:
        """The rest of the clean body."""
        if self._is_over:
            return b""
        try:
            closed = self._ended()
        except Exception as error:
            return self._passed(error)
        return self._written(closed.chunks) + self._format.end(self._is_first)

    def _ends_in(self, data: bytes) -> bool:
        """Whether the end mark is complete with ``data``."""
        text_end = self._tail + data
        self._tail = text_end[-_LONGEST_MARK:]
        return self._format.framing == "sse" and bool(_END_MARK.search(text_end))

    def broken(self, error: Exception) -> bytes:
        """The text that was held when the source broke off with ``error``. It has no
        end mark and no document about the error, because the reader gets the error
        itself."""
        if self._is_over:
            return b""
        try:
            return self._written(_without_break(self._ended(error=error)))
        except Exception as ours:
            return self._passed(ours)

    def stop(self) -> None:
        """Ends a body whose reader wants no more of it."""
        if not self._is_over:
            try:
                self._ended("cancelled")
            except Exception as error:
                self._cleaner.report_loss(error)

    def _ended(self, *reason: Any, **error: Any) -> CloseResult:
        self._is_over = True
        closed = self._stream.close(*reason, **error)
        self._cleaner.listen(closed, self._answer)
        return closed

    def _written(self, chunks: list[Any] | None) -> bytes:
        written = b""
        for chunk in chunks or ():
            if isinstance(chunk, dict):  # the end mark is text; the format writes it
                written += self._format.document(chunk, self._is_first)
                self._is_first = False
        if not self._is_first:
            self._kept = None
        return written

    def _passed(self, error: Exception) -> bytes:
        self._is_over = True
        self._cleaner.report_loss(error)
        if self._kept is None:
            raise error
        self._passes = True
        return bytes(self._kept)


def _check_listener(name: str, listener: Any) -> None:
    if not callable(listener):
        raise InvalidParamsError(f"{name}: must be callable", path=name)
    if iscoroutinefunction(listener):
        message = f"{name}: must be a plain function, because nobody awaits it"
        raise InvalidParamsError(message, path=name)


def _without_break(closed: CloseResult) -> list[Any]:
    """The last chunks without the document that says that the connection broke."""
    chunks = [*(closed.chunks or ())]
    is_described = any(
        isinstance(event, ProviderError) and event.kind == "network"
        for event in closed.events
    )
    errors = [place for place, event in enumerate(chunks) if _is_error(event)]
    if is_described and errors:
        del chunks[errors[-1]]
    return chunks


def _is_error(chunk: Any) -> bool:
    is_document = isinstance(chunk, dict)
    return is_document and bool(chunk.get("type") == "error" or chunk.get("error"))


def _is_loss(diagnostic: Diagnostic) -> bool:
    """Whether a document went out unread, or was left out, because it is too long."""
    return diagnostic.code == "document-limit" and diagnostic.severity == "warning"


def _is_unread(result: NormalizeResult) -> bool:
    notes = (note for note in result.events if isinstance(note, Diagnostic))
    return result.body is None or any(note.code in _UNREAD for note in notes)
