"""The input of an explanation: a stream's options, its chunks, and how it was closed.

`body` cuts a provider's body at its line ends, and plain text into words: each cut is a
step on the page. The cuts change no result (text rule 1.1). `recorded` finds the
streams in a transcript that ``--record`` wrote.
"""

from __future__ import annotations

import base64
from collections import Counter
from typing import TYPE_CHECKING, Any

from attrs import evolve

from stream_sidecar import patterns
from stream_sidecar.errors import UsageError
from stream_sidecar.options import Limits, Policy, StreamOptions
from stream_sidecar.protocol.converter import structure
from stream_sidecar.protocol.handshake import shake_hands
from stream_sidecar.protocol.methods import METHODS
from stream_sidecar.protocol.sessions import stream_options
from stream_sidecar.records import field, frozen
from stream_sidecar.values.jsontext import decode, dumps

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from stream_sidecar.stream.stream import Stream

_MOST_STEPS = 2000
"""About the most slices of a text; in a longer text a slice has several words."""

_WORD = patterns.compile(rb"\s*+\S*+")
_LINE = patterns.compile(rb"[^\n]*\n|[^\n]+")


@frozen
class PushedChunk:
    """A chunk to push: ``value``, and how the page shows it."""

    value: Any
    text: str


@frozen
class StreamSource:
    """A stream to explain. ``chunks`` is called with the stream to which the chunks
    will be pushed. ``close`` has the arguments of ``Stream.close``."""

    name: str
    options: StreamOptions
    chunks: Callable[[Stream], Iterable[PushedChunk]]
    close: dict[str, Any] = field(factory=dict)


def body(name: str, data: bytes, options: StreamOptions) -> StreamSource:
    """The source for the bytes that a provider sent."""
    options = evolve(options, encoding="base64")
    return StreamSource(name, options, lambda stream: _slice_body(data, stream))


def failed_response(
    name: str, error: dict[str, Any], options: StreamOptions
) -> StreamSource:
    """The source for a response whose status is an error: its body is no answer.
    ``error`` is that of ``Stream.close``."""
    close = {"reason": "error", "error": error}
    return StreamSource(name, options, lambda _stream: (), close)


def _slice_body(data: bytes, stream: Stream) -> Iterator[PushedChunk]:
    """The slices of ``data``: words of plain text, lines of any other framing."""
    size = max(1, len(data) // _MOST_STEPS)
    start = 0
    while start < len(data):
        by_word = stream.framing in ("auto", "text")
        search_start = start + size - 1 if by_word else start
        match = (_WORD if by_word else _LINE).match(data, search_start)
        assert match is not None  # both fit any text
        slice_bytes, start = data[start : match.end()], match.end()
        encoded = base64.b64encode(slice_bytes).decode()
        yield PushedChunk(encoded, slice_bytes.decode("utf-8", "backslashreplace"))


def is_transcript(data: bytes) -> bool:
    """Whether ``data`` begins with the header of a transcript."""
    header = _json(data.split(b"\n", 1)[0])
    return isinstance(header, dict) and type(header.get("transcript")) is int


def recorded(name: str, data: bytes) -> dict[str, StreamSource]:
    """The streams and whole responses of a transcript, by id; a second stream with the
    id ``s1`` is ``s1:2``."""
    lines = [line for raw in data.splitlines() if isinstance(line := _json(raw), dict)]
    messages = [
        (line.get("dir"), msg)
        for line in lines
        if isinstance(msg := line.get("msg"), dict)
    ]
    answers = {_id(msg): msg for direction, msg in messages if direction == "out"}
    answers.pop(_id({}), None)  # messages without an id answer no request
    conversation = _Conversation(name)
    for direction, msg in messages:
        if direction == "in":
            conversation.read(msg, answers.get(_id(msg), {}))
    return conversation.sources


def _id(msg: dict[str, Any]) -> str:
    """A message's id, which may be any JSON value, as a key."""
    return dumps(msg.get("id"))


def _json(line: bytes) -> Any:
    try:
        return decode(line)
    except ValueError:
        return None


class _Conversation:
    """The requests of a host, read one by one."""

    def __init__(self, name: str) -> None:
        self.sources: dict[str, StreamSource] = {}
        self._name = name
        self._policy, self._limits = Policy(), Limits()
        self._opened: Counter[str] = Counter()
        self._open_streams: dict[str, tuple[str, list[PushedChunk]]] = {}
        self._readers = {
            "initialize": self._initialize,
            "stream/open": self._open_stream,
            "stream/push": self._push_chunks,
            "stream/close": self._close_stream,
            "message/normalize": self._add_whole,
        }

    def read(self, msg: dict[str, Any], answer: dict[str, Any]) -> None:
        """Reads one message; skips a request that was refused."""
        reader = self._readers.get(str(msg.get("method")))
        if reader is None or "error" in answer:
            return
        try:
            reader(msg, answer.get("result"))
        except UsageError:
            return  # a refused request whose answer is missing: the recording ended

    def _initialize(self, msg: dict[str, Any], _result: Any) -> None:
        agreed = shake_hands(msg.get("params"))
        self._policy, self._limits = agreed.policy, agreed.limits

    def _open_stream(self, msg: dict[str, Any], result: Any) -> None:
        params = self._read_params(msg)
        stream_id = params.stream_id
        if not stream_id:  # the sidecar named it
            name = result.get("streamId") if isinstance(result, dict) else None
            stream_id = name if isinstance(name, str) else "stream"
        self._add_stream(stream_id, params)

    def _add_whole(self, msg: dict[str, Any], _result: Any) -> None:
        params = self._read_params(msg)
        self._add_stream("message/normalize", params).append(_chunk(params.body))

    def _push_chunks(self, msg: dict[str, Any], _result: Any) -> None:
        params = self._read_params(msg)
        chunks = [params.chunk] if params.chunks is None else params.chunks
        if params.stream_id in self._open_streams:
            self._open_streams[params.stream_id][1].extend(map(_chunk, chunks))

    def _close_stream(self, msg: dict[str, Any], _result: Any) -> None:
        params = self._read_params(msg)
        key, _ = self._open_streams.pop(params.stream_id, ("", []))
        if key:
            close = {"reason": params.why, "error": params.failure}
            self.sources[key] = evolve(self.sources[key], close=close)

    def _read_params(self, msg: dict[str, Any]) -> Any:
        params = msg.get("params")
        kind = METHODS[msg["method"]].params
        return structure({} if params is None else params, kind, "params")

    def _add_stream(self, stream_id: str, params: Any) -> list[PushedChunk]:
        """Adds a stream and returns its list of chunks; an id may be used again."""
        self._opened[stream_id] += 1
        number = self._opened[stream_id]
        key = stream_id if number == 1 else f"{stream_id}:{number}"
        chunks: list[PushedChunk] = []
        options = stream_options(params, self._policy, self._limits)
        name = f"{self._name}, {key}"
        self.sources[key] = StreamSource(name, options, lambda _stream: chunks)
        self._open_streams[stream_id] = key, chunks
        return chunks


def _chunk(value: Any) -> PushedChunk:
    return PushedChunk(value, value if isinstance(value, str) else dumps(value))
