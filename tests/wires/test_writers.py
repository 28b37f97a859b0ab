"""Every recording, emitted on every wire and read there again: the same message."""

from __future__ import annotations

from typing import Any

import pytest
from emitting import differences, emitted, found
from recordings import PATHS, own

from stream_sidecar.wires import WRITERS


@pytest.mark.parametrize("wire", WRITERS)
def test_round_trip(wire: str, subtests: pytest.Subtests) -> None:
    for each in map(own, PATHS):
        for whole in (False, True):
            with subtests.test(each.name, whole=whole):
                chunks, close = each.chunks, each.close
                trip = emitted(each.params, chunks, wire, whole=whole, close=close)
                if whole or not trip.is_early:
                    assert differences(trip, wire) == []
                assert not found(trip.again)


COUNTS = {"input_tokens", "output_tokens", "total_tokens"}
DETAILS = {
    "input_tokens_details": "cached_tokens",
    "output_tokens_details": "reasoning_tokens",
}
"""What Codex demands of the counts."""


def test_counts_of_responses_are_whole(subtests: pytest.Subtests) -> None:
    for each in map(own, PATHS):
        with subtests.test(each.name):
            wire = "openai-responses"
            trip = emitted(each.params, each.chunks, wire, close=each.close)
            is_own = each.name.startswith(wire)
            for usage in [] if is_own else _usages(trip.chunks):
                assert usage.keys() >= COUNTS
                assert all(member in usage[name] for name, member in DETAILS.items())


def _usages(documents: list[Any]) -> list[Any]:
    responses = (each["response"] for each in documents if each.get("response"))
    return [response["usage"] for response in responses if response["usage"]]


def test_words_of_gemini_are_googles(subtests: pytest.Subtests) -> None:
    """Those of an interaction are none; what Google said is left as it is."""
    for each in map(own, PATHS):
        is_google = each.name.startswith("gemini/") and "interaction" not in each.name
        with subtests.test(each.name):
            if is_google:
                continue
            trip = emitted(each.params, each.chunks, "gemini", close=each.close)
            for document in trip.chunks:
                assert not any("_" in n for n in document.get("usageMetadata", {}))
                for candidate in document.get("candidates", []):
                    assert candidate.get("finishReason", "STOP").isupper()
