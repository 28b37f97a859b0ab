"""Runs the command line and writes down what it does to the world.

``python watched.py REPORT ARGUMENTS...``: each line of REPORT is an event of the
interpreter (Python's audit hooks) that writes a file, uses the network, starts a
process or runs code that no file of the installation holds, with what it is about.
"""

from __future__ import annotations

import os
import sys
from typing import Any

_FORBIDDEN = (
    *("socket.connect", "socket.bind", "socket.getaddrinfo", "socket.gethostbyname"),
    *("socket.sendto", "urllib.Request", "http.client.connect"),
    *("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn"),
    *("os.fork", "os.forkpty", "os.remove", "os.rename", "os.mkdir", "os.rmdir"),
    *("os.chmod", "os.link", "os.symlink", "os.truncate", "pickle.find_class"),
)

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND

_GENERATED = ("<attrs generated", "<cattrs generated", "<frozen", "<string>")
"""Code that attrs and the converter make from our own classes has these names."""

_NAMELESS = ("attr", os.path.join("cattrs", "gen"))
"""Older versions give theirs no name: whose it is tells the caller."""


def _is_ours(name: str, caller: str) -> bool:
    """``name``: the code's file, ``caller``: that of the code which runs it."""
    if not name:
        return any(f"{os.sep}{each}{os.sep}" in caller for each in _NAMELESS)
    return os.path.exists(name) or name.startswith(_GENERATED)


def main() -> None:
    report = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT)

    def write(event: str, about: Any) -> None:
        os.write(report, f"{event} {about}\n".encode(errors="replace"))

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            path, _mode, flags = arguments
            if flags & _WRITING and path != os.devnull:
                write(event, path)
        elif event == "exec":
            name, caller = arguments[0].co_filename, sys._getframe(1).f_code.co_filename
            if not _is_ours(name, caller):
                write(event, name)
        elif event in _FORBIDDEN:
            write(event, arguments)

    sys.argv[1:] = sys.argv[2:]
    sys.addaudithook(hook)
    from stream_sidecar.__main__ import main as run

    run()


if __name__ == "__main__":
    main()
