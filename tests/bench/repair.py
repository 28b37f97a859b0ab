"""Session files: one of 200 MB in bounded memory, and many small ones.

All are generated as agents keep theirs: questions, answers with code and lists, calls,
and results of tools, which are most of the bytes. The first session is clean. The
second consists of answers with code alone. The third has the members by which Claude
Code is recognised, so that it is judged as the request that would be sent. In the
fourth every fiftieth message of the
model has reasoning in its answer; of the small ones one in fifty has it. Processes of
their own read them: ``repair`` with one process and with all cores, and ``json.loads``
and ``json.dumps`` of the same lines. The ratio is one of processor time, of a process
and those that it started; memory is the peak of the largest of them.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import frozen
from rows import Bar, Row

if TYPE_CHECKING:
    from collections.abc import Iterator

SIZE = 200_000_000
FENCES = 20_000_000
FILES = 10_000
SMALL = 5_000
EVERY = 50
"""One message of the model in so many has a leak, where there are any."""

COST = Bar(4, 2)
COST_OF_ANSWERS = Bar(5, 2)
COST_AS_KEPT = Bar(6, 3)
MEMORY = Bar(100, 64, unit=" MB")
_MEGABYTE = 1e6

_SENTENCE = (
    "The function reads the whole file before it looks at the first line; a stream "
    "would do, see `read_lines` in the same module, which takes é and 😀 as well. "
)
_LIST = "\n- it is **shorter**,\n- it needs no memory,\n- `a < b` holds, as before.\n\n"
_CODE = (
    "    with path.open() as file:\n        lines = [line for line in file if line]\n"
    '    return {"count": len(lines), "first": lines[0]} if lines else None\n'
)
_JSON = (
    "import glob, json, sys\n"
    "for path in glob.glob(sys.argv[1]):\n"
    "    with open(path, encoding='utf-8') as lines:\n"
    "        for line in lines:\n"
    "            json.dumps(json.loads(line))\n"
)
_MEASURED = """
import json, os, subprocess, sys, time
begun = time.perf_counter()
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
_, status, usage = os.wait4(process.pid, 0)
seconds, processor = time.perf_counter() - begun, usage.ru_utime + usage.ru_stime
exited = process.returncode = os.waitstatus_to_exitcode(status)
print(json.dumps([exited, seconds, processor, usage.ru_maxrss]))
"""


def run() -> Iterator[Row]:
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # users have the bytecode
    with tempfile.TemporaryDirectory() as folder:
        yield from _clean(Path(folder, "session.jsonl"))
        yield from _fenced(Path(folder, "session.jsonl"))
        yield from _kept(Path(folder, "session.jsonl"))
        yield from _leaking(Path(folder, "session.jsonl"))
    with tempfile.TemporaryDirectory() as folder:
        yield from _many(Path(folder))


def _clean(path: Path) -> Iterator[Row]:
    _write(path, SIZE, every=None)
    yield from _compared(path, 0, "clean", COST)


def _fenced(path: Path) -> Iterator[Row]:
    _write(path, FENCES, every=None, answers=True)
    plain = _Usage.of("-c", _JSON, str(path))
    one = _Usage.of(
        "-m", "stream_sidecar", "repair", str(path), "--check", "--jobs", "1"
    )
    yield _against(plain, one, FENCES, "answers with code", COST_OF_ANSWERS)


def _kept(path: Path) -> Iterator[Row]:
    _write(path, FENCES, every=None, kept=True)
    plain = _Usage.of("-c", _JSON, str(path))
    one = _Usage.of(
        "-m", "stream_sidecar", "repair", str(path), "--check", "--jobs", "1"
    )
    yield _against(plain, one, FENCES, "as Claude Code keeps it", COST_AS_KEPT)
    yield Row("its peak of resident memory", *one.memory(), MEMORY)


def _leaking(path: Path) -> Iterator[Row]:
    _write(path, SIZE, EVERY)
    yield from _compared(path, 1, f"a leak in {EVERY}", COST_OF_ANSWERS)
    writing = _Usage.of("-m", "stream_sidecar", "repair", str(path), "--write")
    yield Row("the same with --write, all cores", writing.rate(SIZE))
    yield Row("its peak of resident memory", *writing.memory(), MEMORY)


def _compared(path: Path, code: int, what: str, bar: Bar) -> Iterator[Row]:
    """Rows of a session, measured beside its JSON; ``code`` is that of the exit."""
    plain = _Usage.of("-c", _JSON, str(path))
    command = ("-m", "stream_sidecar", "repair", str(path), "--check")
    one = _Usage.of(*command, "--jobs", "1", code=code)
    yield _against(plain, one, SIZE, what, bar)
    yield Row("its peak of resident memory", *one.memory(), MEMORY)
    cores = _Usage.of(*command, code=code)
    yield Row(
        "all cores against one process",
        f"{cores.rate(SIZE)} on {os.cpu_count()} cores",
        cores.seconds / one.seconds,
    )
    yield Row("its peak of resident memory", *cores.memory(), MEMORY)


def _against(plain: _Usage, usage: _Usage, size: int, what: str, bar: Bar) -> Row:
    return Row(
        f"repair --check, {size / _MEGABYTE:.0f} MB, {what}: against json",
        f"{usage.rate(size)}, json {plain.rate(size)}",
        usage.processor / plain.processor,
        bar,
    )


def _many(folder: Path) -> Iterator[Row]:
    for number in range(FILES):
        every = None if number % EVERY else EVERY
        _write(folder / f"{number}.jsonl", SMALL, every, seed=number)
    plain = _Usage.of("-c", _JSON, str(folder / "*.jsonl"))
    command = ("-m", "stream_sidecar", "repair", str(folder))
    checked = _Usage.of(*command, "--check", "--jobs", "1", code=1)
    what = f"in {FILES:,} files"
    yield _against(plain, checked, FILES * SMALL, what, COST_OF_ANSWERS)
    seconds = _Usage.of(*command, "--write").seconds
    rate = f"{seconds:.1f} s, {FILES / seconds:,.0f} files/s on {os.cpu_count()} cores"
    yield Row(f"repair --write, {FILES:,} sessions of {SMALL / 1000:.0f} kB", rate)


def _write(
    path: Path,
    size: int,
    every: int | None,
    *,
    answers: bool = False,
    kept: bool = False,
    seed: int = 0,
) -> None:
    """Writes a session of ``size`` bytes, or ``answers`` alone. ``kept``: each line
    names its session and the line before it."""
    kinds = (_answer,) if answers else _SESSION
    chance = random.Random(seed)
    number = written = 0
    with path.open("w", encoding="utf-8") as file:
        while written < size:
            number += 1
            entry = kinds[number % len(kinds)](number, chance)
            if every and entry["type"] == "assistant" and number // 2 % every == 0:
                text = entry["message"]["content"][0]
                text["text"] = "<think>Let me see.</think>" + text["text"]
            if kept:
                above = f"u{number - 1}" if number > 1 else None
                entry |= {"uuid": f"u{number}", "parentUuid": above, "sessionId": "s"}
            line = json.dumps(entry, ensure_ascii=number % 3 == 0) + "\n"
            written += file.write(line)


def _entry(role: str, content: Any) -> dict[str, Any]:
    return {"type": role, "message": {"role": role, "content": content}}


def _question(_number: int, chance: random.Random) -> dict[str, Any]:
    return _entry("user", _SENTENCE * chance.randint(1, 4))


def _answer(_number: int, chance: random.Random) -> dict[str, Any]:
    code = f"```python\n{_CODE * chance.randint(1, 6)}```\n\n"
    text = _SENTENCE * chance.randint(1, 4) + _LIST + code + _SENTENCE
    return _entry("assistant", [{"type": "text", "text": text}])


def _call(number: int, chance: random.Random) -> dict[str, Any]:
    arguments = {"path": "a/b.py", "old": _CODE, "new": _CODE * chance.randint(1, 3)}
    call = {"type": "tool_use", "id": f"t{number}", "name": "Edit", "input": arguments}
    return _entry("assistant", [{"type": "text", "text": _SENTENCE}, call])


def _result(number: int, chance: random.Random) -> dict[str, Any]:
    printed = _CODE * chance.randint(2, 30)
    result = {
        "tool_use_id": f"t{number - 1}",
        "type": "tool_result",
        "content": printed,
    }
    return _entry("user", [result]) | {"toolUseResult": {"stdout": printed}}


_SESSION = (_question, _answer, _call, _result)


@frozen
class _Usage:
    """What a process of Python used, with those that it started: ``seconds`` by the
    clock and of the ``processor``, and megabytes at the ``peak`` of the largest."""

    seconds: float
    processor: float
    peak: float

    @classmethod
    def of(cls, *command: str, code: int = 0) -> _Usage:
        """That of a process with the exit ``code``. A small one starts it: what begins
        as a copy of this one has had its memory, too."""
        small = [sys.executable, "-c", _MEASURED, sys.executable, *command]
        printed = subprocess.run(small, check=True, stdout=subprocess.PIPE).stdout
        exited, seconds, processor, peak = json.loads(printed)
        assert exited == code, exited
        unit = 1 if sys.platform == "darwin" else 1024
        return cls(seconds, processor, peak * unit / _MEGABYTE)

    def rate(self, size: int) -> str:
        rate, seconds = size / _MEGABYTE / self.seconds, self.seconds
        return f"{rate:.0f} MB/s, {seconds:.1f} s, {self.processor:.1f} s of processor"

    def memory(self) -> tuple[str, float]:
        return f"{self.peak:.0f} MB", self.peak
