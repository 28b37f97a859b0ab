"""`CleaningTransport` and `AsyncCleaningTransport` for httpx. The file for the other
library differs from this one only in the name of the library."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import httpx as library

from stream_sidecar.transports.cleaning import Cleaner
from stream_sidecar.transports.exchange import Exchange

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from stream_sidecar.transports.cleaning import CleanBody


class CleaningTransport(library.BaseTransport):
    """Sends requests with ``transport``, by default the library's own, and cleans the
    responses. The options are those of `Cleaner`."""

    def __init__(
        self, transport: library.BaseTransport | None = None, **options: Any
    ) -> None:
        self._transport = transport or library.HTTPTransport()
        self._cleaner = Cleaner(**options)

    def handle_request(self, request: library.Request) -> library.Response:
        exchange = Exchange.of(library, self._cleaner, request)
        response = self._transport.handle_request(exchange.sent())
        answer: library.Response = response
        if body := exchange.streamed(response):
            source = exchange.source(response)
            answer = exchange.answer(response, _CleanStream(source, body))
        elif exchange.is_whole(response):
            raw = exchange.source(response).iter_raw()
            answer = exchange.whole(response, b"".join(raw))
        return answer

    def close(self) -> None:
        self._transport.close()


class AsyncCleaningTransport(library.AsyncBaseTransport):
    """Sends requests with ``transport``, by default the library's own, and cleans the
    responses. The options are those of `Cleaner`."""

    def __init__(
        self, transport: library.AsyncBaseTransport | None = None, **options: Any
    ) -> None:
        self._transport = transport or library.AsyncHTTPTransport()
        self._cleaner = Cleaner(**options)

    async def handle_async_request(self, request: library.Request) -> library.Response:
        exchange = Exchange.of(library, self._cleaner, request)
        response = await self._transport.handle_async_request(exchange.sent())
        answer: library.Response = response
        if body := exchange.streamed(response):
            source = exchange.source(response)
            answer = exchange.answer(response, _AsyncCleanStream(source, body))
        elif exchange.is_whole(response):
            raw = [data async for data in exchange.source(response).aiter_raw()]
            answer = exchange.whole(response, b"".join(raw))
        return answer

    async def aclose(self) -> None:
        await self._transport.aclose()


class _CleanStream(library.SyncByteStream):
    """Yields the clean body while it reads ``source``."""

    def __init__(self, source: library.Response, body: CleanBody) -> None:
        self._source = source
        self._body = body

    def __iter__(self) -> Iterator[bytes]:
        try:
            for data in self._source.iter_bytes():
                if written := self._body.push(data):
                    yield written
        except library.RequestError as error:
            yield self._body.broken(error)
            raise
        yield self._body.close()

    def close(self) -> None:
        self._source.close()


class _AsyncCleanStream(library.AsyncByteStream):
    """Yields the clean body while it reads ``source``."""

    def __init__(self, source: library.Response, body: CleanBody) -> None:
        self._source = source
        self._body = body

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for data in self._source.aiter_bytes():
                if written := self._body.push(data):
                    yield written
        except library.RequestError as error:
            yield self._body.broken(error)
            raise
        yield self._body.close()

    async def aclose(self) -> None:
        await self._source.aclose()
