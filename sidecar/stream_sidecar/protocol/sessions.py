"""The open streams of one connection: what every ``stream/*`` method does.

The methods of `Sessions` accept params and return results (``params``). A mistake of
the host raises a ``UsageError`` and changes nothing. Streams live in memory only. With
``idle_timeout_ms``, the next call of any method of `Sessions` forgets each stream that
was not used for that long. The caller passes the two clocks.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime
from itertools import count, takewhile
from operator import add, attrgetter
from typing import TYPE_CHECKING, Any

from attrs import fields

from stream_sidecar import errors
from stream_sidecar.history.repair_counts import Named, RepairCounts, counted_as
from stream_sidecar.message.message import without_parts
from stream_sidecar.options import Limits, MessagePolicy, Policy, StreamOptions
from stream_sidecar.protocol.converter import unstructure
from stream_sidecar.protocol.params import (
    AllCounters,
    CloseParams,
    CloseResult,
    Counters,
    ListResult,
    ModelCounters,
    NoParams,
    NormalizeParams,
    NormalizeResult,
    OpenParams,
    OpenResult,
    PushParams,
    PushResult,
    SnapshotParams,
    SnapshotResult,
    StatsResult,
    StreamCounts,
    StreamRow,
)
from stream_sidecar.protocol.reading_options import patched
from stream_sidecar.records import define, evolve
from stream_sidecar.stream.earlier_streams import EARLIER
from stream_sidecar.stream.stream import Stream
from stream_sidecar.values.jsontext import encode
from stream_sidecar.values.units import text_size

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from stream_sidecar.events import Event
    from stream_sidecar.message.message import Message, Stats
    from stream_sidecar.stream.emission import Emission

_REMEMBERED = 4096
"""How many ids of closed and expired streams are remembered."""

_WIDEST = 4
"""Bytes of the longest code point in UTF-8; each held code point counts as so many."""

_COUNTERS = tuple(each.name for each in fields(Counters))
_counts_of = attrgetter(*_COUNTERS[1:])
"""The counters of a stream that are added up; ``messages`` is counted separately."""


@define
class OpenStream:
    """An open stream, and what the host can see of it. ``opened`` is in seconds since
    1970; ``used``, its last use, is the monotonic clock's. ``pushes`` counts requests,
    not chunks."""

    stream: Stream
    opened: float
    used: float
    metadata: Any
    emission: Emission | None
    pushes: int = 0


class Sessions:
    """Streams by id. ``monotonic`` and ``now`` give seconds, ``now`` since 1970.

    ``room``: this many more code points can be held back for certain. The connection
    subtracts the size of everything that comes. Below 0, what is held back is counted.
    """

    def __init__(
        self,
        policy: Policy,
        limits: Limits,
        *,
        monotonic: Callable[[], float] = time.monotonic,
        now: Callable[[], float] = time.time,
    ) -> None:
        self.policy = policy
        self.limits = limits
        self._monotonic = monotonic
        self._now = now
        self._started = monotonic()
        self._streams: dict[str, OpenStream] = {}  # with a timeout: in the order of use
        self._ended: dict[str, str] = {}  # by id, how
        self._names = map("stream-{}".format, count(1))
        self._counts = {"opened": 0, "closed": 0, "expired": 0}
        self._counters: dict[Named, tuple[int, ...]] = {}
        self.repairs = RepairCounts()
        self.room = limits.max_held_bytes // _WIDEST

    def open(self, params: OpenParams) -> OpenResult:
        self._expire()
        free = (name for name in self._names if name not in self._streams)
        stream_id = params.stream_id or next(free)
        if stream_id in self._streams:
            raise errors.StreamExistsError(
                f'stream "{stream_id}" is already open', streamId=stream_id
            )
        limit = self.limits.max_streams
        if len(self._streams) >= limit:
            raise errors.LimitExceededError(
                f"{limit} streams are open, which is maxStreams",
                limit=limit,
                value=limit + 1,
            )
        options = stream_options(params, self.policy, self.limits)
        stream = Stream(options, earlier=EARLIER)
        self._streams[stream_id] = OpenStream(
            stream,
            self._now(),
            self._monotonic(),
            params.metadata,
            stream.emission(),
        )
        self._ended.pop(stream_id, None)
        self._counts["opened"] += 1
        return OpenResult(
            stream_id,
            stream.wire,
            stream.framing,
            stream.profile,
            stream.policy,
            stream.options.limits,
            params.emit,
        )

    def push_plain(self, params: Any) -> bytes | None:
        """The result as JSON text if the JSON ``params`` are ``streamId`` and ``chunk``
        or a list of ``chunks``, and nothing else, as clients send them; else None."""
        if type(params) is not dict or len(params) != 2:
            return None
        stream_id: Any = params.get("streamId")
        is_one = "chunk" in params
        if type(stream_id) is not str:
            return None
        if not is_one and type(params.get("chunks")) is not list:
            return None
        entry = self._streams.get(stream_id)
        if entry is None or self.limits.idle_timeout_ms:
            entry = self._use(stream_id)
        if is_one:
            result = self._pushed(stream_id, entry, params["chunk"])
        else:
            result = self._pushed_all(stream_id, entry, params["chunks"])
        return encode(unstructure(result))

    def push(self, params: PushParams) -> PushResult:
        entry = self._use(params.stream_id)
        expected = entry.pushes + 1
        if params.push_seq is not None and params.push_seq != expected:
            raise errors.SequenceError(
                f"pushSeq is {params.push_seq}, expected {expected}",
                streamId=params.stream_id,
                expected=expected,
            )
        if params.chunks is None:
            return self._pushed(params.stream_id, entry, params.chunk)
        return self._pushed_all(params.stream_id, entry, params.chunks)

    def _pushed(self, stream_id: str, entry: OpenStream, chunk: Any) -> PushResult:
        if self.room < 0:
            self._count_held(chunk)
        stream, emission = entry.stream, entry.emission
        events = stream.push(chunk)
        entry.pushes += 1
        documents = None if emission is None else emission.push(events)
        return PushResult(stream_id, events, stream.last_seq, entry.pushes, documents)

    def _pushed_all(
        self, stream_id: str, entry: OpenStream, chunks: list[Any]
    ) -> PushResult:
        """The result of several chunks, with the last ``seq`` after each."""
        if self.room < 0:
            self._count_held(chunks)
        stream, emission = entry.stream, entry.emission
        events: list[Event] = []
        last_seqs = []
        for chunk in chunks:
            events += stream.push(chunk)
            last_seqs.append(stream.last_seq)
        entry.pushes += 1
        documents = None if emission is None else emission.push(events)
        numbers = stream.last_seq, entry.pushes
        return PushResult(stream_id, events, *numbers, documents, last_seqs)

    def close(self, params: CloseParams) -> CloseResult:
        entry = self._use(params.stream_id)
        events = entry.stream.close(params.why, params.failure)
        message, stats = entry.stream.message(), entry.stream.stats(entry.pushes)
        emission = entry.emission
        chunks = None if emission is None else emission.close(events, message)
        self._forget(params.stream_id, "closed")
        self._count(entry.stream.options, message, stats)
        entry.stream.forget()
        return CloseResult(params.stream_id, events, message, stats, chunks)

    def snapshot(self, params: SnapshotParams) -> SnapshotResult:
        entry = self._use(params.stream_id)
        stream = entry.stream
        stats = stream.stats(entry.pushes)  # requests of the host, not chunks
        return SnapshotResult(stream.message(), stats, stream.last_seq)

    def list(self, params: NoParams) -> ListResult:
        self._expire()
        rows = sorted(self._streams.items(), key=lambda item: item[1].opened)
        return ListResult([_row(stream_id, entry) for stream_id, entry in rows])

    def normalize(self, params: NormalizeParams) -> NormalizeResult:
        self._expire()
        options = stream_options(params, self.policy, self.limits)
        has_parts = options.policy.message.parts
        if not has_parts:  # a body is made from the parts
            policy = evolve(options.policy, message=MessagePolicy())
            options = evolve(options, policy=policy)
        stream = Stream(options, earlier=EARLIER)
        events = stream.push(params.body) + stream.close()
        message, stats = stream.message(), stream.stats()
        emission = stream.emission()
        body = None if emission is None else emission.body(message, stream.wire)
        self._count(stream.options, message, stats)
        stream.forget()
        message = message if has_parts else without_parts(message)
        return NormalizeResult(events, message, stats, body)

    def stats(self, params: NoParams) -> StatsResult:
        self._expire()
        rows = [
            ModelCounters(**_named(row), provider=provider, model=model)
            for (provider, model), row in self._counters.items()
        ]
        total = map(sum, zip(*self._counters.values(), strict=True))
        return StatsResult(
            uptime_ms=int((self._monotonic() - self._started) * 1000),
            streams=StreamCounts(open=len(self._streams), **self._counts),
            counters=AllCounters(**_named(total), by_model=rows),
            repairs=self.repairs.total(),
        )

    def _count_held(self, chunks: Any) -> None:
        """Raises if all streams together could hold back too much after ``chunks``."""
        limit = self.limits.max_held_bytes
        held = sum(entry.stream.held for entry in self._streams.values())
        size = _WIDEST * text_size(chunks)
        value = _WIDEST * held + size
        if value > limit:
            raise errors.LimitExceededError(
                f"streams would hold back {value} bytes, maxHeldBytes is {limit}",
                limit=limit,
                value=value,
                retryable=size <= limit,
            )
        self.room = (limit - value) // _WIDEST

    def _use(self, stream_id: str) -> OpenStream:
        """The open stream ``stream_id``, which counts as used now."""
        if self.limits.idle_timeout_ms:
            self._expire()
            if entry := self._streams.pop(stream_id, None):
                entry.used = self._monotonic()
                self._streams[stream_id] = entry
        entry = self._streams.get(stream_id)
        if entry is None:
            reason = self._ended.get(stream_id, "never")
            raise errors.StreamNotFoundError(
                f'stream "{stream_id}" {_NOT_OPEN[reason]}',
                streamId=stream_id,
                reason=reason,
            )
        return entry

    def _expire(self) -> None:
        timeout = self.limits.idle_timeout_ms / 1000
        if not timeout:
            return
        deadline = self._monotonic() - timeout
        idle = takewhile(lambda item: item[1].used <= deadline, self._streams.items())
        for stream_id, entry in list(idle):
            self._forget(stream_id, "expired")
            stream = entry.stream
            self._count(stream.options, stream.message(), stream.stats())
            stream.forget()

    def _forget(self, stream_id: str, reason: str) -> None:
        del self._streams[stream_id]
        self._counts[reason] += 1
        self._ended[stream_id] = reason
        if len(self._ended) > _REMEMBERED:
            del self._ended[next(iter(self._ended))]

    def _count(self, options: StreamOptions, message: Message, stats: Stats) -> None:
        metadata = message.metadata
        provider = options.provider or (metadata.provider if metadata else None)
        model = options.model or (metadata.model if metadata else None)
        name = counted_as(provider, model, self._counters)
        total = self._counters.get(name, (0,) * len(_COUNTERS))
        self._counters[name] = tuple(map(add, total, (1, *_counts_of(stats))))


_NOT_OPEN = {
    "never": "is not open",
    "closed": "is closed",
    "expired": "expired because it was idle for too long",
}


def stream_options(
    params: OpenParams | NormalizeParams, policy: Policy, limits: Limits
) -> StreamOptions:
    """The options of a new stream; ``policy`` and ``limits`` are the connection's."""
    is_text = "text" in (params.wire, params.framing)
    return StreamOptions(
        wire="text" if is_text else params.wire,
        framing="text" if is_text else params.framing,
        encoding=params.encoding,
        provider=params.provider,
        model=params.model,
        tools=params.tools,
        policy=patched(policy, params.policy or {}),
        response_template=params.response_template,
        limits=limits,
        emit=params.emit,
        stream_id=params.stream_id,
    )


def _named(counts: Iterable[int]) -> dict[str, Any]:
    """Counters by name; empty if nothing was counted."""
    return dict(zip(_COUNTERS, counts, strict=False))


def _row(stream_id: str, entry: OpenStream) -> StreamRow:
    opened = datetime.fromtimestamp(entry.opened, UTC).isoformat(
        timespec="milliseconds"
    )
    return StreamRow(
        stream_id=stream_id,
        wire=entry.stream.wire,
        opened_at=opened.replace("+00:00", "Z"),
        pushes=entry.pushes,
        chars=entry.stream.stats().chars,
        last_seq=entry.stream.last_seq,
        metadata=entry.metadata,
    )
