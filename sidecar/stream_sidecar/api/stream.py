"""`Stream`: one response of one model, pushed as it arrives."""

from __future__ import annotations

from base64 import b64encode
from codecs import getincrementaldecoder
from typing import TYPE_CHECKING, Any

from stream_sidecar.api.calls import Options, call, new_sessions
from stream_sidecar.records import evolve

if TYPE_CHECKING:
    from stream_sidecar.protocol.params import (
        CloseResult,
        OpenResult,
        PushResult,
        SnapshotResult,
    )


class Stream:
    """``stream/open`` and the methods of the stream. ``opened`` is the result of open.
    ``stream_id``: calls without an id get an id that is made from ``stream_id``, so use
    another one for each turn."""

    def __init__(
        self,
        *,
        wire: str = "auto",
        framing: str = "auto",
        encoding: str = "utf-8",
        provider: str | None = None,
        model: str | None = None,
        tools: list[Any] | None = None,
        policy: Options | None = None,
        response_template: Options | None = None,
        emit: Options | None = None,
        stream_id: str | None = None,
    ) -> None:
        options = {name: value for name, value in locals().items() if name != "self"}
        self._name: dict[str, str] = {}
        self._sessions = new_sessions()
        self._decoder = getincrementaldecoder("utf-8")("replace")
        self._is_base64 = encoding == "base64"
        self.opened: OpenResult = self._call("stream/open", **options)
        self._name = {"streamId": self.opened.stream_id}

    def push(self, chunk: Any) -> PushResult:
        """``stream/push``: reads a slice of the body (text or bytes, cut anywhere), or
        a decoded document."""
        if isinstance(chunk, bytes):
            chunk = self._text(chunk)
        result: PushResult = self._call("stream/push", chunk=chunk)
        return result

    def close(
        self, reason: str | None = None, *, error: Options | None = None
    ) -> CloseResult:
        """``stream/close``: ends the stream; the result has the last events, and the
        message."""
        rest = self._decoder.decode(b"", final=True)
        first = self.push(rest) if rest else None
        closed: CloseResult = self._call("stream/close", reason=reason, error=error)
        return closed if first is None else _joined(first, closed)

    def snapshot(self) -> SnapshotResult:
        """``stream/snapshot``: the message so far."""
        result: SnapshotResult = self._call("stream/snapshot")
        return result

    def _call(self, method: str, **params: Any) -> Any:
        return call(method, {**params, **self._name}, sessions=self._sessions)

    def _text(self, data: bytes) -> str:
        if self._is_base64:
            return b64encode(data).decode("ascii")
        return self._decoder.decode(data)


def _joined(pushed: PushResult, closed: CloseResult) -> CloseResult:
    """``closed``, with the events of a last push before its own. The bytes may have
    ended inside a character, and its replacement was pushed."""
    events = pushed.events + closed.events
    chunks = None if closed.chunks is None else (pushed.chunks or []) + closed.chunks
    return evolve(closed, events=events, chunks=chunks)
