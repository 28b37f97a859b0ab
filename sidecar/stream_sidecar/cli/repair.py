"""``stream-sidecar repair PATH...``: finds leaks in stored sessions, and what stands in
their way when they are resumed, and removes and mends it.

Without ``--write`` it only prints what would change. `_EPILOG` has the exit codes.
"""

from __future__ import annotations

import os
import tempfile
from contextlib import ExitStack, nullcontext
from difflib import get_close_matches
from itertools import chain, product
from typing import TYPE_CHECKING, Any

import click

from stream_sidecar.cli import Failure
from stream_sidecar.cli.interrupts import interruption
from stream_sidecar.cli.repair_agents import print_agents, print_agents_json
from stream_sidecar.cli.repair_asking import Asking
from stream_sidecar.cli.repair_backups import Targets, clean, put_back
from stream_sidecar.cli.repair_formats import FORMATS
from stream_sidecar.cli.repair_options import options_in, read_policy
from stream_sidecar.cli.repair_page import end
from stream_sidecar.cli.report_file import PathArgument, open_report
from stream_sidecar.cli.sections import SectionedCommand
from stream_sidecar.history.results import CHOICES, chosen_kinds
from stream_sidecar.records import define
from stream_sidecar.session_files.agents import AGENTS, files_of, places_of
from stream_sidecar.session_files.backups import backups_named_after
from stream_sidecar.session_files.files import Job, find_files, identity_of
from stream_sidecar.session_files.layouts import PRESETS, TableLayout
from stream_sidecar.session_files.reports import FileReport
from stream_sidecar.session_files.skipped_files import SkippedFiles, skipped_files
from stream_sidecar.session_files.workers import collect_seldom, repair_files

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_LAYOUT = ("table", "column", "role", "role_column", "session_column", "model_column")

_EPILOG = """\b
Examples:
  stream-sidecar repair ~/.my-agent/sessions     what would change
  stream-sidecar repair session.jsonl --diff     every removal in context
  stream-sidecar repair session.jsonl --write    changes it, keeps a backup
  stream-sidecar repair claude-code --check      exit code 1: it finds any
  stream-sidecar repair claude-code --only refused --diff
  stream-sidecar repair codex --ask --only reasoning
  stream-sidecar repair claude-code --write --unseal
  stream-sidecar repair codex --policy '{"toolCalls": {"mode": "off"}}'
  stream-sidecar repair session.jsonl --restore  puts the backup back
  stream-sidecar repair --list                   agents, and their sessions
  stream-sidecar repair --list codex --output-format json

Exit codes: 0; 1 with --check if anything was found: a leak, or something that is
refused, left out or broken, also where a line is no JSON; 2 if a file could not
be read or written, with --write also if a leak had to stay (a hash protects it, or
a seal is bound to it), with --check also if something was not looked at: no message
of a model was recognised in a file, a line or a cell was not read, or a folder has
a database, an archive or a compressed file; 141 if the reader of the output went
away; 128 plus the number of a signal that ended the command.
"""


_SECTIONS = {
    "See what is wrong": ("check", "diff", "report", "output_format"),
    "Mend it": ("write", "ask", "only", "except", "unseal"),
    "Undo it": ("restore", "clean", "force"),
    "Agents": ("list", "all", "folder"),
    "Reading": ("policy", "model", "provider", "jobs"),
    "Databases": ("preset", *_LAYOUT),
    "Datasets": ("engine", "ray_address", "ray_output", "messages_column"),
}


