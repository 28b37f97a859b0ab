"""One large file on all cores gives the same report and file as one process."""

from __future__ import annotations

import io
import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest
from systems import not_on_windows

from stream_sidecar.history import messages
from stream_sidecar.session_files import blocks, workers
from stream_sidecar.session_files.blocks import MAY_HOLD_RESULTS
from stream_sidecar.session_files.files import Job
from stream_sidecar.session_files.workers import repair_files

ECHO = {"city": "Oslo", "sun": True}


def lines() -> list[str]:
    """Answers with a leak, results of tools, and copies of the results much later."""
    messages: list[Any] = []
    for number in range(60):
        messages.append({"role": "user", "content": "<think>?"})
        messages.append({"role": "assistant", "content": f"{number}</think> is it."})
    messages[3] = {"role": "tool", "content": json.dumps(ECHO)}
    messages[5] = {
        "role": "assistant",
        "content": json.dumps(ECHO) + " is the weather.",
    }
    messages[99] = {
        "role": "assistant",
        "content": json.dumps(ECHO) + " is the weather.",
    }
    texts = [json.dumps(each) for each in messages]
    texts[50] = "{broken"
    texts[70] = texts[3].replace("tool", "\\u0074ool")
    return texts


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The same file twice; every file counts as large, and every block is small."""
    monkeypatch.setattr(workers, "LARGE", 1)
    monkeypatch.setattr(blocks, "_SIZE", 1000)
    paths = [tmp_path / "a" / "s.jsonl", tmp_path / "b" / "s.jsonl"]
    for path in paths:
        path.parent.mkdir()
        path.write_text("\n".join(lines()), encoding="utf-8")
    return paths


def repaired(path: Path, count: int, **more: Any) -> tuple[Any, ...]:
    records, read = io.BytesIO(), []
    job = Job(write=True)
    (report,) = repair_files([path], job, read.append, records, count, **more)
    folder = json.dumps(str(path.parent))[1:-1].encode()
    listed = records.getvalue().replace(folder, b"")
    numbers = report.messages, report.changed, report.unreadable, report.removed
    return numbers, report.written, listed, path.read_bytes(), sum(read)


def test_the_same_by_blocks(files: list[Path]) -> None:
    one, many = (
        repaired(path, count) for path, count in zip(files, (1, 2), strict=True)
    )
    assert many == one
    (numbers, written, listed, text, read) = one
    assert written
    assert numbers[2:] == (1, {"delimiter": 57, "tool-result": 2})
    assert text.count(b"sun") == 2
    assert read == files[0].with_name("s.jsonl.bak").stat().st_size
    assert [json.loads(line)["line"] for line in listed.splitlines()][-1] == 120


ITEMS = (
    *({"role": role, "content": "{}"} for role in messages._TOOL_ROLES),
    {"type": "tool", "content": "{}"},
    *({"type": kind, "output": "{}"} for kind in messages._RESULT_TYPES),
    {"observation": {"results": [{"content": "{}"}]}},
)
PARTS = (
    *({key: {"response": {"a": 1}}} for key in messages._RESULT_KEYS),
    *({"type": kind, "output": "{}"} for kind in messages._RESULT_TYPES),
    {"type": "web_search_tool_result", "content": "{}"},
    {"type": "tool-search", "output": {"a": 1}},
)


def test_no_result_in_a_string_of_json_is_overlooked() -> None:
    part = {"type": "tool_call_response", "id": "c", "response": "x"}
    text = json.dumps([{"role": "tool", "parts": [part]}])
    for attribute in (
        {"gen_ai.input.messages": text},
        {"key": "gen_ai.output.messages"},
    ):
        assert MAY_HOLD_RESULTS.search(json.dumps(attribute).encode())


@pytest.mark.parametrize(
    "item", [*ITEMS, *({"role": "x", "content": [part]} for part in PARTS)]
)
def test_no_result_is_overlooked(item: dict[str, Any]) -> None:
    """Every line that holds a result is parsed before its block is given away."""
    assert [*messages.results_of(item)]
    line = json.dumps(item).encode()
    assert MAY_HOLD_RESULTS.search(line)
    for letter in (b"t", b"c", b"o", b"_", b"-"):
        assert MAY_HOLD_RESULTS.search(line.replace(letter, b"\\u%04x" % ord(letter)))
    said = json.dumps({"role": "user", "content": '{"tool": é "function"}_tool'})
    assert not MAY_HOLD_RESULTS.search(said.encode())


def kill(path: Path, _removal: Any) -> bool:
    """Ends the worker that calls it, except for a file of another name."""
    if path.name == "s.jsonl":
        os.kill(os.getpid(), signal.SIGKILL)
    return True


@not_on_windows("needs SIGKILL")
@pytest.mark.parametrize("count", [1, 30])
def test_a_worker_that_is_killed(files: list[Path], count: int) -> None:
    """As when memory is short: every file has a report, and is old or new."""
    path = files[0]
    more = [path.with_name(f"{number}.jsonl") for number in range(count - 1)]
    for each in more:
        each.write_text(path.read_text(encoding="utf-8"), encoding="utf-8")
    paths, job, records = [*more[:3], path, *more[3:]], Job(write=True, wants=kill), []
    before = path.read_bytes()
    listed = io.BytesIO()
    reports = [*repair_files(paths, job, records.append, listed, 2)]
    assert [report.path for report in reports] == [*map(str, paths)]
    (failed,) = (report for report in reports if report.path == str(path))
    assert "was killed" in str(failed.error)
    assert path.read_bytes() == before
    for report in reports:
        assert report.written or "was killed" in str(report.error)
    assert listed.getvalue() == b"" or listed.getvalue().endswith(b"\n")


def test_a_run_that_is_to_end(files: list[Path]) -> None:
    path, asked = files[0], []

    def is_stopped() -> bool:
        asked.append(True)
        return len(asked) > 3

    before = path.read_bytes()
    job = Job(write=True)
    reports = repair_files([path], job, lambda _: None, None, 2, is_stopped)
    assert [report.stopped for report in reports] == [True]
    assert [*path.parent.iterdir()] == [path]
    assert path.read_bytes() == before
