"""``stream-sidecar [serve] [--stdio]``: speaks JSON-RPC on stdin and stdout."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Callable

    from stream_sidecar.rpc.connection import Connection

_ANSWER_SECONDS = 0.6
"""How long the process waits for requests in flight after the end of stdin."""

_ANSWER_WORK = 10.0
"""How many seconds of the processor the answers to these requests may need."""

_WRITE_SECONDS = 0.3
"""How long the client may read nothing before the rest of the output is dropped."""

_EPILOG = """\b
Examples:
  stream-sidecar                              what hosts and editors start
  stream-sidecar serve --log-level debug --log-file sidecar.log
  stream-sidecar serve --record record-%p.txt   to attach to a bug report
"""


@click.command(
    context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
    epilog=_EPILOG,
)
@click.option("--stdio", is_flag=True, help="The only transport; may be left out.")
@click.option(
    "--clientProcessId",
    "--client-process-id",
    "client",
    metavar="PID",
    help="End when this process ends.",
)
@click.option("--log-file", metavar="PATH", help="Log to this file, not to stderr.")
@click.option(
    "--log-level",
    default="warning",
    show_default=True,
    help="debug, info, warning or error.",
)
@click.option(
    "--record",
    metavar="PATH",
    help="Write all messages to this new file; %p is the process id.",
)
@click.pass_context
def command(
    context: click.Context,
    stdio: bool,
    client: str | None,
    log_file: str | None,
    log_level: str,
    record: str | None,
) -> None:
    """Serve one client over stdin and stdout (the default command).

    Exit codes: 0 after shutdown and exit, or when the client is gone (end of stdin,
    closed stdout, end of the parent or of PID); 1 after exit without shutdown; 128 plus
    the signal's number after SIGTERM and SIGINT. Unknown flags are ignored.
    """
    # Before anything else is imported: an import must not write to stdout.
    from stream_sidecar.rpc.transport import claim

    stdin, stdout = claim()
    from stream_sidecar.rpc import logs

    logs.start(log_level, log_file)
    if os.isatty(stdin):
        os.write(2, b"serving JSON-RPC on stdin; for the commands: --help\n")
    for argument in context.args:
        logs.log.warning("ignored argument %s", argument)
    serve(stdin, stdout, client, record)


def serve(
    stdin: int,
    stdout: int,
    client: str | None = None,
    record: str | None = None,
    most_work: float = _ANSWER_WORK,
) -> None:
    """Serves until the end of the process."""
    from stream_sidecar.editor.thread import LspThread
    from stream_sidecar.rpc import garbage
    from stream_sidecar.rpc.connection import Connection
    from stream_sidecar.rpc.lifetime import ParentWatch, end, end_on_signals
    from stream_sidecar.rpc.logs import log
    from stream_sidecar.rpc.transport import Writer, pump, without_waiting

    end_on_signals()
    watch = ParentWatch()
    if client is not None and client.isdecimal():
        watch.add(int(client))
    elif client is not None:
        log.warning("%s is not a process id", client)
    watch.start()
    ready = without_waiting(stdout)
    writer = Writer(stdout, failed=lambda: os._exit(0), ready=ready)
    make = Connection if record is None else _recorded(record)
    connection = make(writer.send, LspThread, watch.add)
    garbage.begin()
    try:
        pump(stdin, connection, writer)
        writer.send(connection.close(_ANSWER_SECONDS, most_work))
        writer.drain(_WRITE_SECONDS)
    except Exception:
        log.exception("bug in the reading loop")
        end(1)
    end(connection.exit_code or 0)


def _recorded(path: str) -> Callable[..., Connection]:
    """A maker of connections that are recorded, if the file can be made."""
    from stream_sidecar.rpc.connection import Connection
    from stream_sidecar.rpc.logs import log
    from stream_sidecar.rpc.recording import RecordedConnection, Recording

    try:
        return partial(RecordedConnection, Recording(path))
    except OSError as error:
        log.warning("no recording: %s", error)
        return Connection
