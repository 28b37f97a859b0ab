"""Whether another process has ended: the parent, or a process that is given by its id.

`watched` looks for the process once, and returns a function that says whether it has
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

    def watched(process_id: int) -> HasEnded | None:
        """A function that says whether the process has ended; None: there is no such
        process, or its state may not be read."""
        handle = _kernel.OpenProcess(_SYNCHRONIZE, False, process_id)

        def has_ended() -> bool:
            ended: int = _kernel.WaitForSingleObject(handle, 0)
            return ended == _WAIT_OBJECT_0

        return has_ended if handle and not has_ended() else None

    def parent() -> HasEnded | None:
        """`watched` for the parent; on Windows its id stays the same after its end."""
        return watched(os.getppid())

else:

    def watched(process_id: int) -> HasEnded | None:
        """Says whether the process has ended; None: there is no such process."""
        return None if _has_ended(process_id) else lambda: _has_ended(process_id)

    def parent() -> HasEnded | None:
        """Whether the parent has ended: then another process is the parent."""
        process_id = os.getppid()
        return lambda: os.getppid() != process_id

    def _has_ended(process_id: int) -> bool:
        """Whether the process is gone, or a zombie: nobody has waited for its end."""
        try:
            os.kill(process_id, 0)
        except ProcessLookupError:
            return True
        except PermissionError:
            return False
        try:  # only Linux says so; on other systems the end of stdin must suffice
            with open(f"/proc/{process_id}/stat", "rb") as file:
                status = file.read()
        except OSError:
            return False
        return status.rpartition(b")")[2].split()[:1] == [b"Z"]
