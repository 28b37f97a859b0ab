"""The help of a command with many options, which are grouped in sections.

Options that are in no section come at the end, so that none is missing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class SectionedCommand(click.Command):
    """A command with ``sections`` in its help: title -> names of options."""

    def __init__(
        self, *args: Any, sections: Mapping[str, Sequence[str]], **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self._sections = sections

    def format_options(
        self, ctx: click.Context, formatter: click.HelpFormatter
    ) -> None:
        records = {
            name: record
            for option in self.get_params(ctx)
            if isinstance(option, click.Option)
            and (record := option.get_help_record(ctx)) is not None
            for name in [str(option.name)]
        }
        for title, names in self._sections.items():
            with formatter.section(title):
                formatter.write_dl([records.pop(name) for name in names])
        with formatter.section("More"):
            formatter.write_dl([*records.values()])
