"""What is in memory of a session while it is judged: little of each record, however
long the record is."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stream_sidecar.session_files.reports import FileReport, Tally
from stream_sidecar.session_files.resumption import Resumption
from stream_sidecar.session_files.surrounding_files import SurroundingFiles

Json = Any

TURNS = 200
PER_TURN = 16_000
"""Bytes of memory for a question, an answer with a call, and its result."""


def _claude_code(turn: int, text: str) -> list[Json]:
    call = {"type": "tool_use", "id": f"toolu_{turn}", "name": "Read", "input": {}}
    thought = {"type": "thinking", "thinking": text, "signature": "RXBV" * 1000}
    result = {"type": "tool_result", "tool_use_id": f"toolu_{turn}", "content": text}
    told = (
        ("user", {"content": text}),
        ("assistant", {"id": f"m{turn}", "content": [thought]}),
        ("assistant", {"id": f"m{turn}", "content": [call]}),
        ("user", {"content": [result]}),
    )
    place = {"sessionId": "s", "cwd": "/w", "version": "2", "toolUseResult": [text] * 9}
    ids = [f"{turn:04}-{number}" for number in range(len(told))]
    parents = [f"{turn - 1:04}-3" if turn else None, *ids]
    return [
        {
            "uuid": id,
            "parentUuid": parent,
            "type": role,
            **place,
            "message": {"role": role, "model": "claude-opus-4-8", **message},
        }
        for id, parent, (role, message) in zip(ids, parents, told, strict=False)
    ]


def _codex(turn: int, text: str) -> list[Json]:
    said = {"type": "message", "role": "user"}
    names = {"call_id": f"c{turn}"}
    items = (
        {**said, "content": [{"type": "input_text", "text": text}]},
        {"type": "reasoning", "summary": [], "encrypted_content": "gAAAA" + "x" * 4000},
        {"type": "function_call", "name": "f", "arguments": "{}", **names},
        {"type": "function_call_output", "output": text, **names},
    )
    end = {"type": "exec_command_end", "stdout": text, "aggregated_output": text}
    records = [{"type": "response_item", "payload": item} for item in items]
    return [*records, {"type": "event_msg", "payload": end}]


def _peak(path: Path, turns: list[list[Json]]) -> int:
    """The most bytes of memory while a session of these ``turns`` is judged."""
    records = [json.dumps(record) + "\n" for turn in turns for record in turn]
    path.write_text("".join(records), "utf-8")
    tally = Tally(FileReport(str(path)), None)
    resumption = Resumption(tally, SurroundingFiles(path), lambda: None)
    tracemalloc.start()
    try:
        with path.open("rb") as file:
            assert not resumption.mends_of(file, "jsonl")
        assert not tally.report.in_the_way
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("made", [_claude_code, _codex])
def test_long_texts_are_not_kept(
    made: Callable[[int, str], list[Json]], tmp_path: Path
) -> None:
    path = tmp_path / "session.jsonl"
    _peak(path, [made(0, "Hi")])  # what is built once
    short = _peak(path, [made(n, "four " * 100) for n in range(TURNS)])
    long = _peak(path, [made(n, "four " * 2_000) for n in range(TURNS)])
    assert long < 1.5 * short
    assert short < TURNS * PER_TURN
