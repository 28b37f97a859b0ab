"""The transports and the bodies of their responses, for httpx and httpx2.

The classes of the two libraries are alike. The modules `httpx` and `httpx2` only name
the library, so that each type checker sees its own classes.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from stream_sidecar.errors import InvalidParamsError
from stream_sidecar.transports.cleaning import Cleaner
from stream_sidecar.transports.exchange import MOST_WHOLE, Exchange, PassingBody

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

    from stream_sidecar.api import EmitClaims, Event, Message, PolicyOptions
    from stream_sidecar.api.option_types import JsonObject
    from stream_sidecar.transports.cleaning import AnswerInfo, CleanBody

Transport = TypeVar("Transport")


class _Body:
    """Yields ``body`` while it reads ``slices`` of ``source``.

    A source that breaks off does so with its own exception, after the text that was
    held. If the reader stops, nothing more is written.
    """

    def __init__(self, source: Any, slices: Any, body: CleanBody | PassingBody) -> None:
        self._source = source
        self._slices = slices
        self._body = body


class SyncBody(_Body):
    """The body for a client without asyncio."""

    def __iter__(self) -> Iterator[bytes]:
        try:
            for data in self._slices:
                if written := self._body.push(data):
                    yield written
        except Exception as error:
            if written := self._body.broken(error):
                yield written
            raise
        yield self._body.close()

    def close(self) -> None:
        self._body.stop()
        self._source.close()


class AsyncBody(_Body):
    """The body for a client with asyncio."""

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for data in self._slices:
                if written := self._body.push(data):
                    yield written
        except Exception as error:
            if written := self._body.broken(error):
                yield written
            raise
        yield self._body.close()

    async def aclose(self) -> None:
        self._body.stop()
        await self._source.aclose()


@cache
def _body_of(kind: type, stream: type) -> Any:
    """The class of ``kind`` and the library's ``stream``, which clients check."""
    return type(kind.__name__, (kind, stream), {})


class Sending(Generic[Transport]):
    """Sends requests with ``transport``, by default the library's own, and cleans the
    responses. The options are those of `Cleaner`.

    ``library``: its module. ``own_transport`` and ``byte_stream``: the names of its
    classes for this kind of client. ``sends``: the method that every transport has.
    """

    library: Any
    own_transport: str
    byte_stream: str
    sends: str
    body: type

    def __init__(
        self,
        transport: Transport | None = None,
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
        options = {**locals()}
        del options["self"], options["transport"]
        self._cleaner = Cleaner(**options)
        is_one = hasattr(transport, self.sends) and not isinstance(transport, type)
        if transport is not None and not is_one:
            message = f"transport: must have {self.sends}, as a transport of httpx has"
            raise InvalidParamsError(message, path="transport")
        self._body = _body_of(self.body, getattr(self.library, self.byte_stream))
        make = getattr(self.library, self.own_transport)
        self._transport: Any = make() if transport is None else transport

    def _exchange(self, request: Any) -> Exchange:
        return Exchange.of(self.library, self._cleaner, request)


class SyncSending(Sending[Transport]):
    """A transport without asyncio."""

    own_transport = "HTTPTransport"
    byte_stream = "SyncByteStream"
    sends = "handle_request"
    body = SyncBody

    def handle_request(self, request: Any) -> Any:
        exchange = self._exchange(request)
        response = self._transport.handle_request(exchange.sent())
        if body := exchange.streamed(response):
            source = exchange.source(response)
            stream = self._body(source, source.iter_bytes(), body)
            return exchange.answer(response, stream)
        return (
            self._whole(exchange, response) if exchange.is_whole(response) else response
        )

    def _whole(self, exchange: Exchange, response: Any) -> Any:
        source, body = exchange.source(response), bytearray()
        slices = source.iter_raw()
        try:
            for data in slices:
                body += data
                if len(body) > MOST_WHOLE:
                    passing = self._body(source, slices, PassingBody(bytes(body)))
                    return exchange.passing(response, passing)
        except BaseException:
            source.close()
            raise
        return exchange.whole(response, bytes(body))

    def close(self) -> None:
        self._transport.close()


class AsyncSending(Sending[Transport]):
    """A transport for clients with asyncio or trio."""

    own_transport = "AsyncHTTPTransport"
    byte_stream = "AsyncByteStream"
    sends = "handle_async_request"
    body = AsyncBody

    async def handle_async_request(self, request: Any) -> Any:
        exchange = self._exchange(request)
        response = await self._transport.handle_async_request(exchange.sent())
        if body := exchange.streamed(response):
            source = exchange.source(response)
            stream = self._body(source, source.aiter_bytes(), body)
            return exchange.answer(response, stream)
        if exchange.is_whole(response):
            return await self._whole(exchange, response)
        return response

    async def _whole(self, exchange: Exchange, response: Any) -> Any:
        source, body = exchange.source(response), bytearray()
        slices = source.aiter_raw()
        try:
            async for data in slices:
                body += data
                if len(body) > MOST_WHOLE:
                    passing = self._body(source, slices, PassingBody(bytes(body)))
                    return exchange.passing(response, passing)
        except BaseException:
            await source.aclose()
            raise
        return exchange.whole(response, bytes(body))

    async def aclose(self) -> None:
        await self._transport.aclose()
