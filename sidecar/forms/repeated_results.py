"""What a tool result looks like that a model repeats in front of its answer.

An object with an indicator, as ``{"success": true}Saved.`` has one, or one that the
host named as known (text rule 10.1, text rule 10.5).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import frozen

from sidecar.values.equality import equal
from sidecar.values.jsontext import loads

if TYPE_CHECKING:
    from collections.abc import Iterable

GENERIC = frozenset(("type", "content", "error", "query", "results", "redirect"))
"""Indicators that answers have, too: with white space behind the object they prove
nothing (text rule 10.2)."""


@frozen
class EchoRules:
    """``toolResults.indicators``, and the values of ``toolResults.known``."""

    indicators: frozenset[str]
    known: tuple[Any, ...] = ()

    def qualifies(self, value: dict[str, Any]) -> bool:
        return not self.indicators.isdisjoint(value) or self.knows(value)

    def knows(self, value: Any) -> bool:
        """``value`` is a result that the host passed to the model this turn."""
        return any(equal(value, each) for each in self.known)

    def proves(self, values: Iterable[Any]) -> bool:
        """Whether these are results although white space stands before the text."""
        special = self.indicators - GENERIC
        return any(self.knows(each) or not special.isdisjoint(each) for each in values)


def known_value(known: Any) -> Any:
    """What a known result is compared as: a string that is JSON counts as its value."""
    if not isinstance(known, str):
        return known
    try:
        return loads(known)
    except ValueError:
        return known
