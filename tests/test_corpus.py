"""Recorded streams that lie beside the project, where they are there.

``SIDECAR_CORPUS`` names the folder, by default ``../shared`` of the repository; the
data is not part of the project. The recordings have results that are known
independently: what the provider, the recording client or several libraries made of
them. Each is fed in slices of seeded random size.
"""

from __future__ import annotations

import base64
import json
import os
import random
from pathlib import Path
from typing import Any

import pytest
from checking import Fed, assert_sound, feed
from cutting import LONG

_FOLDER = Path(__file__).parents[2] / "shared"
ROOT = Path(os.environ.get("SIDECAR_CORPUS") or _FOLDER)
CORPUS = ROOT / "corpus"

pytestmark = pytest.mark.skipif(
    not CORPUS.exists(),
    reason="no corpus beside the project (SIDECAR_CORPUS): recordings were not run",
)

SEEDS = range(20) if LONG else range(2)
ENOUGH = 0.98
"""Share of the recordings' results that must be ours."""

WRONG = {
    "two choices joined into one text": (
        "mistral__rig__capability_edges__streaming_with_two_candidates",
        "mistral__rig__terminal_metadata_matrix__streaming_ministral_3b_roomy_plain_two",
        "mistral__rig__terminal_metadata_matrix__streaming_mistral_small_roomy_plain_two",
        "openai__rig__chat_terminal_metadata_m__streaming_gpt_4_1_mini_roomy_plain_two",
        "test_async_chat_completion_multiple_choices_streaming",
    ),
}
"""Recordings whose expected text is wrong: what the libraries that agree did there."""


def _lines(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _slices(data: bytes, seed: object) -> list[str]:
    generator, position, slices = random.Random(str(seed)), 0, []
    while position < len(data):
        end = position + generator.randint(1, 400)
        slices.append(base64.b64encode(data[position:end]).decode())
        position = end
    return slices


def _recordings() -> list[dict[str, Any]]:
    index = _lines(CORPUS / "index.jsonl")
    return [row for row in index if row["wire"] == "openai.chat"]


def _feed_recording(row: dict[str, Any], params: dict[str, Any], seed: object) -> Fed:
    named = {key: row[key] for key in ("provider", "model") if row.get(key)}
    params = {**params, **named, "encoding": "base64"}
    fed = feed(params, _slices((CORPUS / row["file"]).read_bytes(), seed))
    assert_sound(fed, params)
    return fed


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _client_calls(fed: Fed) -> list[tuple[str, Any]]:
    calls = fed.message.tool_calls
    return [(c.name, _json(c.arguments)) for c in calls if c.executor != "server"]


def _differs(expected: dict[str, Any], fed: Fed) -> list[str]:
    """The fields of one expected result that came out otherwise."""
    message = fed.message
    fields = [key for key in ("text", "reasoning") if key in expected]
    different = [
        key for key in fields if (expected[key] or "") != getattr(message, key)
    ]
    if "tool_calls" in expected:
        calls = [(c["name"], _json(c["arguments"])) for c in expected["tool_calls"]]
        if calls != _client_calls(fed):
            different.append("tool_calls")
    return different


def _is_wrong(file: str) -> bool:
    return any(name in file for names in WRONG.values() for name in names)


def test_recordings(record_property: Any) -> None:
    """Text, reasoning and the client's calls are what others know them to be."""
    params = {"wire": "openai-chat", "framing": "sse"}
    fed = {
        row["file"]: _feed_recording(row, params, row["file"]) for row in _recordings()
    }
    counted, different = 0, []
    for row in _lines(CORPUS / "expected.jsonl"):
        if row["file"] not in fed or _is_wrong(row["file"]):
            continue
        fields = _differs(row, fed[row["file"]])
        if {"note", "disagree", "reference_differs"} & row.keys():
            if fields:
                record_property("note", f"weak: {row['file']} {fields}")
            continue
        counted += 1
        different += [(row["file"], row["source"], fields)] if fields else []
    assert counted > 200
    assert 1 - len(different) / counted >= ENOUGH, different
    for row in different:
        record_property("note", f"differs: {row}")


def test_recordings_are_recognised() -> None:
    """``auto`` finds wire and framing, wherever the bytes are cut."""
    chosen = _recordings() if LONG else _recordings()[::4]
    for row in chosen:
        told = _feed_recording(row, {"wire": "openai-chat", "framing": "sse"}, 0)
        for seed in SEEDS:
            fed = _feed_recording(row, {}, seed)
            announced = [e for e in fed.events if e.type == "metadata" and e.wire]
            assert [(e.wire, e.framing) for e in announced] == [("openai-chat", "sse")]
            assert fed.message.text == told.message.text, row["file"]
            assert _client_calls(fed) == _client_calls(told), row["file"]
