"""What CPython for Windows asks for and Wine has not: the ``sitecustomize`` there."""

from __future__ import annotations

import ctypes
import os
import sys

sys.modules["_wmi"] = None  # type: ignore[assignment] # CPython does without it

_PROCESSES = 2


class _Process(ctypes.Structure):
    """PROCESSENTRY32, as far as its first fields go."""

    _fields_ = (
        ("size", ctypes.c_uint32),
        ("usage", ctypes.c_uint32),
        ("process_id", ctypes.c_uint32),
        ("heap", ctypes.c_size_t),
        ("module", ctypes.c_uint32),
        ("threads", ctypes.c_uint32),
        ("parent_id", ctypes.c_uint32),
        ("rest", ctypes.c_char * 272),
    )


def _parent() -> int:
    """`os.getppid`, which ends the process under Wine 8."""
    kernel = ctypes.WinDLL("kernel32")
    kernel.CreateToolhelp32Snapshot.restype = ctypes.c_void_p
    kernel.Process32First.argtypes = (ctypes.c_void_p, ctypes.c_void_p)
    kernel.Process32Next.argtypes = (ctypes.c_void_p, ctypes.c_void_p)
    each = _Process(size=ctypes.sizeof(_Process))
    all_of_them = kernel.CreateToolhelp32Snapshot(_PROCESSES, 0)
    more = kernel.Process32First(all_of_them, ctypes.byref(each))
    while more and each.process_id != os.getpid():
        more = kernel.Process32Next(all_of_them, ctypes.byref(each))
    return each.parent_id if more else 0


os.getppid = _parent
