"""The memory of a process in bytes, as Linux reports it."""

from __future__ import annotations

import sys
from pathlib import Path

IS_KNOWN = sys.platform == "linux"
"""Whether the system reports it in ``/proc``."""


def resident_memory(process_id: int) -> int:
    """Bytes that are resident now."""
    return _status(process_id, "VmRSS:")


def peak_memory(process_id: int) -> int:
    """Bytes that were ever resident."""
    return _status(process_id, "VmHWM:")


def _status(process_id: int, name: str) -> int:
    status = Path(f"/proc/{process_id}/status").read_text(encoding="utf-8")
    line = next(line for line in status.splitlines() if line.startswith(name))
    return int(line.split()[1]) * 1024
