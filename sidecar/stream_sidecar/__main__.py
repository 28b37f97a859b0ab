"""``python -m stream_sidecar`` and ``stream-sidecar``; ``--version`` imports
nothing."""

from __future__ import annotations

import sys
from io import TextIOWrapper

from stream_sidecar import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType


def main() -> None:
    """Runs the command line. The version is printed without importing anything, because
    hosts ask for it before every start.

    On Windows, files and pipes get UTF-8 and unchanged line ends, as on other systems.
    """
    if sys.platform == "win32" and isinstance(sys.stdout, TextIOWrapper):
        if not sys.stdout.isatty():
            sys.stdout.reconfigure(encoding="utf-8", newline="\n")
    if {"--version", "-V"}.intersection(sys.argv[1:]) and _wrote_version():
        return
    from stream_sidecar.cli import main as run

    sys.excepthook = _print_bug
    run(prog_name="stream-sidecar")


def _wrote_version() -> bool:
    """Prints the version. If that fails, the command line tries again and says why."""
    try:
        sys.stdout.write(f"stream-sidecar {__version__}\n")
        sys.stdout.flush()
    except (AttributeError, OSError):  # standard output is closed, or full
        return False
    return True


def _print_bug(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    """Prints the traceback of a bug, escaped, because it may quote foreign text."""
    from traceback import format_exception

    from stream_sidecar.values.printable import in_lines

    sys.stderr.write(in_lines("".join(format_exception(kind, error, trace))))


if __name__ == "__main__":
    main()
