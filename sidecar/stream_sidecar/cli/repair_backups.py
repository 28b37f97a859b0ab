"""``repair --restore`` and ``--clean``: put backups back, or remove them.

Both first list what they will do, and ask for permission if the input is a terminal.
They only use backups that the sidecar made. A backup that is on no list, because it was
made before there were lists, is put back if its file is named, and never removed.
"""

from __future__ import annotations

import os
import sys
from functools import cache, partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import click

from stream_sidecar.cli.repair_formats import reasons_of
from stream_sidecar.cli.repair_page import count
from stream_sidecar.cli.terminal import Terminal
from stream_sidecar.records import field, frozen
from stream_sidecar.session_files import backups
from stream_sidecar.session_files.new_file import CannotReplaceError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from stream_sidecar.session_files.backups import OurBackup
    from stream_sidecar.session_files.reports import FileReport


@frozen
class Targets:
    """What the user named: ``paths`` of files and folders, including those
    ``of_agents``. ``nowhere`` has a report of each name that leads to no file."""

    paths: list[Path] = field(factory=list)
    of_agents: set[Path] = field(factory=set)
    nowhere: list[FileReport] = field(factory=list)


def put_back(targets: Targets, *, force: bool) -> int:
    """Puts the latest backup of every file back, and reports names that lead to no
    file. Returns the exit code."""
    ours, others = _our_backups(targets)
    latest = {path: files[-1].path for path, files in ours.items()}
    for path in _named_files(targets):
        if path not in latest and (older := backups.backups_named_after(path)):
            latest[path] = older[-1]
            others -= len(older)
    acts = {
        backup: partial(backups.restore, path, backup, force=force)
        for path, backup in latest.items()
    }
    lines = [f"{backup} -> {path}" for path, backup in latest.items()]
    code = _act(acts, targets.nowhere, lines, "put back", "Put these backups back?")
    _print_others(others)
    return code


def clean(targets: Targets) -> int:
    """Removes all backups, as `put_back` puts them back. Returns the exit code."""
    ours, others = _our_backups(targets)
    files = chain(*ours.values())
    acts = {backup.path: partial(backups.remove, backup) for backup in files}
    lines = [*map(str, acts)]
    code = _act(acts, targets.nowhere, lines, "removed", "Remove these backups?")
    _print_others(others)
    return code


def _print_others(others: int) -> None:
    """Prints how many files stay because only their names are like those of backups."""
    if others > 0:
        words = "left alone: named like a backup, but on no list of backups"
        Terminal().line(f"{count(others, 'file')} {words}")


def _our_backups(targets: Targets) -> tuple[dict[Path, list[OurBackup]], int]:
    """The backups that the sidecar made, by their files, and the number of other files
    that are named like backups."""
    ours: dict[Path, list[OurBackup]] = {}
    others, listed_in = 0, cache(backups.still_listed_in)
    for path in targets.paths:
        if path.is_dir():
            inner, inner_others = backups.backups_below(path)
            ours |= inner
            others += inner_others
            continue
        real = Path(os.path.realpath(path))
        listed = listed_in(real.parent).get(real.name, ())
        intact = [backup for backup in listed if backup.is_still]
        ours |= {real: intact} if intact else {}
        if path not in targets.of_agents:
            others += len(backups.backups_named_after(real)) - len(intact)
    return ours, others


def _named_files(targets: Targets) -> list[Path]:
    """The files that the user named directly, with links resolved."""
    paths = (path for path in targets.paths if path not in targets.of_agents)
    files = (Path(os.path.realpath(path)) for path in paths if not path.is_dir())
    return [*dict.fromkeys(files)]


def _act(
    acts: Mapping[Path, Callable[[], None]],
    nowhere: list[FileReport],
    lines: list[str],
    verb: str,
    question: str,
) -> int:
    """Lists, asks, and acts on each backup, even if another one fails."""
    terminal = Terminal()
    for report in nowhere:
        terminal.line(f"{report.path}: {report.error or '; '.join(reasons_of(report))}")
    for line in lines:
        terminal.line(line)
    is_terminal = sys.stdin is not None and sys.stdin.isatty()
    if acts and is_terminal and not click.confirm(question):
        return 0
    changed = []
    try:
        for backup, act in acts.items():
            try:
                act()
                changed.append(backup)
            except (OSError, CannotReplaceError) as error:
                terminal.line(f"{backup}: left alone: {error}")
    finally:
        backups.forget(changed)
    terminal.line(f"{count(len(changed), 'file')} {verb}")
    has_errors = len(changed) < len(acts) or any(report.error for report in nowhere)
    return 2 if has_errors else 0
