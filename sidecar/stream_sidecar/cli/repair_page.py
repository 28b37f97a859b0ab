"""The output of a repair for people: progress, diffs, what would change, and a summary.

Progress goes to standard error, and only to a terminal; everything else goes to
standard output.
"""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Any, NoReturn

from stream_sidecar.cli.repair_findings import COLUMNS, Findings, print_finding
from stream_sidecar.cli.terminal import Terminal
from stream_sidecar.history.bound import BOUND
from stream_sidecar.history.repair_counts import RepairCounts
from stream_sidecar.resume.wording import is_resume_finding
from stream_sidecar.values.jsontext import loads

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from stream_sidecar.history.repair_counts import (
        AllRepairCounters,
        ModelRepairCounters,
    )
    from stream_sidecar.session_files.reports import FileReport
    from stream_sidecar.session_files.skipped_files import SkippedFiles

_LONGEST = 400
"""How many characters of a removal are shown."""

_MARKS = "[-", "-]"
"""Signs around a removal on outputs without colours, as in a diff of words."""

_NAMELESS = _NOTHING = "-"

_UNSURE = (
    "Files that another program may have open for writing: {}. This could not be "
    "checked. What that program still writes goes to the old file, not to the new one."
)

_BOUND = (
    "{}: signed thinking after the text is bound to it, and the provider would refuse "
    "the session. --unseal edits the text, and removes that thinking where it can."
)

_SEALED = "databases, archives and compressed files may have leaks, too"


class RepairPage:
    """Prints a run: ``add`` a file's report, ``show`` a removal, then ``summary``."""

    def __init__(self, *, write: bool) -> None:
        self._terminal = Terminal()
        self._write = write
        self._counts = RepairCounts()
        self.findings = Findings()
        self._files = 0
        self._repaired = 0
        self._kept = 0
        self._bound = 0
        self._unsealed = 0
        self._unsure = 0
        self._unrecognised = 0
        self._has_shown = False
        self._last_file = ""
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
        facts = (report.unrecognised, report.left, report.leaking, report.error)
        if any(facts) or report.unreadable or report.in_the_way:
            self._rows.append(report)
        self.findings.add(report)
        self._kept += sum(report.kept.values())
        self._bound += report.bound
        self._unsealed += report.unsealed
        if report.written:
            self._repaired += report.repairable
            self._unsure += report.writers_unknown
        for counters in report.models:
            self._counts.add(counters)

    def show(self, line: bytes) -> None:
        """Shows one removal or finding, given as a line of the report."""
        self._has_shown = True
        record: dict[str, Any] = loads(line.decode())
        if is_resume_finding(record):
            print_finding(self._terminal, record)
            return
        file, places = record["file"], [n for n in ("line", "row") if n in record]
        if self._terminal.is_screen:  # it has no room for a path on each line
            if file != self._last_file:
                self._last_file = file
                self._terminal.line((file, "bold"))
            place = " ".join(f"{name} {record[name]}" for name in places)
        else:
            place = ":".join((file, *(str(record[name]) for name in places)))
        pointer = f"{record['message']}{record.get('path', '')}"
        kind = f"{record['kind']}{' bound' if record.get('bound') else ''}"
        place = " ".join(filter(None, (place, pointer)))
        self._terminal.line((f"{place} ", "bold"), (kind, "bold yellow"))
        if record["kind"] != "blocked":
            around = record.get("before", ""), record.get("after", "")
            print_removal(self._terminal, short(record["text"]), *around)

    def summary(self, files: int, skipped: SkippedFiles) -> None:
        """Prints the files with findings or problems, and the numbers by model.
        ``files``: how many files there were to read; ``skipped``: those of folders that
        were not looked at."""
        total = self._counts.total()
        if self._has_shown:
            self._terminal.line()
        self._tables(total)
        found = total.changed + total.blocked + self.findings.to_mend
        changed = "; nothing was changed" if found and not self._write else ""
        self._terminal.paragraph(
            f"{count(self._files, 'file')}, {count(total.messages, 'message')} of a "
            f"model: {self._result(total)}{changed}"
        )
        clean = self._files - len(self._rows)
        if clean and self._rows:
            listed = sum(report.messages for report in self._rows)
            messages = count(total.messages - listed, "message")
            self._terminal.paragraph(
                f"Not listed: {count(clean, 'file')} without a finding ({messages})"
            )
        if self._unrecognised:
            self._terminal.paragraph(
                f"{count(self._unrecognised, 'file')} in which no message of a model "
                "was recognised: nobody knows whether there is a leak"
            )
        if self._bound:
            self._terminal.paragraph(_BOUND.format(f"{self._bound} bound"))
        if self._unsealed:
            was = "was" if self._unsealed == 1 else "were"
            verb = f"{was} removed" if self._write else "would be removed"
            blocks = count(self._unsealed, "block")
            self._terminal.paragraph(f"{blocks} of signed thinking {verb}")
        if self._unsure:
            self._terminal.paragraph(_UNSURE.format(self._unsure))
        if self._files < files:
            self._terminal.line(
                f"stopped after {self._files} of {count(files, 'file')}; "
                "the others were not changed"
            )
        if total.changed > self._kept and not self._write:
            hint = "." if self._has_shown else "; --diff shows each."
            self._terminal.paragraph(
                f"To remove the leaks, run again with --write{hint}"
            )
        if words := skipped.words():
            hint = f" ({_SEALED})" if skipped.sealed else ""
            self._terminal.paragraph(f"not looked at: {', '.join(words)}{hint}")

    def _tables(self, total: AllRepairCounters) -> None:
        """Prints the files that have to be listed, and the models if any is known."""
        kinds = sorted(total.removed)
        leaks = [f"{'leaks: ' if kind is kinds[0] else ''}{kind}" for kind in kinds]
        heads = ["messages", "leaking", *leaks]
        if self._rows:
            reports = sorted(self._rows, key=attrgetter("path"))
            columns = self.findings.columns
            rows = [_file_row(each, kinds, columns) for each in reports]
            found = [COLUMNS[name] for name in columns]
            self._table([*heads, *found, "file"], rows)
        if any(each.model or each.provider for each in total.by_model):
            rows = [_model_row(each, kinds) for each in total.by_model]
            self._table([*heads, "model"], rows)

    def _table(self, heads: list[str], rows: list[list[str]]) -> None:
        """Prints columns of numbers, and last what they are of, as ``wc`` does. So a
        path of any length stands on one line and can be copied."""
        widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
        widths[-1] = 0
        for row in (heads, *rows):
            cells = (cell.rjust(width) for cell, width in zip(row, widths, strict=True))
            self._terminal.line(("  ".join(cells), "dim" if row is heads else ""))

    def _result(self, total: AllRepairCounters) -> str:
        """What becomes of the messages with leaks, and what else was found, in words:
        "0 to repair" only of sessions in whose way nothing stands."""
        repaired = self._repaired if self._write else total.changed - self._kept
        findings = self.findings.words()
        words = []
        if repaired or not findings:
            words.append(f"{repaired} {'repaired' if self._write else 'to repair'}")
        if number := total.changed - repaired:
            words.append(f"{number} {'left as they were' if self._write else 'kept'}")
        if total.blocked:
            words.append(f"{total.blocked} that would be left empty")
        return ", ".join(words + findings)


