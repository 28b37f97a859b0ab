"""Round trip of one ``stream/push`` against the bare orjson echo (`echo_orjson`).

One chat.completions chunk with one delta, as a string (a server-sent event) and as an
object, sent when the answer before it has been read. The echo gets the same requests.
Blocks of requests alternate between the two, in several rounds with fresh processes:
a process that shares its core with another job does so for a while, and then needs
several times as long. The best round counts, for each percentile.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from statistics import quantiles
from typing import Any

from chunks import event, text_chunk
from processes import ORJSON_ECHO, SIDECAR, Peer, frame
from rows import Bar, Row, microseconds

ROUNDS = 8
BLOCKS = 8
REQUESTS = 250
BAR = Bar(limit=1.5, aim=1.25)

CHUNKS: tuple[tuple[str, Callable[[str], Any]], ...] = (
    ("string", lambda text: event(text_chunk(text))),
    ("object", text_chunk),
)


def run() -> Iterator[Row]:
    for name, make in CHUNKS:
        rounds = [_measure(make) for _ in range(ROUNDS)]
        for percent, bar in ((50, BAR), (99, None)):
            mine, other = (
                min(_percentile(taken, percent) for taken in peer)
                for peer in zip(*rounds, strict=True)
            )
            measured = f"{microseconds(mine)}, echo {microseconds(other)}"
            what = f"push, one delta, {name}, p{percent}, against orjson echo"
            yield Row(what, measured, mine / other, bar)


def _measure(make: Callable[[str], Any]) -> tuple[list[float], list[float]]:
    """Seconds of every push and of every echo of one round."""
    with one_core(), Peer(SIDECAR) as sidecar, Peer(ORJSON_ECHO) as echo:
        sidecar.ask("initialize", {})
        stream = sidecar.ask("stream/open", {})["streamId"]
        requests = _requests(stream, make)
        taken: tuple[list[float], list[float]] = [], []
        for _ in range(BLOCKS):
            for peer, times in zip((sidecar, echo), taken, strict=True):
                peer.times(requests[:25])  # wakes the process and its caches
                times += peer.times(requests)
    return taken


@contextmanager
def one_core() -> Iterator[None]:
    """Keeps this process and its children on one core, where the system can.

    A process that is woken on an idle core pays for the core's sleep, several times
    what either server does; which one is put there is chance.
    """
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(cores)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, cores)


def _requests(stream: str, make: Callable[[str], Any]) -> list[bytes]:
    return [
        frame(1000 + number, "stream/push", {"streamId": stream, "chunk": make(word)})
        for number, word in zip(range(REQUESTS), _words(), strict=False)
    ]


def _words() -> Iterator[str]:
    while True:
        yield from (" the", " quick", " brown", " fox", ",", " jumps")


def _percentile(taken: list[float], percent: int) -> float:
    return quantiles(taken, n=100)[percent - 1]
