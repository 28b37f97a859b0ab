"""How each provider says that an answer failed, and what a host is told.

A line of ``data/failures.jsonl`` is one way of one provider. ``says``: what it means
(``broke``, ``later`` for try again later, ``too-long``, ``filtered``). ``where``: in a
``stream``, in the ``body`` of a failed request with its ``status``, or with the word of
a ``finish``. ``errors`` and ``finish``: what becomes of it. The official SDKs read what
is emitted: they raise where there is an error, and only there.
"""

from __future__ import annotations

import json
from importlib.util import find_spec
from typing import Any

import pytest
from places import TESTS

from stream_sidecar import Stream
from stream_sidecar.wires import WRITERS

FILE = TESTS / "data" / "failures.jsonl"
ROWS = [json.loads(line) for line in FILE.read_text("utf-8").splitlines()]
NAMES = [f"{r['provider']} {r['says']} in {r['where']} {n}" for n, r in enumerate(ROWS)]

MEANT = {
    "broke": {"server", "network"},
    "later": {"rate-limit", "overloaded"},
    "too-long": {"context-length"},
    "filtered": {"content-filter"},
}
"""What a provider says -> the kinds of error that it can be."""

ENDS = {
    "broke": {"error", "malformed"},
    "too-long": {"length", "context-length"},
    "filtered": {"content-filter", "refusal"},
}
"""What a provider says -> the finish reasons that it can be."""


def _read(row: dict[str, Any], emit: str | None = None) -> tuple[Stream, list[Any]]:
    options = {"emit": {"wire": emit}} if emit else {}
    stream = Stream(wire=row["wire"], provider=row["provider"], **options)
    if row["where"] == "body":
        error = {"status": row["status"], "body": json.dumps(row["body"])}
        return stream, stream.close("error", error=error).chunks or []
    chunks = [c for d in row["documents"] for c in stream.push(d).chunks or ()]
    return stream, [*chunks, *(stream.close().chunks or ())]


@pytest.mark.parametrize("row", ROWS, ids=NAMES)
def test_a_failure_is_told(row: dict[str, Any]) -> None:
    message = _read(row)[0].message
    told = [
        {"kind": e.kind, "message": e.message, "retryable": e.retryable}
        | ({} if e.retry_after_ms is None else {"retryAfterMs": e.retry_after_ms})
        for e in message.errors
    ]
    assert (told, message.finish.reason) == (row["errors"], row["finish"])
    assert {each["kind"] for each in told} <= MEANT[row["says"]]
    assert told or message.finish.reason in ENDS[row["says"]]


quiet = pytest.mark.filterwarnings("ignore")  # theirs, not ours


@quiet
@pytest.mark.skipif(
    not all(map(find_spec, ("openai", "anthropic", "httpx2"))),
    reason="no SDKs (pip install --group sdks): what is emitted was not read by them",
)
@pytest.mark.parametrize("wire", WRITERS)
def test_the_sdks_raise_what_failed(wire: str, subtests: pytest.Subtests) -> None:
    from sdks import STREAMS, FailedError

    for name, row in zip(NAMES, ROWS, strict=True):
        if row["where"] == "body" or row["wire"] == wire:
            continue  # no stream began; the provider's own documents go out
        with subtests.test(name):
            stream, chunks = _read(row, wire)
            has_raised = False
            try:
                STREAMS[wire](chunks)
            except FailedError:
                has_raised = True
            finish = stream.message.finish.reason
            assert has_raised == (finish in RAISED[wire] or bool(row["errors"]))


RAISED = {
    "openai-chat": set[str](),
    "openai-responses": {"malformed"},
    "anthropic": {"malformed"},
    "gemini": set[str](),
}
"""Wire -> finish reasons without an error for which it has no word but an error."""
