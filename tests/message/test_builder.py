"""The message that events add up to: cases of events that no stream makes."""

from __future__ import annotations

from stream_sidecar.events import BlockEnd, Reclassify, Retract, TextDelta
from stream_sidecar.message.builder import MessageBuilder
from stream_sidecar.message.message import ReasoningBlock


def test_only_live_text_blocks_have_a_text() -> None:
    """Citations ask for the text of blocks that may have changed their channel."""
    builder = MessageBuilder()
    builder.push(TextDelta(1, 0, 0, "plan"))
    builder.push(TextDelta(2, 0, 1, "answer"))
    builder.push(Reclassify(3, 0, (0,), "reasoning"))

    assert builder.block_text(0, 0) is None
    assert builder.block_text(0, 1) == "answer"
    assert builder.block_text(0, 2) is None


def test_a_refusal_that_becomes_reasoning_is_none() -> None:
    builder = MessageBuilder()
    builder.push(TextDelta(1, 0, 0, "I will not", refusal=True))
    builder.push(Reclassify(2, 0, (0,), "reasoning"))

    assert builder.build().blocks == (ReasoningBlock(0, "I will not"),)


def test_the_end_of_a_retracted_block_brings_nothing_back() -> None:
    builder = MessageBuilder()
    builder.push(TextDelta(1, 0, 0, "copy"))
    builder.push(Retract(2, 0, (0,), "duplicate-of-native"))
    builder.push(BlockEnd(3, 0, 0, "text"))

    assert builder.build().blocks == ()
