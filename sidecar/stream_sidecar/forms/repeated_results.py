"""What a tool result looks like that a model repeats in front of its answer.

An object with an indicator, as ``{"success": true}Saved.`` has one, or one that the
host named as known (text rule 10.1, text rule 10.5). An answer may be an object, too,
and has to stream, so how an object begins decides early whether it can be a result
(text rule 10.6).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stream_sidecar.forms.known_results import KnownResults
from stream_sidecar.records import field, frozen
from stream_sidecar.values.relaxed import begun_keys

if TYPE_CHECKING:
    from collections.abc import Iterable

GENERIC = frozenset(("type", "content", "error", "query", "results", "redirect"))
"""Indicators that answers have, too: with white space behind the object they prove
nothing (text rule 10.2)."""

BEGINNING = 256
"""Characters of an object in which its first indicator has to stand (text rule
10.6)."""

FIRST_KEYS = 8
"""Keys of an object among which its first indicator has to be (text rule 10.6)."""

PATIENCE = 2048
"""So many characters have generic indicators alone at most (text rule 10.6)."""


@frozen
class EchoRules:
    """``toolResults.indicators`` and ``toolResults.known``; ``patience``: as
    `PATIENCE`; ``special``: the indicators that prove something."""

    indicators: frozenset[str]
    known: KnownResults = field(factory=KnownResults)
    patience: int = PATIENCE
    special: frozenset[str] = field(init=False)

    @special.default
    def _special(self) -> frozenset[str]:
        return self.indicators - GENERIC

    def begins(self, text: str) -> bool:
        """Whether an object that begins with ``text`` and goes on may be a result: of
        the `GENERIC` indicators the first key counts."""
        keys = begun_keys(text[:BEGINNING])
        reported = not self.special.isdisjoint(keys[:FIRST_KEYS])
        reported = reported or not self.indicators.isdisjoint(keys[:1])
        return reported or self.known.may_begin(keys)

    def goes_on(self, text: str) -> bool:
        """Whether it may still be one, although it is so long."""
        keys = begun_keys(text)
        return not self.special.isdisjoint(keys) or self.known.may_begin(keys)

    def qualifies(self, value: dict[str, Any], text: str) -> bool:
        """Whether an object, written as ``text``, is a result (text rule 10.3)."""
        return self.knows(value) or not self.indicators.isdisjoint(
            begun_keys(text[:BEGINNING])[:FIRST_KEYS]
        )

    def knows(self, value: Any) -> bool:
        """``value`` is a result that the host gave to the model (text rule 10.5)."""
        return self.known.has(value)

    def proves(self, values: Iterable[Any]) -> bool:
        """Whether these are results with white space behind (text rule 10.2)."""
        special = self.special
        return any(not special.isdisjoint(each) or self.knows(each) for each in values)


NO_ECHO = EchoRules(frozenset())


def continues(following: str, *, beside: bool) -> bool:
    """Whether an object before ``following`` (two characters of it) is a part of the
    sentence or of the code that goes on there; ``beside``: on the object's own line."""
    if beside and following.startswith(_OPERATORS):
        return True
    return following[:1] in CONTINUING or following in ("+ ", "+\n", "+\t", "+\r")


_OPERATORS = ("|", "->", "=>", "//")


CONTINUING = frozenset(",.;:%=)]}")
"""Behind these nobody begins an answer (text rule 10.6)."""
