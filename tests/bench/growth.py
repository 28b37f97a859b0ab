"""Cost of one delta in the engine, alone in this process, at 10 kB and at 1 MB.

The text is cut into deltas of 4 characters. A stream is brought to its full size; then
short windows of it are timed in turn with windows of fresh streams of 10 kB, so that
both have the same machine. Shown is the best window of each, and the median of the
ratios of neighbours. Processor time; no JSON, no pipes.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator
from itertools import chain, cycle, islice
from statistics import median
from typing import Any

from attrs import frozen
from chunks import (
    ARGUMENTS,
    CODE,
    MARKDOWN,
    PROSE,
    call_chunk,
    event,
    mirrored_chunk,
    repeated,
    slices,
    text_chunk,
)
from rows import Bar, Row, microseconds

from stream_sidecar.options import StreamOptions
from stream_sidecar.stream.stream import Stream

BAR = Bar(limit=1.1, aim=1.0)
SMALL = 10_000
WINDOW = 1_000
TURNS = 25

TEXT = StreamOptions(wire="text")
CHAT = StreamOptions(wire="openai-chat")

OPENERS = ("<", "<tool_call>", "[TOOL_CALLS]", '<｜DSML｜invoke name="')
"""Deltas with the beginning of a form that the next delta does not continue."""


@frozen
class Case:
    """A stream: ``first`` chunks, then ``body`` over and over.

    ``body`` is a whole number of repetitions of a text, so that every window has the
    same mixture; ``delta`` are the characters of the stream in one of its chunks, which
    the rows call a ``unit``.
    """

    name: str
    options: StreamOptions
    first: list[Any]
    body: list[Any]
    size: int = 1_000_000
    delta: int = 4
    unit: str = "delta"

    def chunks(self) -> Iterator[Any]:
        return chain(self.first, cycle(self.body))


def _deltas(text: str, make: Callable[[str], Any] = str) -> list[Any]:
    return [make(piece) for piece in slices(repeated(text, 4 * len(text)), 4)]


def _cases() -> Iterator[Case]:
    prose = _deltas(PROSE)
    yield Case("plain text", TEXT, [], prose)
    yield Case("plain text, chat objects", CHAT, [], _deltas(PROSE, text_chunk))
    yield Case("reasoning in <think>", TEXT, ["<think>\n"], prose)
    yield Case("code with many <, fenced", TEXT, ["```cpp\n"], _deltas(CODE))
    yield Case("code with many <, bare", TEXT, ["Like so:\n"], _deltas(CODE))
    yield Case("backticks and blank lines", TEXT, [], _deltas(MARKDOWN))
    arguments = [call_chunk('{"all": [', name="write")]
    fragments = _deltas(ARGUMENTS, call_chunk)
    yield Case("call arguments", CHAT, arguments, fragments, size=600_000)
    yield Case("reasoning in two fields", CHAT, [], _deltas(PROSE, mirrored_chunk))
    events = _slices_of_events()
    yield Case("SSE in slices of 64 bytes", CHAT, [], events, delta=64, unit="slice")
    for opener in OPENERS:
        name = f"{opener} over and over"
        yield Case(name, TEXT, ["Like so: "], [opener], delta=len(opener))


def _slices_of_events() -> list[Any]:
    """Events, filled up with a comment to a whole number of slices."""
    body = "".join(event(text_chunk(word)) for word in slices(PROSE, 4))
    return slices(f"{body}:{' ' * (-(len(body) + 3) % 64)}\n\n", 64)


def run() -> Iterator[Row]:
    for case in _cases():
        small, large, ratio = measure(case)
        size = f"{case.size / 1e6:g} MB"
        measured = f"{microseconds(small)}, {microseconds(large)} a {case.unit}"
        what = f"{case.name}, at 10 kB and at {size}"
        yield Row(what, measured, ratio, BAR)


def measure(case: Case) -> tuple[float, float, float]:
    """Best seconds a chunk at 10 kB and at full size, and the ratio."""
    # A window has whole bodies, as many as it needs, so that all windows are alike.
    window = len(case.body) * -(-WINDOW // len(case.body))
    long, rest = _stream_of(case, case.size)
    small, large = [], []
    gc.disable()
    for _ in range(TURNS):
        small.append(_time(*_stream_of(case, SMALL), window))
        large.append(_time(long, rest, window))
    gc.enable()
    ratio = median(after / before for before, after in zip(small, large, strict=True))
    return min(small) / window, min(large) / window, ratio


def _stream_of(case: Case, size: int) -> tuple[Stream, Iterator[Any]]:
    """A stream that has had about ``size`` characters, and the chunks to come."""
    stream, chunks = Stream(case.options), case.chunks()
    count = len(case.first) + len(case.body) * -(-size // (len(case.body) * case.delta))
    for piece in islice(chunks, count):
        stream.push(piece)
    return stream, chunks


def _time(stream: Stream, chunks: Iterator[Any], count: int) -> float:
    """Seconds for the next ``count`` chunks."""
    window, push, clock = list(islice(chunks, count)), stream.push, time.process_time
    start = clock()
    for piece in window:
        push(piece)
    return clock() - start
