"""The file of ``--report`` or ``--html``: a new one, and never one that is read."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import IO, TYPE_CHECKING

import click

from stream_sidecar.rpc.new_files import open_new

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_OF_A_DATABASE = ("", "-wal", "-shm", "-journal")
"""What the files of one database are called, by what follows its name (SQLite)."""


def open_report(
    path: Path | None,
    files: Iterable[Path],
    *,
    force: bool,
    option: str = "--report",
    use: str = "repaired",
) -> IO[bytes] | None:
    """Opens the report about ``files``, which are in ``use``, to write to it; None:
    none is wanted. ``option`` gave the path.

    Its user alone may read it, as it holds what was in the files. UsageError when it
    would take the place of one of them, by whatever name, or of another file without
    ``force``. OSError when it cannot be made.
    """
    if path is None:
        return None
    if any(_is_of(path, file) for file in files):
        raise click.UsageError(f"{option} {path} is a file that is being {use}")
    try:
        return os.fdopen(open_new(str(path), replace=force), "wb")
    except FileExistsError:
        more = "; --force replaces no link" if path.is_symlink() else ""
        hint = more if force else f"; --force replaces it{more}"
        raise click.UsageError(f"{option} {path} exists{hint}") from None


def _is_of(path: Path, file: Path) -> bool:
    """Whether ``path`` is the session file, by any name and in whatever case that is
    spelled, or belongs to it."""
    real, named = os.path.realpath(path), os.path.realpath(file)
    for end in _OF_A_DATABASE:
        with suppress(OSError):
            if real == named + end or os.path.samefile(real, named + end):
                return True
    return False
