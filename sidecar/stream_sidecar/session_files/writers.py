"""Whether a file is open for writing anywhere on this machine.

Linux says so exactly: it gives a read lease (fcntl(2), F_SETLEASE) only if no process
has the file open for writing. Windows says so, too (`windows`). Other systems do not.
File systems without leases do not either; some network file systems give no lease even
for a file that nobody else knows of.
"""

from __future__ import annotations

import sys

__all__ = ["has_writers", "reports_writers"]

if sys.platform == "linux":
    import fcntl
    import signal

    def reports_writers(handle: int) -> bool:
        """Whether a file system reports writers. ``handle`` is a file on it that is
        open for writing, and that nobody else has open."""
        return _leased(handle, fcntl.F_WRLCK) is True

    def has_writers(handle: int) -> bool | None:
        """Whether a file, which ``handle`` reads, is open for writing anywhere. None:
        no answer, for example because another user owns the file."""
        leased = _leased(handle, fcntl.F_RDLCK)
        return None if leased is None else not leased

    def _leased(handle: int, kind: int) -> bool | None:
        """Whether a lease is given; it is returned at once. None: this process gets no
        lease of the file."""
        try:
            # If somebody opens the file before the lease is returned, the kernel sends
            # this process a signal: SIGURG, which does nothing. The default, SIGIO,
            # would end the process.
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

    def reports_writers(handle: int) -> bool:
        """Windows reports writers."""
        return True

else:

    def reports_writers(handle: int) -> bool:
        """This system reports no writers."""
        return False

    def has_writers(handle: int) -> bool | None:
        """This system does not say."""
        return None
