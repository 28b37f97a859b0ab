"""What an event of a recorded stream costs, against the bare orjson echo.

A stream is opened, each of its events is pushed alone, and it is closed; the echo gets
the same bytes. Both are processes at the end of two pipes. Their processor time is
compared (if the system has a clock for another process, as Linux has), for all of a
wire's recordings together. The two take turns in whole rounds, because after each
switch the core's caches hold the other's data. The least time of each stream counts,
and the sums are compared: other jobs on the machine disturb some streams of every
round, but rarely the same streams in all rounds. Rare events, such as a full garbage
collection, do not count. The table also has the time of `Connection.push` and of the
loop of `echo_orjson` without pipes, measured in the same way. The streams are one of
300 events for each wire, as long as a page of answer, the short streams of
``tests/wires``, and the corpus beside the project if it is there. With ``--profile``
rows show which files of the sidecar the time without pipes was spent in.
"""

from __future__ import annotations

import base64
import cProfile
import pstats
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from math import ceil, inf
from pathlib import Path
from time import clock_gettime, process_time
from typing import Any

from chunks import STREAMED, streamed
from corpus import CORPUS
from echo_orjson import echo
from processes import ORJSON_ECHO, SIDECAR, Peer, frame
from recordings import PATHS, Recording, of_corpus, own
from round_trip import one_core
from rows import Bar, Row, microseconds

import stream_sidecar
from stream_sidecar.rpc.connection import Connection

PAIRS = 3
"""Of processes, one after the other: some pairs stay slower than others."""

ROUNDS = 6
MOST_ROUNDS = 40
EVENTS = 30_000
"""How many events are pushed, in at most `MOST_ROUNDS`: few events need more rounds."""

EMPTY = 60
"""Streams without an event that are opened and closed for a round."""

LONG = 5
"""Streams of 300 events a round."""

LONG_BAR = Bar(limit=6, aim=4)
BARS = defaultdict(lambda: Bar(limit=7.5, aim=5), gemini=Bar(limit=12, aim=5))
COMPARED = ("openai-chat", "anthropic", "openai-responses", "gemini")
"""Wires with a bar; the recordings of the others are few."""

HOUSE = str(Path(stream_sidecar.__file__).parent)
PROFILED = 12
"""Rooms and files of them that ``--profile`` shows."""

Streams = list[list[bytes]]
"""Of each stream the frames of its requests."""

Side = tuple[Callable[[bytes], object], Callable[[], float]]
"""What is given each frame, and the clock of its processor time."""


def run(*, profile: bool = False) -> Iterator[Row]:
    empty = [[_open({}), _close({})]] * EMPTY
    mine = microseconds(_without_pipes(empty)[0] / EMPTY)
    yield Row("open and close of a stream without events", mine)
    for name, bar, streams in _measured():
        yield _against_echo(f"{name}: an event against orjson echo", streams, bar)
        if profile:
            yield from _profile(name, streams)


def _measured() -> Iterator[tuple[str, Bar | None, Streams]]:
    for wire in STREAMED:
        params = {"wire": wire, "framing": "sse"}
        long = _requests(Recording(wire, params, streamed(wire, 300), {}))
        yield f"300 events, {wire}", LONG_BAR, [long] * LONG
    for source, recordings in _sources():
        by_wire: defaultdict[str, list[Recording]] = defaultdict(list)
        for each in recordings:
            by_wire[each.params.get("wire", "auto")].append(each)
        for wire, those in sorted(by_wire.items()):
            barred = source == "corpus" and wire in COMPARED
            streams = [_requests(each) for each in those]
            yield f"{source}, {wire}", BARS[wire] if barred else None, streams


def _sources() -> Iterator[tuple[str, Iterable[Recording]]]:
    yield "own", map(own, PATHS)
    if CORPUS.exists():
        yield "corpus", filter(None, map(_in_events, of_corpus()))


def _against_echo(what: str, streams: Streams, bar: Bar | None) -> Row:
    count = _count(streams)
    inside, bare = (microseconds(each / count) for each in _without_pipes(streams))
    measured = f"{count} events, without pipes {inside}, echo {bare}"
    if sys.platform != "linux":
        return Row(what, measured)
    mine, other = _of_processes(streams)
    taken = f"{microseconds(mine / count)}, echo {microseconds(other / count)}"
    return Row(what, f"{taken}; {measured}", mine / other, bar)


def _count(streams: Streams) -> int:
    """How many events there are: all requests but those that open and close."""
    return sum(map(len, streams)) - 2 * len(streams)


# Recordings as requests

