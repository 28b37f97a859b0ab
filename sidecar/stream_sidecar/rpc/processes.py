"""Whether another process has ended: the parent, or one that is given by its id.

A process is `seen` once, and is asked about from then on, so that another one that gets
its id later does not stand for it where the system helps with that: Windows keeps a
process that ended as long as somebody has a handle of it.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

HasEnded: TypeAlias = "Callable[[], bool]"


if sys.platform == "win32":
    import ctypes
    from ctypes.wintypes import BOOL, DWORD, HANDLE

    _SYNCHRONIZE = 0x0010_0000
    _WAIT_OBJECT_0 = 0

    _kernel = ctypes.WinDLL("kernel32")
    _kernel.OpenProcess.restype = HANDLE
    _kernel.OpenProcess.argtypes = (DWORD, BOOL, DWORD)
    _kernel.WaitForSingleObject.argtypes = (HANDLE, DWORD)

    def seen(process_id: int) -> HasEnded | None:
        """Tells of a process whether it has ended; None: there is none, or it may not
        be asked about."""
        handle = _kernel.OpenProcess(_SYNCHRONIZE, False, process_id)

        def has_ended() -> bool:
            ended: int = _kernel.WaitForSingleObject(handle, 0)
            return ended == _WAIT_OBJECT_0

        return has_ended if handle and not has_ended() else None

    def parent() -> HasEnded | None:
        """Its id stays the same there when it has ended."""
        return seen(os.getppid())

else:

    def seen(process_id: int) -> HasEnded | None:
        """Tells of a process whether it has ended; None: there is none."""
        return None if _has_ended(process_id) else lambda: _has_ended(process_id)

    def parent() -> HasEnded | None:
        """When it has ended, another process is the parent."""
        first = os.getppid()
        return lambda: os.getppid() != first

    def _has_ended(process_id: int) -> bool:
        """A dead one that nobody waited for has."""
        try:
            os.kill(process_id, 0)
        except ProcessLookupError:
            return True
        except PermissionError:
            return False
        return _is_zombie(process_id)

    def _is_zombie(process_id: int) -> bool:
        """Known on Linux only; elsewhere the end of stdin has to do."""
        try:
            with open(f"/proc/{process_id}/stat", "rb") as file:
                status = file.read()
        except OSError:
            return False
        return status.rpartition(b")")[2].split()[:1] == [b"Z"]
