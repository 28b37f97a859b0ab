"""What stands in the way of a resumed session, in the output for people.

`print_finding` shows one finding, `Findings` counts them and names the one command that
resumes a session now.
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from stream_sidecar.records import define, field
from stream_sidecar.resume.wording import rule_of, sentences_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from stream_sidecar.cli.terminal import Terminal
    from stream_sidecar.session_files.reports import FileReport

COLUMNS = {"refused": "refused", "left_out": "left out", "broken": "broken"}
"""Counter of a `FileReport` -> the head of its column."""

_GATEWAY = "stream-sidecar-gateway run -- "
_BEHIND_GATEWAY = ("claude ", "codex ", "gemini ", "qwen ", "cn ", "copilot ", "pi ")
"""How the commands begin of agents whose older sessions resume behind the gateway."""


def place_in_file(record: dict[str, Any]) -> list[str]:
    """The line, or the row of a database, with the place in its document."""
    names = (f"{name} {record[name]}" for name in ("table", "row") if name in record)
    return [*names, *filter(None, (record.get("path", ""),))]


def print_finding(terminal: Terminal, record: dict[str, Any]) -> None:
    """Prints a line with place, kind and rule, and what there is to say of them."""
    line = f":{record['line']}" if "line" in record else ""
    place = " ".join((f"{record['file']}{line}", *place_in_file(record)))
    kind = " ".join(filter(None, (record["kind"], rule_of(record))))
    terminal.line((f"{place} ", "bold"), (kind, "bold yellow"))
    for sentence in sentences_of(record):
        terminal.paragraph("  ", sentence, indent=2)


@define
class Findings:
    """The findings of a run. ``to_mend``: how many of them an edit of a file mends,
    ``mended``: those of files that were written. ``resumes``: the commands for
    sessions that only a request mends, of agents that resume behind the gateway."""

    counts: dict[str, int] = field(factory=lambda: dict.fromkeys(COLUMNS, 0))
    to_mend: int = 0
    mended: int = 0
    resumes: list[str] = field(factory=list)

    def add(self, report: FileReport) -> None:
        for name in self.counts:
            self.counts[name] += getattr(report, name)
        if report.written:
            self.mended += report.mendable
        else:
            self.to_mend += report.mendable
        if report.in_flight and report.resumes.startswith(_BEHIND_GATEWAY):
            self.resumes.append(report.resumes)

    @property
    def columns(self) -> list[str]:
        """The counters that have to be listed: those with a finding."""
        return [name for name, number in self.counts.items() if number]

    def words(self) -> list[str]:
        """``2 refused``, ``1 left out``, and how many are mended."""
        words = [f"{self.counts[name]} {COLUMNS[name]}" for name in self.columns]
        mends = ((self.mended, "mended"), (self.to_mend, "to mend"))
        return words + [f"{number} {verb}" for number, verb in mends if number]

    def command(self, arguments: Iterable[str]) -> str:
        """A line with the one command that makes a session resume now; "" if nothing
        does. ``arguments``: the paths and agents of the run."""
        write = ["stream-sidecar", "repair", *map(shlex.quote, arguments), "--write"]
        commands = [" ".join(write)] if self.to_mend else []
        commands += [f"{_GATEWAY}{command}" for command in self.resumes[:1]]
        if not commands:
            return ""
        number = len(self.resumes)
        which = "" if number < 2 else f" (the first of {number} sessions)"
        return f"To resume{which}: {' && '.join(commands)}"
