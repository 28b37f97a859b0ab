"""Recognizes a tool's result that a model repeats at the start of its answer.

A repeated result is an object with an indicator, as in ``{"success": true}Saved.``, or
an object that the host named as known (text rules 10.1 and 10.5). An answer may be an
object, too, and has to stream. So the object's beginning decides whether it may still
be a result (text rule 10.6).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stream_sidecar.forms.known_results import KnownResults
from stream_sidecar.records import field, frozen
from stream_sidecar.values.relaxed import begun_keys

if TYPE_CHECKING:
    from collections.abc import Iterable

GENERIC = frozenset(("type", "content", "error", "query", "results", "redirect"))
"""Indicators that answers have, too. They prove nothing if white space follows the
object (text rule 10.2)."""

BEGINNING = 256
"""A result's first indicator is within this many characters (text rule 10.6)."""

FIRST_KEYS = 8
"""A result's first indicator is among this many keys (text rule 10.6)."""

PATIENCE = 2048
"""A result whose indicators are all `GENERIC` has at most this many characters (text
rule 10.6)."""


@frozen
class EchoRules:
    """How to recognize a repeated result: by ``toolResults.indicators`` and
    ``toolResults.known``. ``patience``: see `PATIENCE`. ``special``: the indicators
    that are not `GENERIC`."""

    indicators: frozenset[str]
    known: KnownResults = field(factory=KnownResults)
    patience: int = PATIENCE
    special: frozenset[str] = field(init=False)

    @special.default
    def _special(self) -> frozenset[str]:
        return self.indicators - GENERIC

    def begins(self, text: str) -> bool:
        """Whether an object that begins with ``text`` may be a result."""
        keys = begun_keys(text[:BEGINNING])
        if self.known:  # the host says what there was to repeat
            return self.known.may_begin(keys)
        has_indicator = not self.special.isdisjoint(keys[:FIRST_KEYS])
        return has_indicator or not self.indicators.isdisjoint(keys[:1])

    def may_continue(self, text: str) -> bool:
        """Whether the object may be a result although it is so long."""
        keys = begun_keys(text)
        return not self.special.isdisjoint(keys) or self.known.may_begin(keys)

    def qualifies(self, value: dict[str, Any], text: str) -> bool:
        """Whether the model's ``value`` is a result (text rule 10.3)."""
        return self.knows(value) or not self.indicators.isdisjoint(
            begun_keys(text[:BEGINNING])[:FIRST_KEYS]
        )

    def knows(self, value: Any) -> bool:
        """Whether the host gave ``value`` to the model (text rule 10.5)."""
        return self.known.has(value)

    def proves(self, values: Iterable[Any]) -> bool:
        """Whether white space may follow these results (text rule 10.2)."""
        special = self.special
        return any(not special.isdisjoint(item) or self.knows(item) for item in values)


NO_ECHO = EchoRules(frozenset())
_OPERATORS = ("|", "->", "=>", "//")

CONTINUING = frozenset(",.;:%=)]}")
"""No answer begins with one of these (text rule 10.6)."""


def continues(following: str, *, beside: bool) -> bool:
    """Whether the text after an object continues a sentence or code, so that the object
    is part of this sentence or code. ``following``: the first two characters of that
    text. ``beside``: they are on the object's line."""
    if beside and following.startswith(_OPERATORS):
        return True
    # `+ 1` continues a sum; `+1` may begin an answer
    return following[:1] in CONTINUING or following in ("+ ", "+\n", "+\t", "+\r")
