"""The paths of a command's arguments, and the file of ``--report`` or ``--html``: a new
file, never a file that is read."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click

from stream_sidecar.rpc.new_files import open_new

if TYPE_CHECKING:
    from collections.abc import Iterable

_OF_A_DATABASE = ("", "-wal", "-shm", "-journal")
"""What follows a database's name in the names of its files (SQLite)."""


class PathArgument(click.Path):
    """A path. An empty one is a mistake (a variable of the shell that is not set), and
    does not mean the current folder."""

    def __init__(self, **options: Any) -> None:
        super().__init__(path_type=Path, **options)

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Any:
        if not str(value):
            self.fail("the path is empty", param, ctx)
        return super().convert(value, param, ctx)


def open_report(
    path: Path | None,
    files: Iterable[Path],
    *,
    force: bool,
    option: str = "--report",
    use: str = "repaired",
) -> IO[bytes] | None:
    """Opens the report about ``files`` for writing; None without a ``path``. ``option``
    gave the path, and ``use`` says in errors what happens to the files.

    Only the user may read the report, because it contains text of the files. Raises
    UsageError if the report would replace one of them, by whatever name, or another
    file without ``force``. Raises OSError if it cannot be made.
    """
    if path is None:
        return None
    if any(_is_of(path, file) for file in files):
        raise click.UsageError(f"{option} {path} is a file that is being {use}")
    try:
        return os.fdopen(open_new(str(path), replace=force), "wb")
    except FileExistsError:
        more = "; --force does not replace links" if path.is_symlink() else ""
        hint = more if force else f"; --force replaces it{more}"
        raise click.UsageError(f"{option} {path} exists{hint}") from None


def _is_of(path: Path, file: Path) -> bool:
    """Whether ``path`` leads to ``file`` or to a file of the same database. Links,
    other names of the file, and upper and lower case do not matter."""
    real, named = os.path.realpath(path), os.path.realpath(file)
    for end in _OF_A_DATABASE:
        with suppress(OSError):
            if real == named + end or os.path.samefile(real, named + end):
                return True
    return False
