"""Whether another process has ended: the parent, or a process that is given by its id.

`seen` looks for the process once, and returns a function that says whether it has
ended. Later another process may get the same id. Windows prevents that: it keeps a
process that ended as long as there is a handle for it.
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
        """A function that says whether the process has ended; None: there is no such
        process, or its state may not be read."""
        handle = _kernel.OpenProcess(_SYNCHRONIZE, False, process_id)

        def has_ended() -> bool:
            ended: int = _kernel.WaitForSingleObject(handle, 0)
            return ended == _WAIT_OBJECT_0

        return has_ended if handle and not has_ended() else None

    def parent() -> HasEnded | None:
        """`seen` for the parent; on Windows its id stays the same after its end."""
        return seen(os.getppid())

else:

    def seen(process_id: int) -> HasEnded | None:
        """A function that says whether the process has ended; None: there is no such
        process."""
        return None if _has_ended(process_id) else lambda: _has_ended(process_id)

    def parent() -> HasEnded | None:
        """Whether the parent has ended: then another process is the parent."""
        first = os.getppid()
        return lambda: os.getppid() != first

    def _has_ended(process_id: int) -> bool:
        """Whether the process is gone, or a zombie, for which nobody has waited."""
        try:
            os.kill(process_id, 0)
        except ProcessLookupError:
            return True
        except PermissionError:
            return False
        return _is_zombie(process_id)

    def _is_zombie(process_id: int) -> bool:
        """Whether the process is a zombie. Only Linux says so; on other systems the end
        of stdin must suffice."""
        try:
            with open(f"/proc/{process_id}/stat", "rb") as file:
                status = file.read()
        except OSError:
            return False
        return status.rpartition(b")")[2].split()[:1] == [b"Z"]
