"""One connection under test, and the model of what has to come of it.

`Session` sends messages in slices of any size and knows what is open, expired or in
flight: every request is answered exactly once, with the result or the error that the
model expects. The results of a stream are those of a `Stream` that nobody disturbs.
What a host does is the business of ``fuzz.rpc``.
"""

from __future__ import annotations

import json
from random import Random
from typing import Any

from attrs import define, field
from open_params import options_of
from rpc_client import RpcError, frame, message

from fuzz.rpc_host import SteppedHost
from stream_sidecar.protocol.converter import unstructure
from stream_sidecar.stream.stream import Stream
from stream_sidecar.values.jsontext import encode

NAMES = ("a", "b", "c", "流")
MAX_STREAMS = 3
IDLE_SECONDS = 10.0
STREAM_LIMITS = {"maxHeldChars": 40, "maxCallChars": 200}
LIMITS = {
    "maxStreams": MAX_STREAMS,
    "maxMessageBytes": 20_000,
    "idleTimeoutMs": int(IDLE_SECONDS * 1000),
    **STREAM_LIMITS,
}

NOT_FOUND, EXISTS, SEQUENCE, LIMIT = -31001, -31002, -31003, -31004
BAD_PARAMS, BAD_REQUEST, NO_METHOD, CANCELLED = -32602, -32600, -32601, -32800

NOISE = (b"", b"\r\n", b"npm WARN x\r\n", b"X-Header: 1\r\n", b"\n \n")
FIRST_ID = 1_000
"""Smaller numbers are the ids of messages that are wrong."""


@define
class Open:
    """An open stream: the one that nobody disturbs, and when it was used."""

    stream: Stream
    used: float
    pushes: int = 0


@define
class Due:
    """A request that will be answered later: with an error if it has a ``code``.

    ``length``: results of a batch, which stops when it is cancelled if it has any.
    """

    code: int = 0
    length: int = 0


@define
class Counts:
    """Streams so far, as ``sidecar/stats`` tells them."""

    opened: int = 0
    closed: int = 0
    expired: int = 0


@define
class Session:
    """``due``, ``batches``: what is in flight; ``gone``: why a stream is not open."""

    host: SteppedHost = field(factory=lambda: SteppedHost(limits=LIMITS))
    streams: dict[str, Open] = field(factory=dict)
    gone: dict[str, str] = field(factory=dict)
    due: dict[Any, Due] = field(factory=dict)
    batches: list[Any] = field(factory=list)
    counts: Counts = field(factory=Counts)
    last_id: int = FIRST_ID

    def finish(self) -> None:
        """The end of input: what is in flight is given up, nothing else is said."""
        answers = self.host.end()
        assert {answer["id"] for answer in answers} == set(self.due)
        assert len(answers) == len(self.due)
        for answer in answers:
            assert answer["error"]["code"] == CANCELLED

    # Both ends

    def ask(self, generator: Random, method: str, params: Any, code: int = 0) -> Any:
        """The result of a request, or the error that it must be refused with."""
        name = self.next_id()
        return self.expect(generator, message(method, params, id=name), name, code)

    def expect(self, generator: Random, request: Any, name: Any, code: int) -> Any:
        (answer,) = self.send(generator, request)
        assert answer["id"] == name
        if not code:
            return answer["result"]
        error = RpcError(answer["error"])
        assert error.code == code, error.message
        return error

    def send(self, generator: Random, request: Any) -> list[Any]:
        """Sends a message in any slices, with noise before its header."""
        data = generator.choice(NOISE) + frame(request)
        size = max(generator.choice((len(data), 7, 64, 1000)), len(data) // 100)
        return self.host.take(*(data[n : n + size] for n in range(0, len(data), size)))

    def next_id(self) -> Any:
        self.last_id += 1
        return self.last_id if self.last_id % 3 else f"r{self.last_id}"

    # The model

    def name(self, generator: Random) -> str:
        known = tuple(self.streams) if generator.random() < 0.8 else ()
        return generator.choice(known or NAMES)

    def opened(self, name: str, params: dict[str, Any]) -> Open:
        options = {**params, "limits": STREAM_LIMITS}
        options.pop("streamId", None)
        entry = Open(Stream(options_of(options)), self.host.clock.seconds)
        self.streams[name] = entry
        self.gone.pop(name, None)
        self.counts.opened += 1
        return entry

    def use(self, name: str) -> Open | None:
        self.expire()
        entry = self.streams.get(name)
        if entry is not None:
            entry.used = self.host.clock.seconds
        return entry

    def expire(self) -> None:
        deadline = self.host.clock.seconds - IDLE_SECONDS
        for name, entry in list(self.streams.items()):
            if entry.used <= deadline:
                self.forget(name, "expired")

    def forget(self, name: str, why: str) -> None:
        del self.streams[name]
        self.gone[name] = why
        setattr(self.counts, why, getattr(self.counts, why) + 1)


def as_json(value: Any) -> Any:
    """An attrs object as a host reads it."""
    return json.loads(encode(unstructure(value)))
