"""Every recording as the body of a response, whole and in slices: the same bytes come
of it, and nothing is lost."""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from recordings import PATHS, own

from stream_sidecar.api import Stream
from stream_sidecar.message import builder
from stream_sidecar.transports import cleaning
from stream_sidecar.transports.body_formats import SSE
from stream_sidecar.transports.cleaning import CleanBody, Cleaner
from stream_sidecar.transports.endpoints import ModelRequest

SIZE = 7
"""Bytes of a slice: it ends inside characters, names and delimiters."""

OURS = [path for path in PATHS if path.parent.name in SSE]


@pytest.mark.parametrize(
    "path", OURS, ids=lambda path: f"{path.parent.name}/{path.stem}"
)
def test_a_recording_is_clean_however_it_is_cut(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cleaning, "new_id", lambda: "t")  # each answer has its own
    wire = path.parent.name
    chunks = [each for each in own(path).chunks if isinstance(each, dict)]
    body = b"".join(SSE[wire].document(each, False) for each in chunks)
    slices = [body[at : at + SIZE] for at in range(0, len(body), SIZE)]
    assert clean(wire, slices) == clean(wire, [body])


def clean(wire: str, slices: list[bytes]) -> bytes:
    lost: list[Any] = []
    request = ModelRequest(wire, "localhost", {}, "qwen3", None)
    body = CleanBody(Cleaner(on_lost=lost.append), request, SSE[wire])
    written = b"".join([*map(body.push, slices), body.close()])
    assert lost == []
    return written


REQUEST = ModelRequest("openai-chat", "localhost", {}, "qwen3", None)


def said(text: str) -> bytes:
    return SSE["openai-chat"].document(
        {"choices": [{"delta": {"content": text}}]}, False
    )


@pytest.mark.parametrize("listens", [False, True])
def test_the_text_of_a_message_is_kept_for_a_listener_only(
    monkeypatch: pytest.MonkeyPatch, listens: bool
) -> None:
    monkeypatch.setattr(builder, "MOST_RECENT", 4_096)
    messages: list[Any] = []
    listener = (lambda message, _answer: messages.append(message)) if listens else None
    body = CleanBody(Cleaner(on_message=listener), REQUEST, SSE["openai-chat"])
    words = "A wonderful life is what we write about. " * 250
    body.push(said(words))
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(150):
            body.push(said(words))
        after = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    body.close()
    assert (after - before > 75 * len(words)) is listens
    assert [message.text for message in messages] == [words * 151] * listens


def test_the_host_decides_about_parts() -> None:
    chosen = {"message": {"parts": True}, "trace": True}
    assert Cleaner(policy=chosen).stream_options(REQUEST)["policy"] == chosen


def test_a_body_that_says_nothing_is_kept_up_to_a_bound(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cleaning, "_MOST_KEPT", 100)
    lost: list[Any] = []
    body = CleanBody(Cleaner(on_lost=lost.append), REQUEST, SSE["openai-chat"])
    other = CleanBody(Cleaner(on_lost=lost.append), REQUEST, SSE["openai-chat"])
    assert body.push(b": ping\n\n" * 10) == other.push(b": ping\n\n" * 20) == b""

    def broken(*_given: Any) -> Any:
        raise RuntimeError

    monkeypatch.setattr(Stream, "push", broken)
    assert body.push(b": x\n\n") == b": ping\n\n" * 10 + b": x\n\n"
    with pytest.raises(RuntimeError):
        other.push(b": x\n\n")
    assert len(lost) == 2
