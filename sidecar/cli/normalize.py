"""``stream-sidecar normalize FILE``: the channels of a stored stream or body.

The same engine as the server: the file is pushed once and closed. Text goes to standard
output; with ``--json`` one event a line, as the protocol spells it.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, BinaryIO

import click

from sidecar.cli.page import Page
from sidecar.cli.terminal import Terminal
from sidecar.options import StreamOptions
from sidecar.stream.stream import Stream
from sidecar.wires import WIRES

if TYPE_CHECKING:
    from sidecar.events import Event

_SLICE = 65_536


@click.command("normalize")
@click.argument("file", type=click.File("rb"))
@click.option(
    "--wire",
    type=click.Choice(["auto", *WIRES]),
    default="auto",
    show_default=True,
    help="The provider's format.",
)
@click.option("--model", help="Name of the model, to choose its dialects.")
@click.option("--json", "as_json", is_flag=True, help="Print one event a line.")
def command(file: BinaryIO, wire: str, model: str | None, as_json: bool) -> None:
    """Print the clean channels of FILE ("-" is standard input)."""
    stream = Stream(StreamOptions(wire=wire, encoding="base64", model=model))
    show = _print_json if as_json else Page().show
    while data := file.read(_SLICE):
        show(stream.push(base64.b64encode(data).decode()))
    show(stream.close())


def _print_json(events: list[Event]) -> None:
    """One event a line, spelled and sanitised as the server does it."""
    from sidecar.protocol.converter import unstructure
    from sidecar.values.jsontext import encode

    terminal = Terminal()
    for event in events:
        terminal.json(encode(unstructure(event)))
