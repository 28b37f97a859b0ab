"""Pushes a second when nobody waits: one thread writes all requests, one reads.

Compared with a stock pygls server that echoes the same params (untyped, as most people
write it, and typed), and with the bare orjson echo. All take turns within one run, and
the best turn of each counts. pygls gets fewer requests, because it needs seconds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

from chunks import event, text_chunk
from processes import ORJSON_ECHO, PYGLS_ECHO, PYGLS_ECHO_TYPED, SIDECAR, Peer, frame
from rows import Bar, Row

REQUESTS = 10_000
PYGLS_REQUESTS = 1_500
TURNS = 3
BAR = Bar(limit=60, aim=150, at_least=True)

CHUNKS: tuple[tuple[str, Callable[[str], Any]], ...] = (
    ("string", lambda text: event(text_chunk(text))),
    ("object", text_chunk),
)
PEERS: tuple[tuple[str, tuple[str, ...], str, int], ...] = (
    ("sidecar", SIDECAR, "stream/push", REQUESTS),
    ("orjson echo", ORJSON_ECHO, "x/echo", REQUESTS),
    ("stock pygls echo", PYGLS_ECHO, "x/echo", PYGLS_REQUESTS),
    ("typed pygls echo", PYGLS_ECHO_TYPED, "x/echo", PYGLS_REQUESTS),
)
BARS = {"stock pygls echo": BAR, "typed pygls echo": BAR}


def run() -> Iterator[Row]:
    for name, make in CHUNKS:
        rates = _measure(make)
        ours = rates.pop("sidecar")
        for peer, rate in rates.items():
            what = f"pushes a second, {name}, pipelined, against {peer}"
            yield Row(what, f"{ours:,.0f}, {rate:,.0f}", ours / rate, BARS.get(peer))


def _measure(make: Callable[[str], Any]) -> dict[str, float]:
    """Best answers a second of each peer."""
    with ExitStack() as stack:
        peers = {
            name: stack.enter_context(Peer(arguments))
            for name, arguments, _, _ in PEERS
        }
        for name in ("sidecar", "stock pygls echo", "typed pygls echo"):
            peers[name].ask("initialize", {"capabilities": {}})
        stream = peers["sidecar"].ask("stream/open", {})["streamId"]
        rates = dict.fromkeys(peers, 0.0)
        for _ in range(TURNS):
            for name, _, method, count in PEERS:
                requests = _requests(method, count, stream, make)
                rates[name] = max(rates[name], peers[name].flood(requests))
    return rates


def _requests(
    method: str, count: int, stream: str, make: Callable[[str], Any]
) -> list[bytes]:
    return [
        frame(1000 + number, method, {"streamId": stream, "chunk": make(" word")})
        for number in range(count)
    ]
