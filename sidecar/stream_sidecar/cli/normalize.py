"""``stream-sidecar normalize FILE``: the channels of a stored stream or body.

The file goes through the engine of the server. The channels are printed under headings;
``--json`` prints one event per line and ``--message`` the message, both as the protocol
spells them, and ``--answer`` prints only the answer's text.

`_EPILOG` has the exit codes. An answer that was cut off is 0, too: many servers write
neither a finish reason nor an end mark, and only the host knows how its connection
ended. Whether the stream itself says that it is complete is in ``complete`` of
``finish``.
"""

from __future__ import annotations

import base64
from itertools import filterfalse
from typing import TYPE_CHECKING, Any

import click

from stream_sidecar.cli import Failure
from stream_sidecar.cli.input_file import (
    InputFile,
    WireCheck,
    framing_option,
    wire_option,
)
from stream_sidecar.cli.page import Page
from stream_sidecar.cli.terminal import Terminal, warn
from stream_sidecar.errors import UsageError
from stream_sidecar.events import (
    BlockEnd,
    Diagnostic,
    Finish,
    Metadata,
    ProviderError,
    TextDelta,
    Usage,
)
from stream_sidecar.options import StreamOptions
from stream_sidecar.stream.stream import Stream

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stream_sidecar.cli.input_file import Input
    from stream_sidecar.events import Event
    from stream_sidecar.message.message import Message
    from stream_sidecar.options import Tool

_EPILOG = """\b
Examples:
  stream-sidecar normalize response.sse
  curl -sN ... | stream-sidecar normalize - --model qwen3:32b
  curl -siN ... | stream-sidecar normalize -  with the status and headers
  stream-sidecar normalize body.json --json   one event per line
  stream-sidecar normalize body.json --answer > answer.md

Exit codes: 0 with an answer, even if it was cut off (its last line then says
"incomplete"); 1 if the stream has an error of its provider, or its status (with
curl -i) is one; 2 if FILE has no answer, is no text, is of another wire than
--wire says, or could not be read; 141 if the reader of the output went away.
With 2, a sentence on standard error says why; with 1 and --answer, too.
"""

_ABOUT = {Diagnostic, Metadata, Usage, Finish}
"""Events about an answer, which are no part of it."""

_UNREAD = {"malformed-chunk", "unknown-chunk", "document-limit"}
"""Codes of diagnostics about input in which nothing was understood."""

_UNKNOWN = (
    "nothing in it was understood as a provider's stream or response; "
    "'explain' also reads stored sessions and transcripts"
)

_FORMS = ("json", "answer", "message")


@click.command("normalize", epilog=_EPILOG)
@click.argument("file", type=InputFile())
@wire_option
@framing_option
@click.option("--model", help="Name of the model, to choose its dialects.")
@click.option(
    "--tools",
    type=InputFile(),
    help="The declared tools: a JSON list, or a request that has one.",
)
@click.option(
    "--response-template",
    type=InputFile(),
    help="How the model writes: a tokenizer_config.json, or only its template.",
)
@click.option("--json", is_flag=True, help="Print one event per line.")
@click.option("--answer", is_flag=True, help="Print only the answer.")
@click.option("--message", is_flag=True, help="Print the message as JSON.")
def command(
    file: Input, tools: Input | None, response_template: Input | None, **options: Any
) -> None:
    """Print the channels of FILE; "-" is standard input.

    FILE is UTF-8, or has a byte order mark. The heads that curl -i prints before a body
    are no part of it.
    """
    forms = [form for form in _FORMS if options.pop(form)]
    if len(forms) > 1:
        names = " and ".join(f"--{form}" for form in forms)
        raise click.UsageError(f"{names} cannot be used together")
    form = forms[0] if forms else None
    options["tools"] = None if tools is None else _declared(tools)
    if response_template is not None:
        options["response_template"] = _template(response_template)
    stream = Stream(StreamOptions(encoding="base64", **options))
    check = WireCheck(file.name, wire=options["wire"], framing=options["framing"])
    page = Page()
    kinds: set[type] = set()
    codes: set[str] = set()
    for events in _events(stream, file, check):
        if form is None:
            page.show(events)
        elif form == "json":
            _print_json(*events)
        kinds.update(map(type, filterfalse(_is_blank, events)))
        codes.update(event.code for event in events if isinstance(event, Diagnostic))
    if form == "answer":
        if text := stream.message().text:
            Terminal().body(text if text.endswith("\n") else f"{text}\n")
    elif form == "message":
        _print_json(stream.message())
    code = _code(file, kinds, codes, check)
    if form == "answer":
        for error in stream.message().errors:
            warn(f"{error.kind}: {error.message}", "Error")
    raise SystemExit(code)


def _declared(file: Input) -> tuple[Tool, ...]:
    """The tools in a file. The file is a list of tools or a request with a list, and a
    tool is spelled as in ``stream/open`` or in a provider's request."""
    from stream_sidecar.options import Tool
    from stream_sidecar.protocol.converter import structure
    from stream_sidecar.protocol.requests import tools_of

    value = file.json("--tools")
    body = value if isinstance(value, dict) else {"tools": value}
    try:
        return structure(body.get("tools"), tuple[Tool, ...], "tools")
    except UsageError as error:
        if tools := tools_of(body):
            return tools
        raise Failure(f"--tools {file.path}: {error}") from None


def _template(file: Input) -> Any:
    """The response template in a file, which may be the configuration of a tokenizer.
    Raises `Failure` if the template cannot be read."""
    from stream_sidecar.templates.anchors import TemplateError
    from stream_sidecar.templates.response_template import template_of

    template = file.json("--response-template")
    try:
        if isinstance(template, dict) and "fields" not in template:
            if template.get("response_template") is None:
                raise TemplateError("response_template", "is missing")
            template = template["response_template"]
        template_of(template)
    except ValueError as error:
        raise Failure(f"--response-template {file.path}: {error}") from None
    return template


def _events(stream: Stream, file: Input, check: WireCheck) -> Iterator[list[Event]]:
    """The events of each piece as it arrives, so that a pipe's answer is shown while it
    continues. The body of a request that failed is its error, and no answer."""
    pieces = file.pieces(stream.options.framing)
    if file.failed:
        yield stream.close("error", file.error(b"".join(pieces)))
        return
    for data in pieces:
        check.push(data)
        yield stream.push(base64.b64encode(data).decode())
    yield stream.close()


def _is_blank(event: Event) -> bool:
    """Whether an event is white space in the answer, or the end of a block of it."""
    match event:
        case TextDelta(text=text):
            return not text.strip()
        case BlockEnd(channel="text"):
            return True
    return False


def _code(file: Input, kinds: set[type], codes: set[str], check: WireCheck) -> int:
    """The exit code by the types of all events that are not blank, and the codes of all
    diagnostics. Raises `Failure` if there is no answer and no error of a provider."""
    if kinds <= {*_ABOUT, ProviderError} and codes & _UNREAD:
        check.refuse()
    if "empty-stream" in codes:
        raise Failure(file.emptiness)
    if ProviderError in kinds:
        return 1
    if not kinds <= _ABOUT:
        return 0
    if codes & _UNREAD:
        raise Failure(f"{file.name}: {_UNKNOWN}")
    raise Failure(f"{file.name} has no answer: the model said nothing")


def _print_json(*values: Event | Message) -> None:
    """Prints one value per line, as the server writes it."""
    from stream_sidecar.protocol.converter import unstructure
    from stream_sidecar.values.jsontext import encode

    terminal = Terminal()
    for value in values:
        terminal.json(encode(unstructure(value)))
