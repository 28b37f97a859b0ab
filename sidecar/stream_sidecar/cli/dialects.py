"""``stream-sidecar dialects``: how models write protocol into text.

One block of lines a family: its models, what it does with reasoning, how its calls
begin. With a model, what is its own comes first. The same names stand in
``policy.dialects`` and in the answer to ``stream/open``.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from stream_sidecar.cli import Failure
from stream_sidecar.cli.terminal import Terminal, columns
from stream_sidecar.dialects import DIALECTS, companions
from stream_sidecar.dialects.profiles import PROFILES, Profile, profile_of
from stream_sidecar.values.printable import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator


def rows() -> list[dict[str, Any]]:
    """One object a family; ``tiers`` are those of its calls (protocol.md)."""
    return [
        {
            "name": name,
            "profiles": [each.name for each in PROFILES if name in each.dialects],
            "anyModel": dialect.safe,
            "reasoning": [list(pair) for pair in dialect.pairs],
            "openers": [one for form in dialect.forms for one in form.openers],
            "tiers": sorted({form.tier for form in dialect.forms}),
            "removed": [*dialect.marks, *dialect.ends],
            "endsReasoning": dialect.ends_reasoning,
        }
        for name, dialect in DIALECTS.items()
    ]


_EPILOG = """\b
Examples:
  stream-sidecar dialects
  stream-sidecar dialects --model qwen3:32b   what is in force for a model
  stream-sidecar dialects --json              one object a line
  stream-sidecar dialects --format response-template qwen3:32b

Exit codes: 0; with --format 1 where something of it cannot be said so, which
standard error tells.
"""

_WIDTH = 80
_INDENT = " " * 13
_NAME = "TOOL"
"""What people see where the name of a declared tool stands."""


@click.command("dialects", epilog=_EPILOG)
@click.argument("name", metavar="[MODEL]", required=False)
@click.option("--model", help="Only what is in force for this model's name.")
@click.option("--json", "as_json", is_flag=True, help="Print one object a line.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["response-template"]),
    help="Print what is known of MODEL or a dialect as such a file of Hugging Face's.",
)
def command(
    name: str | None, model: str | None, as_json: bool, form: str | None
) -> None:
    """Print the dialects that are known, or those of MODEL."""
    model = name or model
    if form is not None:
        if model is None:
            raise click.UsageError("--format needs a MODEL.")
        _print_template(model)
        return
    table = rows()
    if model is not None:
        profile = _profile(model)
        table = [row for row in table if row["name"] in profile.dialects]
        table.sort(key=lambda row: profile.name not in row["profiles"])
    terminal = Terminal()
    if as_json:
        for row in table:
            terminal.json(json.dumps(row).encode())
        return
    for row in table:
        terminal.line((row["name"], "bold"))
        for line in _lines(row):
            terminal.line(line)


class _NotSaid(Failure):
    """Something of a family cannot be said in a template."""

    exit_code = 1


def _print_template(model: str) -> None:
    """The template of a model, or of a family by its own name."""
    from stream_sidecar.dialects.family_templates import NotSaidError, family_template

    is_family = model in DIALECTS
    profile = (
        Profile(model, companions((model,))) if is_family else profile_of(model, None)
    )
    try:
        found = family_template(profile)
    except NotSaidError as reason:
        raise _NotSaid(f"no template can say how {model} writes: {reason}") from None
    text = json.dumps(found.template, ensure_ascii=False, indent=2)
    Terminal().body(f"{text}\n")
    if found.unsaid:
        raise _NotSaid(f"the template does not say {'; '.join(found.unsaid)}")


def _profile(model: str) -> Profile:
    """What is in force for a model."""
    from stream_sidecar.options import StreamOptions
    from stream_sidecar.stream.stream import Stream

    return Stream(StreamOptions(model=model)).profile


def _lines(row: dict[str, Any]) -> Iterator[str]:
    """What is known of a family, on lines of at most 80 columns; some characters take
    two."""
    models = row["profiles"] + (["any model"] if row["anyModel"] else [])
    facts = {
        "models": models,
        "reasoning": ["…".join(pair) for pair in row["reasoning"]],
        "calls": [each.replace("%s", _NAME) for each in row["openers"]],
        "removed": row["removed"],
    }
    for name, values in facts.items():
        line, indent = "", f"  {name:<11}"
        for word in map(one_line, values):
            if line and columns(f"{indent}{line}  {word}") > _WIDTH:
                yield indent + line
                line, indent = "", _INDENT
            line = f"{line}  {word}" if line else word
        if line:
            yield indent + line
