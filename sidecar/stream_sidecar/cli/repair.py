"""``stream-sidecar repair PATH...``: finds and removes leaks in stored sessions.

Without ``--write`` it only prints what would change. Exit codes:

- 1 with ``--check`` if there is a leak.
- 2 if a file could not be read or written; with ``--write`` also if a leak had to stay
  (a hash protects it, or a seal is bound to it and ``--unseal`` is not given);
  with ``--check`` also if a file is not known to be clean: it or a text in it was not
  looked at, a folder has a database or a compressed file that was not looked at, or a
  line could not be read and there is no leak elsewhere.
- 128 plus the number of a signal that came before the last file (130: Ctrl-C).
- 0 otherwise.
"""

from __future__ import annotations

import os
import tempfile
from contextlib import ExitStack, nullcontext
from difflib import get_close_matches
from itertools import chain, product
from typing import IO, TYPE_CHECKING, Any

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
from stream_sidecar.history.results import KINDS, chosen_kinds
from stream_sidecar.records import define
from stream_sidecar.session_files.agents import AGENTS, files_of, places_of
from stream_sidecar.session_files.backups import backups_named_after
from stream_sidecar.session_files.files import Job, find_files, identity_of
from stream_sidecar.session_files.layouts import PRESETS, TableLayout
from stream_sidecar.session_files.reports import FileReport
from stream_sidecar.session_files.skipped_files import SkippedFiles, skipped_files
from stream_sidecar.session_files.workers import repair_files

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_LAYOUT = ("table", "column", "role", "role_column", "session_column", "model_column")


_EPILOG = """\b
Examples:
  stream-sidecar repair ~/.my-agent/sessions     what would change
  stream-sidecar repair session.jsonl --diff     every removal in context
  stream-sidecar repair session.jsonl --write    changes it, keeps a backup
  stream-sidecar repair claude-code --check      exit code 1: a leak was found
  stream-sidecar repair codex --ask --only reasoning
  stream-sidecar repair claude-code --write --unseal
  stream-sidecar repair codex --policy '{"toolCalls": {"mode": "off"}}'
  stream-sidecar repair session.jsonl --restore  puts the backup back
  stream-sidecar repair --list                   agents, and their sessions
  stream-sidecar repair --list codex --output-format json

Exit codes: 0; 1 with --check if there is a leak; 2 if a file could not be read
or written, with --write also if a leak had to stay (a hash protects it, or a seal
is bound to it), with --check also if no message of a model was recognised in a
file, a line could not be read, or a folder has a database, an archive or a
compressed file that was not looked at; 141 if the reader of the output went
away; 128 plus the number of a signal that ended the command.
"""


_SECTIONS = {
    "See the leaks": ("check", "diff", "report_path", "output_format"),
    "Remove them": ("write", "ask", "only", "but", "unseal"),
    "Undo it": ("back", "clean", "force"),
    "Agents": ("list_agents", "everywhere", "folders"),
    "Reading": ("policy", "model", "provider", "jobs"),
    "Databases": (
        "preset",
        "table",
        "column",
        "role",
        "role_column",
        "session_column",
        "model_column",
    ),
    "Datasets": ("engine", "ray_address", "ray_output", "messages_column"),
}


