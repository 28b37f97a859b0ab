"""Whether a file is open for writing anywhere on this machine.

Linux alone tells it exactly: a read lease (fcntl(2), F_SETLEASE) is given only where no
process has the file open for writing. Other systems do not tell, and neither do file
systems that give no leases, or, as some of a network do, none even for a file that
nobody else knows of.
"""

from __future__ import annotations

import sys

if sys.platform == "linux":
    import fcntl
    import signal

    def are_told(handle: int) -> bool:
        """Whether a file system tells; ``handle`` is that of a file on it which is open
        for writing and which nobody else has open."""
        return _leased(handle, fcntl.F_WRLCK)

    def has_writers(handle: int) -> bool:
        """Of the file behind a descriptor that is open for reading."""
        return not _leased(handle, fcntl.F_RDLCK)

    def _leased(handle: int, kind: int) -> bool:
        """Whether a lease is given; it is given back at once."""
        try:
            # Who opens it in the next moment is told to us by a signal that does
            # nothing; the usual one, SIGIO, would end the process.
            fcntl.fcntl(handle, fcntl.F_SETSIG, signal.SIGURG)
            fcntl.fcntl(handle, fcntl.F_SETLEASE, kind)
        except OSError:
            return False
        fcntl.fcntl(handle, fcntl.F_SETLEASE, fcntl.F_UNLCK)
        return True

else:

    def are_told(handle: int) -> bool:
        """Whether a file system tells; ``handle`` is that of a file on it which is open
        for writing and which nobody else has open."""
        return False

    def has_writers(handle: int) -> bool:
        """Of the file behind a descriptor that is open for reading."""
        raise NotImplementedError
