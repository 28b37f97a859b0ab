"""Whether a file is open for writing anywhere on this machine.

Linux alone tells it exactly: a read lease (fcntl(2), F_SETLEASE) is given only where no
process has the file open for writing. Other systems, and file systems without leases,
do not tell.
"""

from __future__ import annotations

import sys

if sys.platform == "linux":
    import fcntl
    import signal

    def has_writers(handle: int) -> bool | None:
        """Of the file behind a descriptor that is open for reading; None: not known."""
        try:
            # Who opens it in the next moment is told to us by a signal that does
            # nothing; the usual one, SIGIO, would end the process.
            fcntl.fcntl(handle, fcntl.F_SETSIG, signal.SIGURG)
            fcntl.fcntl(handle, fcntl.F_SETLEASE, fcntl.F_RDLCK)
        except BlockingIOError:
            return True
        except OSError:
            return None
        fcntl.fcntl(handle, fcntl.F_SETLEASE, fcntl.F_UNLCK)
        return False

else:

    def has_writers(handle: int) -> bool | None:
        """Of the file behind a descriptor that is open for reading; None: not known."""
        return None
