"""A file that is rewritten so that at every moment it is the old or the new one.

The new content is written to a file beside the old one and flushed to the disk. Then
the new file gets the old one's name in one step, and the old file stays as the backup.
Windows does both in one step, while nobody else can write. On other systems, the old
file is checked once more after the new one has its name. A process that is killed
leaves the old file or the new one, and perhaps the file beside it, which the next run
removes.

A file is left alone if another program would lose something: if it is open for writing
(what is appended would go to the backup), if it has further names, or if its owner
cannot be kept.
"""

from __future__ import annotations

import os
import shutil
import sys
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import IO, TypeAlias

from stream_sidecar.session_files import backups, windows
from stream_sidecar.session_files.new_file import (
    CannotReplaceError,
    NewFile,
    copy_attributes,
)
from stream_sidecar.session_files.writers import has_writers, reports_writers

_CHUNK = 1 << 20

_State: TypeAlias = tuple[int, int, int, int]
"""Device, inode, size in bytes, time of the last change in ns."""

_CHANGED = "the file was changed meanwhile"
_OPEN = "another program has it open for writing"


class FileChangedError(Exception):
    """Somebody else has written to the file meanwhile; it keeps what they wrote."""


class Replacement(AbstractContextManager["Replacement"]):
    """The next content of the file at ``path``.

    Without `commit` everything stays as it was. `begin` gets the old file right after
    it was opened; the old file must be closed before `commit`, because Windows replaces
    no open file. Nothing is copied before the first `change`: `keep` notes how much of
    the old file stays. ``writers_unknown``: the system did not say whether another
    program had the file open for writing.
    """

    def __init__(self, path: Path) -> None:
        self._path = Path(os.path.realpath(path))
        self._state: _State = (0, 0, 0, 0)
        self._new: NewFile | None = None
        self._prefix = 0  # bytes at the start that are not copied yet
        self.writers_unknown = False

    def begin(self, old: IO[bytes]) -> None:
        """Notes the state of ``old``, which must be the same at `commit`."""
        self._state = _state(os.fstat(old.fileno()))

    def keep(self, data: bytes) -> None:
        """Keeps ``data``, the next bytes of the old file."""
        if self._new is None:
            self._prefix += len(data)
        else:
            self._new.file.write(data)

    def change(self, data: bytes) -> None:
        """Writes ``data`` in place of the next bytes of the old file."""
        if self._new is None:
            self._new = NewFile(self._path)
            with self._path.open("rb") as old:
                while self._prefix and (copy := old.read(min(self._prefix, _CHUNK))):
                    self._new.file.write(copy)
                    self._prefix -= len(copy)
        self._new.file.write(data)

    @property
    def changed(self) -> bool:
        return self._new is not None

    def commit(self) -> str:
        """Gives the file its new content, and returns the path of the backup.

        FileChangedError if the old file has changed since `begin`, CannotReplaceError
        if it must not be replaced.
        """
        assert self._new is not None
        self._new.sync()
        backup = self._take_place(self._new)
        self._new = None
        _sync_folder(self._path.parent)
        return str(backup)

    if sys.platform == "win32":

        def _take_place(self, new: NewFile) -> Path:
            """Puts ``new`` in the place of the old file, and returns the backup."""
            new.file.close()  # no open file can be renamed
            try:
                with windows.held(self._path):
                    self._check()
                    copy_attributes(new.name, self._path)
                    return self._swap(new)
            except OSError as error:
                if windows.is_in_use(error):
                    raise CannotReplaceError(_OPEN) from None
                raise

        def _swap(self, new: NewFile) -> Path:
            backup = backups.free_name(self._path)
            try:
                windows.swap(new.name, self._path, backup)
            except OSError:
                if backup.exists() and not backup.stat().st_size:  # a reserved name
                    backups.drop(backup)
                raise
            return backup

    else:

        def _take_place(self, new: NewFile) -> Path:
            """Puts ``new`` in the place of the old file, and returns the backup."""
            with self._path.open("rb") as old:
                self.writers_unknown = not reports_writers(new.file.fileno())
                self._check()
                if self._is_written(old):
                    raise CannotReplaceError(_OPEN)
                copy_attributes(new.name, self._path)
                backup = backups.back_up(self._path)
                was_read = _state(os.lstat(backup)) == self._state
                if backups.is_same(backup, self._path) and not was_read:
                    backups.drop(backup)
                    raise FileChangedError(_CHANGED)  # right before its backup
                try:
                    new.take_name(self._path)
                except OSError:
                    backups.drop(backup)
                    raise
                self._settle(old, backup, _state(self._path.stat()))
            return backup

    def _check(self) -> None:
        """Raises if the old file may not be replaced."""
        now = self._path.stat()
        if _state(now) != self._state:
            raise FileChangedError(_CHANGED)
        names = now.st_nlink
        if names > 1 and (names := names - backups.backup_links(self._path)) > 1:
            raise CannotReplaceError(f"it has {names} names (hard links)")

    def _settle(self, old: IO[bytes], backup: Path, new_state: _State) -> None:
        """Puts the old file back if somebody has it open, or has written to it, since
        it was checked: what they wrote would be in the backup only."""
        now = _state(os.fstat(old.fileno()))
        if self._is_written(old):
            self._restore(old, backup, new_state)
            raise CannotReplaceError(_OPEN)
        if now != self._state:
            self._restore(old, backup, new_state)
            raise FileChangedError(_CHANGED)

    def _is_written(self, old: IO[bytes]) -> bool:
        """Whether the file is open for writing, as far as the system says so."""
        answer = None if self.writers_unknown else has_writers(old.fileno())
        self.writers_unknown = answer is None
        return answer is True

    def _restore(self, old: IO[bytes], backup: Path, new_state: _State) -> None:
        if (
            _state(self._path.stat()) != new_state
        ):  # somebody writes to the new file, too
            raise FileChangedError(f"{_CHANGED}; what it was before is in {backup}")
        if not os.path.samestat(os.lstat(backup), os.fstat(old.fileno())):
            backups.drop(backup)  # a copy from before the change
            backup = backups.copied(
                self._path, lambda new: shutil.copyfileobj(old, new.file)
            )
        backups.put(backup, self._path)

    def __exit__(self, *_: object) -> None:
        if self._new is not None:
            self._new.remove()


def _state(stat: os.stat_result) -> _State:
    return stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns


def _sync_folder(folder: Path) -> None:
    """Makes the new name last on the disk; not every system can open a folder."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
