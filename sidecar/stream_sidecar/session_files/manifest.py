"""Which backups are ours: a list in the folder where they are.

``.stream-sidecar-backups`` has a line of JSON for each backup, written before the
backup gets its name: ``{"name": "a.jsonl.bak", "size": 120, "sha256": "9f86.."}``. A
later line with the name alone takes the backup off the list, and the list is removed
with its last backup. Part of a line, which a killed process may leave, is ignored. A
file whose name, size and hash are not on the list is somebody else's.
"""

from __future__ import annotations

import hashlib
import os
import stat
import sys
from contextlib import suppress
from typing import IO, TYPE_CHECKING, Any

from stream_sidecar.records import frozen
from stream_sidecar.session_files.names import MANIFEST
from stream_sidecar.session_files.new_file import copy_owner
from stream_sidecar.values.jsontext import decode, dumps

if sys.platform != "win32":
    import fcntl

if TYPE_CHECKING:
    from pathlib import Path

_READ = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_APPEND = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
_IS_WINDOWS = os.name == "nt"
_BINARY = getattr(os, "O_BINARY", 0)


@frozen
class Fingerprint:
    """What the list says of the content of a backup."""

    size: int
    sha256: str


def fingerprint_of(path: Path) -> Fingerprint:
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        return Fingerprint(file.tell(), digest)


def noted_in(folder: Path) -> dict[str, Fingerprint]:
    """The backups on the list of ``folder``, by their names."""
    try:
        handle = os.open(folder / MANIFEST, _READ | _BINARY)
    except OSError:
        return {}
    with os.fdopen(handle, "rb") as file:
        is_file = stat.S_ISREG(os.fstat(file.fileno()).st_mode)
        return _noted(file) if is_file else {}


def _noted(file: IO[bytes]) -> dict[str, Fingerprint]:
    contents: dict[str, Fingerprint] = {}
    for line in file:
        try:
            entry = decode(line)
        except (ValueError, RecursionError):
            continue
        if not isinstance(entry, dict) or not _is_name(entry.get("name")):
            continue
        contents.pop(entry["name"], None)
        if isinstance(entry.get("size"), int) and isinstance(entry.get("sha256"), str):
            contents[entry["name"]] = Fingerprint(entry["size"], entry["sha256"])
    return contents


def _is_name(name: object) -> bool:
    """Whether ``name`` is a file's name in the folder itself. A list may come from
    anybody, and a path would lead out of the folder."""
    return isinstance(name, str) and name == os.path.basename(name) and "\0" not in name


def is_still(backup: Path, content: Fingerprint) -> bool:
    """Whether the file is the one that was put on the list under its name."""
    with suppress(OSError):
        status = backup.lstat()
        if stat.S_ISREG(status.st_mode) and status.st_size == content.size:
            return fingerprint_of(backup) == content
    return False


class Manifest:
    """The list of a folder, open for writing and locked against other writers. A list
    without backups is removed at the end."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / MANIFEST
        self._handle = -1
        self._is_done = False

    def __enter__(self) -> Manifest:
        while True:
            self._handle = os.open(self._path, _APPEND | _BINARY, 0o600)
            _lock(self._handle)
            if self._is_there():
                return self
            os.close(self._handle)  # it was removed before it was locked

    def _is_there(self) -> bool:
        """Whether the opened file has its name; OSError if that is no file's."""
        with suppress(FileNotFoundError):
            status = self._path.lstat()
            if not stat.S_ISREG(status.st_mode):
                os.close(self._handle)
                raise OSError(f"{self._path} is not a file")
            return os.path.samestat(os.fstat(self._handle), status)
        return False

    def __exit__(self, *_: object) -> None:
        is_empty = self._is_done or not os.fstat(self._handle).st_size
        if is_empty and not _IS_WINDOWS:
            self._remove()
        os.close(self._handle)
        if is_empty and _IS_WINDOWS:  # which removes no file that is open
            self._remove()

    def note(self, backup: Path, content: Fingerprint, like: Path) -> None:
        """Puts a backup of the file ``like`` on the list. A new list gets the owner of
        ``like``. OSError, CannotReplaceError: the backup is not on the list."""
        if not os.fstat(self._handle).st_size:
            copy_owner(self._path, like)
            self._path.chmod(like.stat().st_mode & 0o777 | 0o600)
        entry = {"name": backup.name, "size": content.size, "sha256": content.sha256}
        self._write(entry)
        os.fsync(self._handle)

    def forget(self, backup: Path) -> None:
        """Takes a backup off the list."""
        self._write({"name": backup.name})

    def tidy(self) -> None:
        """Lets the list be removed at the end if none of its backups is left."""
        folder = self._path.parent
        if not any(os.path.lexists(folder / name) for name in noted_in(folder)):
            self._is_done = True

    def _write(self, entry: dict[str, Any]) -> None:
        """Appends one line, or nothing. A line break comes first, because part of
        another line may be there. Bytes that are not text are half surrogates."""
        size = os.fstat(self._handle).st_size
        line = f"\n{dumps(entry)}\n".encode("utf-8", "surrogatepass")
        try:
            while line:
                line = line[os.write(self._handle, line) :]
        except OSError:
            os.ftruncate(self._handle, size)
            raise

    def _remove(self) -> None:
        with suppress(OSError):
            os.unlink(self._path)


if sys.platform == "win32":

    def _lock(_handle: int) -> None: ...

else:

    def _lock(handle: int) -> None:
        with suppress(OSError):  # of file systems without locks
            fcntl.flock(handle, fcntl.LOCK_EX)
