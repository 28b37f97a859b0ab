"""tool/classify and error/normalize: the tables that streams ask, without a stream."""

from __future__ import annotations

from typing import Any

import pytest

from stream_sidecar.options import Limits, Policy
from stream_sidecar.protocol.methods import METHODS
from stream_sidecar.protocol.sessions import Sessions

SESSIONS = Sessions(Policy(), Limits())


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        (
            {"calls": [{"id": "srvtoolu_1", "name": "web_search"}]},
            {"executor": "server", "awaits": "server-result", "executable": False},
        ),
        (
            {
                "calls": [{"id": "a", "name": "read_file", "arguments": "{"}],
                "tools": [],
            },
            {"executor": "unknown", "state": "truncated", "declared": False},
        ),
        (
            {
                "wire": "openai-chat",
                "calls": [{"function": {"name": "f", "arguments": "{}"}}],
                "tools": [{"name": "f", "kind": "fetch"}],
            },
            {"executable": True, "idSynthetic": True, "kind": "fetch"},
        ),
    ],
)
def test_classify(params: dict[str, Any], expected: dict[str, Any]) -> None:
    (call,) = METHODS["tool/classify"].call(SESSIONS, params)["calls"]

    assert expected.items() <= call.items()
    assert not {"seq", "block"} & call.keys()


def test_normalize_error() -> None:
    body = '{"error": {"message": "Slow down", "type": "rate_limit_error"}}'
    params = {"status": 429, "headers": {"retry-after": "2"}, "body": body}

    error = METHODS["error/normalize"].call(SESSIONS, params)

    assert error["kind"] == "rate-limit"
    assert (error["retryAfterMs"], error["retryable"]) == (2000, True)
    assert (error["phase"], error["partial"]) == ("before-stream", False)
