"""A file that a command reads whole or as it comes; ``-`` is standard input."""

from __future__ import annotations

import sys
from typing import IO, Any

import click

from stream_sidecar.cli import Failure


class InputFile(click.File):
    """Says so where whoever started the process has closed standard input."""

    def __init__(self) -> None:
        super().__init__("rb")

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> IO[Any]:
        if value == "-" and sys.stdin is None:
            raise Failure("standard input is closed")
        found: IO[Any] = super().convert(value, param, ctx)
        return found
