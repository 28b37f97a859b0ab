"""Every benchmark in one run on one machine, printed as ratios against their bars.

``python3 tests/bench/run.py [NAME ...] [--check] [--json FILE]``. Names choose among
round_trip, pipelined, recordings, growth, dialects, whole_texts, hostile, startup,
memory, pauses, repair, emission, client_typescript, client_rust, gateway, long_streams;
without any, these are run.
``recordings --profile`` also shows where the time was spent. ``peers`` installs other
software to compare with, so it runs only when it is named; with ``--write`` it makes
the table of tests/README.md and the plot anew. ``ways`` builds what it measures (the
sidecar installed, as one file, with an interpreter, as WebAssembly) and writes the
table of clients/README.md. ``page`` needs a browser. ``trust FOLDER ...`` runs alone:
it reads the texts of folders. Makes its own environment like the other commands.
Absolute times are this machine's; only the ratios count. The rows of a benchmark are
printed when it is done; a failure is reported, and the other benchmarks continue. The
exit code is 1 if a benchmark failed, or, with ``--check``, if a bar was missed; else 0.
"""

from __future__ import annotations

import argparse
import json
import sys
import traceback
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rows import Row

ROOT = Path(__file__).resolve().parent.parent.parent
BENCHES = (
    *("round_trip", "pipelined", "recordings", "growth", "dialects", "whole_texts"),
    *("hostile", "startup", "memory", "pauses", "repair", "emission"),
    *("client_typescript", "client_rust", "gateway", "long_streams"),
)
WHEN_NAMED = ("peers", "ways", "page")
"""They need the package registries, or a browser."""

MODULES = {"recordings": "recorded"}
"""Benchmarks whose module has another name."""

OF_FOLDERS = "trust"
"""The benchmark whose name is followed by folders."""

COLUMNS = ("what", "measured", "ratio", "bar", "aim", "met?")


def main(arguments: list[str]) -> int:
    parser = _parser()
    chosen = parser.parse_args(arguments)
    names, folders = chosen.names, []
    if OF_FOLDERS in names:
        names, folders = names[:1], names[1:]
    if unknown := set(names) - {*BENCHES, *WHEN_NAMED, OF_FOLDERS}:
        parser.error(f"no benchmark {', '.join(sorted(unknown))}")
    written = [name for name in WHEN_NAMED if name in names and name != "page"]
    if chosen.write and not written:
        parser.error("--write is for peers and ways")
    given: dict[str, dict[str, Any]] = {OF_FOLDERS: {"folders": folders}}
    given["recordings"] = {"profile": chosen.profile}
    rows, failed = _measured(names or BENCHES, given)
    for name in written if chosen.write else ():
        if name not in failed:
            import_module(name).write()
    if chosen.json:
        text = json.dumps([row.as_json() for row in rows], indent=2, ensure_ascii=False)
        Path(chosen.json).write_text(text + "\n", encoding="utf-8")
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    missed = chosen.check and any(row.met is False for row in rows)
    return int(bool(failed or missed))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    names = " ".join((*BENCHES, *WHEN_NAMED))
    parser.add_argument("names", nargs="*", metavar="NAME", help=names)
    parser.add_argument("--check", action="store_true", help="fail on a missed bar")
    parser.add_argument(
        "--profile", action="store_true", help="recordings: time by file, too"
    )
    parser.add_argument("--json", metavar="FILE", help="also write the rows there")
    parser.add_argument(
        "--write", action="store_true", help="peers, ways: the page's table anew"
    )
    return parser


def _measured(
    names: Sequence[str], given: dict[str, dict[str, Any]]
) -> tuple[list[Row], list[str]]:
    """All rows, printed by benchmark, and the names of those that failed.

    What a benchmark gave before it failed counts.
    """
    rows: list[Row] = []
    failed: list[str] = []
    for name in names:
        print(f"{name} ...", file=sys.stderr, flush=True)
        before = len(rows)
        try:
            rows.extend(_rows(name, given.get(name, {})))
        except Exception:  # whatever it is, the others can still be measured
            traceback.print_exc()
            failed.append(name)
        _print(rows[before:])
    return rows, failed


def _rows(name: str, given: dict[str, Any]) -> Iterator[Row]:
    yield from import_module(MODULES.get(name, name)).run(**given)


def _print(rows: list[Row]) -> None:
    from rich.console import Console
    from rich.table import Table

    if not rows:
        return
    table = Table(*COLUMNS)
    for row in rows:
        style = {True: "green", False: "bold red", None: None}[row.met]
        table.add_row(*row.cells(), style=style)
    Console(markup=False).print(table)
    sys.stdout.flush()


if __name__ == "__main__":
    sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "support")]
    from environment import enter

    code = enter(__file__, "test")
    sys.exit(main(sys.argv[1:]) if code is None else code)
