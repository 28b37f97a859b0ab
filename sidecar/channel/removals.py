"""What cleaning took out of a channel: how it is counted, and how it is told."""

from __future__ import annotations

from attrs import define

from sidecar.forms.kinds import PieceKind


@define
class Counters:
    """What a choice did to its text; the names are those of ``Stats``."""

    delimiters_stripped: int = 0
    reasoning_extracted: int = 0
    held_peak: int = 0


REMOVALS: dict[PieceKind, tuple[str, str, str]] = {
    PieceKind.DELIMITER: ("delimiter-stripped", "info", "a reasoning delimiter"),
    PieceKind.BLANK: ("delimiter-stripped", "info", "white space of a removal"),
    PieceKind.MARK: ("delimiter-stripped", "info", "protocol without meaning"),
    PieceKind.CITE: ("delimiter-stripped", "info", "a citation's marker"),
    PieceKind.STRAY: (
        "orphan-reasoning-close",
        "warning",
        "a closer without an opener",
    ),
    PieceKind.REBUILT: (
        "delimiter-stripped",
        "warning",
        "characters that would have completed a delimiter",
    ),
}
"""Code, severity and message of the diagnostic for a piece."""
