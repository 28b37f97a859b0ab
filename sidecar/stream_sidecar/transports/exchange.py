"""A request and its response, for httpx and httpx2, whose classes are alike.

`Exchange` makes the request to send and the response to return. Only the two transports
do I/O.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stream_sidecar.records import evolve, frozen
from stream_sidecar.transports.cleaning import UncleanedError
from stream_sidecar.transports.endpoints import ModelRequest, is_endpoint, request_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stream_sidecar.transports.cleaning import CleanBody, Cleaner

MOST_WHOLE = 32 * 1024 * 1024
"""The most bytes of a whole body, decompressed too; the gateway's bound as well."""

_DECODED_AT_A_TIME = 1024
"""Bytes of a compressed body. gzip makes at most 1 MB of them."""

_BROTLI_AT_A_TIME = 16
"""Bytes of a body compressed with brotli, which can make 20 MB of them."""

_JSON = "application/json"

_CHANGED = ("content-length", "content-encoding", "transfer-encoding")
"""Headers of a response that do not fit a new body."""


@frozen
class Exchange:
    """A request, and how its response is cleaned. ``library`` is the module of the
    request's classes. ``query`` is None if the endpoint is not known; then the response
    passes unchanged."""

    library: Any
    cleaner: Cleaner
    request: Any
    query: ModelRequest | None

    @classmethod
    def of(cls, library: Any, cleaner: Cleaner, request: Any) -> Exchange:
        """The exchange of a request. A body that streams cannot be read before it is
        sent, so its response passes unchanged."""
        query, address = None, (request.method, str(request.url))
        if isinstance(request.stream, library.ByteStream):
            query = request_of(*address, request.read())  # unread after a redirect
            if query is not None and _covers_body(request):
                query = evolve(query, is_signed=True)
        elif is_endpoint(*address):
            cleaner.report_loss(
                UncleanedError("the request's body is read while it is sent")
            )
        return cls(library, cleaner, request, query)

    def sent(self) -> Any:
        """The request with the prepared body; the same request if nothing changes."""
        request = self.request
        if self.query is None:
            return request
        prepared = self.cleaner.prepared(self.query, _spelled(request.headers))
        if prepared is None:
            return request
        body, to_set = prepared
        headers = request.headers.copy()
        for name, value in to_set.items():
            headers[name] = value
        headers["content-length"] = str(len(body))
        return self.library.Request(
            request.method,
            request.url,
            headers=headers,
            content=body,
            extensions=request.extensions,
        )

    def streamed(self, response: Any) -> CleanBody | None:
        """The clean body of a stream; None if it cannot be cleaned."""
        if self.query is None or not response.is_success:
            return None
        return self.cleaner.streamed(self.query, _type(response))

    def is_whole(self, response: Any) -> bool:
        """Whether the response is one document, for `whole`."""
        if self.query is None or not response.is_success:
            return False
        kind = _type(response)
        if kind != _JSON and self.query.format_of(kind) is None:
            reason = f"a response of the type {kind!r} is not read"
            self.cleaner.report_loss(UncleanedError(reason))
        return kind == _JSON

    def whole(self, response: Any, raw: bytes) -> Any:
        """The response with a clean body, or with its own bytes if nothing leaked."""
        body = None if self.query is None else self._clean(self.query, response, raw)
        if body is None:
            return self._response(
                response, response.headers, self.library.ByteStream(raw)
            )
        answer = self.answer(response, self.library.ByteStream(body))
        answer.headers["content-length"] = str(len(body))
        return answer

    def passing(self, response: Any, stream: Any) -> Any:
        """The response, whose body is too long to be cleaned."""
        self._report_too_long()
        return self._response(response, response.headers, stream)

    def source(self, response: Any) -> Any:
        """A copy to read from; the response itself may be read, as mocks are."""
        return self._response(response, response.headers, response.stream)

    def answer(self, response: Any, stream: Any) -> Any:
        """The response with another body, without its length and encoding."""
        headers = response.headers.copy()
        for name in _CHANGED:
            headers.pop(name, None)
        return self._response(response, headers, stream)

    def _clean(self, request: ModelRequest, response: Any, raw: bytes) -> bytes | None:
        try:
            body = self._decoded(response.headers.get("content-encoding", ""), raw)
        except self.library.DecodingError as error:
            self.cleaner.report_loss(error)
            return None
        return None if body is None else self.cleaner.whole(request, body)

    def _decoded(self, encoding: str, raw: bytes) -> bytes | None:
        """The body, decompressed in steps; None if it grows too long."""
        if encoding.strip().lower() in ("", "identity"):
            return raw
        headers = {"content-encoding": encoding}
        is_brotli = "br" in encoding.lower()
        size = _BROTLI_AT_A_TIME if is_brotli else _DECODED_AT_A_TIME
        body = bytearray()
        slices = self.library.Response(200, headers=headers, content=_slices(raw, size))
        for data in slices.iter_bytes():
            body += data
            if len(body) > MOST_WHOLE:
                self._report_too_long()
                return None
        return bytes(body)

    def _report_too_long(self) -> None:
        reason = f"a whole response has more than {MOST_WHOLE} bytes"
        self.cleaner.report_loss(UncleanedError(reason))

    def _response(self, response: Any, headers: Any, stream: Any) -> Any:
        return self.library.Response(
            response.status_code,
            headers=headers,
            stream=stream,
            extensions=response.extensions,
        )


class PassingBody:
    """A body that passes unchanged, ``kept`` first, like `CleanBody`."""

    def __init__(self, kept: bytes) -> None:
        self._kept = kept

    def push(self, data: bytes) -> bytes:
        return self._take_kept() + data

    def close(self) -> bytes:
        return self._take_kept()

    def broken(self, _error: Exception) -> bytes:
        return self._take_kept()

    def stop(self) -> None:
        self._kept = b""

    def _take_kept(self) -> bytes:
        rest, self._kept = self._kept, b""
        return rest


def _covers_body(request: Any) -> bool:
    """Whether a signature of AWS covers the body."""
    authorization: str = request.headers.get("authorization", "")
    return authorization.startswith("AWS4-HMAC")


def _spelled(headers: Any) -> dict[str, str]:
    """The headers in the caller's spelling, repeated ones joined with commas."""
    names = (name.decode(headers.encoding) for name, _ in headers.raw)
    return {name: headers[name] for name in {n.lower(): n for n in names}.values()}


def _slices(data: bytes, size: int) -> Iterator[bytes]:
    return (data[index : index + size] for index in range(0, len(data), size))


def _type(response: Any) -> str:
    """The media type without its parameters. Its case means nothing."""
    header: str = response.headers.get("content-type", "")
    return header.partition(";")[0].strip().lower()
