"""The command line: one file per command, imported when it is called.

The default command is ``serve``, so hosts can start ``stream-sidecar`` with nothing,
with ``--stdio``, or with flags of a later version. An unknown word is a mistake. Each
error is printed on one line, without characters that control a terminal, even if file
names and arguments have some.

`_EPILOG` has the exit codes of all commands.
"""

from __future__ import annotations

import sys
from difflib import get_close_matches
from errno import EINVAL, EPIPE
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

import click

from stream_sidecar import __version__
from stream_sidecar.values.printable import one_line

if TYPE_CHECKING:
    from collections.abc import Callable

Result = TypeVar("Result")

COMMANDS: dict[str, str] = {
    "serve": "stream_sidecar.cli.serve",
    "normalize": "stream_sidecar.cli.normalize",
    "explain": "stream_sidecar.cli.explain",
    "repair": "stream_sidecar.cli.repair",
    "dialects": "stream_sidecar.cli.dialects",
    "schema": "stream_sidecar.cli.schema",
}
"""Name -> module; its ``command`` is the click command."""

_GROUP_OPTIONS = ("-h", "--help", "-V", "--version")

INTERRUPTED = 130
"""The exit code of a command that Ctrl-C ended: 128 plus the number of SIGINT."""

UNREAD = 141
"""The exit code when nobody reads the output any more: 128 plus the number of SIGPIPE,
which Python turns into an error."""


class Failure(click.ClickException):
    """An error of a command: it could not read or write, or found nothing to read."""

    exit_code = 2


class LazyGroup(click.Group):
    """A group whose commands are imported when they are needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command:
        try:
            command: click.Command = import_module(COMMANDS[cmd_name]).command
        except ModuleNotFoundError as error:
            if error.name != "sqlite3":
                raise
            return _stand_in(cmd_name)
        return command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args or args[0] not in (*COMMANDS, *_GROUP_OPTIONS):
            if args and not args[0].startswith("-"):
                raise click.UsageError(_no_command(args[0]), ctx)
            args = ["serve", *args]
        return _in_one_line(partial(super().parse_args, ctx, args))

    def invoke(self, ctx: click.Context) -> Any:
        return _in_one_line(partial(_flush_after, super().invoke, ctx))


def _in_one_line(step: Callable[[], Result]) -> Result:
    """Returns the result of a step of the command. Its errors are one line each."""
    try:
        return step()
    except click.UsageError as error:
        line = one_line(error.format_message())
        raise click.UsageError(line, error.ctx) from None
    except click.ClickException as error:
        kind = type(error) if isinstance(error, Failure) else Failure
        raise kind(one_line(error.format_message())) from None
    except OSError as error:
        if _is_unread(error):
            from stream_sidecar.cli.terminal import suppress_output

            suppress_output()
            raise SystemExit(UNREAD) from None
        words = error.strerror or str(error)
        place = "" if error.filename is None else f"{error.filename}: "
        raise Failure(one_line(f"{place}{words}")) from None
    except KeyboardInterrupt:
        raise SystemExit(INTERRUPTED) from None


def _is_unread(error: OSError) -> bool:
    """Whether nobody reads the output any more; Windows reports that as EINVAL."""
    codes = (EPIPE, EINVAL) if sys.platform == "win32" else (EPIPE,)
    return error.errno in codes and error.filename is None


def _flush_after(invoke: Callable[[click.Context], Any], ctx: click.Context) -> Any:
    """Returns the result of ``invoke`` after its output was written. Raises OSError if
    the output could not be written."""
    try:
        return invoke(ctx)
    finally:
        from stream_sidecar.cli.terminal import flush

        flush()


def _stand_in(name: str) -> click.Command:
    """Stands in for a command that needs SQLite, in a Python without it."""
    why = "This sidecar was built without SQLite, which this command needs."

    def refuse() -> None:
        raise Failure(why)

    settings = {"ignore_unknown_options": True, "allow_extra_args": True}
    return click.Command(name, settings, refuse, help=why)


def _no_command(word: str) -> str:
    """The error for an unknown command, with the command that may have been meant."""
    near = get_close_matches(word, COMMANDS, 1)
    more = f" Did you mean {near[0]!r}?" if near else ""
    return one_line(f"No such command {word!r}.{more}")


_EPILOG = """\b
Exit codes: 0 if nothing was wrong with the input; 1 if something was; 2 if the
command could not read or write, or found nothing to read, and standard error
then says why; 141 if the reader of the output went away; 128 plus the number
of a signal that ended the command. COMMAND --help says more.
"""


@click.command(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=_EPILOG,
)
@click.version_option(
    __version__,
    "-V",
    "--version",
    prog_name="stream-sidecar",
    message="%(prog)s %(version)s",
)
@click.pass_context
def main(context: click.Context) -> None:
    """Turn the stream of any language model into clean, classified events.

    Without a command, serve a host over stdin and stdout.
    """
    if context.invoked_subcommand != "serve":  # which prints nothing for people
        from stream_sidecar.cli.terminal import prepare

        prepare()
