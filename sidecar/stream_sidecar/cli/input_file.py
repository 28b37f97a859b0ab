"""The arguments of commands that read a provider's stream: its file and its format."""

from __future__ import annotations

import sys
from typing import IO, Any

import click

from stream_sidecar.cli import Failure
from stream_sidecar.framing.framer import FRAMINGS
from stream_sidecar.wires import WIRES

wire_option = click.option(
    "--wire",
    type=click.Choice(["auto", *WIRES]),
    default="auto",
    metavar="WIRE",
    show_default=True,
    help=f"The provider's format: auto, {', '.join(WIRES)}.",
)

framing_option = click.option(
    "--framing",
    type=click.Choice(FRAMINGS),
    default="auto",
    show_default=True,
    help="How the documents in FILE are separated.",
)


class InputFile(click.File):
    """A file that is read whole or as it arrives; ``-`` is standard input. Raises
    `Failure` if the parent process has closed standard input."""

    def __init__(self) -> None:
        super().__init__("rb")

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> IO[Any]:
        if value == "-" and sys.stdin is None:
            raise Failure("standard input is closed")
        found: IO[Any] = super().convert(value, param, ctx)
        return found
