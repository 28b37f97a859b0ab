"""``stream-sidecar schema``: the protocol as JSON Schema, for authors of clients."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from stream_sidecar.cli.report_file import PathArgument
from stream_sidecar.cli.terminal import Terminal
from stream_sidecar.protocol.schema import SCHEMA_FILE, TABLE_FILE, schema, table

if TYPE_CHECKING:
    from pathlib import Path

_EPILOG = """\b
Examples:
  stream-sidecar schema > protocol.schema.json
  stream-sidecar schema --out schema/         both files, in this folder

Exit codes: 0; 2 if the files could not be written.
"""


@click.command("schema", epilog=_EPILOG)
@click.option("--methods", is_flag=True, help="Print the table of methods instead.")
@click.option(
    "--out",
    type=PathArgument(file_okay=False),
    help="Write both files into this directory, and print nothing.",
)
def command(methods: bool, out: Path | None) -> None:
    """Print the protocol as JSON Schema."""
    if out is None:
        Terminal().body(_text(table() if methods else schema()))
        return
    out.mkdir(parents=True, exist_ok=True)
    for name, document in ((SCHEMA_FILE, schema()), (TABLE_FILE, table())):
        (out / name).write_bytes(_text(document).encode())


def _text(document: dict[str, object]) -> str:
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"
