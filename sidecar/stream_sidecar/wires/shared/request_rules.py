"""What each provider demands of an assistant's turn that comes back, and refuses.

Not a wire: the rows of the tables ``RULES`` that stand beside the writers of requests.
The first row that fits the name of the provider and that of the model counts; a
provider's own rows therefore stand above those for a model that many serve. ``source``
is where that is known from: a page of the provider's documentation, the words of its
refusal, or a public thread that has them. A new provider is one row (wires/README.md,
"Requests").
"""

from __future__ import annotations

import re
from typing import Literal

from stream_sidecar import patterns, records

_NEVER = "(?!)"


def _any_case(pattern: str) -> re.Pattern[str]:
    return patterns.compile(pattern, re.IGNORECASE | re.DOTALL)


@records.frozen
class Rule:
    """A row. ``provider`` and ``model`` are patterns; an empty one fits any name, and
    none at all.

    ``reasoning``: it goes back with every turn, with those that call tools, or never.
    ``field``: the only field of Chat Completions for it, where there is something for
    it; else it goes back in those in which it came. ``required``: a turn with calls has
    that field even where it is empty. ``unsigned``: thinking without a signature is
    taken. ``tags``: reasoning that stood in tags in the text goes back there.
    ``raw_arguments``: arguments that are no JSON object go as they are. ``stand_in``:
    what a call without a signature has for one. ``no_ids``: what is found in ids of
    calls that are refused, because another provider gave them; they are replaced.
    """

    source: str
    provider: re.Pattern[str] = records.field(default="", converter=_any_case)
    model: re.Pattern[str] = records.field(default="", converter=_any_case)
    reasoning: Literal["turns", "calls", "never"] = "turns"
    field: str | None = None
    required: bool = False
    unsigned: bool = False
    tags: tuple[str, str] | None = None
    raw_arguments: bool = False
    stand_in: str | None = None
    no_ids: re.Pattern[str] = records.field(default=_NEVER, converter=_any_case)

    def fits(self, provider: str, model: str) -> bool:
        """Are these names of the ones that are meant?"""
        return bool(self.provider.search(provider) and self.model.search(model))


ANYBODY: tuple[Rule, ...] = (Rule("no demand is known"),)
"""Rules of a provider that takes everything."""


def rule_for(rules: tuple[Rule, ...], provider: str | None, model: str | None) -> Rule:
    """The rule of a wire for these names; its last one fits anybody."""
    names = provider or "", model or ""
    return next(rule for rule in rules if rule.fits(*names))
