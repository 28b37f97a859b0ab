"""Backups: the old file as ``<name>.bak``, or ``.bak2`` ... if that name is taken.

A backup replaces no file and follows no link. Its name is made with link(2), which
fails if anything has the name, even a dangling link. A backup has the owner and the
rights of the file that it is a copy of, and it gets its name only when it is complete.
It is on the list of its folder (`manifest`) before it has the name, and comes off the
list when it is gone. A file that is not on the list is somebody else's. `restore` puts
a backup back.
"""

from __future__ import annotations

import glob
import os
import shutil
import sqlite3
from contextlib import closing, suppress
from functools import partial
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING

from stream_sidecar.records import frozen
from stream_sidecar.session_files.manifest import (
    Manifest,
    fingerprint_of,
    is_still,
    noted_in,
)
from stream_sidecar.session_files.names import MANIFEST, backup_of
from stream_sidecar.session_files.new_file import (
    CannotReplaceError,
    NewFile,
    copy_attributes,
)
from stream_sidecar.session_files.new_file import put as move
from stream_sidecar.session_files.new_file import remove as unlink
from stream_sidecar.session_files.writers import has_writers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from stream_sidecar.session_files.manifest import Fingerprint

_CHUNK = 1 << 20


def back_up(path: Path) -> Path:
    """Keeps the file at ``path`` itself under a further name, or a copy of the file on
    a file system without links. If a killed run left such a name, it is used again.
    OSError, CannotReplaceError: there is no backup."""
    content, links = fingerprint_of(path), _links(path)
    if links:
        with Manifest(path.parent) as manifest:
            manifest.note(links[0], content, path)
        return links[0]
    try:
        return _name_backup(path, content, partial(os.link, path))
    except OSError:
        with path.open("rb") as old:
            return copied(path, lambda new: shutil.copyfileobj(old, new.file, _CHUNK))


def copied(path: Path, copy: Callable[[NewFile], None]) -> Path:
    """Makes a backup from what ``copy`` writes of the file at ``path``: its path."""
    new = NewFile(path)
    try:
        copy(new)
        new.sync()
        copy_attributes(new.name, path)
        return _name_backup(path, fingerprint_of(new.name), partial(_take, new))
    finally:
        new.remove()


def drop(backup: Path) -> None:
    """Removes a backup, and takes it off the list."""
    unlink(backup)
    forget([backup])


def put(backup: Path, path: Path) -> None:
    """Puts a backup in the place of the file at ``path``, and takes it off the list."""
    _put(backup, path)
    forget([backup])


def _put(backup: Path, path: Path) -> None:
    if is_same(backup, path):  # of a run that was killed
        unlink(backup)
    else:
        move(backup, path)


def forget(backups: Iterable[Path]) -> None:
    """Takes those of ``backups`` that are gone off the lists of their folders."""
    folders: dict[Path, list[Path]] = {}
    for backup in backups:
        folders.setdefault(backup.parent, []).append(backup)
    for folder, removed in folders.items():
        _forget_in(folder, removed)


def _forget_in(folder: Path, backups: Iterable[Path]) -> None:
    if os.path.lexists(folder / MANIFEST):
        with suppress(OSError), Manifest(folder) as manifest:
            for backup in backups:
                if not os.path.lexists(backup):
                    manifest.forget(backup)
            manifest.tidy()


def backup_links(path: Path) -> int:
    """How many backups are names of the file itself, left by killed runs."""
    return len(_links(path))


def _links(path: Path) -> list[Path]:
    if path.stat().st_nlink < 2:
        return []
    backups = listed_in(path.parent).get(path.name, ())
    return [backup.path for backup in backups if is_same(backup.path, path)]


def is_same(name: Path, path: Path) -> bool:
    """Whether ``name`` itself, not the target of a link, is the file at ``path``."""
    with suppress(OSError):
        return os.path.samestat(os.lstat(name), os.stat(path))
    return False


def _name_backup(
    path: Path, content: Fingerprint, take: Callable[[Path], None]
) -> Path:
    """Puts the first free name for a backup of the file at ``path`` on the list of its
    folder, and returns it. ``take`` gives the backup the name, and raises
    FileExistsError if somebody else has it by then."""
    with Manifest(path.parent) as manifest:
        for number in count(1):
            name = path.with_name(f"{path.name}.bak{number if number > 1 else ''}")
            if os.path.lexists(name):
                continue
            manifest.note(name, content, path)
            try:
                take(name)
            except FileExistsError:
                manifest.forget(name)
            except OSError:
                manifest.forget(name)
                manifest.tidy()
                raise
            else:
                return name
    raise AssertionError("numbers do not end")


