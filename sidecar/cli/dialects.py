"""``stream-sidecar dialects``: how models write protocol into text, as a table.

One row a family: its models, what it does with reasoning, how its calls begin. The same
names stand in ``policy.dialects`` and in the answer to ``stream/open``.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from sidecar.cli.terminal import Terminal
from sidecar.dialects import DIALECTS
from sidecar.dialects.profiles import PROFILES

if TYPE_CHECKING:
    from sidecar.cli.terminal import Cell


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


@click.command("dialects")
@click.option("--model", help="Only what is in force for this model's name.")
@click.option("--json", "as_json", is_flag=True, help="Print one object a line.")
def command(model: str | None, as_json: bool) -> None:
    """Print the families of models whose way of writing is known."""
    table = rows()
    if model is not None:
        table = [row for row in table if row["name"] in _in_force(model)]
    terminal = Terminal()
    if as_json:
        for row in table:
            terminal.json(json.dumps(row).encode())
        return
    heads = ("family", "models", "any model", "reasoning", "calls begin with")
    terminal.table(heads, map(_cells, table), framed=True)


def _in_force(model: str) -> tuple[str, ...]:
    from sidecar.options import StreamOptions
    from sidecar.stream.stream import Stream

    return Stream(StreamOptions(model=model)).profile.dialects


def _cells(row: dict[str, Any]) -> list[Cell]:
    return [
        row["name"],
        ", ".join(row["profiles"]),
        "yes" if row["anyModel"] else "",
        ["…".join(pair) for pair in row["reasoning"]],
        row["openers"],
    ]
