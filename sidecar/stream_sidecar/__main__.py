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
    """Runs the command line; hosts ask for the version before every start.

    On Windows a file or a pipe gets UTF-8 and the text's own line ends, as elsewhere.
    """
    if sys.platform == "win32" and isinstance(sys.stdout, TextIOWrapper):
        if not sys.stdout.isatty():
            sys.stdout.reconfigure(encoding="utf-8", newline="\n")
    if {"--version", "-V"}.intersection(sys.argv[1:]):
        sys.stdout.write(f"stream-sidecar {__version__}\n")
        return
    from stream_sidecar.cli import main as run

    sys.excepthook = _tell
    run(prog_name="stream-sidecar")


def _tell(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    """Shows a bug's traceback; in its values may be text of anybody."""
    from traceback import format_exception

    from stream_sidecar.values.printable import in_lines

    sys.stderr.write(in_lines("".join(format_exception(kind, error, trace))))


if __name__ == "__main__":
    main()
