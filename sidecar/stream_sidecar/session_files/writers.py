"""Whether a file is open for writing anywhere on this machine.

Linux tells it exactly: a read lease (fcntl(2), F_SETLEASE) is given only where no
process has the file open for writing. So does Windows (`windows`). Other systems do not
tell, and neither do file systems that give no leases, or, as some of a network do, none
even for a file that nobody else knows of.
"""

from __future__ import annotations

import sys

__all__ = ["are_reported", "has_writers"]

if sys.platform == "linux":
    import fcntl
    import signal

    def are_reported(handle: int) -> bool:
        """Whether a file system tells; ``handle`` is that of a file on it which is open
        for writing and which nobody else has open."""
        return _leased(handle, fcntl.F_WRLCK) is True

    def has_writers(handle: int) -> bool | None:
        """Of the file behind a descriptor that is open for reading; None: that is told
        to its owner only."""
        leased = _leased(handle, fcntl.F_RDLCK)
        return None if leased is None else not leased

    def _leased(handle: int, kind: int) -> bool | None:
        """Whether a lease is given; it is given back at once. None: never to us."""
        try:
            # Who opens it in the next moment is reported to us by a signal that does
            # nothing; the usual one, SIGIO, would end the process.
            fcntl.fcntl(handle, fcntl.F_SETSIG, signal.SIGURG)
            fcntl.fcntl(handle, fcntl.F_SETLEASE, kind)
        except BlockingIOError:
            return False
        except OSError:
            return None
        fcntl.fcntl(handle, fcntl.F_SETLEASE, fcntl.F_UNLCK)
        return True

elif sys.platform == "win32":
    from stream_sidecar.session_files.windows import has_writers

    def are_reported(handle: int) -> bool:
        """Windows tells."""
        return True

else:

    def are_reported(handle: int) -> bool:
        """It is not told."""
        return False

    def has_writers(handle: int) -> bool | None:
        """It is not told."""
        return None
