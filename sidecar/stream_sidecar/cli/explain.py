"""``stream-sidecar explain FILE``: which channel each character went to, and why.

FILE is what a provider sent (in any framing), plain text, a stored session, or a
transcript that ``--record`` wrote. It goes through the engine like the stream of a
host. A terminal shows the text in colours; ``--html`` writes a page that shows the rule
of each piece. `_EPILOG` has the exit codes.
"""

from __future__ import annotations

import os
import tempfile
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from stream_sidecar.cli import Failure
from stream_sidecar.cli.explain_text import ExplainText
from stream_sidecar.cli.input_file import (
    InputFile,
    WireCheck,
    framing_option,
    wire_option,
)
from stream_sidecar.cli.report_file import PathArgument, open_report
from stream_sidecar.explain.explaining import explain
from stream_sidecar.explain.explanation import UNKNOWN
from stream_sidecar.explain.page import page
from stream_sidecar.explain.source import failed_response, is_transcript, recorded
from stream_sidecar.explain.stored import explain_file
from stream_sidecar.options import StreamOptions

if TYPE_CHECKING:
    from stream_sidecar.cli.input_file import Input
    from stream_sidecar.explain.explanation import Explanation

_OPTIONS = ("wire", "framing", "model", "provider")
"""What a transcript says, and another file does not."""

_EPILOG = """\b
Examples:
  stream-sidecar explain response.sse
  stream-sidecar explain response.sse --html page.html
  stream-sidecar explain record-4711.txt --stream s1 --open   from --record

Exit codes: 0, whatever is in the stream; 2 if FILE is empty, is no text, or could
not be read, nothing in it was understood, it is of another wire than --wire says,
or the page could not be written; 141 if the reader of the output went away.
"""


@click.command("explain", epilog=_EPILOG)
@click.argument("file", type=InputFile())
@click.option(
    "--html",
    type=PathArgument(dir_okay=False),
    help="Write a self-contained page to this new file.",
)
@click.option("--open", is_flag=True, help="Show the page in the browser.")
@click.option("--force", is_flag=True, help="Let --html replace an older file.")
@wire_option
@framing_option
@click.option("--model", help="Name of the model, to choose its dialects.")
@click.option("--provider", help="Name of the provider.")
@click.option("--stream", help="The stream of a transcript; default: the first.")
def command(file: Input, **arguments: Any) -> None:
    """Show which channel each character went to, and why.

    FILE is a provider's response, plain text, a stored session, or a transcript
    written by --record; "-" reads standard input. For every character the command
    shows its channel and the rule that decided.
    """
    if arguments["force"] and arguments["html"] is None:
        raise click.UsageError("--force needs --html")
    explanation = _explanation(file, arguments)
    out: Path | None = arguments["html"]
    if arguments["open"] and out is None:
        out = Path(tempfile.mkdtemp(prefix="stream-sidecar-"), "page.html")
    if out is None:
        ExplainText().show(explanation)
    else:
        _write(explanation, out, file.path, force=arguments["force"])
        ExplainText().show_path(explanation, str(out))
    if arguments["open"] and out is not None:
        webbrowser.open(out.resolve().as_uri())
    if explanation.is_unknown:
        raise Failure(f"{explanation.name}: {UNKNOWN}")


def _explanation(file: Input, arguments: dict[str, Any]) -> Explanation:
    """The explanation of the chosen stream. It has the file's name without the folder,
    which the reader of a page should not learn."""
    data = b"".join(file.pieces(arguments["framing"]))
    if not (data or file.failed):
        raise Failure(file.emptiness)
    if file.failed or not is_transcript(data):
        if arguments["stream"] is not None:
            raise click.UsageError("--stream needs a transcript")
        options = StreamOptions(**{name: arguments[name] for name in _OPTIONS})
        if file.failed:
            return explain(failed_response(file.name, file.error(data), options))
        check = WireCheck(
            file.name, wire=arguments["wire"], framing=arguments["framing"]
        )
        check.push(data)
        explanation = explain_file(file.name, data, options)
        if explanation.has_no_answer or explanation.is_stored:
            check.refuse()
        return explanation
    for name in _OPTIONS:
        if arguments[name] not in (None, "auto"):
            raise click.UsageError(f"--{name} is not for a transcript, which says it")
    sources = recorded(file.name, data)
    if not sources:
        raise Failure(f"{file.name} is a transcript without a stream")
    stream = arguments["stream"] or next(iter(sources))
    if stream not in sources:
        streams = ", ".join(sources)
        raise click.UsageError(f"--stream {stream} is not in the transcript: {streams}")
    return explain(sources[stream])


def _write(explanation: Explanation, out: Path, source: str, *, force: bool) -> None:
    """Writes the page, never over its source, over another file with ``force``."""
    text = page(explanation)
    files = [Path(source)] if os.path.exists(source) else []
    report = open_report(out, files, force=force, option="--html", use="read")
    assert report is not None  # there is a path
    with report:
        report.write(text.encode())
