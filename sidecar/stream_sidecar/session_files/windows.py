"""Windows: files that another program has open, and how to replace one.

A program that opens a file there says what others may do with it meanwhile, and is
refused if somebody does that already. A handle that lets others read and rename, but
not write, is given only if nobody has the file open for writing, and nobody can open it
for writing before the handle is closed. A file that is held in this way can be replaced
in one step (``ReplaceFileW``).

A failure is an OSError with a ``winerror``; `is_in_use` recognises the failure because
somebody has the file open. Windows refuses to remove or replace a read-only file until
it is writable, so `put`, `remove` and `swap` make it writable first.
"""

from __future__ import annotations

import os
import stat
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_IN_USE = {32, 33, 1175}
"""A sharing violation, a locked part, and ``ReplaceFileW``'s own code for the first."""

_IS_GONE = 1177
"""``ReplaceFileW`` has renamed the old file, and then failed with the new one."""


def is_in_use(error: OSError) -> bool:
    """Whether a call failed because another program has the file open."""
    return getattr(error, "winerror", None) in _IN_USE


if sys.platform == "win32":
    import ctypes
    import msvcrt
    from ctypes.wintypes import BOOL, DWORD, HANDLE, LPCWSTR, LPVOID

    _READ = 0x8000_0000
    _OTHERS_READ_AND_RENAME = 0x1 | 0x4
    _EXISTING = 3
    _NO_HANDLE = HANDLE(-1).value

    _kernel = ctypes.WinDLL("kernel32", use_last_error=True)
    _kernel.CreateFileW.restype = HANDLE
    _kernel.CreateFileW.argtypes = (LPCWSTR, DWORD, DWORD, LPVOID, DWORD, DWORD, HANDLE)
    _kernel.ReOpenFile.restype = HANDLE
    _kernel.ReOpenFile.argtypes = (HANDLE, DWORD, DWORD, DWORD)
    _kernel.CloseHandle.argtypes = (HANDLE,)
    _kernel.ReplaceFileW.restype = BOOL
    _kernel.ReplaceFileW.argtypes = (LPCWSTR, LPCWSTR, LPCWSTR, DWORD, LPVOID, LPVOID)

    @contextmanager
    def held(path: Path) -> Iterator[None]:
        """Keeps everybody else from writing to the file meanwhile."""
        sharing = (_READ, _OTHERS_READ_AND_RENAME, None, _EXISTING, 0, None)
        handle = _kernel.CreateFileW(str(path), *sharing)
        if handle == _NO_HANDLE:
            raise _failure()
        try:
            yield
        finally:
            _kernel.CloseHandle(handle)

    def has_writers(descriptor: int) -> bool:
        """Whether a file, which ``descriptor`` reads, is open for writing anywhere."""
        own = msvcrt.get_osfhandle(descriptor)
        handle = _kernel.ReOpenFile(own, _READ, _OTHERS_READ_AND_RENAME, 0)
        if handle == _NO_HANDLE:
            failure = _failure()
            if is_in_use(failure):
                return True
            raise failure
        _kernel.CloseHandle(handle)
        return False

    def swap(new: Path, path: Path, backup: Path) -> None:
        """Renames the file at ``path`` to ``backup``, where an empty file of ours is,
        and ``new`` to ``path``."""
        with _writable(path) as mode:
            os.chmod(new, mode | stat.S_IWRITE)
            if not _kernel.ReplaceFileW(
                str(path), str(new), str(backup), 0, None, None
            ):
                failure = _failure()
                if failure.winerror == _IS_GONE:
                    os.rename(backup, path)
                    backup.touch()
                raise failure
            os.chmod(backup, mode)

    def put(source: str | Path, path: str | Path) -> None:
        """`os.replace`, also in place of a read-only file."""
        if not os.path.lexists(path):
            os.replace(source, path)
            return
        mode = os.stat(source).st_mode
        with _writable(path):
            os.replace(source, path)
        os.chmod(path, mode)

    def remove(path: str | Path) -> None:
        """`os.unlink`, also for a read-only file."""
        with _writable(path):
            os.unlink(path)

    @contextmanager
    def _writable(path: str | Path) -> Iterator[int]:
        """Makes the file at ``path`` writable meanwhile, and yields its mode. The file
        that is there afterwards gets a read-only mode again."""
        mode = os.stat(path).st_mode
        if not mode & stat.S_IWRITE:
            os.chmod(path, mode | stat.S_IWRITE)
        try:
            yield mode
        finally:
            if not mode & stat.S_IWRITE and os.path.lexists(path):
                os.chmod(path, mode)

    def _failure() -> OSError:
        return ctypes.WinError(ctypes.get_last_error())
