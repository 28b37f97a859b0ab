"""Logging of the process: warnings to stderr, or everything to a file of the user.

Hosts show stderr as errors, so by default it only gets warnings. Contents of streams
are never logged: a log has method names, ids and mistakes.
"""

from __future__ import annotations

import logging
import sys
from typing import Any

from stream_sidecar.values.printable import in_lines, one_line

LEVELS = ("debug", "info", "warning", "error")

log = logging.getLogger("stream_sidecar")


def start(level: str, path: str | None) -> None:
    """Sends records of ``level`` and above to the file ``path``, or to stderr."""
    problems = [] if level in LEVELS else [f"no log level {level}; using warning"]
    handler: logging.Handler = logging.StreamHandler(sys.stderr)
    if path is not None:
        try:
            handler = logging.FileHandler(path, encoding="utf-8")
        except OSError as error:
            problems.append(f"no log file: {error}")
    layout = "%(asctime)s %(levelname)s %(name)s: %(message)s"
    handler.setFormatter(_Formatter(layout))
    logging.raiseExceptions = False
    logging.basicConfig(
        level=level.upper() if level in LEVELS else "WARNING", handlers=[handler]
    )
    for name in ("asyncio", "pygls"):  # pygls logs whole bodies
        logging.getLogger(name).setLevel(logging.WARNING)
    for problem in problems:
        log.warning(problem)


class _Formatter(logging.Formatter):
    """Writes a record as one line, with a traceback below it, and escapes what could
    control a terminal."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802
        return one_line(super().formatMessage(record))

    def formatException(self, ei: Any) -> str:  # noqa: N802
        return in_lines(super().formatException(ei))
