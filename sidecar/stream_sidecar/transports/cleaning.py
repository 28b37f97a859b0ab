"""The work of a cleaning transport, without I/O.

`Cleaner` prepares a request and cleans a whole response, `CleanBody` cleans a body that
arrives in slices.

A response that cannot be cleaned passes unchanged, and ``on_lost`` is called.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import uuid4

from stream_sidecar.api import Diagnostic, Stream, normalize, prepare
from stream_sidecar.records import frozen
from stream_sidecar.transports.endpoints import object_in
from stream_sidecar.values.jsontext import encode

if TYPE_CHECKING:
    from collections.abc import Callable

    from stream_sidecar.api import EmitClaims, NormalizeResult, PolicyOptions
    from stream_sidecar.transports.body_formats import BodyFormat
    from stream_sidecar.transports.endpoints import Asked

_UNREAD = frozenset(("malformed-chunk", "unknown-chunk"))
"""Codes of diagnostics for a document that the wire cannot read."""


@frozen
class Cleaner:
    """The options of a transport. ``claims``: what happens to calls that the model
    wrote into its text ("drop", "text", "promote"). ``prepare``: whether requests are
    prepared. ``provider``: the name of the provider, if the address does not say it.
    ``on_lost`` is called with the error when a body passes unchanged or is cut off.
    """

    claims: EmitClaims = "drop"
    policy: PolicyOptions | None = None
    prepare: bool = True
    provider: str | None = None
    on_lost: Callable[[Exception], object] | None = None

    def prepared(self, asked: Asked, authorization: str) -> bytes | None:
        """The body to send in place of the caller's. None if the caller's own body must
        be sent, for example because a signature covers it."""
        if not self.prepare or authorization.startswith("AWS4-HMAC"):
            return None
        try:
            result = prepare(
                asked.body,
                asked.wire,
                provider=self.provider or asked.host,
                model=asked.model,
                tools=asked.tools,
                policy=self.policy,
            )
        except Exception as error:
            self.lose(error)
            return None
        return encode(result.body) if result.changed else None

    def streamed(self, asked: Asked, content_type: str) -> CleanBody | None:
        """The clean body of a response that streams. None if it does not stream or
        cannot be cleaned."""
        form = asked.format_of(content_type)
        if form is None:
            return None
        try:
            return CleanBody(self, asked, form)
        except Exception as error:
            self.lose(error)
            return None

    def whole(self, asked: Asked, body: bytes) -> bytes | None:
        """The clean body of a response that is one document. None if nothing leaked, or
        the body could not be read."""
        if (came := object_in(body)) is None:
            return None
        try:
            result = normalize(came, framing="json", **self.options(asked))
        except Exception as error:
            self.lose(error)
            return None
        return (
            None if _is_unread(result) or result.body == came else encode(result.body)
        )

    def options(self, asked: Asked) -> dict[str, Any]:
        """The options of a stream. If requests are prepared, reasoning from the text
        goes to the wire's field for it. Each response has a new id, so that calls of
        two turns never share an id."""
        emit: dict[str, Any] = {"wire": asked.wire, "claims": self.claims}
        if self.prepare:
            emit["reasoning"] = "include"
        return {
            "wire": asked.wire,
            "provider": self.provider,
            "model": asked.model,
            "tools": asked.tools,
            "policy": self.policy,
            "emit": emit,
            "stream_id": uuid4().hex,
        }

    def lose(self, error: Exception) -> None:
        if self.on_lost is not None:
            self.on_lost(error)


class CleanBody:
    """A clean body, made while the slices of the original body are pushed.

    After an error before its first byte, the original body passes unchanged. A later
    error is raised.
    """

    def __init__(self, cleaner: Cleaner, asked: Asked, form: BodyFormat) -> None:
        self._cleaner = cleaner
        self._format = form
        self._stream = Stream(framing=form.framing, **cleaner.options(asked))
        self._kept: list[bytes] = []
        self._is_first = True
        self._passes = False

    def push(self, data: bytes) -> bytes:
        """The next part of the clean body; ``data`` may be cut anywhere."""
        if self._passes:
            return data
        if self._is_first:
            self._kept.append(data)
        try:
            return self._written(self._stream.push(data).chunks)
        except Exception as error:
            return self._passed(error)

    def close(self) -> bytes:
        """The rest of the clean body."""
        if self._passes:
            return b""
        try:
            rest = self._written(self._stream.close().chunks)
            return rest + self._format.end(self._is_first)
        except Exception as error:
            return self._passed(error)

    def broken(self, error: Exception) -> bytes:
        """The rest of the clean body after the source broke off with ``error``; it has
        no end mark."""
        if self._passes:
            return b""
        try:
            return self._written(self._stream.close(error=error).chunks)
        except Exception as ours:
            return self._passed(ours)

    def _written(self, chunks: list[Any] | None) -> bytes:
        written = b""
        for chunk in chunks or ():
            if isinstance(chunk, dict):  # the end mark is text; the format writes it
                written += self._format.document(chunk, self._is_first)
                self._is_first = False
        if not self._is_first:
            self._kept.clear()
        return written

    def _passed(self, error: Exception) -> bytes:
        self._cleaner.lose(error)
        if not self._is_first:
            raise error
        self._passes = True
        return b"".join(self._kept)


def _is_unread(result: NormalizeResult) -> bool:
    reported = (each for each in result.events if isinstance(each, Diagnostic))
    return result.body is None or any(each.code in _UNREAD for each in reported)
