"""The output of a repair for people: progress, diffs, what would change, and a summary.

Progress goes to standard error, and only to a terminal; everything else goes to
standard output.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from stream_sidecar.cli.terminal import Terminal
from stream_sidecar.history.repair_counts import RepairCounts
from stream_sidecar.values.jsontext import loads

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from stream_sidecar.cli.terminal import Row
    from stream_sidecar.history.repair_counts import ModelRepairCounters
    from stream_sidecar.session_files.reports import FileReport

_LONGEST = 400
"""How many characters of a removal are shown."""

_MARKS = "[-", "-]"
"""Signs around a removal on outputs without colours, as in a diff of words."""

_NAMELESS = _NOTHING = "-"

_UNSURE = (
    "Files that another program may have open for writing: {}. This could not be "
    "checked. What that program still writes goes to the old file, not to the new one."
)


class RepairPage:
    """Prints a run: ``add`` a file's report, ``show`` a removal, then ``summary``."""

    def __init__(self, *, write: bool, check: bool = False) -> None:
        self._terminal = Terminal()
        self._write, self._check = write, check
        self._counts = RepairCounts()
        self._files = 0
        self._repaired = 0
        self._kept = 0
        self._unsure = 0
        self._unrecognised = 0
        self._has_shown = False
        self._last = ""
        self._rows: list[FileReport] = []

    def progress(
        self, paths: list[Path]
    ) -> AbstractContextManager[Callable[[int], None]]:
        """A progress bar; call the result with the number of bytes that were read."""
        total = sum(path.stat().st_size for path in paths if path.is_file())
        return self._terminal.progress("repair" if self._write else "inspect", total)

    def add(self, report: FileReport) -> None:
        self._files += 1
        self._unrecognised += report.unrecognised
        if (
            report.unrecognised
            or report.left
            or report.malformed
            or report.error
            or report.unreadable
        ):
            self._rows.append(report)
        self._kept += sum(report.kept.values())
        if report.written:
            self._repaired += report.repairable
            self._unsure += report.writers_unknown
        for each in report.models:
            self._counts.add(each)

    def show(self, line: bytes) -> None:
        """Shows one removal, given as a line of the report."""
        self._has_shown = True
        record: dict[str, Any] = loads(line.decode())
        place = ":".join(
            str(record[name]) for name in ("file", "line", "row") if name in record
        )
        where = f"{record['message']}{record.get('path', '')}"
        if self._terminal.is_screen:  # it has no room for a path on each line
            if record["file"] != self._last:
                self._last = record["file"]
                self._terminal.line((self._last, "bold"))
            place = place.removeprefix(self._last).removeprefix(":")
        self._terminal.line(
            (f"{place} {where} ".lstrip(), "bold"), (record["kind"], "bold yellow")
        )
        if record["kind"] != "blocked":
            opener, closer = ("", "") if self._terminal.has_colours else _MARKS
            self._terminal.paragraph(
                "  ",
                (record.get("before", ""), "dim"),
                (f"{opener}{short(record['text'])}{closer}", "red strike"),
                (record.get("after", ""), "dim"),
                indent=2,
            )

    def summary(self, files: int) -> None:
        """Prints the files with findings or problems, and the numbers by model.
        ``files``: how many files there were to read."""
        total = self._counts.total()
        kinds = sorted(total.removed)
        numbers = ["#messages", "#leaking", *(f"#{kind}" for kind in kinds)]
        if self._rows:
            rows = [_file_row(report, kinds) for report in self._rows]
            self._terminal.table(("file", *numbers, "result"), rows)
        if any(each.model or each.provider for each in total.by_model):
            rows = [_model_row(each, kinds) for each in total.by_model]
            self._terminal.table(("model", *numbers, "provider"), rows)
        self._terminal.paragraph(
            f"{count(self._files, 'file')}{self._unlisted()}, "
            f"{count(total.messages, 'message')} of a model: "
            f"{self._done(total.changed)}, {total.blocked} that would be left empty"
        )
        if self._unrecognised:
            self._terminal.paragraph(
                f"{count(self._unrecognised, 'file')} in which no message of a model "
                "was recognised: whether anything leaked there is not known"
            )
        if self._unsure:
            self._terminal.paragraph(_UNSURE.format(self._unsure))
        if self._files < files:
            self._terminal.line(
                f"stopped after {self._files} of {count(files, 'file')}; "
                "the others were not changed"
            )
        if total.changed > self._kept and not self._write:
            leaking = (
                f"{total.changed - self._kept} of {count(total.messages, 'message')}"
            )
            failed = "The check failed: " if self._check else ""
            see = "" if self._has_shown else " See: --diff."
            self._terminal.paragraph(
                f"{failed}{leaking} leak; nothing was changed.{see} To repair: --write"
            )

    def _unlisted(self) -> str:
        """The number of files without a row in the table, in words."""
        clean = self._files - len(self._rows)
        return f" ({clean} without a leak, not listed)" if clean and self._rows else ""

    def _done(self, changed: int) -> str:
        """What became of the messages with findings, in words."""
        if not self._write:
            more = f", {self._kept} kept" if self._kept else ""
            return f"{changed - self._kept} to repair{more}"
        left = changed - self._repaired
        more = f", {left} left as they were" if left else ""
        return f"{self._repaired} repaired{more}"


def count(number: int, name: str) -> str:
    """``1 file``, ``2 files``."""
    return f"{number} {name}{'' if number == 1 else 's'}"


def _file_row(report: FileReport, kinds: Sequence[str]) -> Row:
    """The row of a file, in the group of its folder."""
    folder, name = os.path.split(report.path)
    group = f"{folder}{os.sep}" if folder.rstrip(os.sep) else folder
    counts = (report.messages, report.malformed)
    return group, (name, *_numbers(counts, report.removed, kinds)), _result(report)


def _model_row(each: ModelRepairCounters, kinds: Sequence[str]) -> Row:
    counts = (each.messages, each.changed + each.blocked)
    cells = (each.model or _NAMELESS, *_numbers(counts, each.removed, kinds))
    return "", cells, each.provider or ""


def _numbers(
    counts: Iterable[int], removed: dict[str, int], kinds: Sequence[str]
) -> list[str]:
    """The cells for ``counts``, and for the removals of each kind."""
    return [*map(str, counts), *(str(removed.get(kind, _NOTHING)) for kind in kinds)]


def _result(report: FileReport) -> str:
    reported = []
    if report.error:
        reported.append(f"left alone: {report.error}")
    elif report.written:
        old = f", backup: {report.backup}" if report.backup else ""
        reported.append(f"written{old}")
    reported += [f"{number} kept: {reason}" for reason, number in report.kept.items()]
    if report.blocked:
        reported.append(f"{report.blocked} would be left empty")
    if report.unreadable:
        reported.append(f"{report.unreadable} not JSON")
    reported += [
        f"{number} not read: {reason}" for reason, number in report.left.items()
    ]
    if report.unrecognised:
        reported.append("no message of a model recognised")
    return "; ".join(reported)


def short(text: str) -> str:
    """``text``, or both ends of a long text."""
    half = _LONGEST // 2
    return text if len(text) <= _LONGEST else f"{text[:half]} … {text[-half:]}"
