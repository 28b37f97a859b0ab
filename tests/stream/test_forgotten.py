"""What a stream leaves is free at once: no collector has to look for it.

In a circle it would keep all words of its policy, some hundred kilobytes, until the
collector comes.
"""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING

import pytest
from attrs import evolve
from checking import options_of
from recordings import PATHS, own

from stream_sidecar.options import Policy, ReasoningPolicy, StreamOptions
from stream_sidecar.stream.earlier_streams import EarlierStreams
from stream_sidecar.stream.stream import Stream
from stream_sidecar.text.lexicon import Lexicon

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def left() -> Iterator[list[object]]:
    """What only the collector finds; nothing from before the test."""
    gc.collect()
    gc.freeze()
    gc.disable()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        yield gc.garbage
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()
        gc.unfreeze()


OURS = ("stream_sidecar.text", "stream_sidecar.channel", "stream_sidecar.forms")


def test_nothing_of_a_stream_waits(left: list[object]) -> None:
    for recording in map(own, PATHS):
        stream = Stream(options_of(recording.params))
        for chunk in recording.chunks:
            stream.push(chunk)
        stream.close()
        stream.message()
        stream.forget()
    del stream
    gc.collect()
    kinds = {f"{type(each).__module__}.{type(each).__name__}" for each in left}
    assert [kind for kind in sorted(kinds) if kind.startswith(OURS)] == []


@pytest.mark.thorough
def test_of_policies_that_differ_few_stay(left: list[object]) -> None:
    earlier, most = EarlierStreams(), 80  # 64 are kept for whoever comes, and 8 here
    for number in range(most + 20):
        reasoning = evolve(ReasoningPolicy(), tags=("think", f"tag{number}"))
        policy = evolve(Policy(), reasoning=reasoning)
        stream = Stream(StreamOptions(wire="text", policy=policy), earlier=earlier)
        stream.push("<think>a</think>Hello <tool_call>")
        stream.close()
        stream.forget()
    del stream
    gc.collect()
    words = sum(isinstance(each, Lexicon) for each in gc.get_objects())
    assert words <= most
    assert left == []
