"""A very long stream through the real process, and what memory it takes.

Text is generated as it goes and never kept; what comes back is hashed, channel by
channel, and has to be what went in without the delimiters.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from itertools import cycle
from typing import Any

from attrs import frozen
from process_memory import peak_memory, resident_memory
from rpc_client import RpcClient

CHUNK = 65_536
"""Code points of one push."""

TENTH = 10
SAMPLED = 16
"""Pushes between two looks at the memory: not every system keeps the peak itself."""

ROOM = 4_000_000
"""Bytes that the peak may grow after the first tenth: allocators are not exact."""


@frozen
class Kind:
    """What is repeated: ``raw`` goes in, ``text`` and ``reasoning`` come out of it."""

    raw: str
    text: str
    reasoning: str = ""


_PROSE = "A wonderful life is what we write about here, and 1 < 2. "
_QUOTED = "In `<think>` is code.\n"

KINDS: dict[str, Kind] = {
    "answer": Kind(_PROSE * 19 + _QUOTED, _PROSE * 19 + _QUOTED),
    "code": Kind("```\nif (a<b) {\n```\n", "```\nif (a<b) {\n```\n"),
    "languages": Kind("größe 日本語 😀 ", "größe 日本語 😀 "),
    "blocks": Kind("<think>why</think>so. ", "so. ", "why"),
}
"""By the name of the command's ``--text``."""


def run(name: str, megabytes: int, report: Callable[[str], object]) -> list[int]:
    """Peaks of resident memory in bytes, after each tenth; AssertionError on a loss."""
    kind, total = KINDS[name], megabytes * 1_000_000
    came = {"text-delta": hashlib.blake2b(), "reasoning-delta": hashlib.blake2b()}
    peaks: list[int] = []
    pushed = most = 0
    with RpcClient() as client:
        client.initialize(policy={"message": {"parts": False}})
        client.request("stream/open", {"streamId": "s", "wire": "text"})
        for number, chunk in enumerate(_chunks(kind, total)):
            result = client.request("stream/push", {"streamId": "s", "chunk": chunk})
            _take(came, result["events"])
            pushed += len(chunk)
            if number % SAMPLED == 0:
                most = max(most, resident_memory(client.process.pid))
            if pushed * TENTH >= total * (len(peaks) + 1):
                peaks.append(max(most, peak_memory(client.process.pid)))
                report(f"{pushed / 1e6:8.1f} MB pushed, peak {peaks[-1] / 1e6:.1f} MB")
        closed = client.request("stream/close", {"streamId": "s"})
        _take(came, closed["events"])
        peaks.append(max(most, peak_memory(client.process.pid)))
    assert closed["stats"]["chars"] == pushed
    assert "text" not in closed["message"]
    _compare(came, kind, pushed // len(kind.raw))
    return peaks


def _chunks(kind: Kind, total: int) -> Iterator[str]:
    """About ``total`` characters in pushes that are cut anywhere, whole at the end."""
    count = total // len(kind.raw)
    body = kind.raw * (CHUNK // len(kind.raw) + 2)
    at, left = 0, count * len(kind.raw)
    for size in cycle((CHUNK, CHUNK - 7, CHUNK - 1)):
        size = min(size, left)
        if not size:
            return
        yield body[at : at + size]
        at, left = (at + size) % len(kind.raw), left - size


def _take(came: dict[str, Any], events: list[Any]) -> None:
    for event in events:
        if event["type"] in came:
            came[event["type"]].update(event["text"].encode())


def _compare(came: dict[str, Any], kind: Kind, count: int) -> None:
    """Each channel is what was repeated, ``count`` times."""
    expected = {"text-delta": kind.text, "reasoning-delta": kind.reasoning}
    for name, text in expected.items():
        wanted = hashlib.blake2b()
        for _ in range(count):
            wanted.update(text.encode())
        assert came[name].digest() == wanted.digest(), f"{name}s are others"
