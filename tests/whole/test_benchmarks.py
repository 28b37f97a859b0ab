"""The command of the benchmarks, with benchmarks that measure nothing."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest
from places import TESTS

# After the tests' own helpers, because some have the names of benchmarks.
sys.path.append(str(TESTS / "bench"))

from rows import Bar, Row

BENCHES = ("good", "broken", "missed")


def _good() -> Iterator[Row]:
    yield Row("of good", "1 µs", 1.0, Bar(limit=2, aim=1))


def _broken() -> Iterator[Row]:
    yield Row("before it broke", "2 µs")
    raise OSError("no such peer")


def _missed() -> Iterator[Row]:
    yield Row("of missed", "3 µs", 3.0, Bar(limit=2, aim=1))


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The command, which knows `BENCHES` alone."""
    found = spec_from_file_location("bench_run", TESTS / "bench" / "run.py")
    assert found is not None
    assert found.loader is not None
    loaded = module_from_spec(found)
    found.loader.exec_module(loaded)
    monkeypatch.setattr(loaded, "BENCHES", BENCHES)
    for name, run in zip(BENCHES, (_good, _broken, _missed), strict=True):
        bench = ModuleType(name)
        bench.run = run  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, name, bench)
    return loaded


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["good"], 0),
        (["good", "--check"], 0),
        (["missed"], 0),
        (["missed", "--check"], 1),
        (["broken"], 1),
        ([], 1),
    ],
)
def test_a_missed_bar_and_a_failure_are_reported(
    command: ModuleType, arguments: list[str], code: int
) -> None:
    assert command.main(arguments) == code


def test_a_benchmark_that_fails_loses_no_rows(
    command: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = ("of good", "before it broke", "of missed")
    file = tmp_path / "rows.json"

    command.main(["--json", str(file)])
    printed = capsys.readouterr()

    assert (
        tuple(row["what"] for row in json.loads(file.read_text(encoding="utf-8")))
        == rows
    )
    assert all(row in printed.out for row in rows)
    assert "OSError: no such peer" in printed.err
    assert printed.err.endswith("failed: broken\n")


def test_rows_are_printed_before_the_next_benchmark(
    command: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    def looks() -> Iterator[Row]:
        yield Row("printed", str("of good" in capsys.readouterr().out))

    sys.modules["missed"].run = looks  # type: ignore[attr-defined]
    command.main(["good", "missed"])

    assert "True" in capsys.readouterr().out
