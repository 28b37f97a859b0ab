"""``python -m sidecar`` and ``stream-sidecar``; ``--version`` imports nothing."""

from __future__ import annotations

import sys

from sidecar import __version__


def main() -> None:
    """Runs the command line; hosts ask for the version before every start."""
    if {"--version", "-V"}.intersection(sys.argv[1:]):
        sys.stdout.write(f"stream-sidecar {__version__}\n")
        return
    from sidecar.cli import main as run

    run(prog_name="stream-sidecar")


if __name__ == "__main__":
    main()
