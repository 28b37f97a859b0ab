"""Files that the process makes because it was asked to: a report, a recording.

They hold what models said, so their user alone may read them (POSIX; on Windows a file
has the rights of its folder), and they take no other file's place: an existing one
stays unless the caller says so, and no link is followed. What is no regular file, a
pipe or a terminal, is written to as it is, since nothing of it can be replaced.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from errno import EEXIST

_NEW = (
    os.O_WRONLY
    | os.O_CREAT
    | os.O_EXCL
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_BINARY", 0)
)
_STREAM = os.O_WRONLY | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_BINARY", 0)


def open_new(path: str, *, replace: bool = False) -> int:
    """A descriptor to write to a new file at ``path``.

    FileExistsError when something is there; with ``replace`` only when that is a link.
    OSError for everything else.
    """
    if _is_stream(path):
        return _open_stream(path)
    if replace and not os.path.islink(path):
        with suppress(FileNotFoundError):
            os.unlink(path)
    return os.open(path, _NEW, 0o600)


def _is_stream(path: str) -> bool:
    """Whether ``path`` is, or leads to, a pipe, a terminal or another device."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _open_stream(path: str) -> int:
    handle = os.open(path, _STREAM)
    if stat.S_ISREG(os.fstat(handle).st_mode):  # somebody has put a file there
        os.close(handle)
        raise FileExistsError(EEXIST, os.strerror(EEXIST), path)
    return handle
