"""``--wire``, which commands that read a provider's stream have."""

from __future__ import annotations

import click

from stream_sidecar.wires import WIRES

wire_option = click.option(
    "--wire",
    type=click.Choice(["auto", *WIRES]),
    default="auto",
    show_default=True,
    help="The provider's format.",
)
