"""A file that is rewritten so that at every moment it is the old or the new one.

The new content goes into a file of its own beside it, is flushed to the disk, and takes
the old one's name at once; the old file stays as the backup, under a name that was
free. A process that is killed leaves the old file, or the new one, and perhaps the file
beside it, which the next run removes.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from contextlib import suppress
from itertools import count
from typing import IO, TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType

_SUFFIX = ".sidecar-new"
_STALE_SECONDS = 3600
"""A file beside that is older than this belongs to nobody any more."""

_CHUNK = 1 << 20


_State: TypeAlias = tuple[int, int, int, int]


class FileChangedError(Exception):
    """Somebody else has written to the file meanwhile; nothing was changed."""


class Replacement:
    """The next content of the file at ``path``.

    A context manager: without `commit` everything stays as it was. `begin` is told of
    the old file when it was opened; it must be closed again before `commit`, because
    Windows replaces no open file. Nothing is copied before the first `change`: `keep`
    notes how much of the old file stays.
    """

    def __init__(self, path: Path) -> None:
        self._path = path.resolve()
        self._state: _State | None = None
        self._new: IO[bytes] | None = None
        self._name = ""  # of the file beside
        self._kept = 0  # bytes at the start that are not copied yet

    def begin(self, old: IO[bytes]) -> None:
        """``old`` is read from now on; later it must be the same."""
        self._state = _state(os.fstat(old.fileno()))

    def keep(self, data: bytes) -> None:
        """``data``, which was read from the old file next, stays."""
        if self._new is None:
            self._kept += len(data)
        else:
            self._new.write(data)

    def change(self, data: bytes) -> None:
        """``data`` stands in place of what was read from the old file next."""
        if self._new is None:
            self._new = self._open()
        self._new.write(data)

    @property
    def changed(self) -> bool:
        return self._new is not None

    def commit(self) -> str:
        """Gives the file its new content; the path of the backup.

        FileChangedError when the old file is not what was read any more.
        """
        assert self._new is not None
        new = self._new
        new.flush()
        os.fsync(new.fileno())
        new.close()
        shutil.copystat(self._path, self._name)
        if _state(self._path.stat()) != self._state:
            raise FileChangedError("the file was changed meanwhile")
        backup = back_up(self._path)
        os.replace(self._name, self._path)
        self._new = None
        _sync_folder(self._path.parent)
        return str(backup)

    def __enter__(self) -> Replacement:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._new is not None:
            self._new.close()
            with suppress(OSError):
                os.unlink(self._name)

    def _open(self) -> IO[bytes]:
        _remove_stale(self._path)
        handle, self._name = tempfile.mkstemp(
            _SUFFIX, f".{self._path.name}.", self._path.parent
        )
        new = os.fdopen(handle, "wb")
        with self._path.open("rb") as old:
            left = self._kept
            while left and (data := old.read(min(left, _CHUNK))):
                new.write(data)
                left -= len(data)
        return new


def back_up(path: Path) -> Path:
    """Keeps what is at ``path`` under a further name, see `free_name`."""
    while True:
        backup = free_name(path)
        if backup.exists():
            return backup
        try:
            os.link(path, backup)
        except FileExistsError:
            continue
        except OSError:  # a file system without links
            _copy(path, backup)
        return backup


def free_name(path: Path) -> Path:
    """``<name>.bak``, or ``.bak2`` ... where that is taken by something else; a backup
    of a run that was killed, which is the very file, is taken again."""
    for number in count(1):
        name = path.with_name(f"{path.name}.bak{number if number > 1 else ''}")
        if not name.exists() or name.samefile(path):
            return name
    raise AssertionError("numbers do not end")


def _copy(path: Path, backup: Path) -> None:
    with path.open("rb") as old, backup.open("xb") as new:
        shutil.copyfileobj(old, new, _CHUNK)
        new.flush()
        os.fsync(new.fileno())
    shutil.copystat(path, backup)


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


def _remove_stale(path: Path) -> None:
    """Removes what a killed run has left beside ``path``."""
    for left in path.parent.glob(f".{_escaped(path.name)}.*{_SUFFIX}"):
        with suppress(OSError):
            if time.time() - left.stat().st_mtime > _STALE_SECONDS:
                left.unlink()


def _escaped(name: str) -> str:
    return "".join(f"[{each}]" if each in "*?[" else each for each in name)
