"""``repair --restore`` and ``--clean``: the way back, and the end of it.

Both list what they will do first, and ask on a terminal whether they may. Only backups
that we made are dealt with. One that is on no list, because it was made before there
were lists, is put back when its file is named itself, and never removed.
"""

from __future__ import annotations

import os
import sys
from functools import cache, partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import click

from stream_sidecar.cli.repair_formats import why
from stream_sidecar.cli.repair_page import count
from stream_sidecar.cli.terminal import Terminal
from stream_sidecar.records import field, frozen
from stream_sidecar.session_files import backups
from stream_sidecar.session_files.beside import CannotReplaceError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from stream_sidecar.session_files.backups import OurBackup
    from stream_sidecar.session_files.reports import FileReport


@frozen
class Meant:
    """What was named: files and folders, those ``of_agents`` among them, and a report
    of each name that is ``nowhere``."""

    paths: list[Path] = field(factory=list)
    of_agents: set[Path] = field(factory=set)
    nowhere: list[FileReport] = field(factory=list)


def put_back(meant: Meant, *, force: bool) -> int:
    """The latest backup of every file in its place; the exit code. What is nowhere is
    told."""
    ours, others = _ours(meant)
    latest = {path: each[-1].path for path, each in ours.items()}
    for path in _named(meant):
        if path not in latest and (older := backups.backups_named_after(path)):
            latest[path] = older[-1]
            others -= len(older)
    acts = {
        backup: partial(backups.restore, path, backup, force=force)
        for path, backup in latest.items()
    }
    listed = [f"{backup} -> {path}" for path, backup in latest.items()]
    code = _done(acts, meant.nowhere, listed, "put back")
    _tell_of(others)
    return code


def clean(meant: Meant) -> int:
    """Removes all backups; the exit code. What is nowhere is told."""
    ours, others = _ours(meant)
    acts = {each.path: partial(backups.remove, each) for each in chain(*ours.values())}
    code = _done(acts, meant.nowhere, [*map(str, acts)], "removed")
    _tell_of(others)
    return code


def _tell_of(others: int) -> None:
    """That files stay which are only named like backups."""
    if others > 0:
        words = "on no list of ours, with the name of a backup: left alone"
        Terminal().line(f"{count(others, 'file')} {words}")


def _ours(meant: Meant) -> tuple[dict[Path, list[OurBackup]], int]:
    """The backups that we made of what is meant, by their files; and how many others
    are named like backups."""
    found: dict[Path, list[OurBackup]] = {}
    others, listed = 0, cache(backups.still_listed_in)
    for path in meant.paths:
        if path.is_dir():
            inner, named = backups.backups_below(path)
            found |= inner
            others += named
            continue
        real = Path(os.path.realpath(path))
        here = [
            each for each in listed(real.parent).get(real.name, ()) if each.is_still
        ]
        found |= {real: here} if here else {}
        if path not in meant.of_agents:
            others += len(backups.backups_named_after(real)) - len(here)
    return found, others


def _named(meant: Meant) -> list[Path]:
    """The files that were named themselves, where links to them lead."""
    named = (path for path in meant.paths if path not in meant.of_agents)
    files = (Path(os.path.realpath(path)) for path in named if not path.is_dir())
    return [*dict.fromkeys(files)]


def _done(
    acts: Mapping[Path, Callable[[], None]],
    nowhere: list[FileReport],
    listed: list[str],
    words: str,
) -> int:
    """Lists, asks, and acts on each backup, whatever becomes of the others."""
    terminal = Terminal()
    for report in nowhere:
        terminal.line(f"{report.path}: {report.error or '; '.join(why(report))}")
    for line in listed:
        terminal.line(line)
    is_terminal = sys.stdin is not None and sys.stdin.isatty()
    if acts and is_terminal and not click.confirm(f"To be {words}?"):
        return 0
    done = []
    try:
        for backup, act in acts.items():
            try:
                act()
                done.append(backup)
            except (OSError, CannotReplaceError) as error:
                terminal.line(f"{backup}: left alone: {error}")
    finally:
        backups.forget(done)
    terminal.line(f"{count(len(done), 'file')} {words}")
    missed = len(done) < len(acts) or any(report.error for report in nowhere)
    return 2 if missed else 0
