"""What a person sees of a repair: progress, diffs, what would change, and a summary.

Progress goes to standard error and only to a terminal; everything else to standard
output. Text of files is shown with nothing that steers the terminal.
"""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)
from rich.table import Table
from rich.text import Text

from sidecar.history.repair_counts import RepairCounts
from sidecar.values.jsontext import loads

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from sidecar.session_files.reports import FileReport

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_LONGEST = 400
"""So many characters of a removal are shown."""

_NAMELESS = "-"


class RepairPage:
    """``add`` a file's report, show a ``diff``, at the end the ``summary``."""

    def __init__(self, *, write: bool, console: Console | None = None) -> None:
        self.console = console or Console(highlight=False)
        self._write = write
        self._counts = RepairCounts()
        self._files = 0
        self._rows: list[FileReport] = []

    @contextmanager
    def progress(self, paths: list[Path]) -> Iterator[Callable[[int], None]]:
        """Shows how far it is; gives what is told of bytes that were read."""
        errors = Console(stderr=True)
        if not errors.is_terminal:
            yield lambda _size: None
            return
        total = sum(path.stat().st_size for path in paths if path.is_file())
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            DownloadColumn(),
            TransferSpeedColumn(),
            TimeRemainingColumn(),
        )
        with Progress(*columns, console=errors, transient=True) as p:
            task = p.add_task("repair" if self._write else "inspect", total=total)
            yield lambda size: p.advance(task, size)

    def add(self, report: FileReport) -> None:
        self._files += 1
        if report.malformed or report.error or report.unreadable:
            self._rows.append(report)
        for each in report.models:
            self._counts.add_counters(each)

    def diff(self, records: IO[bytes], start: int) -> int:
        """Shows the records from ``start`` on; where they end."""
        records.seek(start)
        for line in records:
            self.show(line)
        return records.tell()

    def show(self, line: bytes) -> None:
        """Shows one removal, as it is in the report."""
        record: dict[str, Any] = loads(line.decode())
        place = ":".join(
            str(record[name]) for name in ("file", "line", "row") if name in record
        )
        where = f"{record['message']}{record.get('path', '')}"
        head = Text(f"{place} {where} ", style="bold")
        head.append(record["kind"], style="yellow")
        shown = Text("  ")
        shown.append(_plain(record.get("before", "")), style="dim")
        shown.append(_plain(_short(record["text"])), style="red strike")
        shown.append(_plain(record.get("after", "")), style="dim")
        self.console.print(head, soft_wrap=True)
        if record["kind"] != "blocked":
            self.console.print(shown, soft_wrap=True)

    def summary(self) -> None:
        """The files with something to say, and the numbers by model."""
        if self._rows:
            self.console.print(self._files_table())
        total = self._counts.total()
        if total.changed or total.blocked:
            self.console.print(self._models_table())
        done = "repaired" if self._write else "to repair"
        self.console.print(
            f"{self._files} files, {total.messages} messages of a model: "
            f"{total.changed} {done}, {total.blocked} that would be left empty"
        )

    def _files_table(self) -> Table:
        table = _table("file", "#messages", "#malformed", "removed", "result")
        for report in self._rows:
            table.add_row(
                Text(_plain(report.path)),
                str(report.messages),
                str(report.malformed),
                _kinds(report.removed),
                Text(_result(report)),
            )
        return table

    def _models_table(self) -> Table:
        table = _table("provider", "model", "#messages", "#malformed", "removed")
        for each in self._counts.total().by_model:
            table.add_row(
                Text(_plain(each.provider or _NAMELESS)),
                Text(_plain(each.model or _NAMELESS)),
                str(each.messages),
                str(each.changed + each.blocked),
                _kinds(each.removed),
            )
        return table


def _table(*names: str) -> Table:
    """A table; columns of numbers begin with #."""
    table = Table(box=None, pad_edge=False)
    for name in names:
        is_number = name.startswith("#")
        table.add_column(
            name.removeprefix("#"),
            justify="right" if is_number else "left",
            no_wrap=is_number,
            overflow="fold",
        )
    return table


def _kinds(removed: dict[str, int]) -> str:
    return ", ".join(f"{count} {kind}" for kind, count in sorted(removed.items()))


def _result(report: FileReport) -> str:
    told = []
    if report.error:
        told.append(f"left alone: {_plain(report.error)}")
    elif report.written:
        old = f", old one in {_plain(report.backup)}" if report.backup else ""
        told.append(f"written{old}")
    elif report.changed:
        told.append("would change")
    if report.blocked:
        told.append(f"{report.blocked} would be left empty")
    if report.unreadable:
        told.append(f"{report.unreadable} not JSON")
    return "; ".join(told)


def _short(text: str) -> str:
    half = _LONGEST // 2
    return text if len(text) <= _LONGEST else f"{text[:half]} … {text[-half:]}"


def _plain(text: str) -> str:
    return _CONTROL.sub(lambda match: match[0].encode("unicode_escape").decode(), text)