@click.command("repair", epilog=_EPILOG, cls=SectionedCommand, sections=_SECTIONS)
@click.argument("paths", nargs=-1, metavar="[PATH|AGENT]...", type=PathArgument())
@click.option(
    "--list",
    is_flag=True,
    help="Print the known agents, and where they keep their sessions.",
)
@click.option("--all", is_flag=True, help="With --list: places on every system.")
@click.option(
    "--folder",
    multiple=True,
    type=click.Path(file_okay=False),
    metavar="FOLDER",
    help="With --list: a folder you work in (repeatable). Default: the current one.",
)
@click.option(
    "--check",
    is_flag=True,
    help="Exit with 1 if anything is found, with 2 if a file is not recognised.",
)
@click.option("--diff", is_flag=True, help="Show every removal and every finding.")
@click.option("--write", is_flag=True, help="Repair the files; keep a backup of each.")
@click.option("--ask", is_flag=True, help="Ask about each change; implies --write.")
@click.option(
    "--only",
    multiple=True,
    type=click.Choice(CHOICES),
    metavar="KIND",
    help=f"Only this kind (repeatable): {', '.join(CHOICES)}.",
)
@click.option(
    "--except",
    multiple=True,
    type=click.Choice(CHOICES),
    metavar="KIND",
    help="Not this kind (repeatable).",
)
@click.option(
    "--unseal",
    is_flag=True,
    help="Also edit text that signed thinking is bound to; remove that thinking.",
)
@click.option("--restore", is_flag=True, help="Put the latest backups back.")
@click.option("--clean", is_flag=True, help="Remove the backups.")
@click.option(
    "--output-format",
    type=click.Choice([*FORMATS]),
    metavar="FORMAT",
    default="text",
    show_default=True,
    help=f"How to print what was found: {', '.join(FORMATS)}.",
)
@click.option(
    "--report",
    type=PathArgument(dir_okay=False),
    help="Write every removal and finding as a line of JSON to this new file.",
)
@click.option(
    "--force",
    is_flag=True,
    help="Let --report replace an old file, and --restore a file changed since.",
)
@click.option(
    "--policy",
    type=read_policy,
    metavar="JSON",
    help="What counts as a leak: fields of a policy (protocol.md), as JSON.",
)
@click.option("--model", metavar="NAME", help="The model, if a message names none.")
@click.option(
    "--provider", metavar="NAME", help="The provider, if a message names none."
)
@click.option(
    "--jobs", type=click.IntRange(1), metavar="N", help="Processes; default: all cores."
)
@click.option(
    "--preset",
    type=click.Choice([*PRESETS]),
    metavar="LAYOUT",
    help=f"Layout of a database: {', '.join(PRESETS)}.",
)
@click.option("--table", metavar="NAME", help="The table of the messages.")
@click.option(
    "--column", metavar="NAME", help="The column of the messages, or their content."
)
@click.option(
    "--role", metavar="ROLE", help="The column has content of messages of this role."
)
@click.option("--role-column", metavar="NAME", help="The column of the role.")
@click.option(
    "--session-column", metavar="NAME", help="The column that identifies the session."
)
@click.option("--model-column", metavar="NAME", help="The column of the model's name.")
@click.option(
    "--engine",
    type=click.Choice(["local", "ray"]),
    default="local",
    show_default=True,
    help="ray: each PATH is a dataset (Parquet, JSONL) for Ray Data.",
)
@click.option(
    "--ray-address", metavar="URL", help="The cluster; default: a new one, here."
)
@click.option(
    "--ray-output", metavar="FOLDER", help="Where --write puts the repaired dataset."
)
@click.option(
    "--messages-column",
    default="messages",
    show_default=True,
    metavar="NAME",
    help="The column with the messages of a row.",
)
def command(**options: Any) -> None:
    """Find leaks in stored sessions, and what keeps a session from resuming.

    A leak is what does not belong in the text of an answer: reasoning, a delimiter, a
    tool's call or result. A session is also read as the request that its agent would
    send on resume. Refused: the provider or the agent does not take it. Left out: the
    agent silently does not send it. Broken: a line that is no JSON. --write mends what
    lies in the file; the last line names the command that resumes the session now.

    PATH is a file or a folder: JSON, JSONL, SQLite or aider's Markdown. AGENT is a name
    from --list: the command looks where that agent keeps its sessions. No file changes
    without --write, which keeps the old file as a backup. --diff and --report show each
    removal. Text before signed thinking that is bound to it (Claude 5.1 and later)
    stays: its provider would refuse the session. --unseal edits it, and removes the
    signed thinking after it.
    """
    _check_pairs(options)
    if options["list"]:
        _list(options)
        return
    _check_usage(options)
    if options["engine"] == "ray":
        from stream_sidecar.cli.repair_ray import repair_datasets

        repair_datasets(options)
        return
    targets = _targets(options["paths"])
    if options["restore"]:
        raise SystemExit(put_back(targets, force=options["force"]))
    if options["clean"]:
        raise SystemExit(clean(targets))
    is_text = options["output_format"] == "text"
    if is_text and options["report"] is None:
        _refuse_nothing(targets)
    if options["ask"]:
        options["write"], options["jobs"] = True, 1
    asking = Asking() if options["ask"] else None
    job = Job(
        options=options_in(options),
        layout=_layout(options),
        write=options["write"],
        wants=asking,
        wants_mend=None if asking is None else asking.mend,
        kinds=chosen_kinds(options["only"], options["except"]),
        unseal=options["unseal"],
    )
    page = FORMATS[options["output_format"]](write=job.write)
    with interruption() as signal:
        outcome = _run(job, page, options, targets, signal.has_come)
    if outcome.is_stopped:
        raise SystemExit(128 + signal.number)
    code = outcome.code(check=options["check"], write=job.write)
    if not is_text:
        raise SystemExit(code)
    found = outcome.found() if options["check"] else ""
    end(code, found, page.findings.command(map(str, options["paths"])))


