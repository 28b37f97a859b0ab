"""The old file, kept: as ``<name>.bak``, or ``.bak2`` ... where that is taken.

A backup takes nothing's place and follows no link: its name is given by link(2), which
fails where there is anything, a dangling link too. It has owner and rights of the file
that it is a copy of, and it has the name only when it is whole. `restore` puts one
back.
"""

from __future__ import annotations

import glob
import os
import shutil
from contextlib import suppress
from itertools import count
from typing import TYPE_CHECKING

from stream_sidecar import patterns
from stream_sidecar.session_files.beside import (
    CannotReplaceError,
    FileBeside,
    put,
    take_rights,
)
from stream_sidecar.session_files.writers import has_writers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

_CHUNK = 1 << 20
_BACKUP = patterns.compile(r"(?P<name>.+)\.bak(?P<number>[0-9]*)")


def back_up(path: Path) -> Path:
    """Keeps the file at ``path`` itself under a further name; a copy of it on a file
    system without links. A backup of a run that was killed, which is the very file, is
    taken again. OSError, CannotReplaceError: there is none."""
    for name in _names(path):
        try:
            os.link(path, name)
        except FileExistsError:
            if not is_same(name, path):
                continue
        except OSError:
            return copied(path, lambda new: _copy(path, new))
        return name
    raise AssertionError("numbers do not end")


def copied(path: Path, copy: Callable[[FileBeside], None]) -> Path:
    """Keeps what ``copy`` writes of the file at ``path``; the name of the backup."""
    new = FileBeside(path)
    try:
        copy(new)
        new.sync()
        take_rights(new.name, path)
        return _named(new, path)
    finally:
        new.remove()


def backup_links(path: Path) -> int:
    """How many backups are the very file, because a run was killed that made them."""
    links = 0
    for name in _names(path):
        if not os.path.lexists(name):
            return links
        links += is_same(name, path)
    raise AssertionError("numbers do not end")


def is_same(name: Path, path: Path) -> bool:
    """Whether ``name`` itself, and not what it may link to, is the file at ``path``."""
    with suppress(OSError):
        return os.path.samestat(os.lstat(name), os.stat(path))
    return False


def _names(path: Path) -> Iterator[Path]:
    for number in count(1):
        yield path.with_name(f"{path.name}.bak{number if number > 1 else ''}")


def _copy(path: Path, new: FileBeside) -> None:
    with path.open("rb") as old:
        shutil.copyfileobj(old, new.file, _CHUNK)


def _named(new: FileBeside, path: Path) -> Path:
    """Gives ``new`` the first free name of a backup."""
    for name in _names(path):
        try:
            os.link(new.name, name)
        except FileExistsError:
            continue
        except OSError:  # no links: an empty file holds the name until it is replaced
            if not _is_ours(name):
                continue
            new.take_name(name)
        return name
    raise AssertionError("numbers do not end")


def free_name(path: Path) -> Path:
    """The first free name of a backup, held by an empty file."""
    return next(name for name in _names(path) if _is_ours(name))


def _is_ours(name: Path) -> bool:
    """Whether nobody had the name; an empty file holds it from now on."""
    try:
        name.touch(0o600, exist_ok=False)
    except FileExistsError:
        return False
    return True


def backups_of(path: Path) -> list[Path]:
    """The backups of the file at ``path``, the oldest first; the last is that of the
    latest repair."""
    found = []
    for each in path.parent.glob(f"{glob.escape(path.name)}.bak*"):
        told = _BACKUP.fullmatch(each.name)
        if told and told["name"] == path.name and each.is_file():
            found.append((int(told["number"] or 1), each))
    return [each for _, each in sorted(found)]


def backed_up_in(folder: Path) -> list[Path]:
    """The files in ``folder``, at any depth, that have backups."""
    names = (each for each in folder.rglob("*.bak*") if _BACKUP.fullmatch(each.name))
    return sorted({_original(each) for each in names if each.is_file()})


def _original(backup: Path) -> Path:
    told = _BACKUP.fullmatch(backup.name)
    return backup if told is None else backup.with_name(told["name"])


def restore(path: Path, backup: Path, *, force: bool = False) -> None:
    """Puts ``backup`` in the place of the file at ``path``, which it is a backup of.

    CannotReplaceError when another program has the file open for writing, and, unless
    ``force``, when somebody has written to it since: what was written would be lost.
    """
    if path.exists():
        with path.open("rb") as file:
            if has_writers(file.fileno()):
                raise CannotReplaceError("another program has it open for writing")
        if not force and _was_written(path, backup):
            raise CannotReplaceError("it was written to since; --force replaces it")
    put(backup, path)
    for suffix in ("-wal", "-shm"):  # of the database that is gone
        with suppress(FileNotFoundError):
            os.unlink(f"{path}{suffix}")


def _was_written(path: Path, backup: Path) -> bool:
    """A repaired file has the time of its backup."""
    log = path.with_name(f"{path.name}-wal")
    if log.exists() and log.stat().st_size:
        return True
    return path.stat().st_mtime_ns != backup.stat().st_mtime_ns