_EVENT = re.compile(r".*?(?:\r?\n){2,}|.+", re.DOTALL)
_LINE = re.compile(r".*\n|.+")
_SLICES = {"sse": _EVENT, "ndjson": _LINE}


def _in_events(recording: Recording) -> Recording | None:
    """The recording of the corpus with a chunk for each event, as hosts read them."""
    framing, data = recording.params["framing"], base64.b64decode(recording.chunks[0])
    if framing == "aws-eventstream":
        chunks = [base64.b64encode(each).decode() for each in _messages(data)]
        return Recording(recording.name, recording.params, chunks, recording.close)
    if framing not in _SLICES:
        return None
    chunks = _SLICES[framing].findall(data.decode("utf-8", "replace"))
    params = {**recording.params, "encoding": "utf-8"}
    return Recording(recording.name, params, chunks, recording.close)


def _messages(data: bytes) -> Iterator[bytes]:
    """The messages of an AWS event stream: each begins with its length."""
    while data:
        size = int.from_bytes(data[:4]) or len(data)
        yield data[:size]
        data = data[size:]


def _open(params: dict[str, Any]) -> bytes:
    return frame(1, "stream/open", {**params, "streamId": "s"})


def _close(params: dict[str, Any]) -> bytes:
    return frame(2, "stream/close", {**params, "streamId": "s"})


def _requests(recording: Recording) -> list[bytes]:
    pushes = [
        frame(number, "stream/push", {"streamId": "s", "chunk": each})
        for number, each in enumerate(recording.chunks, 3)
    ]
    return [_open(recording.params), *pushes, _close(recording.close)]


# Measuring


def _without_pipes(streams: Streams) -> list[float]:
    """Seconds of processor time for all streams: the sidecar's, and the echo's."""
    sides = ((_connection().push, process_time), (echo, process_time))
    return [sum(least) for least in _least(streams, sides, _rounds(streams))]


def _of_processes(streams: Streams) -> list[float]:
    """The same of two processes."""
    rounds = ceil(_rounds(streams) / PAIRS)
    pairs = [_of_pair(streams, rounds) for _ in range(PAIRS)]
    return [sum(map(min, *least)) for least in zip(*pairs, strict=True)]


def _of_pair(streams: Streams, rounds: int) -> list[list[float]]:
    with one_core(), Peer(SIDECAR) as sidecar, Peer(ORJSON_ECHO) as echo:
        sidecar.ask("initialize", {})
        sides = [(each.exchange, _clock(each)) for each in (sidecar, echo)]
        return _least(streams, sides, rounds)


def _clock(peer: Peer) -> Callable[[], float]:
    """The processor time of all threads of a process."""
    return partial(clock_gettime, ~peer.process.pid << 3 | 2)


def _rounds(streams: Streams) -> int:
    return min(max(ROUNDS, ceil(EVENTS / max(_count(streams), 1))), MOST_ROUNDS)


def _least(streams: Streams, sides: Sequence[Side], rounds: int) -> list[list[float]]:
    """Of each side the least seconds of each stream."""
    least = [[inf] * len(streams) for _ in sides]
    for _ in range(rounds):
        for best, side in zip(least, sides, strict=True):
            taken = [_timed(requests, *side) for requests in streams]
            best[:] = map(min, best, taken)
    return least


def _timed(
    requests: list[bytes], give: Callable[[bytes], object], clock: Callable[[], float]
) -> float:
    before = clock()
    for request in requests:
        give(request)
    return clock() - before


def _connection() -> Connection:
    """An initialized connection that has no editor at its other end."""

    def nothing(*_: Any) -> Any:
        return None

    connection = Connection(nothing, nothing, nothing)
    connection.push(frame(0, "initialize", {}))
    return connection


def _profile(name: str, streams: Streams) -> Iterator[Row]:
    """Microseconds of an event by file, what it calls of Python's own included; a
    profiler makes calls dearer than they are."""
    profiler = cProfile.Profile()
    connection = _connection()
    for requests in streams:
        profiler.runcall(_timed, requests, connection.push, process_time)
    taken: Counter[str] = Counter()
    for (file, *_), row in pstats.Stats(profiler).stats.items():  # type: ignore[attr-defined]
        if file.startswith(HOUSE):
            taken[_place(file)] += row[2]
            continue
        for (caller, *_), (_, _, own_time, _) in row[4].items():
            taken[_place(caller)] += own_time
    for place, seconds in taken.most_common(PROFILED):
        yield Row(f"{name}: in {place}", microseconds(seconds / _count(streams)))


def _place(file: str) -> str:
    return file.removeprefix(HOUSE).lstrip("/") if file.startswith(HOUSE) else "others"
