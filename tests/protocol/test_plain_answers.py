"""Results that are written at once: the spelling is the encoder's."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream_sidecar.events import BlockEnd, ReasoningDelta, TextDelta, ToolCallDelta
from stream_sidecar.protocol.converter import unstructure
from stream_sidecar.protocol.open_stream import OpenStream
from stream_sidecar.protocol.params import PushResult
from stream_sidecar.protocol.plain_answers import written
from stream_sidecar.records import define
from stream_sidecar.rpc.envelope import answer, answer_text
from stream_sidecar.values.jsontext import encode

ANY = st.text(st.characters(exclude_categories=()))
NUMBERS = st.integers(0, 2**53) | st.integers(0, 300)
SPANS = st.none() | st.tuples(NUMBERS, NUMBERS)
TEXTS = st.builds(TextDelta, NUMBERS, NUMBERS, NUMBERS, ANY, SPANS)
THOUGHTS = st.builds(
    ReasoningDelta,
    NUMBERS.map(lambda seq: seq + 1),
    NUMBERS,
    NUMBERS,
    ANY,
    st.sampled_from(["native", "tag"]),
    SPANS,
)
CALLS = st.builds(
    ToolCallDelta, NUMBERS, NUMBERS, NUMBERS, ANY, st.none() | ANY, st.none() | ANY
)
DELTAS = (TEXTS | THOUGHTS | CALLS).filter(lambda event: event.seq > 0)
EVENTS = st.lists(DELTAS, max_size=1) | st.lists(DELTAS, min_size=2, max_size=2)


@define
class _Numbered:
    """A stream that is asked only for the number of its last event."""

    last_seq: int


def _check(
    events: list[Any],
    stream_id: str = "s",
    pushes: int = 1,
    last_seqs: list[int] | None = None,
) -> None:
    last_seq = events[-1].seq if events else 7
    stream: Any = _Numbered(last_seq)
    entry = OpenStream(encode(stream_id), stream, 0, 0, None, None, pushes)
    result = PushResult(stream_id, events, last_seq, pushes, None, last_seqs)
    assert written(entry, events, last_seqs) == encode(unstructure(result))


@given(EVENTS, ANY, NUMBERS, st.none() | st.lists(NUMBERS))
def test_the_spelling_is_the_encoders(
    events: list[Any], stream_id: str, pushes: int, last_seqs: list[int] | None
) -> None:
    _check(events, stream_id, pushes, last_seqs)


def test_every_character() -> None:
    """A thousand of them in a text, and those that have no other half alone."""
    for start in range(0, sys.maxunicode + 1, 1024):
        text = "".join(map(chr, range(start, start + 1024)))
        _check([TextDelta(1, 0, 0, text)])
    for code in range(0xD800, 0xE000, 37):
        _check([ReasoningDelta(1, 2, 3, f"a{chr(code)}b", "native")])


@pytest.mark.parametrize(
    "events",
    [
        [],
        [TextDelta(1, 0, 0, "a")],
        [ToolCallDelta(1, 0, 0, "{")],
        [TextDelta(1, 0, 0, "a", (0, 1))],
        [ReasoningDelta(1, 0, 0, "a", "tag", (0, 1))],
        [ToolCallDelta(1, 0, 0, "{", "id")],
        [BlockEnd(1, 0, 0, "text")],
        [TextDelta(1, 0, 0, "a"), TextDelta(2, 0, 0, "a")],
    ],
)
def test_each_kind_of_result(events: list[Any]) -> None:
    _check(events)


@given(st.integers(-(2**53), 2**53) | ANY)
def test_ids(message_id: int | str) -> None:
    """So are answers around a result that is written."""
    expected = encode(answer(message_id, {"a": None}))
    assert answer_text(message_id, b'{"a":null}') == expected
