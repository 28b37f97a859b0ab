"""What a host says when its connection broke in mid-stream: any HTTP client's words."""

from __future__ import annotations

from typing import Any

import pytest

from stream_sidecar.events import ProviderError
from stream_sidecar.options import StreamOptions
from stream_sidecar.stream.stream import Stream

WORDS = (
    "error decoding response body",  # reqwest
    "connection closed before message completed",  # hyper
    "unexpected EOF",  # Go
    "http2: client connection lost",
    "stream error: stream ID 1; INTERNAL_ERROR",
    "read tcp 10.0.0.2:51234->1.2.3.4:443: read: connection reset by peer",
    "peer closed connection without sending complete message body"
    " (incomplete chunked read)",  # httpx
    "IncompleteRead(0 bytes read)",  # requests
    "InvalidChunkLength(got length b'', 0 bytes read)",  # urllib3
    "Response ended prematurely",
    "Response payload is not completed",  # aiohttp
    "Server disconnected",
    "The network connection was lost.",  # Safari
    "Load failed",
    "network error",  # Chrome
    "Error in input stream",  # Firefox
    "error reading a body from connection",  # Deno
    "The socket connection was closed unexpectedly. For more information, pass"
    " `verbose: true` in the second argument to fetch()",  # Bun
    "terminated",  # Node.js
    "other side closed",
    "Premature close",
)

START = {"choices": [{"index": 0, "delta": {"content": "Hel"}}]}


def _errors(chunks: list[Any], error: dict[str, Any] | None) -> list[ProviderError]:
    stream = Stream(StreamOptions(wire="openai-chat"))
    events = [event for chunk in chunks for event in stream.push(chunk)]
    events += stream.close("error", error)
    return [event for event in events if isinstance(event, ProviderError)]


@pytest.mark.parametrize("words", WORDS)
def test_any_words(words: str) -> None:
    [error] = _errors([START], {"body": words})
    assert (error.kind, error.retryable, error.message) == ("network", True, words)
    assert (error.phase, error.partial) == ("mid-stream", True)


def test_no_words() -> None:
    [error] = _errors([START], None)
    assert (error.kind, error.retryable) == ("network", True)
    assert error.message == "The connection to the provider failed"


PROVIDERS = (
    ({"status": 400, "body": "unexpected EOF"}, "invalid-request"),
    ({"body": {"error": {"message": "Slow down", "code": "429"}}}, "rate-limit"),
    ({"body": "<html><title>504 Gateway Time-out</title></html>"}, "timeout"),
)


@pytest.mark.parametrize(("error", "kind"), PROVIDERS)
def test_a_providers_error_is_no_broken_transport(
    error: dict[str, Any], kind: str
) -> None:
    assert [each.kind for each in _errors([START], error)] == [kind]


def test_a_break_behind_a_providers_error_says_no_more() -> None:
    document = {"error": {"message": "Overloaded", "type": "overloaded_error"}}
    [error] = _errors([START, document], {"body": "terminated"})
    assert error.kind == "overloaded"
    assert len(_errors([START, document], {"status": 401, "body": "no"})) == 2
