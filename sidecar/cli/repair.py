"""``stream-sidecar repair PATH...``: stored sessions, without what leaked into them.

Says what would change; with ``--write`` changes it. Exit codes: 0; 1 with ``--check``
when something is malformed; 2 when a file could not be read or written, and with
``--check`` when one is not known to be clean, because no message of a model was
recognised in it; 128 and the signal's number when a signal ended it (130: Ctrl-C)
before the last file.
"""

from __future__ import annotations

import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from attrs import define

from sidecar.cli.interrupts import interruption
from sidecar.cli.repair_page import RepairPage
from sidecar.cli.report_file import open_report
from sidecar.options import StreamOptions
from sidecar.session_files.files import Job, find_files
from sidecar.session_files.layouts import PRESETS, TableLayout
from sidecar.session_files.workers import repair_files

if TYPE_CHECKING:
    from collections.abc import Callable

    from sidecar.session_files.reports import FileReport

_LAYOUT = ("table", "column", "role", "role_column", "session_column", "model_column")


@click.command("repair")
@click.argument(
    "paths",
    nargs=-1,
    required=True,
    type=click.Path(path_type=Path),
)
@click.option(
    "--check",
    is_flag=True,
    help="Exit with 1 if anything is malformed, with 2 if a file is not recognised.",
)
@click.option("--diff", is_flag=True, help="Show every removal in its place.")
@click.option("--write", is_flag=True, help="Repair the files; each keeps a backup.")
@click.option(
    "--report",
    "report_path",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write every removal as a line of JSON to this new file.",
)
@click.option("--force", is_flag=True, help="--report may replace an older file.")
@click.option("--model", help="Model of the messages that name none.")
@click.option("--provider", help="Provider of the messages that name none.")
@click.option("--jobs", type=click.IntRange(1), help="Processes; default: all cores.")
@click.option("--preset", type=click.Choice([*PRESETS]), help="Layout of a database.")
@click.option("--table", help="SQLite: the table of the messages.")
@click.option("--column", help="SQLite: the column of the messages, or their content.")
@click.option("--role", help="SQLite: the column is content of messages of this role.")
@click.option("--role-column", help="SQLite: the column of that role.")
@click.option("--session-column", help="SQLite: the column that tells sessions apart.")
@click.option("--model-column", help="SQLite: the column of the model's name.")
@click.option(
    "--engine",
    type=click.Choice(["local", "ray"]),
    default="local",
    show_default=True,
    help="ray: PATHS are datasets (Parquet or JSONL) for Ray Data.",
)
@click.option("--ray-address", help="Ray: the cluster; default: started here.")
@click.option("--ray-output", help="Ray: where --write puts the repaired dataset.")
@click.option(
    "--messages-column",
    default="messages",
    show_default=True,
    help="Ray: the column of the messages of a row.",
)
def command(**given: Any) -> None:
    """Find what leaked into the stored sessions at PATHS, and take it out.

    PATHS are files or folders of JSON, JSONL and SQLite. Nothing is changed without
    --write. Every removal is told by --report and --diff, and the old file is kept
    beside the new one.
    """
    if given["check"] and given["write"]:
        raise click.UsageError("--check and --write exclude each other")
    if given["force"] and not given["report_path"]:
        raise click.UsageError("--force goes with --report")
    if given["engine"] == "ray":
        from sidecar.cli.repair_ray import repair_datasets

        repair_datasets(given)
        return
    options = StreamOptions(provider=given["provider"], model=given["model"])
    job = Job(options, _layout(given), given["write"])
    page = RepairPage(write=given["write"])
    with interruption() as signal:
        outcome = _run(job, page, given, signal.has_come)
    if outcome.stopped:
        raise SystemExit(128 + signal.number)
    raise SystemExit(outcome.code(check=given["check"]))


@define
class _Outcome:
    """How many files were dealt with and how many messages of a model were in them,
    whether something is malformed, whether a file was left alone or not looked at, and
    whether the run was ended before the last."""

    files: int = 0
    messages: int = 0
    malformed: bool = False
    failed: bool = False
    unseen: bool = False
    stopped: bool = False

    def add(self, report: FileReport) -> None:
        self.files += 1
        self.messages += report.messages
        self.malformed = self.malformed or bool(report.malformed)
        self.failed = self.failed or report.error is not None
        self.unseen = self.unseen or bool(report.unrecognised or report.left)

    def code(self, *, check: bool) -> int:
        """The exit code; nothing is said to be clean that nobody has looked at."""
        if self.failed or (check and (self.unseen or not self.messages)):
            return 2
        return int(check and self.malformed)


def _layout(given: dict[str, Any]) -> TableLayout | None:
    """The layout of databases that the options say; None: whatever preset fits."""
    if given["preset"] is not None:
        return PRESETS[given["preset"]]
    told = {name: given[name] for name in _LAYOUT}
    if not any(told.values()):
        return None
    if not (given["table"] and given["column"]):
        raise click.UsageError("--table and --column go together")
    return TableLayout(**told)


def _run(
    job: Job,
    page: RepairPage,
    given: dict[str, Any],
    is_stopped: Callable[[], bool],
) -> _Outcome:
    paths = find_files(given["paths"], job.layout)
    outcome, shown = _Outcome(), 0
    with ExitStack() as stack:
        report_file = open_report(given["report_path"], paths, force=given["force"])
        report_file = report_file and stack.enter_context(report_file)
        records = report_file
        if given["diff"]:  # which are read again; a pipe is not
            records = stack.enter_context(tempfile.TemporaryFile())
        stack.callback(page.summary, len(paths))  # however it ends
        advance = stack.enter_context(page.progress(paths))
        jobs = given["jobs"]
        for report in repair_files(paths, job, advance, records, jobs, is_stopped):
            if not report.stopped:
                outcome.add(report)
                page.add(report)
            if given["diff"] and records is not None:
                shown = page.diff(records, shown, report_file)
            if report_file is not None:  # it is complete before the next file is begun
                report_file.flush()
    outcome.stopped = outcome.files < len(paths)
    return outcome