def print_removal(terminal: Terminal, text: str, before: str, after: str) -> None:
    """Prints a removed ``text`` with what stands around it."""
    opener, closer = ("", "") if terminal.has_colours else _MARKS
    removed = (f"{opener}{text}{closer}", "red strike")
    terminal.paragraph("  ", (before, "dim"), removed, (after, "dim"), indent=2)


def end(code: int, found: str, command: str = "") -> NoReturn:
    """Ends the process with ``code``. After a check, a line says what was ``found``,
    if anything: the code does not mean that the command failed. The ``command`` that
    a user needs now comes last."""
    terminal = Terminal()
    if found:
        terminal.line(f"{found}: exit code {code}.")
    if command:
        terminal.line(command)
    raise SystemExit(code)


def count(number: int, name: str) -> str:
    """``1 file``, ``2 files``."""
    return f"{number} {name}{'' if number == 1 else 's'}"


def _file_row(
    report: FileReport, kinds: Sequence[str], columns: Sequence[str]
) -> list[str]:
    counts = (report.messages, report.leaking)
    file = "  ".join(filter(None, (report.path, _result(report))))
    found = (str(getattr(report, name) or _NOTHING) for name in columns)
    return [*_numbers(counts, report.removed, kinds), *found, file]


def _model_row(model: ModelRepairCounters, kinds: Sequence[str]) -> list[str]:
    counts = (model.messages, model.changed + model.blocked)
    names = "  ".join(filter(None, (model.model or _NAMELESS, model.provider)))
    return [*_numbers(counts, model.removed, kinds), names]


def _numbers(
    counts: Iterable[int], removed: dict[str, int], kinds: Sequence[str]
) -> list[str]:
    """The cells for ``counts``, and for the removals of each kind."""
    return [*map(str, counts), *(str(removed.get(kind, _NOTHING)) for kind in kinds)]


def _result(report: FileReport) -> str:
    phrases = []
    if report.error:
        phrases.append(f"left alone: {report.error}")
    elif report.written:
        backup = f", backup: {report.backup}" if report.backup else ""
        phrases.append(f"written{backup}")
    if report.unsealed:
        verb = "unsealed" if report.written else "to unseal"
        phrases.append(f"{report.unsealed} {verb}")
    phrases += staying(report)
    if report.blocked:
        phrases.append(f"{report.blocked} would be left empty")
    if report.mendable:
        verb = "mended" if report.written else "to mend"
        phrases.append(f"{report.mendable} {verb}")
    if report.unreadable:
        phrases.append(f"{report.unreadable} not JSON")
    return "; ".join(phrases + not_read(report))


def staying(report: FileReport) -> list[str]:
    """How many messages stay, by reason."""
    kept = {**report.kept, BOUND: 0}
    phrases = [f"{number} kept: {reason}" for reason, number in kept.items() if number]
    return phrases + ([f"{report.bound} bound: {BOUND}"] if report.bound else [])


def not_read(report: FileReport) -> list[str]:
    """What was not read, by reason."""
    phrases = [f"{number} not read: {reason}" for reason, number in report.left.items()]
    return phrases + ["no message of a model recognised"] * report.unrecognised


def short(text: str) -> str:
    """``text``, or both ends of a long text."""
    half = _LONGEST // 2
    return text if len(text) <= _LONGEST else f"{text[:half]} … {text[-half:]}"
