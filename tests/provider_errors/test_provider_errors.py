"""Errors of providers: every shape, kind and retry rule."""

from __future__ import annotations

import json
from typing import Any

import pytest
from places import TESTS

from stream_sidecar.parts import ErrorPart
from stream_sidecar.provider_errors.codes import rows
from stream_sidecar.provider_errors.kinds import GENERIC, SPECIFIC
from stream_sidecar.provider_errors.normalize import find_error, normalize_error

TABLE = TESTS / "data" / "provider_errors.jsonl"
ROWS = [json.loads(line) for line in TABLE.read_text(encoding="utf-8").splitlines()]

FIELDS = {
    "kind": "kind",
    "message": "message",
    "code": "code",
    "type": "provider_type",
    "http": "http_status",
    "retryable": "retryable",
    "wait": "retry_after_ms",
}
"""Column of the table -> field of the part."""


@pytest.mark.parametrize("row", [pytest.param(row, id=row["name"]) for row in ROWS])
def test_a_body_is_read(row: dict[str, Any]) -> None:
    body = row["body"]
    part = normalize_error(
        body, row.get("status"), row.get("headers"), row.get("provider")
    )
    expected = {FIELDS[name]: row[name] for name in FIELDS if name in row}
    assert {name: getattr(part, name) for name in expected} == expected
    assert part.raw is body
    assert part.message
    if row.get("found"):
        assert find_error(body) is not None
    elif "found" in row:
        assert find_error(body) is None


def test_every_code_has_a_source_and_one_meaning() -> None:
    found = rows()
    assert len({(row.member, row.code) for row in found}) == len(found)
    assert {row.kind for row in found} <= {*SPECIFIC.values(), *GENERIC.values()}
    assert all(row.code.isdecimal() and row.source for row in found)


EVENTS = (
    ("error", {"message": "m"}, "unknown", "m"),
    ("error", "Overloaded", "overloaded", "Overloaded"),
    ("error", None, "unknown", "The provider reported an error without a message"),
    ("throttlingException", {"message": "m"}, "rate-limit", "m"),
    ("someNewValidationException", {"message": "m"}, "unknown", "m"),
)


@pytest.mark.parametrize(("event", "value", "kind", "message"), EVENTS)
def test_an_event_name_says_that_it_is_an_error(
    event: str, value: Any, kind: str, message: str
) -> None:
    body = find_error(value, event)
    assert body is not None
    part = normalize_error(body)
    assert (part.kind, part.message) == (kind, message)


def test_other_event_names_say_nothing() -> None:
    assert find_error({"message": "m"}, "message") is None


def test_a_long_body_is_cut_in_the_message_alone() -> None:
    body = "x" * 100_000
    part = normalize_error(body, 500)
    assert part == ErrorPart(
        "server", "x" * 4000, retryable=True, raw=body, http_status=500
    )
    assert normalize_error({"error": {"message": body}}).message == "x" * 4000
