"""The table of refusals: each text means its own rule, whatever is around it."""

from __future__ import annotations

import json
import re

import pytest

from stream_sidecar.provider_errors.normalize import normalize_error
from stream_sidecar.provider_errors.refusals import (
    RefusalText,
    refusal_in,
    refused_rows,
)

ROWS = [row for row in refused_rows() if row.text]
_FILLED = {"ID": "call_a1", "NAME": "look", "...": "abc", "N": "3", "M": "5", "K": "7"}
_WORDS = re.compile(r"(?<![A-Za-z])(?:ID|NAME|N|M|K)(?![A-Za-z])|(?<=_)ID|\.\.\.")


def _said(row: RefusalText) -> str:
    return _WORDS.sub(lambda match: _FILLED[match.group()], row.text)


@pytest.mark.parametrize("row", ROWS, ids=[f"{row.number}" for row in ROWS])
def test_a_text_means_its_rule(row: RefusalText) -> None:
    said = _said(row)
    inner = json.dumps({"error": {"message": said}}, ensure_ascii=False)
    around = [
        said,
        f"CAPIError: 400 {said}",
        f"ValidationException: The model returned the following errors: {said}",
        inner,
        json.dumps({"error": {"message": inner}}, ensure_ascii=False),
    ]
    for text in around:
        found = refusal_in(text)
        assert found is not None
        assert found.rule == row.rule


def test_numbers_have_one_rule() -> None:
    pairs = {(row.number, row.rule) for row in ROWS}
    assert len(pairs) == len({number for number, _ in pairs})


@pytest.mark.parametrize(
    ("text", "rule", "path", "id"),
    [
        (
            "messages.3.content.1: unexpected `tool_use_id` found in `tool_result`"
            " blocks: toolu_9. Each `tool_result` block must have a corresponding"
            " `tool_use` block in the previous message.",
            "result-without-call",
            "/messages/3/content/1",
            "toolu_9",
        ),
        (
            "messages.1: `tool_use` ids were found without `tool_result` blocks"
            " immediately after: toolu_1, toolu_2. Each `tool_use` block must have a"
            " corresponding `tool_result` block in the next message.",
            "call-without-result",
            "/messages/1",
            "toolu_1",
        ),
        (
            "messages.1.content.0.tool_use.input: Input should be a valid dictionary",
            "arguments",
            "/messages/1/content/0/input",
            None,
        ),
        (
            "No tool output found for function call call_7.",
            "call-without-result",
            None,
            "call_7",
        ),
        (
            "Invalid value at 'contents[2].parts[1].thought_signature' (TYPE_BYTES),"
            ' Base64 decoding failed for "x"',
            "signature-foreign",
            "/contents/2/parts/1/thoughtSignature",
            None,
        ),
    ],
)
def test_the_place_and_the_call(
    text: str, rule: str, path: str | None, id: str | None
) -> None:
    found = refusal_in(text)
    assert found is not None
    assert (found.rule, found.path) == (rule, path)
    if id is not None:
        assert found.tool_call_id == id


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Rate limit reached for requests",
        "Overloaded",
        "invalid x-api-key",
        "The model `gpt-9` does not exist",
        "messages.0.content: Field required",
        "Internal server error",
        "Unsupported parameter: 'temperature' is not supported with this model.",
    ],
)
def test_other_errors_mean_no_rule(text: str) -> None:
    assert refusal_in(text) is None


def test_an_error_names_its_refusal() -> None:
    said = "messages: text content blocks must be non-empty"
    error = {"type": "invalid_request_error", "message": said}
    refused = normalize_error({"type": "error", "error": error}, 400)
    limited = normalize_error({"error": {"message": said}}, 429)

    assert refused.refusal is not None
    assert refused.refusal.rule == "blank-text"
    assert limited.refusal is None
