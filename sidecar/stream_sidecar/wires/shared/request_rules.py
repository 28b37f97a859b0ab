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
from typing import TYPE_CHECKING, Literal, TypeAlias

from stream_sidecar import patterns, records

if TYPE_CHECKING:
    from collections.abc import Collection

Refused: TypeAlias = Literal[
    "broken-pairs",
    "repeated-ids",
    "empty-turns",
    "neighbours",
    "models-neighbours",
    "user-behind-results",
    "no-user-turn",
    "first-system",
    "later-system",
    "lonely-reasoning",
    "unsigned-loops",
    "lists",
    "models-lists",
    "empty-lists",
    "empty-calls",
    "null-content",
    "missing-content",
]
"""What of a history a provider refuses: calls without results and results without
calls, one id for two calls, turns that say nothing, two turns of one role in a row (or
of the model's), a user's turn right behind results, no user's turn but results, a
system's turn first (or later), reasoning that nothing follows, a tool loop without
thinking while thinking is on; of Chat Completions a content that is a list (the
model's, or an empty one), an empty list of calls, a content of null, or none.
"""

_NEVER = "(?!)"
_BLANK = "[\\s\\x00-\\x1f\\x7f]"
"""What no name of a tool may have (NUL: openai/codex#24369)."""

_ADDED = patterns.compile(
    r"^(?:.*/|[a-z-]+\.(?:[a-z]+\.)?(?=[a-z]))"
    r"|[-@]\d{6}+.*+|[-:](?:v\d|latest|preview|thinking|exp\b).*+|[:\[].*+|-0$"
)
"""What gateways, regions, versions and dates add to the name of a model."""

_MAKERS = {
    "anthropic": "claude",
    "google": "gemini|gemma",
    "openai": r"gpt|codex|\bo[134]\b",
    "xai": "grok",
    "deepseek": "deepseek",
    "moonshot": "kimi",
    "zai": "glm",
    "alibaba": "qwen|qwq",
    "mistral": "[mc][a-z]{1,16}stral|devstral|mixtral",
    "minimax": "minimax",
    "amazon": r"\bnova",
    "cohere": "command",
}
"""Who made a model -> what is found in its name."""


@records.frozen
class Names:
    """A provider and a model; empty where nobody named them."""

    provider: str = ""
    model: str = ""


def _differ(one: str, other: str) -> bool:
    return bool(one and other and one != other)


def maker_of(model: str) -> str:
    """Who made a model, nothing where the name does not tell."""
    found = (m for m, name in _NAMED.items() if name.search(model))
    return next(found, "")


def model_name(model: str) -> str:
    """The name that a model has with any provider, nothing for one that can mean
    several (``gemini-flash-latest``). ``us.anthropic.claude-sonnet-4-5-20250929-v1:0``
    is ``claude-sonnet-4-5``."""
    name = _ADDED.sub("", model.lower()).replace(".", "-")
    return name if maker_of(name) and _DIGIT.search(name) else ""


def _any_case(pattern: str) -> re.Pattern[str]:
    return patterns.compile(pattern, re.IGNORECASE | re.DOTALL)


_DIGIT = patterns.compile("[0-9]")
_NAMED = {maker: _any_case(name) for maker, name in _MAKERS.items()}


@records.frozen
class Rule:
    """A row. ``provider`` and ``model`` are patterns; an empty one fits any name, and
    none at all.

    ``reasoning``: it goes back with every turn, with those that call tools, or never.
    ``field``: the only field of Chat Completions for it, where there is something for
    it; else it goes back in those in which it came. ``came_in``: where no provider is
    named, reasoning in this field says that it is this one. ``required``: turns that
    have that field even where it is empty. ``unsigned``: thinking without a signature
    is taken. ``tags``: reasoning that stood in tags in the text goes back there.
    ``raw_arguments``: arguments that are no JSON object go as they are. ``stand_in``:
    what a call without a signature has for one. ``has_refusals``: what Chat Completions
    say of a refusal has a field of its own, else it is text. ``is_closed``: members of
    a block, or of an item, that the provider does not know are refused. ``no_end``:
    white space at the end of the turn is refused.

    ``no_ids``: what is found in ids of calls that are refused, because another provider
    gave them; they are replaced. ``no_names``: what in the name of a tool is refused;
    each such piece becomes ``_``. A name is at most ``longest_name`` characters.

    ``refuses``: shapes of the whole history that are refused. ``no_prefix``: a pattern
    for names of models that refuse a request that ends with the model's turn.

    ``thinks``: what is found in names of models whose items have reasoning before them.

    ``issuers``: providers whose signatures and encrypted state this one takes; without
    a pattern its own alone. ``one_model``: of another model it takes none.
    """

    source: str
    provider: re.Pattern[str] = records.field(default="", converter=_any_case)
    model: re.Pattern[str] = records.field(default="", converter=_any_case)
    reasoning: Literal["turns", "calls", "never"] = "turns"
    field: str | None = None
    came_in: str | None = None
    required: Literal["", "calls", "turns"] = ""
    unsigned: bool = False
    tags: tuple[str, str] | None = None
    raw_arguments: bool = False
    stand_in: str | None = None
    has_refusals: bool = True
    is_closed: bool = False
    no_end: bool = False
    no_ids: re.Pattern[str] = records.field(default=_NEVER, converter=_any_case)
    no_names: re.Pattern[str] = records.field(default=_BLANK, converter=_any_case)
    longest_name: int = 128
    refuses: frozenset[Refused] = frozenset()
    thinks: re.Pattern[str] = records.field(default=_NEVER, converter=_any_case)
    no_prefix: re.Pattern[str] = records.field(default=_NEVER, converter=_any_case)
    issuers: re.Pattern[str] = records.field(default="", converter=_any_case)
    one_model: bool = False

    def accepts_state(self, given: Names, asked: Names) -> bool:
        """Can whoever is ``asked`` read the state of whoever gave it? What nobody named
        is no difference."""
        if self.one_model and _differ(model_name(given.model), model_name(asked.model)):
            return False
        if _differ(maker_of(given.model), maker_of(asked.model)):
            return False
        if self.issuers.pattern and given.provider and asked.provider:
            return bool(self.issuers.search(given.provider))
        return not _differ(given.provider.lower(), asked.provider.lower())

    def fits(self, provider: str, model: str) -> bool:
        """Are these names of the ones that are meant?"""
        return bool(self.provider.search(provider) and self.model.search(model))


ANYBODY: tuple[Rule, ...] = (Rule("no demand is known"),)
"""Rules of a provider that takes everything."""


def rule_for(
    rules: tuple[Rule, ...], asked: Names, fields: Collection[str] = ()
) -> Rule:
    """The rule of a wire for these names; its last one fits anybody. Where no provider
    is named, the ``fields`` in which reasoning came tell more than the model."""
    reported = () if asked.provider else tuple(r for r in rules if r.came_in in fields)
    fitting = (rule for rule in rules if rule.fits(asked.provider, asked.model))
    return reported[0] if reported else next(fitting)