@click.command("repair", epilog=_EPILOG, cls=SectionedCommand, sections=_SECTIONS)
@click.argument("paths", nargs=-1, metavar="[PATH|AGENT]...", type=PathArgument())
@click.option(
    "--list",
    "list_agents",
    is_flag=True,
    help="Print the known agents, and where they keep their sessions.",
)
@click.option(
    "--all", "everywhere", is_flag=True, help="With --list: places on every system."
)
@click.option(
    "--folder",
    "folders",
    multiple=True,
    type=click.Path(file_okay=False),
    metavar="FOLDER",
    help="With --list: a folder you work in (repeatable). Default: the current one.",
)
@click.option(
    "--check",
    is_flag=True,
    help="Exit with 1 if there is a leak, with 2 if a file is not recognised.",
)
@click.option("--diff", is_flag=True, help="Show every removal with its context.")
@click.option("--write", is_flag=True, help="Repair the files; keep a backup of each.")
@click.option("--ask", is_flag=True, help="Ask about each removal; implies --write.")
@click.option(
    "--only",
    multiple=True,
    type=click.Choice(KINDS),
    metavar="KIND",
    help=f"Only this kind (repeatable): {', '.join(KINDS)}.",
)
@click.option(
    "--except",
    "but",
    multiple=True,
    type=click.Choice(KINDS),
    metavar="KIND",
    help="Not this kind (repeatable).",
)
@click.option(
    "--unseal",
    is_flag=True,
    help="Also edit text that signed thinking is bound to; remove that thinking.",
)
@click.option("--restore", "back", is_flag=True, help="Put the latest backups back.")
@click.option("--clean", is_flag=True, help="Remove the backups.")
@click.option(
    "--output-format",
    type=click.Choice([*FORMATS]),
    metavar="FORMAT",
    default="text",
    show_default=True,
    help=f"How to print the leaks: {', '.join(FORMATS)}.",
)
@click.option(
    "--report",
    "report_path",
    type=PathArgument(dir_okay=False),
    help="Write every removal as a line of JSON to this new file.",
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
def command(**given: Any) -> None:
    """Find leaks in stored sessions, and remove them.

    A leak is what does not belong in the text of an answer: reasoning, a delimiter, a
    tool's call or result.

    PATH is a file or a folder: JSON, JSONL, SQLite or aider's Markdown. AGENT is a name
    from --list: the command looks where that agent keeps its sessions. No file changes
    without --write, which keeps the old file as a backup. --diff and --report show each
    removal. Text before signed thinking that is bound to it (Claude 5.1 and later)
    stays: its provider would refuse the session. --unseal edits it, and removes the
    signed thinking after it.
    """
    _check_pairs(given)
    if given["list_agents"]:
        _list(given)
        return
    _check_usage(given)
    if given["engine"] == "ray":
        from stream_sidecar.cli.repair_ray import repair_datasets

        repair_datasets(given)
        return
    targets = _targets(given["paths"])
    if given["back"]:
        raise SystemExit(put_back(targets, force=given["force"]))
    if given["clean"]:
        raise SystemExit(clean(targets))
    if given["output_format"] == "text" and given["report_path"] is None:
        _refuse_nothing(targets)
    wants: Any = None
    write = given["write"]
    if given["ask"]:
        wants, write, given["jobs"] = Asking(), True, 1
    kinds, unseal = chosen_kinds(given["only"], given["but"]), given["unseal"]
    job = Job(options_in(given), _layout(given), write, wants, kinds, unseal)
    page, is_text = FORMATS[given["output_format"]], given["output_format"] == "text"
    with interruption() as signal:
        outcome = _run(job, page(write=write), given, targets, signal.has_come)
    if outcome.stopped:
        raise SystemExit(128 + signal.number)
    code = outcome.code(check=given["check"], write=write)
    end(code, has_leaks=outcome.leaking and given["check"] and is_text)


_LISTS = {"text": print_agents, "json": print_agents_json}


def _list(given: dict[str, Any]) -> None:
    """Prints the named agents, or all agents."""
    print_list = _LISTS.get(given["output_format"])
    if print_list is None:
        raise click.UsageError("--list needs --output-format text or json")
    names = [str(each) for each in given["paths"]]
    for name in names:
        if name not in AGENTS:
            raise click.UsageError(f"No such agent {name!r}{_near(name)}")
    folders = given["folders"] or (".",)
    print_list(names or AGENTS, folders, everywhere=given["everywhere"])


def _near(word: str) -> str:
    """A hint at the agent that may have been meant by an unknown name."""
    near = get_close_matches(word, AGENTS, 1)
    return f". Did you mean {near[0]!r}?" if near else ""


_OPTIONS = {"back": "--restore", "list_agents": "--list", "report_path": "--report"}
"""Options whose parameter has another name."""

_NOT_TOGETHER = (
    ("check", "write"),
    ("check", "ask"),
    ("back", "clean"),
    *product(("back", "clean"), ("check", "write", "ask", "diff", "report_path")),
    *product(("list_agents",), ("check", "write", "ask", "back", "clean", "diff")),
    *product(("back", "clean", "list_agents"), ("unseal",)),
    *product(("preset",), _LAYOUT),
)
"""Pairs of options of which the second would have no effect, or the opposite."""


def _check_pairs(given: dict[str, Any]) -> None:
    for pair in _NOT_TOGETHER:
        if all(given[name] for name in pair):
            names = (_OPTIONS.get(n, f"--{n.replace('_', '-')}") for n in pair)
            raise click.UsageError(f"{' and '.join(names)} cannot be used together")


def _check_usage(given: dict[str, Any]) -> None:
    if not given["paths"]:
        raise click.UsageError("Missing argument 'PATH' or 'AGENT'. Agents: --list")
    if given["folders"]:
        raise click.UsageError("--folder needs --list")
    if given["everywhere"]:
        raise click.UsageError("--all needs --list")
    if given["ask"] and given["output_format"] != "text":
        raise click.UsageError("--ask needs --output-format text")
    if given["engine"] == "local" and (given["ray_address"] or given["ray_output"]):
        raise click.UsageError("--ray-address and --ray-output need --engine ray")
    if given["force"] and not (given["report_path"] or given["back"]):
        raise click.UsageError("--force needs --report or --restore")


def _targets(given: tuple[Path, ...]) -> Targets:
    """The given paths and the files of given agents, with a report of each name that
    leads to no file."""
    targets = Targets()
    for path in given:
        name = str(path)
        why_not = _why_not(path)
        if why_not is None or backups_named_after(path):
            targets.paths.append(path)
        elif name not in AGENTS:
            targets.nowhere.append(FileReport(name, error=why_not + _near(name)))
        else:
            found = files_of(name)
            targets.paths.extend(found.unread + found.files)
            targets.of_agents.update(found.files)
            targets.nowhere.extend(map(_leaving, found.leaving))
            if not (found.files or found.leaving or found.unread):
                targets.nowhere.append(FileReport(name, error=_nothing(name)))
    return targets


def _refuse_nothing(targets: Targets) -> None:
    """Raises an error of one line, without a table, if there is nothing to look at."""
    errors = [f"{each.path}: {each.error}" for each in targets.nowhere if each.error]
    if errors and not targets.paths and len(errors) == len(targets.nowhere):
        raise Failure("; ".join(errors))


def _leaving(link: Path) -> FileReport:
    """The report of a link that was not followed."""
    report = FileReport(str(link))
    report.leave("it is a link that leaves its folder")
    return report


def _nothing(name: str) -> str:
    """The error for an agent without sessions, with the places that were looked at."""
    first, *others = places_of(name)
    more = f" and {len(others)} more (--list {name})" if others else ""
    return f"no session found; looked at {first}{more}"


def _why_not(path: Path) -> str | None:
    """Why there is nothing at the path; None if something is there."""
    try:
        os.lstat(path)
    except OSError as error:
        return error.strerror
    return None


@define
class _Outcome:
    """The result of a run: how many ``files``, and ``messages`` of a model, were read.

    ``leaking``: some message has a leak. ``failed``: some file was left alone.
    ``kept``: some leak stays. ``unseen``: some file or text was not looked at, or a
    folder has a database or a packed file that was not. ``broken``: some line or cell
    is not JSON. ``stopped``: the run ended early."""

    files: int = 0
    messages: int = 0
    leaking: bool = False
    failed: bool = False
    kept: bool = False
    unseen: bool = False
    broken: bool = False
    stopped: bool = False

    def add(self, report: FileReport) -> None:
        self.files += 1
        self.messages += report.messages
        self.leaking = self.leaking or bool(report.leaking)
        self.failed = self.failed or report.error is not None
        self.kept = self.kept or bool(report.kept or report.bound)
        self.unseen = self.unseen or bool(report.unrecognised or report.left)
        self.broken = self.broken or bool(report.unreadable)

    def code(self, *, check: bool, write: bool) -> int:
        """The exit code. A file that was not looked at does not count as clean, and a
        leak that stays does not count as repaired."""
        if (
            self.failed
            or (write and self.kept)
            or (check and (self.unseen or not self.messages))
        ):
            return 2
        if check and self.broken and not self.leaking:
            return 2
        return int(check and self.leaking)


def _layout(given: dict[str, Any]) -> TableLayout | None:
    """The layout of databases by the options; None: whatever preset fits."""
    if given["preset"] is not None:
        return PRESETS[given["preset"]]
    layout_options = {name: given[name] for name in _LAYOUT}
    if not any(layout_options.values()):
        return None
    if not (given["table"] and given["column"]):
        raise click.UsageError("--table and --column need each other")
    return TableLayout(**layout_options)


def _found(
    targets: Targets, layout: TableLayout | None
) -> tuple[list[Path], list[FileReport], SkippedFiles]:
    """The files to read, with a report of each link that was not followed and of each
    folder without a file that may be a session, and the files of folders that are not
    looked at."""
    found: dict[tuple[int, int] | str, Path] = {}
    skipped: dict[tuple[int, int] | str, Path] = {}
    nowhere = [*targets.nowhere]
    for path in targets.paths:
        inner = find_files(path, layout)
        for each in inner.files:
            found.setdefault(identity_of(each), each)
        skipped.update((identity_of(each), each) for each in inner.skipped)
        nowhere += map(_leaving, inner.leaving)
        if not (inner.files or inner.leaving):
            nowhere.append(FileReport(str(path)))
    not_read = (path for identity, path in skipped.items() if identity not in found)
    return [*found.values()], nowhere, skipped_files(not_read)


def _run(
    job: Job,
    page: Any,
    given: dict[str, Any],
    targets: Targets,
    is_stopped: Callable[[], bool],
) -> _Outcome:
    paths, nowhere, skipped = _found(targets, job.layout)
    is_text = given["output_format"] == "text"
    shows = given["diff"] or not is_text
    outcome, shown, total = _Outcome(), 0, len(paths) + len(nowhere)
    outcome.unseen = bool(skipped.sealed)
    with ExitStack() as stack:
        report_file = open_report(given["report_path"], paths, force=given["force"])
        report_file = report_file and stack.enter_context(report_file)
        records = report_file
        if shows:  # the records are read again, and the report may be a pipe
            records = stack.enter_context(tempfile.TemporaryFile())
        stack.callback(page.summary, total, skipped)  # however the run ends
        # A progress bar would overwrite other output.
        has_bar = is_text and not (given["ask"] or shows)
        progress = page.progress(paths) if has_bar else nullcontext(lambda _size: None)
        advance = stack.enter_context(progress)
        jobs = given["jobs"]
        reports = repair_files(paths, job, advance, records, jobs, is_stopped)
        for report in chain(reports, nowhere):
            if not report.stopped:
                outcome.add(report)
                page.add(report)
            if shows and records is not None:
                shown = _show(page, records, shown, report_file)
            if report_file is not None:  # so it is complete before the next file
                report_file.flush()
    outcome.stopped = outcome.files < total
    return outcome


def _show(page: Any, records: IO[bytes], start: int, copy: IO[bytes] | None) -> int:
    """Shows the records from ``start`` on, and copies them. Returns their end."""
    records.seek(start)
    for line in records:
        page.show(line)
        if copy is not None:
            copy.write(line)
    return records.tell()
