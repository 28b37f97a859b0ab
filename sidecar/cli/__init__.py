"""The command line: one file per command, imported when it is called.

Without a command it is ``serve``, so that hosts can start ``stream-sidecar`` with
nothing, with ``--stdio``, or with flags of a later version.
"""

from __future__ import annotations

import sys
from importlib import import_module
from io import TextIOWrapper

import click

from sidecar import __version__

COMMANDS: dict[str, str] = {
    "serve": "sidecar.cli.serve",
    "normalize": "sidecar.cli.normalize",
    "repair": "sidecar.cli.repair",
    "dialects": "sidecar.cli.dialects",
    "schema": "sidecar.cli.schema",
}
"""Name -> module; its ``command`` is the click command."""

_GROUP_OPTIONS = ("-h", "--help", "-V", "--version")


class LazyGroup(click.Group):
    """A group whose commands are imported when they are needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command:
        command: click.Command = import_module(COMMANDS[cmd_name]).command
        return command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args or args[0] not in (*COMMANDS, *_GROUP_OPTIONS):
            args = ["serve", *args]
        return super().parse_args(ctx, args)


@click.command(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(
    __version__,
    "-V",
    "--version",
    prog_name="stream-sidecar",
    message="%(prog)s %(version)s",
)
def main() -> None:
    """Turns the stream of any language model into clean, classified events."""
    if isinstance(sys.stdout, TextIOWrapper):  # it may not know every character
        sys.stdout.reconfigure(errors="backslashreplace")
