"""``repair --restore`` and ``--clean``: the way back, and the end of it.

Both list what they will do first, and ask on a terminal whether they may.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from stream_sidecar.cli.repair_page import count
from stream_sidecar.cli.terminal import Terminal
from stream_sidecar.session_files.backups import backed_up_in, backups_of, restore
from stream_sidecar.session_files.beside import CannotReplaceError, remove

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from stream_sidecar.session_files.reports import FileReport


def put_back(paths: list[Path], nowhere: list[FileReport], *, force: bool) -> int:
    """The latest backup of every file in its place; the exit code. What is ``nowhere``
    is told."""
    backups = {path: backups_of(path)[-1] for path in _with_backups(paths)}
    listed = [f"{backup} -> {path}" for path, backup in backups.items()]

    def put(path: Path) -> None:
        restore(path, backups[path], force=force)

    return _done([*backups], nowhere, listed, put, "put back")


def clean(paths: list[Path], nowhere: list[FileReport]) -> int:
    """Removes all backups; the exit code. What is ``nowhere`` is told."""
    backups = [each for path in _with_backups(paths) for each in backups_of(path)]
    return _done(backups, nowhere, [*map(str, backups)], remove, "removed")


def _with_backups(paths: list[Path]) -> list[Path]:
    """The files that are meant and have backups, each once."""
    found: dict[Path, None] = {}
    for path in paths:
        files = backed_up_in(path) if path.is_dir() else [path]
        found |= dict.fromkeys(each for each in files if backups_of(each))
    return [*found]


def _done(
    paths: list[Path],
    nowhere: list[FileReport],
    listed: list[str],
    act: Callable[[Path], None],
    words: str,
) -> int:
    """Lists, asks, and does it to each path, whatever becomes of the others."""
    terminal = Terminal()
    for report in nowhere:
        terminal.line(f"{report.path}: {report.error}")
    for line in listed:
        terminal.line(line)
    is_terminal = sys.stdin is not None and sys.stdin.isatty()
    if paths and is_terminal and not click.confirm(f"To be {words}?"):
        return 0
    done = 0
    for path in paths:
        try:
            act(path)
            done += 1
        except (OSError, CannotReplaceError) as error:
            terminal.line(f"{path}: left alone: {error}")
    terminal.line(f"{count(done, 'file')} {words}")
    return 0 if done == len(paths) and not nowhere else 2
