"""``stream-sidecar explain FILE``: which channel each character went to, and why.

FILE is what a provider sent (in any framing), plain text, a stored session, or a
transcript that ``--record`` wrote. It goes through the engine like the stream of a
host. A terminal shows the text in colours; ``--html`` writes a page that shows the rule
of each piece. Exit codes: 0, whatever is in the stream; 2 if FILE is empty, is no text
or could not be read, nothing in it was understood, or the page could not be written.
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
    "out",
    type=PathArgument(dir_okay=False),
    help="Write a self-contained page to this new file.",
)
@click.option("--open", "opens", is_flag=True, help="Show the page in the browser.")
@click.option("--force", is_flag=True, help="Let --html replace an older file.")
@wire_option
@framing_option
@click.option("--model", help="Name of the model, to choose its dialects.")
@click.option("--provider", help="Name of the provider.")
@click.option(
    "--stream", "chosen", help="The stream of a transcript; default: the first."
)
def command(file: Input, **given: Any) -> None:
    """Show which channel each character went to, and why.

    FILE is a provider's response, plain text, a stored session, or a transcript
    written by --record; "-" reads standard input. For every character the command
    shows its channel and the rule that decided.
    """
    if given["force"] and given["out"] is None:
        raise click.UsageError("--force needs --html")
    explanation = _explanation(file, given)
    out: Path | None = given["out"]
    if given["opens"] and out is None:
        out = Path(tempfile.mkdtemp(prefix="stream-sidecar-"), "page.html")
    if out is not None:
        _write(explanation, out, file.path, force=given["force"])
    text = ExplainText()
    if out is None:
        text.show(explanation)
    else:
        text.written(explanation, str(out))
    if given["opens"] and out is not None:
        webbrowser.open(out.resolve().as_uri())
    if explanation.is_unknown:
        raise Failure(f"{explanation.name}: {UNKNOWN}")


def _explanation(file: Input, given: dict[str, Any]) -> Explanation:
    """The explanation of the chosen stream. It has the file's name without the folder,
    which the reader of a page should not learn."""
    name, wire, framing = file.name, given["wire"], given["framing"]
    data = b"".join(file.pieces(framing))
    if not (data or file.failed):
        raise Failure(file.emptiness)
    if file.failed or not is_transcript(data):
        if given["chosen"] is not None:
            raise click.UsageError("--stream needs a transcript")
        options = StreamOptions(**{each: given[each] for each in _OPTIONS})
        if file.failed:
            return explain(failed_response(name, file.error(data), options))
        check = WireCheck(name, wire=wire, framing=framing)
        check.push(data)
        found = explain_file(name, data, options)
        if found.has_no_answer or found.is_stored:
            check.refuse()
        return found
    for each in _OPTIONS:
        if given[each] not in (None, "auto"):
            raise click.UsageError(f"--{each} is not for a transcript, which says it")
    sources = recorded(name, data)
    if not sources:
        raise Failure(f"{name} is a transcript without a stream")
    chosen = given["chosen"] or next(iter(sources))
    if chosen not in sources:
        known = ", ".join(sources)
        raise click.UsageError(f"--stream {chosen} is not in the transcript: {known}")
    return explain(sources[chosen])


def _write(explanation: Explanation, out: Path, read: str, *, force: bool) -> None:
    """Writes the page. It never replaces the file that was read, and another file only
    with ``force``."""
    text = page(explanation)
    files = [Path(read)] if os.path.exists(read) else []
    opened = open_report(out, files, force=force, option="--html", use="read")
    assert opened is not None  # a path was given
    with opened:
        opened.write(text.encode())
