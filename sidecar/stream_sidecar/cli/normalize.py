"""``stream-sidecar normalize FILE``: the channels of a stored stream or body.

The same engine as the server: the file is pushed once and closed. Text goes to standard
output; with ``--json`` one event a line, as the protocol spells it. Exit codes: 0 with
an answer; 1 when the stream holds an error of its provider; 2 when nothing of an answer
was in it, as in an empty file, or it could not be read; and those of all commands.

An answer that was cut off is 0, too: many a server writes neither finish reason nor end
mark, and only the host knows how its connection ended. ``complete`` of ``finish``
tells what the stream itself says of that.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

import click

from stream_sidecar.cli.input_file import InputFile, wire_option
from stream_sidecar.cli.page import Page
from stream_sidecar.cli.terminal import Terminal
from stream_sidecar.events import Diagnostic, Finish, Metadata, ProviderError, Usage
from stream_sidecar.options import StreamOptions
from stream_sidecar.stream.stream import Stream

if TYPE_CHECKING:
    from collections.abc import Iterator
    from io import BufferedReader

    from stream_sidecar.events import Event

_SLICE = 65_536


_EPILOG = """\b
Examples:
  stream-sidecar normalize response.sse
  curl -sN ... | stream-sidecar normalize - --model qwen3:32b
  stream-sidecar normalize body.json --json   one event a line

Exit codes: 0 with an answer, also one that was cut off: its last line says
(incomplete); 1 when the stream holds an error of its provider; 2 when there was
nothing of an answer in FILE, or it could not be read; 141 when whoever read the
output went away.
"""

_ABOUT = {Diagnostic, Metadata, Usage, Finish}
"""Events that say something about an answer, and are none."""


@click.command("normalize", epilog=_EPILOG)
@click.argument("file", type=InputFile())
@wire_option
@click.option("--model", help="Name of the model, to choose its dialects.")
@click.option("--json", "as_json", is_flag=True, help="Print one event a line.")
def command(file: BufferedReader, wire: str, model: str | None, as_json: bool) -> None:
    """Print the clean channels of FILE ("-" is standard input)."""
    stream = Stream(StreamOptions(wire=wire, encoding="base64", model=model))
    show = _print_json if as_json else Page().show
    kinds: set[type] = set()
    is_empty = False
    for events in _events(stream, file):
        show(events)
        kinds.update(map(type, events))
        codes = (each.code for each in events if isinstance(each, Diagnostic))
        is_empty = is_empty or "empty-stream" in codes
    raise SystemExit(2 if is_empty else _code(kinds))


def _events(stream: Stream, file: BufferedReader) -> Iterator[list[Event]]:
    """What comes is read at once, so that a pipe's answer is shown while it goes on."""
    while data := file.read1(_SLICE):
        yield stream.push(base64.b64encode(data).decode())
    yield stream.close()


def _code(kinds: set[type]) -> int:
    """The exit code, by the types of all events."""
    if ProviderError in kinds:
        return 1
    return 2 if kinds <= _ABOUT else 0


def _print_json(events: list[Event]) -> None:
    """One event a line, spelled and sanitised as the server does it."""
    from stream_sidecar.protocol.converter import unstructure
    from stream_sidecar.values.jsontext import encode

    terminal = Terminal()
    for event in events:
        terminal.json(encode(unstructure(event)))