_reserve = partial(Path.touch, mode=0o600, exist_ok=False)
"""Reserves a name with an empty file, which is replaced later."""


def _take(new: NewFile, name: Path) -> None:
    """Gives ``new`` the ``name``; FileExistsError if somebody else has it."""
    try:
        os.link(new.name, name)
    except FileExistsError:
        raise
    except OSError:  # no links
        _reserve(name)
        try:
            new.take_name(name)
        except OSError:
            unlink(name)
            raise


def free_name(path: Path) -> Path:
    """Reserves the first free name for a backup of the file at ``path`` with an empty
    file. The name is on the list of its folder."""
    return _name_backup(path, fingerprint_of(path), _reserve)


@frozen
class OurBackup:
    """A backup that is on the list of its folder, with what the list says of it."""

    path: Path
    content: Fingerprint

    @property
    def is_still(self) -> bool:
        """Whether the file is still the one that was put on the list."""
        return is_still(self.path, self.content)


def listed_in(folder: Path) -> dict[str, list[OurBackup]]:
    """The backups on the list of ``folder``, by the names of their files, the oldest
    first. The last one is that of the latest repair."""
    backups: dict[str, list[OurBackup]] = {}
    contents = noted_in(folder)
    names = [(old, name) for name in contents if (old := backup_of(name)) is not None]
    for (original, _), name in sorted(names):
        backup = OurBackup(folder / name, contents[name])
        backups.setdefault(original, []).append(backup)
    return backups


def still_listed_in(folder: Path) -> dict[str, list[OurBackup]]:
    """As `listed_in`. Afterwards, backups that are gone come off the list, and an empty
    list is removed: a run may have been killed before it did that."""
    backups = listed_in(folder)
    paths = [backup.path for backup in chain.from_iterable(backups.values())]
    if not all(map(os.path.lexists, paths)) or not paths:
        _forget_in(folder, paths)
    return backups


def backups_below(folder: Path) -> tuple[dict[Path, list[OurBackup]], int]:
    """Our backups in ``folder`` at any depth, by their files, and the number of other
    files that are named like backups."""
    backups: dict[Path, list[OurBackup]] = {}
    others = 0
    for parent, folders, names in os.walk(folder):
        folders.sort()
        others += sum(backup_of(name) is not None for name in names)
        listed = still_listed_in(Path(parent)) if MANIFEST in names else {}
        for name in sorted(listed):
            if intact := [backup for backup in listed[name] if backup.is_still]:
                backups[Path(parent, name)] = intact
                others -= len(intact)
    return backups, others


def backups_named_after(path: Path) -> list[Path]:
    """The files named like backups of ``path``, whoever made them, the oldest first."""
    numbers: dict[Path, int] = {}
    for backup in path.parent.glob(f"{glob.escape(path.name)}.bak*"):
        match backup_of(backup.name):
            case path.name, number if backup.is_file():
                numbers[backup] = number
    return sorted(numbers, key=numbers.__getitem__)


def restore(path: Path, backup: Path, *, force: bool = False) -> None:
    """Puts ``backup`` in the place of the file at ``path``. The backup is not taken off
    the list of its folder.

    CannotReplaceError if another program has the file open for writing. Unless
    ``force``, also if somebody has written to the file since: the new text would be
    lost.
    """
    if path.exists():
        with path.open("rb") as file:
            if has_writers(file.fileno()):
                raise CannotReplaceError("another program has it open for writing")
        if not force and _was_written(path, backup):
            raise CannotReplaceError("it was written to since; --force replaces it")
    if os.path.exists(f"{path}-wal"):
        # If the run is killed before it removes a database's log, the log must not have
        # anything that the restored database would read.
        with suppress(sqlite3.Error), closing(sqlite3.connect(path)) as database:
            database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    _put(backup, path)
    for suffix in ("-wal", "-shm"):  # of the database that is gone
        with suppress(FileNotFoundError):
            os.unlink(f"{path}{suffix}")


def _was_written(path: Path, backup: Path) -> bool:
    """Whether the file was written to since its repair, which left the file and its
    backup with the same time."""
    log = path.with_name(f"{path.name}-wal")
    if log.exists() and log.stat().st_size:
        return True
    return path.stat().st_mtime_ns != backup.stat().st_mtime_ns


def remove(backup: OurBackup) -> None:
    """Removes a backup, which is not taken off the list of its folder.
    CannotReplaceError if somebody has changed the backup."""
    if not backup.is_still:
        raise CannotReplaceError("somebody has changed it")
    unlink(backup.path)
