"""Files that the user asks for: a report, a recording.

They contain what models said, so only the user may read them (POSIX; on Windows a file
has the rights of its folder). They do not replace another file, unless the caller says
so, and no link is followed. A pipe, a terminal or another device is opened and written
to, because that replaces nothing.
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

    Raises FileExistsError if something is there already; with ``replace``, only if it
    is a link. Raises another OSError if the file cannot be made.
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
    if stat.S_ISREG(os.fstat(handle).st_mode):  # a file was put there in the meantime
        os.close(handle)
        raise FileExistsError(EEXIST, os.strerror(EEXIST), path)
    return handle
