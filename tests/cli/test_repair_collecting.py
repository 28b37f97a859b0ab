"""The garbage collector hardly runs while sessions are read."""

from __future__ import annotations

import gc
import json
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from stream_sidecar.cli import main

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_SAID = {"role": "assistant", "content": [{"type": "text", "text": "Yes."}]}
_LINES = [
    {"type": "assistant", "uuid": f"u{n}", "sessionId": "s", "message": _SAID}
    for n in range(1_000)
]


@pytest.fixture
def passes() -> Iterator[list[int]]:
    """How many passes over new objects there were, at their beginnings."""
    before, begun = gc.get_threshold(), [0]

    def count(phase: str, _info: dict[str, int]) -> None:
        begun[0] += phase == "start"

    gc.callbacks.append(count)
    yield begun
    gc.callbacks.remove(count)
    gc.set_threshold(*before)


def test_hardly_a_pass_for_a_line(tmp_path: Path, passes: list[int]) -> None:
    path = tmp_path / "session.jsonl"
    lines = "".join(json.dumps(line) + "\n" for line in _LINES)
    path.write_text(lines, encoding="utf-8")
    words = ["repair", "--check", "--jobs", "1", str(path)]
    assert CliRunner().invoke(main, words).exit_code == 0  # what it needs is imported
    passes[0] = 0
    assert CliRunner().invoke(main, words).exit_code == 0
    assert passes[0] < len(_LINES) / 100
