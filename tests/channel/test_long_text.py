"""A text that is longer than what is read at once is read as if it came in slices."""

from __future__ import annotations

from itertools import starmap
from typing import Any

import pytest

from stream_sidecar.options import StreamOptions
from stream_sidecar.stream.stream import Stream
from stream_sidecar.text.rereading import Rereading


def test_a_long_text_says_what_its_slices_say() -> None:
    text = "An `a`, a <think>b</think>, and a line.\n" * 1_000
    assert _message(text, len(text)) == _message(text, 777)


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
