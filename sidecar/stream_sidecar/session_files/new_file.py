"""A new file beside another one: it is written completely before it gets its name.

Until then it is called ``.<name>.<letters>.sidecar-new``. Only its user may read it,
and it is locked as long as its maker lives. If it is not locked, its maker was killed,
and `remove_leftovers` removes it. The lock is that of flock(2), which ends with the
process. Windows does not remove an open file, which has the same effect.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from stream_sidecar.session_files.names import NEW_SUFFIX

if sys.platform == "win32":
    from stream_sidecar.session_files.windows import put, remove
else:
    import fcntl
    from os import replace as put
    from os import unlink as remove

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "CannotReplaceError",
    "NewFile",
    "copy_attributes",
    "put",
    "remove",
    "remove_leftovers",
]


class CannotReplaceError(Exception):
    """Replacing the file would lose something; nothing was changed."""


class NewFile:
    """A file beside ``path``: write to ``file``, then `take_name` or `remove`."""

    def __init__(self, path: Path) -> None:
        while True:
            handle, name = tempfile.mkstemp(NEW_SUFFIX, f".{path.name}.", path.parent)
            if _is_still_there(handle, name):
                break
            os.close(handle)  # it was removed as a leftover before it was locked
        self.file, self.name = os.fdopen(handle, "wb"), Path(name)

    def sync(self) -> None:
        """Makes sure that everything that was written is on the disk."""
        self.file.flush()
        os.fsync(self.file.fileno())

    def take_name(self, path: Path) -> None:
        """Renames the file to ``path``, in place of the file that is there."""
        if sys.platform == "win32":  # no open file can be renamed there
            self.file.close()
        put(self.name, path)
        self.file.close()

    def remove(self) -> None:
        """Closes and removes the file, even if the disk is full; also twice."""
        try:
            with suppress(OSError):
                self.file.close()
        finally:
            with suppress(OSError):
                remove(self.name)


def copy_attributes(name: Path, like: Path) -> None:
    """Gives the file ``name`` the owner, group, rights, times and attributes of
    ``like``.

    CannotReplaceError if this process may not.
    """
    copy_owner(name, like)
    shutil.copystat(like, name)


def copy_owner(name: Path, like: Path) -> None:
    """Gives the file ``name`` the owner and group of ``like``; CannotReplaceError if
    this process may not."""
    if sys.platform != "win32":
        old, new = os.stat(like), os.stat(name)
        if (old.st_uid, old.st_gid) != (new.st_uid, new.st_gid):
            try:
                os.chown(name, old.st_uid, old.st_gid)
            except OSError:
                raise CannotReplaceError("its owner and group cannot be kept") from None


def remove_leftovers(folders: Iterable[Path]) -> None:
    """Removes the new files that killed runs have left in ``folders``."""
    for folder in folders:
        with suppress(OSError), os.scandir(folder) as entries:
            for entry in entries:
                is_ours = entry.name.startswith(".") and entry.name.endswith(NEW_SUFFIX)
                if is_ours and entry.is_file(follow_symlinks=False):
                    _remove_leftover(entry.path)


if sys.platform == "win32":

    def _is_still_there(_handle: int, _name: str) -> bool:
        return True

    def _remove_leftover(name: str) -> None:
        with suppress(OSError):
            os.unlink(name)

else:

    def _is_still_there(handle: int, name: str) -> bool:
        """Locks a file that was just made; False if it was removed before."""
        with suppress(OSError):  # of file systems without locks
            fcntl.flock(handle, fcntl.LOCK_EX)
        return os.path.lexists(name)

    def _remove_leftover(name: str) -> None:
        for access in (os.O_RDWR, os.O_RDONLY):  # network file systems need the first
            with suppress(OSError):
                handle = os.open(name, access | os.O_NOFOLLOW)
                try:
                    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    os.unlink(name)
                finally:
                    os.close(handle)
                return
