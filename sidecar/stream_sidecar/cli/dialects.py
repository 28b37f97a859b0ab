"""``stream-sidecar dialects``: how models write protocol into text.

Each family of models has a block of lines: its models, how it marks reasoning, and how
its calls begin. With a model, its own dialects come first. ``policy.dialects`` and the
answer to ``stream/open`` use the same names.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from stream_sidecar.cli import Failure
from stream_sidecar.cli.terminal import Terminal, columns, warn
from stream_sidecar.dialects import DIALECTS, companions
from stream_sidecar.dialects.profiles import DEFAULT, PROFILES, profile_of
from stream_sidecar.values.printable import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator


def rows() -> list[dict[str, Any]]:
    """One object for each family; ``tiers`` of its calls: text/README.md, 11."""
    return [
        {
            "name": name,
            "profiles": [
                profile.name for profile in PROFILES if name in profile.dialects
            ],
            "anyModel": dialect.safe,
            "reasoning": [list(pair) for pair in dialect.pairs],
            "openers": [text for form in dialect.forms for text in form.openers],
            "tiers": sorted({form.tier for form in dialect.forms}),
            "removed": [*dialect.marks, *dialect.ends],
            "endsReasoning": dialect.ends_reasoning,
        }
        for name, dialect in DIALECTS.items()
    ]


_EPILOG = """\b
Examples:
  stream-sidecar dialects
  stream-sidecar dialects --model qwen3:32b   those that apply to a model
  stream-sidecar dialects --json              one object per line
  stream-sidecar dialects --format response-template qwen3:32b

Exit codes: 0, also for an unknown model, and standard error then says so; with
--format 1 if the template cannot express everything, and
standard error then says what.
"""

_UNKNOWN = (
    "no model of this name is known; below is what is read in the text of any model"
)

_WIDTH = 80
_INDENT = " " * 13
_NAME = "TOOL"
"""What people see in place of the name of a declared tool."""


@click.command("dialects", epilog=_EPILOG)
@click.argument("name", metavar="[MODEL]", required=False)
@click.option("--model", help="Only dialects that apply to the model of this name.")
@click.option("--json", "as_json", is_flag=True, help="Print one object per line.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["response-template"]),
    help="Print MODEL's dialects, or one dialect, as a template of Hugging Face.",
)
def command(
    name: str | None, model: str | None, as_json: bool, form: str | None
) -> None:
    """Print all known dialects, or the dialects that apply to MODEL."""
    if name and model:
        raise click.UsageError("MODEL and --model cannot be used together")
    if form is not None and as_json:
        raise click.UsageError("--format and --json cannot be used together")
    model = name or model
    if form is not None:
        if model is None:
            raise click.UsageError("--format needs a MODEL.")
        _print_template(model)
        return
    table = rows()
    if model is not None:
        from stream_sidecar.options import StreamOptions
        from stream_sidecar.stream.stream import Stream

        profile = Stream(StreamOptions(model=model)).profile
        if profile.name == DEFAULT.name:
            warn(f"{model}: {_UNKNOWN}")
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


class _InexpressibleFailure(Failure):
    """A template cannot express everything about a family."""

    exit_code = 1


def _print_template(model: str) -> None:
    """Prints the template of a model, or of a family by the family's name."""
    from stream_sidecar.templates.family_templates import (
        InexpressibleError,
        family_template,
    )

    is_family = model in DIALECTS
    names = companions((model,)) if is_family else profile_of(model, None).dialects
    try:
        family = family_template([DIALECTS[name] for name in names])
    except InexpressibleError as reason:
        sentence = f"no template can say how {model} writes: {reason}"
        raise _InexpressibleFailure(sentence) from None
    text = json.dumps(family.template, ensure_ascii=False, indent=2)
    Terminal().body(f"{text}\n")
    if family.not_expressed:
        facts = "; ".join(family.not_expressed)
        raise _InexpressibleFailure(f"the template does not say {facts}")


def _lines(row: dict[str, Any]) -> Iterator[str]:
    """The facts about a family, on lines of at most 80 columns."""
    facts = {
        "models": row["profiles"] + ["any model"] * row["anyModel"],
        "reasoning": ["…".join(pair) for pair in row["reasoning"]],
        "calls": [opener.replace("%s", _NAME) for opener in row["openers"]],
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
