"""Tool results at the answer's start, while it is not known what follows them.

`LeadingResults` keeps the objects and the blanks between them. Visible text behind them
makes them repeated results, the end of the text makes them the answer. Example:
``{"success": true}`` waits, and ``Done.`` right behind it makes it a result.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from attrs import define, field

from sidecar.forms.kinds import PieceKind

if TYPE_CHECKING:
    from sidecar.forms.candidate import Taken
    from sidecar.forms.repeated_results import EchoRules

Leading: TypeAlias = "tuple[str, int, Taken | None]"
"""Text, its position, and what is known of it; None: blanks."""


@define(eq=False)
class LeadingResults:
    """``held``: code points; ``items`` in their order."""

    _rules: EchoRules
    items: list[Leading] = field(factory=list)
    held: int = 0

    def push(self, text: str, start: int, taken: Taken | None = None) -> None:
        """A result waits, or blanks behind one."""
        self.items.append((text, start, taken))
        self.held += len(text)

    def is_echo(self) -> bool:
        """Visible text follows: are the objects repeated results?"""
        values = [taken.content for _, _, taken in self.items if taken]
        glued = self.items[-1][2] is not None
        return glued or self._rules.proves(values)


def is_leading(taken: Taken) -> bool:
    """Whether it is a result that what follows decides."""
    return taken.kind is PieceKind.RESULT and taken.opening.form.place == "start"
