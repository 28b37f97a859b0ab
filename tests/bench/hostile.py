"""Time is linear: ten times the input needs ten times the time, for any input.

Inputs consist of text that the engine must examine: delimiters, their beginnings and
rests, backticks, line breaks, blanks, and text that is held back. Each is pushed whole
and in deltas of 4 characters, closed, and timed at n and at 10 n characters. The ratio
compares the cost of a character. If it is not clearly 1, the input is timed more often,
in turns, and the median counts. The table shows the worst.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator
from itertools import permutations
from operator import itemgetter
from statistics import median
from typing import Any

from chunks import call_chunk, chunk, repeated, slices
from rows import Bar, Row, microseconds

from stream_sidecar.options import StreamOptions
from stream_sidecar.stream.stream import Stream

BAR = Bar(limit=1.5, aim=1.1)
SMALL = 16_000
TURNS = 7
SHOWN = 3
CLEAR = 1.15

PIECES = ("<think>", "</think>", "<", "`", "\n", " ", "a")
ALONE = ("<thi", "nk>", "``", "```\n", "~~~\n", "> ", "- ", "\t", "\r", "é", "😀")
COMBINED = (
    "<thi<think>nk>",
    "</thi</think>nk>",
    "<</think>think>",
    "`</think>`",
    "``</think>``",
    "`<think>``",
    "a`b``c```<think>",
    "<think>x</think>\n\n",
    "<think><think></think>",
    "</think>\n \n",
    "[THINK]◁think▷",
    "<mm:think></seed:think>",
    "- > 1. ```<think>\n",
    "<think>\r\n`",
)
RAMP = "".join("`" * (length % 40) + "<think>" for length in range(1, 200))
"""Backtick runs of different lengths, so that none of them is closed."""

TEXT = StreamOptions(wire="text")
CHAT = StreamOptions(wire="openai-chat")

ARGUMENTS = ("{}", "{", "[", '"', "\\", '{"a":', "{} ", "}", "1")
LINES = (
    "\n",
    "\r",
    ":\n",
    "data:\n",
    "data: {}\n",
    "data: [DONE]\n\n",
    "x\n",
    "[",
    "{",
)


def _texts() -> Iterator[str]:
    yield from (*PIECES, *ALONE, *COMBINED, RAMP)
    for pair in permutations(PIECES, 2):
        yield "".join(pair)


def _cases() -> Iterator[tuple[str, StreamOptions, list[tuple[str, int]]]]:
    """Name, options, and the ways to cut the text: a kind of chunk and its size."""
    for text in _texts():
        yield text, TEXT, [("whole", 0), ("by 4", 4)]
    for text in ("<thi", "</think>", "`", "\n", "a", "ha "):
        yield text, CHAT, [("reasoning", 4)]
    for text in ARGUMENTS:
        yield text, CHAT, [("arguments", 4)]
    for text in LINES:
        yield text, CHAT, [("whole", 0), ("by 4", 4)]


def run() -> Iterator[Row]:
    measured = []
    for text, options, cuts in _cases():
        for kind, size in cuts:
            ratio, cost = _measure(text, options, kind, size)
            measured.append((ratio, cost, f"{text[:24]!r} {kind}"))
    measured.sort(reverse=True)
    for ratio, cost, name in measured[:SHOWN]:
        what = f"hostile, worst of {len(measured)}: {name}, n and 10 n"
        yield Row(what, f"{microseconds(cost)} a character", ratio, BAR)
    _, cost, name = max(measured, key=itemgetter(1))
    yield Row(f"hostile, slowest: {name}", f"{microseconds(cost)} a character")


def _measure(
    text: str, options: StreamOptions, kind: str, size: int
) -> tuple[float, float]:
    """Cost at 10 n against that at n, and the best seconds a character at n."""
    short = _chunks(repeated(text, SMALL), kind, size)
    long = _chunks(repeated(text, 10 * SMALL), kind, size)
    ratios: list[float] = []
    best = float("inf")
    while len(ratios) < TURNS:
        small = min(_time(short, options) for _ in range(3))
        ratios.append(_time(long, options) / small / 10)
        best = min(best, small)
        if len(ratios) == 1 and ratios[0] < CLEAR:
            break
    return median(ratios), best / SMALL


def _chunks(text: str, kind: str, size: int) -> list[Any]:
    pieces = slices(text, size or len(text))
    if kind == "arguments":
        return [call_chunk("", name="f"), *map(call_chunk, pieces)]
    if kind == "reasoning":
        return [
            chunk({"reasoning": piece, "reasoning_content": piece}) for piece in pieces
        ]
    return pieces


def _time(chunks: list[Any], options: StreamOptions) -> float:
    """Seconds for a whole stream, its message included."""
    gc.collect()
    stream = Stream(options)
    start = time.process_time()
    for piece in chunks:
        stream.push(piece)
    stream.close()
    stream.message()
    return time.process_time() - start
