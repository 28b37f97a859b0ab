"""A request and its response, for httpx and httpx2, whose classes are alike.

`Exchange` makes the request to send and the response to return. Only the two transports
do I/O.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stream_sidecar.records import frozen
from stream_sidecar.transports.endpoints import Asked, asked_of

if TYPE_CHECKING:
    from stream_sidecar.transports.cleaning import CleanBody, Cleaner

_CHANGED = ("content-length", "content-encoding", "transfer-encoding")
"""Headers of a response that do not fit a new body."""


@frozen
class Exchange:
    """A request, and how its response is cleaned. ``library`` is the module of the
    request's classes. ``asked`` is None if the endpoint is not known; then the response
    passes unchanged."""

    library: Any
    cleaner: Cleaner
    request: Any
    asked: Asked | None

    @classmethod
    def of(cls, library: Any, cleaner: Cleaner, request: Any) -> Exchange:
        """The exchange of a request. A body that streams cannot be read before it is
        sent, so its response passes unchanged."""
        asked = None
        if isinstance(request.stream, library.ByteStream):
            asked = asked_of(request.method, str(request.url), request.content)
        return cls(library, cleaner, request, asked)

    def sent(self) -> Any:
        """The request with the prepared body; the same request if nothing changes."""
        request = self.request
        if self.asked is None:
            return request
        authorization = request.headers.get("authorization", "")
        body = self.cleaner.prepared(self.asked, authorization)
        if body is None:
            return request
        headers = request.headers.copy()
        headers["content-length"] = str(len(body))
        return self.library.Request(
            request.method,
            request.url,
            headers=headers,
            content=body,
            extensions=request.extensions,
        )

    def streamed(self, response: Any) -> CleanBody | None:
        """The clean body of a response that streams. None if it does not stream or
        cannot be cleaned."""
        if self.asked is None or not response.is_success:
            return None
        return self.cleaner.streamed(self.asked, _type(response))

    def is_whole(self, response: Any) -> bool:
        """Whether the response is one document, for `whole`."""
        is_json = _type(response).startswith("application/json")
        return self.asked is not None and response.is_success and is_json

    def whole(self, response: Any, raw: bytes) -> Any:
        """The response with a clean body, or with its own bytes if nothing leaked."""
        stream = self.library.ByteStream(raw)
        came = self._response(response, response.headers, stream)
        body = None if self.asked is None else self._clean(self.asked, came)
        if body is None:
            return self._response(response, response.headers, stream)
        answer = self.answer(response, self.library.ByteStream(body))
        answer.headers["content-length"] = str(len(body))
        return answer

    def source(self, response: Any) -> Any:
        """A copy of the response to read from; the response itself may have been read
        already, as with mocks."""
        return self._response(response, response.headers, response.stream)

    def answer(self, response: Any, stream: Any) -> Any:
        """The response with another body, without headers about length and
        encoding."""
        headers = response.headers.copy()
        for name in _CHANGED:
            headers.pop(name, None)
        return self._response(response, headers, stream)

    def _clean(self, asked: Asked, response: Any) -> bytes | None:
        try:
            body = response.read()
        except self.library.DecodingError as error:
            self.cleaner.lose(error)
            return None
        return self.cleaner.whole(asked, body)

    def _response(self, response: Any, headers: Any, stream: Any) -> Any:
        return self.library.Response(
            response.status_code,
            headers=headers,
            stream=stream,
            extensions=response.extensions,
        )


def _type(response: Any) -> str:
    kind: str = response.headers.get("content-type", "")
    return kind
