"""What cleaning took out of a channel: how it is counted, and how it is told."""

from __future__ import annotations

from attrs import define

from sidecar.text.pieces import Kind


@define
class Counters:
    """What a choice did to its text; the names are those of ``Stats``."""

    delimiters_stripped: int = 0
    reasoning_extracted: int = 0
    held_peak: int = 0


REMOVALS: dict[Kind, tuple[str, str, str]] = {
    Kind.DELIMITER: ("delimiter-stripped", "info", "a reasoning delimiter"),
    Kind.BLANK: ("delimiter-stripped", "info", "white space of a removal"),
    Kind.MARK: ("delimiter-stripped", "info", "protocol without meaning"),
    Kind.CITE: ("delimiter-stripped", "info", "a citation's marker"),
    Kind.STRAY: ("orphan-reasoning-close", "warning", "a closer without an opener"),
    Kind.REBUILT: (
        "delimiter-stripped",
        "warning",
        "characters that would have completed a delimiter",
    ),
}
"""Code, severity and message of the diagnostic for a piece."""
