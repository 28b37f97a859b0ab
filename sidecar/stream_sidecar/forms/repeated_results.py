"""Recognizes a tool's result that a model repeats in front of its answer.

It is an object with an indicator, as in ``{"success": true}Saved.``, or one that the
host named as known (text rules 10.1 and 10.5). An answer may also be an object and has
to stream, so the beginning of an object decides early whether it can be a result (text
rule 10.6).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stream_sidecar.forms.known_results import KnownResults
from stream_sidecar.records import field, frozen
from stream_sidecar.values.relaxed import begun_keys

if TYPE_CHECKING:
    from collections.abc import Iterable

GENERIC = frozenset(("type", "content", "error", "query", "results", "redirect"))
"""Indicators that answers have, too. If white space follows the object they prove
nothing (text rule 10.2)."""

BEGINNING = 256
"""An object's first indicator must be within this many characters (text rule 10.6)."""

FIRST_KEYS = 8
"""An object's first indicator must be among this many keys (text rule 10.6)."""

PATIENCE = 2048
"""An object with only generic indicators has at most this many characters (text rule
10.6)."""


@frozen
class EchoRules:
    """``toolResults.indicators`` and ``toolResults.known``. ``patience``: see
    `PATIENCE`. ``special``: the indicators that are proof by themselves."""

    indicators: frozenset[str]
    known: KnownResults = field(factory=KnownResults)
    patience: int = PATIENCE
    special: frozenset[str] = field(init=False)

    @special.default
    def _special(self) -> frozenset[str]:
        return self.indicators - GENERIC

    def begins(self, text: str) -> bool:
        """Whether an object may be a result that begins with ``text`` and continues. A
        `GENERIC` indicator counts only as the first key."""
        keys = begun_keys(text[:BEGINNING])
        reported = not self.special.isdisjoint(keys[:FIRST_KEYS])
        reported = reported or not self.indicators.isdisjoint(keys[:1])
        return reported or self.known.may_begin(keys)

    def may_continue(self, text: str) -> bool:
        """Whether an object may still be a result although it exceeds the limits so
        far."""
        keys = begun_keys(text)
        return not self.special.isdisjoint(keys) or self.known.may_begin(keys)

    def qualifies(self, value: dict[str, Any], text: str) -> bool:
        """Whether ``value``, written as ``text``, is a result (text rule 10.3)."""
        return self.knows(value) or not self.indicators.isdisjoint(
            begun_keys(text[:BEGINNING])[:FIRST_KEYS]
        )

    def knows(self, value: Any) -> bool:
        """Whether ``value`` is a result that the host gave to the model (text rule
        10.5)."""
        return self.known.has(value)

    def proves(self, values: Iterable[Any]) -> bool:
        """Whether these are results even if white space follows (text rule 10.2)."""
        special = self.special
        return any(not special.isdisjoint(each) or self.knows(each) for each in values)


NO_ECHO = EchoRules(frozenset())


def continues(following: str, *, beside: bool) -> bool:
    """Whether an object is part of the sentence or code that continues after it.
    ``following``: the next two characters. ``beside``: they are on the same line."""
    if beside and following.startswith(_OPERATORS):
        return True
    return following[:1] in CONTINUING or following in ("+ ", "+\n", "+\t", "+\r")


_OPERATORS = ("|", "->", "=>", "//")


CONTINUING = frozenset(",.;:%=)]}")
"""No answer begins with one of these (text rule 10.6)."""
