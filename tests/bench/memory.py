"""Resident memory of a server with 1,000 open streams of 100 kB text each.

Streams of chat.completions objects, fed in turns, as a server with many clients gets
them: answer text, and reasoning that the provider sends in two fields. Filling all of
them with deltas of 4 characters would take minutes. So in some rows, which the table
marks, only some are filled, and their memory is scaled to 1,000. One more stream is
filled first, so that memory used only during a push is not scaled. Megabytes are 10^6
bytes, and the interpreter is included.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from attrs import frozen
from chunks import PROSE, mirrored_chunk, repeated, slices, text_chunk
from processes import SIDECAR, Peer, frame
from rows import Bar, Row

STREAMS = 1_000
TEXT = 100_000
PART = 5_000
"""Characters of one push; streams take turns after each."""

BAR = Bar(limit=200, aim=150, unit=" MB")


@frozen
class Case:
    """``delta``: characters in one; ``filled``: how many streams are really filled."""

    name: str
    make: Callable[[str], Any]
    delta: int
    filled: int


CASES = (
    Case("text", text_chunk, 64, STREAMS),
    Case("text", text_chunk, 4, STREAMS // 10),
    Case("mirrored reasoning", mirrored_chunk, 64, STREAMS // 10),
)


def run() -> Iterator[Row]:
    for case in CASES:
        start, empty, base, full = _measure(case)
        scale = STREAMS / case.filled
        total = base + (full - base) * scale
        scaled = f", {case.filled} filled" if scale > 1 else ""
        measured = (
            f"{start:.0f} MB at start, {(empty - start) * scale:.0f} MB more empty"
        )
        what = f"memory, 1,000 x 100 kB of {case.name}, deltas of {case.delta}{scaled}"
        yield Row(what, measured, total, BAR)


def _measure(case: Case) -> tuple[float, float, float, float]:
    """Megabytes after the start, with empty streams, with one full, with all full."""
    chunks = [case.make(text) for text in slices(repeated(PROSE, PART), case.delta)]
    with Peer(SIDECAR) as peer:
        peer.ask("initialize", {})
        start = peer.resident()
        names = [f"s{number}" for number in range(case.filled)]
        for name in names:
            _open(peer, name)
        empty = peer.resident()
        _open(peer, "first")
        _fill(peer, ["first"], chunks)
        base = peer.resident()
        _fill(peer, names, chunks)
        return start, empty, base, peer.resident()


def _open(peer: Peer, name: str) -> None:
    peer.ask("stream/open", {"streamId": name, "wire": "openai-chat"})


def _fill(peer: Peer, names: list[str], chunks: list[Any]) -> None:
    requests = [
        frame(1, "stream/push", {"streamId": name, "chunks": chunks}) for name in names
    ]
    for _ in range(TEXT // PART):
        for request in requests:
            peer.exchange(request)
