"""A text that is longer than what is read at once is read as if it came in slices."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sidecar.options import StreamOptions
from sidecar.stream.stream import Stream
from sidecar.text.rereading import Rereading

if TYPE_CHECKING:
    import pytest


def test_a_long_text_says_what_its_slices_say() -> None:
    text = "An `a`, a <think>b</think>, and a line.\n" * 1_000
    assert _message(text, len(text)) == _message(text, 777)


def test_a_run_of_many_deltas_is_kept_in_parts() -> None:
    """What is remembered of a run is bounded; its text is whole at any time."""
    stream, words = Stream(StreamOptions(wire="text")), [f"w{n} " for n in range(600)]
    for word in words:
        stream.push(word)
        assert len(stream._outlet.run._texts if stream._outlet.run else ()) <= 256
    assert stream.message().text == "".join(words)


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
