"""A text that is longer than what is read at once is read as if it came in slices."""

from __future__ import annotations

from itertools import starmap
from typing import Any

import pytest

from stream_sidecar.events import ReasoningDelta, TextDelta
from stream_sidecar.options import Policy, StreamOptions
from stream_sidecar.stream.stream import Stream
from stream_sidecar.text.rereading import Rereading


def test_a_long_text_says_what_its_slices_say() -> None:
    text = "An `a`, a <think>b</think>, and a line.\n" * 1_000
    assert _message(text, len(text)) == _message(text, 777)


@pytest.mark.parametrize("trace", [False, True])
def test_what_is_read_in_slices_is_as_few_events_as_a_short_text(trace: bool) -> None:
    """Each delta is whole, with its place, though none of them was read at once."""
    shown, thought = "An `a` and a line.\n" * 300, "Or so it seems. " * 400
    stream = Stream(StreamOptions(wire="text", policy=Policy(trace=trace)))
    first = stream.push("So: ")
    events = stream.push(f"{shown}<think>{thought}</think>{shown}")
    deltas = [each for each in events if isinstance(each, TextDelta | ReasoningDelta)]
    assert [each.text for each in deltas] == [shown, thought, shown]
    assert [each.seq for each in [*first, *events]] == list(
        range(1, len(first) + len(events) + 1)
    )
    if trace:
        spans = [each.span for each in deltas if each.span]
        assert [end - start for start, end in spans] == list(
            map(len, (shown, thought, shown))
        )
        assert spans[0][0] == len("So: ")


def test_what_was_taken_out_parts_the_deltas_that_tell_their_places() -> None:
    line = "A line of it, and a closer: </think> so it goes.\n"
    policy = Policy(trace=True)
    stream = Stream(StreamOptions(wire="text", policy=policy))
    events = stream.push(line * 200)
    deltas = [each for each in events if isinstance(each, TextDelta) and each.span]
    text = line * 200
    assert len(deltas) == 201
    assert all(text[slice(*each.span or ())] == each.text for each in deltas)


WORDS = [f"w{number} " for number in range(600)]


def _counted(number: int, word: str) -> dict[str, Any]:
    """A chunk of Gemini's, which counts in each: every other event says a text."""
    content = {"parts": [{"text": word}]}
    counts = {"promptTokenCount": 1, "candidatesTokenCount": number}
    return {"candidates": [{"content": content}], "usageMetadata": counts}


def _thought(word: str) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": {"reasoning_content": word}}]}


@pytest.mark.parametrize(
    ("wire", "chunks"),
    [
        ("text", WORDS),
        ("gemini", list(starmap(_counted, enumerate(WORDS)))),
        ("openai-chat", list(map(_thought, WORDS))),
    ],
)
def test_a_run_of_many_deltas_is_kept_in_parts(wire: str, chunks: list[Any]) -> None:
    """What is remembered of a run is bounded; its text is whole at any time."""
    stream, most = Stream(StreamOptions(wire=wire)), 0
    for chunk in chunks:
        stream.push(chunk)
        run: Any = stream._outlet.run
        most = max(most, len(run._texts) if run else 0)
    assert 100 < most < 256
    message = stream.message()
    assert message.text + message.reasoning == "".join(WORDS)


def test_a_long_text_in_which_nothing_is_taken_out_is_read_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delattr(Rereading, "second")
    text = "<\n" * 50_000
    assert _message(text, len(text)) == (text, "")


def _message(text: str, size: int) -> tuple[str, str]:
    stream = Stream(StreamOptions(wire="text"))
    for at in range(0, len(text), size):
        stream.push(text[at : at + size])
    stream.close()
    message = stream.message()
    return message.text, message.reasoning
