"""``stream-sidecar normalize FILE``: the channels of a stored stream or body.

The file goes through the engine of the server. The channels are printed under headings;
``--json`` prints one event per line and ``--message`` the message, both as the protocol
spells them, and ``--answer`` prints only the answer's text.

Exit codes: 0 with an answer; 1 if the stream has an error of its provider; 2 if it has
no answer (an empty file), or could not be read; and those of all commands.

An answer that was cut off is 0, too: many servers write neither a finish reason nor an
end mark, and only the host knows how its connection ended. Whether the stream itself
says that it is complete is in ``complete`` of ``finish``.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from stream_sidecar.cli import Failure
from stream_sidecar.cli.input_file import InputFile, framing_option, wire_option
from stream_sidecar.cli.page import Page
from stream_sidecar.cli.terminal import Terminal
from stream_sidecar.errors import UsageError
from stream_sidecar.events import Diagnostic, Finish, Metadata, ProviderError, Usage
from stream_sidecar.options import StreamOptions
from stream_sidecar.stream.stream import Stream

if TYPE_CHECKING:
    from collections.abc import Iterator
    from io import BufferedReader

    from stream_sidecar.events import Event
    from stream_sidecar.message.message import Message
    from stream_sidecar.options import Tool

_SLICE = 65_536


_EPILOG = """\b
Examples:
  stream-sidecar normalize response.sse
  curl -sN ... | stream-sidecar normalize - --model qwen3:32b
  stream-sidecar normalize body.json --json   one event per line
  stream-sidecar normalize body.json --answer > answer.md

Exit codes: 0 with an answer, even if it was cut off (its last line then says
"incomplete"); 1 if the stream has an error of its provider; 2 if FILE has no
answer or could not be read; 141 if the reader of the output went away.
"""

_ABOUT = {Diagnostic, Metadata, Usage, Finish}
"""Events about an answer, which are no part of it."""


@click.command("normalize", epilog=_EPILOG)
@click.argument("file", type=InputFile())
@wire_option
@framing_option
@click.option("--model", help="Name of the model, to choose its dialects.")
@click.option(
    "--tools",
    type=click.File("rb"),
    help="The declared tools: a JSON list, or a request that has one.",
)
@click.option(
    "--response-template",
    type=click.File("rb"),
    help="How the model writes: a tokenizer_config.json, or only its template.",
)
@click.option("--json", "form", flag_value="json", help="Print one event per line.")
@click.option("--answer", "form", flag_value="answer", help="Print only the answer.")
@click.option(
    "--message", "form", flag_value="message", help="Print the message as JSON."
)
def command(
    file: BufferedReader,
    form: str | None,
    tools: BinaryIO | None,
    response_template: BinaryIO | None,
    **options: Any,
) -> None:
    """Print the channels of FILE; "-" is standard input."""
    options["tools"] = None if tools is None else _declared(tools)
    if response_template is not None:
        options["response_template"] = _template(response_template)
    stream = Stream(StreamOptions(encoding="base64", **options))
    page = Page()
    kinds: set[type] = set()
    is_empty = False
    for events in _events(stream, file):
        if form is None:
            page.show(events)
        elif form == "json":
            _print_json(*events)
        kinds.update(map(type, events))
        codes = (each.code for each in events if isinstance(each, Diagnostic))
        is_empty = is_empty or "empty-stream" in codes
    if form == "answer":
        _print_answer(stream.message())
    elif form == "message":
        _print_json(stream.message())
    raise SystemExit(2 if is_empty else _code(kinds))


def _declared(file: BinaryIO) -> tuple[Tool, ...]:
    """The tools in a file. The file is a list of tools or a request with a list, and a
    tool is spelled as in ``stream/open`` or in a provider's request."""
    from stream_sidecar.options import Tool
    from stream_sidecar.protocol.converter import structure
    from stream_sidecar.protocol.requests import tools_of
    from stream_sidecar.values.jsontext import decode

    try:
        found = decode(file.read())
        body = found if isinstance(found, dict) else {"tools": found}
        try:
            return structure(body.get("tools"), tuple[Tool, ...], "tools")
        except UsageError:
            if theirs := tools_of(body):
                return theirs
            raise
    except (ValueError, UsageError) as error:
        raise Failure(f"--tools {file.name}: {error}") from None


def _template(file: BinaryIO) -> Any:
    """The response template in a file, which may be the configuration of a tokenizer.
    Raises `Failure` if the template cannot be read."""
    from stream_sidecar.dialects.response_templates import TemplateError, template_of
    from stream_sidecar.values.jsontext import decode

    try:
        found = decode(file.read())
        if isinstance(found, dict) and "fields" not in found:
            if found.get("response_template") is None:
                raise TemplateError("response_template", "is missing")
            found = found["response_template"]
        template_of(found)
    except ValueError as error:
        raise Failure(f"--response-template {file.name}: {error}") from None
    return found


def _events(stream: Stream, file: BufferedReader) -> Iterator[list[Event]]:
    """The events of each piece as it arrives, so that a pipe's answer is shown while it
    continues."""
    while data := file.read1(_SLICE):
        yield stream.push(base64.b64encode(data).decode())
    yield stream.close()


def _code(kinds: set[type]) -> int:
    """The exit code by the types of all events."""
    if ProviderError in kinds:
        return 1
    return 2 if kinds <= _ABOUT else 0


def _print_json(*values: Event | Message) -> None:
    """Prints one value per line, spelled and sanitised as by the server."""
    from stream_sidecar.protocol.converter import unstructure
    from stream_sidecar.values.jsontext import encode

    terminal = Terminal()
    for value in values:
        terminal.json(encode(unstructure(value)))


def _print_answer(message: Message) -> None:
    """Prints the text of the first choice, with a line end."""
    terminal, text = Terminal(), message.text
    if text:
        terminal.body(text if text.endswith("\n") else f"{text}\n")