_LISTS = {"text": print_agents, "json": print_agents_json}


def _list(options: dict[str, Any]) -> None:
    """Prints the named agents, or all agents."""
    print_list = _LISTS.get(options["output_format"])
    if print_list is None:
        raise click.UsageError("--list needs --output-format text or json")
    names = [str(path) for path in options["paths"]]
    for name in names:
        if name not in AGENTS:
            raise click.UsageError(f"No such agent {name!r}{_near(name)}")
    folders = options["folder"] or (".",)
    print_list(names or AGENTS, folders, everywhere=options["all"])


def _near(word: str) -> str:
    """A hint at the agent that may have been meant by an unknown name."""
    names = get_close_matches(word, AGENTS, 1)
    return f". Did you mean {names[0]!r}?" if names else ""


_NOT_TOGETHER = (
    ("check", "write"),
    ("check", "ask"),
    ("restore", "clean"),
    *product(("restore", "clean"), ("check", "write", "ask", "diff", "report")),
    *product(("list",), ("check", "write", "ask", "restore", "clean", "diff")),
    *product(("restore", "clean", "list"), ("unseal",)),
    *product(("preset",), _LAYOUT),
)
"""Pairs of options of which the second would have no effect, or the opposite."""


def _check_pairs(options: dict[str, Any]) -> None:
    for pair in _NOT_TOGETHER:
        if all(options[name] for name in pair):
            names = (f"--{name.replace('_', '-')}" for name in pair)
            raise click.UsageError(f"{' and '.join(names)} cannot be used together")


def _check_usage(options: dict[str, Any]) -> None:
    if not options["paths"]:
        raise click.UsageError("Missing argument 'PATH' or 'AGENT'. Agents: --list")
    if options["folder"]:
        raise click.UsageError("--folder needs --list")
    if options["all"]:
        raise click.UsageError("--all needs --list")
    if options["ask"] and options["output_format"] != "text":
        raise click.UsageError("--ask needs --output-format text")
    if options["engine"] == "local" and (
        options["ray_address"] or options["ray_output"]
    ):
        raise click.UsageError("--ray-address and --ray-output need --engine ray")
    if options["force"] and not (options["report"] or options["restore"]):
        raise click.UsageError("--force needs --report or --restore")


def _targets(paths: tuple[Path, ...]) -> Targets:
    """The paths, and the files of agents; a report of each name without a file."""
    targets = Targets()
    for path in paths:
        name, error = str(path), _path_error(path)
        if error is None or backups_named_after(path):
            targets.paths.append(path)
        elif name not in AGENTS:
            targets.nowhere.append(FileReport(name, error=error + _near(name)))
        else:
            places = files_of(name)
            targets.paths.extend(places.unread + places.files)
            targets.of_agents.update(places.files)
            targets.nowhere.extend(map(_link_report, places.leaving))
            if not (places.files or places.leaving or places.unread):
                place, *others = places_of(name)
                more = f" and {len(others)} more (--list {name})" if others else ""
                error = f"no session found; looked at {place}{more}"
                targets.nowhere.append(FileReport(name, error=error))
    return targets


def _refuse_nothing(targets: Targets) -> None:
    """Raises an error of one line, without a table, if there is nothing to look at."""
    errors = [f"{r.path}: {r.error}" for r in targets.nowhere if r.error]
    if errors and not targets.paths and len(errors) == len(targets.nowhere):
        raise Failure("; ".join(errors))


def _link_report(link: Path) -> FileReport:
    report = FileReport(str(link))
    report.leave("it is a link that leaves its folder")
    return report


def _path_error(path: Path) -> str | None:
    """Why there is nothing at the path; None if something is there."""
    try:
        os.lstat(path)
    except OSError as error:
        return error.strerror
    return None


