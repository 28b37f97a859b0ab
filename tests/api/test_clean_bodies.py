"""Every recording as the body of a response, whole and in slices: the same bytes come
of it, and nothing is lost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from recordings import PATHS, own

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
