"""What OpenTelemetry gets of a response. The table is for the other clients, too."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pytest
from goldens import assert_golden
from places import TESTS
from recordings import PATHS, Recording, own

from stream_sidecar import Stream, as_json, output_messages, telemetry_attributes

TABLE = TESTS / "data" / "telemetry.jsonl"
LEAK = {
    "model": "m",
    "choices": [
        {
            "index": 0,
            "message": {
                "content": '{"success": true, "result": 1}<think>Hm.</think>Four.\n'
                '<tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>'
            },
            "finish_reason": "stop",
        }
    ],
}
REPORTED = (
    *("openai-chat/openai-two-choices", "openai-responses/openai-server-tools"),
    *("openai-responses/client-tools", "anthropic/results-of-servers"),
    *("gemini/leaked-tags", "gemini/blocked-prompt", "gemini/cut-off"),
)


@cache
def recorded() -> dict[str, Recording]:
    known = {each.name: each for each in map(own, PATHS)}
    options = {"wire": "openai-chat", "model": "qwen3", "tools": [{"name": "f"}]}
    return {**known, "a leak": Recording("a leak", options, [LEAK], {})}


def closed(name: str) -> Any:
    recording = recorded()[name]
    stream = Stream(stream_id="stream-1", **recording.params)
    for chunk in recording.chunks:
        stream.push(chunk)
    return stream.close()


@pytest.mark.golden
def test_what_is_reported_of_a_response() -> None:
    lines = []
    for name in ("a leak", *REPORTED):
        result = closed(name)
        attributes = telemetry_attributes(
            result, time_to_first_chunk=0.25, content=True
        )
        attributes["gen_ai.output.messages"] = json.loads(
            attributes["gen_ai.output.messages"]
        )
        assert attributes["gen_ai.output.messages"] == output_messages(result.message)
        result = {"message": as_json(result.message), "stats": as_json(result.stats)}
        row = {"name": name, "closed": result, "attributes": attributes}
        lines.append(json.dumps(row, ensure_ascii=False) + "\n")
    assert_golden(TABLE, "".join(lines))


def test_what_was_said_is_reported_only_where_it_is_asked_for() -> None:
    attributes = telemetry_attributes(closed("a leak"))
    assert attributes == {
        "gen_ai.response.model": "m",
        "gen_ai.response.finish_reasons": ["stop"],
        "stream_sidecar.delimiters_stripped": attributes[
            "stream_sidecar.delimiters_stripped"
        ],
        "stream_sidecar.reasoning_extracted": 1,
        "stream_sidecar.tool_results_stripped": 1,
        "stream_sidecar.tool_calls_from_text": 1,
        "stream_sidecar.malformed_chunks": 0,
    }


def test_messages_are_what_the_conventions_say() -> None:
    """Of every recording, by the types of OpenTelemetry's own package."""
    none = "no types of standards (pip install --group standards)"
    types = pytest.importorskip("opentelemetry.util.genai.types", reason=none)
    pydantic = pytest.importorskip("pydantic", reason=none)
    adapter = pydantic.TypeAdapter(list[types.OutputMessage])
    kinds = set()
    for name in recorded():
        for message in adapter.validate_python(output_messages(closed(name).message)):
            kinds |= {*map(type, message.parts)}
    assert types.GenericPart not in kinds  # which anything is
    assert len(kinds) == 5


def test_attributes_have_names_of_the_conventions() -> None:
    """Of every recording, by the names in OpenTelemetry's own package."""
    none = "no types of standards (pip install --group standards)"
    conventions = pytest.importorskip(
        "opentelemetry.semconv._incubating.attributes.gen_ai_attributes", reason=none
    )
    known = {name for name in vars(conventions).values() if isinstance(name, str)}
    for name in recorded():
        written = telemetry_attributes(
            closed(name), time_to_first_chunk=1, content=True
        )
        assert {each for each in written if each.startswith("gen_ai.")} <= known
