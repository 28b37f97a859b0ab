"""What a run of plain deltas passes, and what it has to leave to the engine."""

from __future__ import annotations

import pytest

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
