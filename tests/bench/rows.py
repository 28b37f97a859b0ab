"""What a benchmark gives: rows of the table, some with a bar.

A bar is a bound on a ratio (or on megabytes) that holds on any machine, because both
sides were measured in the same run. ``aim`` is where the project wants to be.
"""

from __future__ import annotations

from attrs import frozen


@frozen
class Bar:
    """A bound on a row's value; ``at_least``: more is better."""

    limit: float
    aim: float
    at_least: bool = False
    unit: str = "x"

    def met(self, value: float) -> bool:
        return value >= self.limit if self.at_least else value <= self.limit

    def spell(self, limit: float) -> str:
        return f"{'>=' if self.at_least else '<='} {limit:g}{self.unit}"


@frozen
class Row:
    """``measured`` is for people; ``value``, a ratio mostly, is what the bar is about.

    Without a bar the row only informs.
    """

    what: str
    measured: str
    value: float | None = None
    bar: Bar | None = None

    @property
    def met(self) -> bool | None:
        if self.bar is None or self.value is None:
            return None
        return self.bar.met(self.value)

    def cells(self) -> tuple[str, ...]:
        """The row as it is printed: what, measured, ratio, bar, aim, met?"""
        unit = self.bar.unit if self.bar else "x"
        value = "" if self.value is None else f"{self.value:.2f}{unit}"
        if self.bar is None:
            return self.what, self.measured, value, "", "", ""
        limit, aim = self.bar.spell(self.bar.limit), self.bar.spell(self.bar.aim)
        return self.what, self.measured, value, limit, aim, "yes" if self.met else "NO"

    def as_json(self) -> dict[str, object]:
        return {
            "what": self.what,
            "measured": self.measured,
            "value": self.value,
            "bar": self.bar.limit if self.bar else None,
            "aim": self.bar.aim if self.bar else None,
            "unit": self.bar.unit if self.bar else "x",
            "met": self.met,
        }


def microseconds(seconds: float) -> str:
    return f"{seconds * 1e6:.1f} µs"


def milliseconds(seconds: float) -> str:
    return f"{seconds * 1e3:.0f} ms"
