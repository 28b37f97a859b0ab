"""A file that is rewritten so that at every moment it is the old or the new one.

The new content goes into a file of its own beside it, is flushed to the disk, and takes
the old one's name at once; the old file itself stays as the backup. Windows does both
in one step, while nobody else can write; elsewhere the old file is looked at once more
when it has its new name. A process that is
killed leaves the old file, or the new one, and perhaps the file beside it, which the
next run removes.

A file that other programs would miss is left alone: one that is open for writing (what
is appended would go to the backup), one with further names, one whose owner cannot be
kept.
"""

from __future__ import annotations

import os
import shutil
import sys
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import IO, TypeAlias

from stream_sidecar.session_files import backups, windows
from stream_sidecar.session_files.beside import (
    CannotReplaceError,
    FileBeside,
    take_rights,
)
from stream_sidecar.session_files.writers import are_reported, has_writers

_CHUNK = 1 << 20

_State: TypeAlias = tuple[int, int, int, int]
"""Device, inode, size in bytes, time of the last change in ns."""


_CHANGED = "the file was changed meanwhile"
_OPEN = "another program has it open for writing"


class FileChangedError(Exception):
    """Somebody else has written to the file meanwhile; nothing was changed."""


class Replacement(AbstractContextManager["Replacement"]):
    """The next content of the file at ``path``.

    Without `commit` everything stays as it was. `begin` is told of
    the old file when it was opened; it must be closed again before `commit`, because
    Windows replaces no open file. Nothing is copied before the first `change`: `keep`
    notes how much of the old file stays. ``writers_unknown``: whether another program
    had the file open for writing could not be told.
    """

    def __init__(self, path: Path) -> None:
        self._path = Path(os.path.realpath(path))
        self._state: _State = (0, 0, 0, 0)
        self._new: FileBeside | None = None
        self._kept = 0  # bytes at the start that are not backups.copied yet
        self.writers_unknown = False

    def begin(self, old: IO[bytes]) -> None:
        """``old`` is read from now on; later it must be the same."""
        self._state = _state(os.fstat(old.fileno()))

    def keep(self, data: bytes) -> None:
        """``data``, which was read from the old file next, stays."""
        if self._new is None:
            self._kept += len(data)
        else:
            self._new.file.write(data)

    def change(self, data: bytes) -> None:
        """``data`` stands in place of what was read from the old file next."""
        if self._new is None:
            self._new = FileBeside(self._path)
            self._copy_kept(self._new)
        self._new.file.write(data)

    @property
    def changed(self) -> bool:
        return self._new is not None

    def commit(self) -> str:
        """Gives the file its new content; the path of the backup.

        FileChangedError when the old file is not what was read any more,
        CannotReplaceError when it must not be replaced.
        """
        assert self._new is not None
        self._new.sync()
        backup = self._take_place(self._new)
        self._new = None
        _sync_folder(self._path.parent)
        return str(backup)

    if sys.platform == "win32":

        def _take_place(self, new: FileBeside) -> Path:
            """The backup of what had the name before ``new``."""
            new.file.close()  # no open file can be renamed
            try:
                with windows.held(self._path):
                    self._check()
                    take_rights(new.name, self._path)
                    return self._swapped(new)
            except OSError as error:
                if windows.is_in_use(error):
                    raise CannotReplaceError(_OPEN) from None
                raise

        def _swapped(self, new: FileBeside) -> Path:
            backup = backups.free_name(self._path)
            try:
                windows.swap(new.name, self._path, backup)
            except OSError:
                if backup.exists() and not backup.stat().st_size:  # what held the name
                    backups.drop(backup)
                raise
            return backup

    else:

        def _take_place(self, new: FileBeside) -> Path:
            """The backup of what had the name before ``new``."""
            with self._path.open("rb") as old:
                self.writers_unknown = not are_reported(new.file.fileno())
                self._check()
                if self._is_written(old):
                    raise CannotReplaceError(_OPEN)
                take_rights(new.name, self._path)
                backup = backups.back_up(self._path)
                self._check_backup(backup)
                self._swap(new, backup)
                self._settle(old, backup, _state(self._path.stat()))
            return backup

    def _check(self) -> None:
        """Raises unless the old file may be replaced."""
        now = self._path.stat()
        if _state(now) != self._state:
            raise FileChangedError(_CHANGED)
        names = now.st_nlink
        if names > 1 and (names := names - backups.backup_links(self._path)) > 1:
            raise CannotReplaceError(f"it has {names} names (hard links)")

    def _check_backup(self, backup: Path) -> None:
        """Raises where somebody replaced the file right before it got its backup."""
        was_read = _state(os.lstat(backup)) == self._state
        if backups.is_same(backup, self._path) and not was_read:
            backups.drop(backup)
            raise FileChangedError(_CHANGED)

    def _swap(self, new: FileBeside, backup: Path) -> None:
        try:
            new.take_name(self._path)
        except OSError:
            backups.drop(backup)
            raise

    def _settle(self, old: IO[bytes], backup: Path, made: _State) -> None:
        """Puts the old file back when somebody has it open, or has written to it, since
        it was looked at: what was written would be in the backup only."""
        now = _state(os.fstat(old.fileno()))
        if self._is_written(old):
            self._restore(old, backup, made)
            raise CannotReplaceError(_OPEN)
        if now != self._state:
            self._restore(old, backup, made)
            raise FileChangedError(_CHANGED)

    def _is_written(self, old: IO[bytes]) -> bool:
        """Whether it is open for writing, as far as that is told."""
        reported = None if self.writers_unknown else has_writers(old.fileno())
        self.writers_unknown = reported is None
        return reported is True

    def _restore(self, old: IO[bytes], backup: Path, made: _State) -> None:
        if _state(self._path.stat()) != made:  # somebody writes to the new file, too
            raise FileChangedError(f"{_CHANGED}; what it was before is in {backup}")
        if not os.path.samestat(os.lstat(backup), os.fstat(old.fileno())):
            backups.drop(backup)  # a copy, of what the file was before
            backup = backups.copied(
                self._path, lambda new: shutil.copyfileobj(old, new.file)
            )
        backups.put(backup, self._path)

    def __exit__(self, *_: object) -> None:
        if self._new is not None:
            self._new.remove()

    def _copy_kept(self, new: FileBeside) -> None:
        with self._path.open("rb") as old:
            left = self._kept
            while left and (data := old.read(min(left, _CHUNK))):
                new.file.write(data)
                left -= len(data)


def _state(stat: os.stat_result) -> _State:
    return stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns


def _sync_folder(folder: Path) -> None:
    """Makes the new name last; not every system lets a folder be opened."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