@define
class _Outcome:
    """The result of a run: how many ``files``, and ``messages`` of a model, were read.

    ``keeps_leaks``: some leak stays. ``has_unread``: some file or text was not looked
    at, or a folder has a database or a packed file that was not."""

    files: int = 0
    messages: int = 0
    has_leaks: bool = False
    has_findings: bool = False
    has_errors: bool = False
    keeps_leaks: bool = False
    has_unread: bool = False
    has_bad_json: bool = False
    is_stopped: bool = False

    def add(self, report: FileReport) -> None:
        self.files += 1
        self.messages += report.messages
        self.has_leaks |= bool(report.leaking)
        self.has_findings |= bool(report.in_the_way)
        self.has_errors |= report.error is not None
        self.keeps_leaks |= bool(report.kept or report.bound)
        self.has_unread |= bool(report.unrecognised or report.left)
        self.has_bad_json |= bool(report.unreadable)

    def found(self) -> str:
        """What there is, in words; "" if there is nothing."""
        leaks = "Leaks found" if self.has_leaks else ""
        return "Findings" if self.has_findings else leaks

    def code(self, *, check: bool, write: bool) -> int:
        """The exit code. A file that was not looked at does not count as clean, and a
        leak that stays does not count as repaired."""
        if self.has_errors or (write and self.keeps_leaks):
            return 2
        if not check:
            return 0
        if self.has_unread:
            return 2
        if self.has_leaks or self.has_findings:
            return 1
        return 0 if self.messages and not self.has_bad_json else 2


def _layout(options: dict[str, Any]) -> TableLayout | None:
    """The layout of databases by the options; None: whatever preset fits."""
    if options["preset"] is not None:
        return PRESETS[options["preset"]]
    layout_options = {name: options[name] for name in _LAYOUT}
    if not any(layout_options.values()):
        return None
    if not (options["table"] and options["column"]):
        raise click.UsageError("--table and --column need each other")
    return TableLayout(**layout_options)


def _files_in(
    targets: Targets, layout: TableLayout | None
) -> tuple[list[Path], list[FileReport], SkippedFiles]:
    """The files to read, with a report of each link that was not followed and of each
    folder without sessions, and the files of folders that are not looked at."""
    files: dict[tuple[int, int] | str, Path] = {}
    skipped: dict[tuple[int, int] | str, Path] = {}
    nowhere = [*targets.nowhere]
    for path in targets.paths:
        inner = find_files(path, layout)
        for file in inner.files:
            files.setdefault(identity_of(file), file)
        skipped.update((identity_of(file), file) for file in inner.skipped)
        nowhere += map(_link_report, inner.leaving)
        if not (inner.files or inner.leaving):
            nowhere.append(FileReport(str(path)))
    not_read = (path for identity, path in skipped.items() if identity not in files)
    return [*files.values()], nowhere, skipped_files(not_read)


def _run(
    job: Job,
    page: Any,
    options: dict[str, Any],
    targets: Targets,
    is_stopped: Callable[[], bool],
) -> _Outcome:
    collect_seldom()
    paths, nowhere, skipped = _files_in(targets, job.layout)
    is_text = options["output_format"] == "text"
    shows = options["diff"] or not is_text
    outcome, position, total = _Outcome(), 0, len(paths) + len(nowhere)
    outcome.has_unread = bool(skipped.sealed)
    with ExitStack() as stack:
        report_file = open_report(options["report"], paths, force=options["force"])
        report_file = report_file and stack.enter_context(report_file)
        records = report_file
        if shows:  # the records are read again, and the report may be a pipe
            records = stack.enter_context(tempfile.TemporaryFile())
        stack.callback(page.summary, total, skipped)  # however the run ends
        # A progress bar would overwrite other output.
        has_bar = is_text and not (options["ask"] or shows)
        progress = page.progress(paths) if has_bar else nullcontext(lambda _size: None)
        advance = stack.enter_context(progress)
        jobs = options["jobs"]
        reports = repair_files(paths, job, advance, records, jobs, is_stopped)
        for report in chain(reports, nowhere):
            if not report.stopped:
                outcome.add(report)
                page.add(report)
            if shows and records is not None:  # from where they are not shown yet
                records.seek(position)
                for line in records:
                    page.show(line)
                    if report_file is not None:
                        report_file.write(line)
                position = records.tell()
            if report_file is not None:  # so it is complete before the next file
                report_file.flush()
    outcome.is_stopped = outcome.files < total
    return outcome
