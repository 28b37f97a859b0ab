"""Tool results at the answer's start, while it is not known what follows them.

`LeadingResults` keeps the objects and the blanks between them. Visible text behind them
makes them repeated results, the end of the text makes them the answer (contract 7.6).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from sidecar.forms.kinds import PieceKind

if TYPE_CHECKING:
    from sidecar.forms.candidate import Taken
    from sidecar.forms.repeated_results import EchoRules

Item: TypeAlias = "tuple[str, int, Taken | None]"
"""Text, its absolute position, and what is known of it; None: blanks."""


class LeadingResults:
    """``held``: code points; ``items`` in their order."""

    def __init__(self, rules: EchoRules) -> None:
        self.rules = rules
        self.items: list[Item] = []
        self.held = 0

    def add(self, text: str, start: int, taken: Taken | None = None) -> None:
        self.items.append((text, start, taken))
        self.held += len(text)

    def is_echo(self) -> bool:
        """Visible text follows: are the objects repeated results?"""
        known = (taken for _, _, taken in self.items)
        values = [taken.content for taken in known if taken]
        glued = self.items[-1][2] is not None
        return glued or self.rules.proves(values)

    def take(self) -> list[Item]:
        items, self.items, self.held = self.items, [], 0
        return items


def is_leading(taken: Taken) -> bool:
    """Whether it is a result that what follows decides (contract 7.6)."""
    return taken.kind is PieceKind.RESULT and taken.opening.form.place == "start"
