"""`Stream`: one response of one model, pushed as it arrives."""

from __future__ import annotations

from base64 import b64encode
from codecs import getincrementaldecoder
from collections.abc import AsyncIterable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Self

from stream_sidecar.api.calls import call, checked, new_id, new_sessions
from stream_sidecar.api.failures import ending
from stream_sidecar.api.plain import BYTES, plain
from stream_sidecar.errors import InvalidParamsError, InvalidRequestError
from stream_sidecar.protocol.methods import METHODS
from stream_sidecar.protocol.params import PushParams
from stream_sidecar.records import evolve

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Generator
    from types import TracebackType

    from stream_sidecar.api.option_types import (
        Chunk,
        CloseReason,
        EmitOptions,
        Encoding,
        FailedResponse,
        Framing,
        JsonObject,
        PolicyOptions,
        Tools,
        Wire,
    )
    from stream_sidecar.events import Event
    from stream_sidecar.message.message import Message
    from stream_sidecar.protocol.params import (
        CloseResult,
        OpenResult,
        PushResult,
        SnapshotResult,
    )

_ONE_CHUNK = (str, *BYTES, Mapping)
"""Classes of a single chunk that Python can iterate over, too."""


class Stream:
    """``stream/open`` and the methods of the stream. ``opened`` is the result of open.

    `pipe` and `apipe` read a whole response::

        stream = Stream(wire="openai-chat", model="qwen/qwen3-32b")
        for event in stream.pipe(response.iter_bytes()):
            if event.type == "text-delta":
                print(event.text, end="")
        print(stream.message.tool_calls)

    ``stream_id``: calls without an id get an id that is made from it. It is random by
    default; pass the same one to get the same ids in a replay. A ``with`` block closes
    the stream at its end, also after an exception.
    """

    def __init__(
        self,
        *,
        wire: Wire = "auto",
        framing: Framing = "auto",
        encoding: Encoding = "utf-8",
        provider: str | None = None,
        model: str | None = None,
        tools: Tools | None = None,
        policy: PolicyOptions | None = None,
        response_template: JsonObject | None = None,
        emit: EmitOptions | None = None,
        stream_id: str | None = None,
    ) -> None:
        given = {name: value for name, value in locals().items() if name != "self"}
        options = {name: value for name, value in given.items() if value is not None}
        options["stream_id"] = new_id() if stream_id is None else stream_id
        self._name: dict[str, str] = {}
        self._sessions = new_sessions()
        self._decoder = getincrementaldecoder("utf-8")("replace")
        self._is_base64 = encoding == "base64"
        self._is_piped = False
        self._closed: CloseResult | None = None
        self.opened: OpenResult = call("stream/open", options, sessions=self._sessions)
        self._name = {"streamId": self.opened.stream_id}

    def pipe(self, chunks: Iterable[Chunk]) -> Generator[Event, None, None]:
        """Pushes ``chunks`` and yields all events, those of the end included. Then the
        stream is closed.

        If ``chunks`` raises an exception, the text that is held and the other last
        events come first, then the exception is raised again. A consumer that stops
        early cancels the stream.
        """
        self._begin(chunks, Iterable, "an iterable of chunks")
        return self._events(chunks)

    def apipe(self, chunks: AsyncIterable[Chunk]) -> AsyncGenerator[Event, None]:
        """`pipe` for an asynchronous iterable. A consumer that stops early closes the
        generator, or the stream with ``async with``."""
        self._begin(chunks, AsyncIterable, "an asynchronous iterable of chunks")
        return self._later_events(chunks)

    def push(self, chunk: Chunk) -> PushResult:
        """``stream/push``: reads a slice of the body (text or bytes, cut anywhere), a
        decoded document, or an object of an SDK. Its events are all but those that
        `close` still has."""
        if isinstance(chunk, BYTES):
            chunk = self._text(chunk)
        elif type(chunk) is not str:
            chunk = plain(chunk, "params.chunk")
        return self._sessions.push(PushParams(self.opened.stream_id, chunk))

    def close(
        self,
        reason: CloseReason | None = None,
        *,
        error: FailedResponse | BaseException | None = None,
    ) -> CloseResult:
        """``stream/close``: ends the stream; the result has the last events, and the
        message. ``error``: a failed response, or an exception. A second call, also
        after `pipe`, returns the same result."""
        if self._closed is None:
            params = {**ending(error), **self._name}
            if reason is not None:
                params["reason"] = reason
            read = checked("stream/close", params)
            text = self._decoder.decode(b"", final=True)
            pushed = self.push(text) if text else None
            closed = self._sessions.close(read)
            self._closed = closed if pushed is None else _with_pushed(pushed, closed)
        return self._closed

    def snapshot(self) -> SnapshotResult:
        """``stream/snapshot``: the message so far."""
        result: SnapshotResult = self._call("stream/snapshot", self._name)
        return result

    @property
    def message(self) -> Message:
        """The message; before the end, the message so far."""
        return (self._closed or self.snapshot()).message

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._is_piped:  # an exception of the source has closed it already
            self.close("cancelled")
        else:
            self.close(error=error)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.__exit__(kind, error, traceback)

    def _begin(self, chunks: Any, kind: Any, expected: str) -> None:
        is_one = isinstance(chunks, _ONE_CHUNK) or hasattr(chunks, "model_dump")
        if is_one or not isinstance(chunks, kind):
            kind_name = type(chunks).__name__
            message = f"chunks: must be {expected}, and is of type {kind_name}"
            raise InvalidParamsError(message, path="chunks")
        if self._is_piped:
            raise InvalidRequestError("a pipe reads, or has read, this stream")
        self._is_piped = True

    def _events(self, chunks: Iterable[Chunk]) -> Generator[Event, None, None]:
        with self:
            try:
                for chunk in chunks:
                    yield from self.push(chunk).events
            except Exception as error:
                yield from self.close(error=error).events
                raise
            yield from self.close().events

    async def _later_events(
        self, chunks: AsyncIterable[Chunk]
    ) -> AsyncGenerator[Event, None]:
        with self:
            try:
                async for chunk in chunks:
                    for event in self.push(chunk).events:
                        yield event
            except Exception as error:
                for event in self.close(error=error).events:
                    yield event
                raise
            for event in self.close().events:
                yield event

    def _call(self, method: str, params: dict[str, Any]) -> Any:
        return METHODS[method].run(self._sessions, params)

    def _text(self, data: bytes | bytearray | memoryview) -> str:
        data = bytes(data)  # a memoryview may have gaps
        if self._is_base64:
            return b64encode(data).decode("ascii")
        return self._decoder.decode(data)


def _with_pushed(pushed: PushResult, closed: CloseResult) -> CloseResult:
    """``closed``, with the events of a last push before its own. The bytes may have
    ended inside a character, and its replacement was pushed."""
    events = pushed.events + closed.events
    chunks = None if closed.chunks is None else (pushed.chunks or []) + closed.chunks
    return evolve(closed, events=events, chunks=chunks)
