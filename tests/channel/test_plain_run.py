"""What a run of plain deltas passes, and what it has to leave to the engine."""

from __future__ import annotations

import pytest

from stream_sidecar.channel.plain_run import PlainRun
from stream_sidecar.options import StreamOptions
from stream_sidecar.stream.stream import Stream
from stream_sidecar.text.rereading import Rereading

CPP = 'std::cout << "a" << (b <<= 2) << [[x]]; if (a < b << 1) v<<w;\n'
WIKI = "See [[a link]] and a[[1]], <<EOF and 3<<<4.\n"
LIST = "a\n- `f`: b\n- ``g`` c\n  1. `h`\n> `i` **j**\n* `k`\n"


@pytest.mark.parametrize("text", [CPP, WIKI, LIST])
@pytest.mark.parametrize("size", [1, 2, 3, 4, 5])
def test_what_only_begins_as_something_does_stays_in_the_run(
    monkeypatch: pytest.MonkeyPatch, text: str, size: int
) -> None:
    """``<<`` may be the first character of a literal twice, and the code at an item's
    start may be a fence."""
    read: list[str] = []
    stream, whole = Stream(StreamOptions(wire="text")), "Like so: " + 20 * text
    stream.push(whole[:9])
    with monkeypatch.context() as patch:
        patch.setattr(Rereading, "push", lambda _, piece: read.append(piece) or [])
        for at in range(9, len(whole), size):
            stream.push(whole[at : at + size])
    assert read == []
    stream.close()
    assert stream.message().text == whole


@pytest.mark.parametrize(("size", "most"), [(4, 1_024), (60, 16_384), (2_048, 16_384)])
def test_the_bookkeeping_is_done_in_portions(
    monkeypatch: pytest.MonkeyPatch, size: int, most: int
) -> None:
    """Streams beside this one wait for it, so a portion has at most 16,384 code points.
    Of short deltas it has more than a few, because each portion has its own cost."""
    settle, portions = PlainRun.settle, []

    def counted(run: PlainRun) -> None:
        portions.append(sum(map(len, run._texts)))
        settle(run)

    stream, delta = Stream(StreamOptions(wire="text")), (size // 2) * "a "
    with monkeypatch.context() as patch:
        patch.setattr(PlainRun, "settle", counted)
        for _ in range(600):
            stream.push(delta)
    assert sum(portions) + most > 599 * size
    assert most // 2 < max(portions) <= most
    stream.close()
    assert stream.message().text == 600 * delta


@pytest.mark.parametrize("count", [3, 680, 1_000])
def test_the_reader_knows_what_was_shown_before_it(count: int) -> None:
    """Of a closer without an opener, all text before it is reasoning."""
    stream = Stream(StreamOptions(wire="text", model="deepseek-r1"))
    for _ in range(count):
        stream.push("plain ")
    stream.push("</think>\n\nThe answer.")
    stream.close()
    message = stream.message()
    assert (message.reasoning or "").strip() == (count * "plain ").strip()
    assert message.text == "The answer."
