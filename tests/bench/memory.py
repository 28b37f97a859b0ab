"""Resident memory of a server with 1,000 open streams of 100 kB text each.

Streams of chat.completions objects, fed in turns, as a server with many clients gets
them. 25 million deltas of 4 characters would take minutes: of those, 100 streams are
filled, and what they take is scaled to 1,000. Megabytes are 10^6 bytes and include the
interpreter.
"""

from __future__ import annotations

from collections.abc import Iterator

from chunks import PROSE, repeated, slices, text_chunk
from peers import SIDECAR, Peer, frame
from rows import Bar, Row

STREAMS = 1_000
TEXT = 100_000
PART = 5_000
"""Characters of one push; streams take turns after each."""

BAR = Bar(limit=400, aim=250, unit=" MB")
CASES = ((64, STREAMS), (4, STREAMS // 10))
"""Characters of a delta, and how many streams are filled with such."""


def run() -> Iterator[Row]:
    for delta, count in CASES:
        start, empty, full = _measure(delta, count)
        scale = STREAMS / count
        total = start + (full - start) * scale
        scaled = f", {count} filled" if count < STREAMS else ""
        measured = (
            f"{start:.0f} MB at start, {(empty - start) * scale:.0f} MB more empty"
        )
        what = f"memory, 1,000 streams of 100 kB, {delta}-character deltas{scaled}"
        yield Row(what, measured, total, BAR)


def _measure(delta: int, count: int) -> tuple[float, float, float]:
    """Megabytes after the start, with ``count`` empty streams, and with full ones."""
    with Peer(SIDECAR) as peer:
        peer.ask("initialize", {})
        start = peer.resident()
        names = [f"s{number}" for number in range(count)]
        for name in names:
            peer.ask("stream/open", {"streamId": name, "wire": "openai-chat"})
        empty = peer.resident()
        chunks = [text_chunk(text) for text in slices(repeated(PROSE, PART), delta)]
        requests = [
            frame(1, "stream/push", {"streamId": name, "chunks": chunks})
            for name in names
        ]
        for _ in range(TEXT // PART):
            for request in requests:
                peer.exchange(request)
        return start, empty, peer.resident()
