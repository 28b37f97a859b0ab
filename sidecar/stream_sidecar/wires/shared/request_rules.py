"""What each provider requires of an assistant's turn in a request, and what it refuses.

Two rows answer for a request: the first that fits and names the provider says what the
server refuses, and the first that fits and names only the model says what the model
needs. ``source``: how the rule is known, such as a page of the provider's
documentation, the words of its refusal, or a public thread (wires/README.md,
"Requests").
"""

from __future__ import annotations

import re
from itertools import chain
from math import inf
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from stream_sidecar import patterns, records
from stream_sidecar.records import evolve

if TYPE_CHECKING:
    from collections.abc import Collection

RefusedInMessage: TypeAlias = Literal[
    "lists",
    "models-lists",
    "empty-lists",
    "empty-calls",
    "null-content",
    "missing-content",
    "nulls",
]
"""Shapes of single messages, which a gateway translates."""

Refused: TypeAlias = Literal[
    "broken-pairs",
    "repeated-ids",
    "empty-turns",
    "neighbours",
    "models-neighbours",
    "user-after-results",
    "no-user-turn",
    "first-system",
    "later-system",
    "lonely-reasoning",
    "unsigned-loops",
    RefusedInMessage,
    "one-query",
    "empty-reasoning",
]
"""Which parts of a history a provider refuses:

- calls without results and results without calls; one id for two calls
- turns without content; two turns of one role in a row, or of the model's
- a user's turn right after results; no user's turn except results
- a system's turn first, or later
- reasoning with nothing after it; a tool loop without thinking while thinking is on
- of Chat Completions: a content that is a list (the model's, or an empty one), an empty
  list of calls, a content of null, a missing content; null in other members
- of Responses: a search with one query in place of a list; reasoning without content
"""

_IN_MESSAGES: frozenset[Refused] = frozenset(get_args(RefusedInMessage))

_NEVER = "(?!)"
_BLANK = "[\\s\\x00-\\x1f\\x7f]"
"""Characters that no tool's name may have (NUL: openai/codex#24369)."""

_ADDED = patterns.compile(
    r"^(?:.*/|[a-z-]+\.(?:[a-z]+\.)?(?=[a-z]))"
    r"|[-@]\d{6}+.*+|[-:](?:v\d|latest|preview|thinking|exp\b).*+|[:\[].*+|-0$"
)
"""Matches what gateways, regions, versions and dates add to a model's name."""

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
    "nvidia": "nemotron",
    "meta": "llama",
    "microsoft": r"\bphi-\d",
}
"""The maker of a model -> a pattern for its models' names."""

_SELLERS = {
    "openai": r"^openai$|\bapi\.openai\.com|chatgpt",
    "anthropic": r"^anthropic$|\bapi\.anthropic\.com",
    "xai": r"^x[-.]?ai$|\bapi\.x\.ai",
    "google": "^google$|ai.?studio|generativelanguage|^gemini",
    "deepseek": r"^deepseek$|\bapi\.deepseek\.com",
    "moonshot": r"^moonshot|^kimi|\bapi\.moonshot\.",
    "zai": r"^z\.?ai\b|^zhipu|\bapi\.z\.ai|bigmodel",
    "minimax": "^minimax|api.minimax",
    "mistral": r"^mistral|\bapi\.mistral\.ai",
}
"""A maker -> a pattern for providers that serve only its models."""


@records.frozen
class Names:
    """A provider and a model; "" if nobody named them."""

    provider: str = ""
    model: str = ""

    @property
    def maker(self) -> str:
        """The maker of the model, else of all models of the provider; "" if unknown."""
        return maker_of(self.model) or seller(self.provider)


def differ(one: str, other: str) -> bool:
    """Whether two names are both known, and not the same."""
    return bool(one and other and one != other)


def maker_of(model: str) -> str:
    """The maker of a model; "" if the name does not show it."""
    return next((maker for maker, name in _NAMED.items() if name.search(model)), "")


def seller(provider: str) -> str:
    """The maker whose models alone a provider serves; "" for other providers."""
    return next((maker for maker, name in _SOLD.items() if name.search(provider)), "")


def model_name(model: str) -> str:
    """The name that a model has with every provider; "" for one with several meanings
    (``gemini-flash-latest``). ``us.anthropic.claude-sonnet-4-5-20250929-v1:0`` becomes
    ``claude-sonnet-4-5``."""
    name = _ADDED.sub("", model.lower()).replace(".", "-")
    return name if maker_of(name) and _DIGIT.search(name) else ""


def any_case(pattern: str | re.Pattern[str]) -> re.Pattern[str]:
    if not isinstance(pattern, str):  # of a rule made from two rows
        return pattern
    return patterns.compile(pattern, re.IGNORECASE | re.DOTALL)


_DIGIT = patterns.compile("[0-9]")
_NAMED = {maker: any_case(name) for maker, name in _MAKERS.items()}
_SOLD = {maker: any_case(name) for maker, name in _SELLERS.items()}


@records.frozen
class Rule:
    """A row of rules. ``provider`` and ``model`` are patterns; an empty pattern fits
    every name, and no name.

    - ``reasoning``: when it goes back: with every turn, only with turns that call
      tools, or never.
    - ``field``: the only field of Chat Completions for reasoning; without one, it goes
      back in the fields in which it came. ``is_only``: other fields are refused.
    - ``is_gateway``: it translates messages for the model. So its own row says when,
      in which field and in which tags reasoning goes back, and which shapes of a
      message are refused, whatever the model's row says.
    - ``came_in``: if no provider is named, reasoning in this field identifies this
      provider.
    - ``required``: turns that must have the field even if it is empty.
    - ``unsigned``: thinking without a signature is accepted.
    - ``tags``: reasoning that stood in tags in the text goes back there.
    - ``raw_arguments``: arguments that are no JSON object are sent unchanged.
    - ``stand_in``: the signature for a call without one.
    - ``has_refusals``: a refusal in Chat Completions has its own field; otherwise it is
      text.
    - ``is_closed``: unknown members of a block or item are refused.
    - ``no_end``: white space at the turn's end is refused.
    - ``longest_key``: names of arguments have at most so many characters.
    - ``no_ids``: finds ids of calls that are refused because another provider made
      them; they are replaced.
    - ``no_names``: finds what is refused in a tool's name; each match becomes ``_``. A
      name has at most ``longest_name`` characters.
    - ``refuses``: shapes of the whole history that are refused.
    - ``no_prefix``: finds models that refuse a request that ends with the model's turn.
    - ``thinks``: finds models whose items must have reasoning before them.
    - ``issuers``: finds providers whose signatures and encrypted state are accepted;
      without a pattern, only its own. ``one_model``: only state of the same model.
    """

    source: str
    provider: re.Pattern[str] = records.field(default="", converter=any_case)
    model: re.Pattern[str] = records.field(default="", converter=any_case)
    reasoning: Literal["turns", "calls", "never"] = "turns"
    field: str | None = None
    is_only: bool = False
    is_gateway: bool = False
    came_in: str | None = None
    required: Literal["", "calls", "turns"] = ""
    unsigned: bool = False
    tags: tuple[str, str] | None = None
    raw_arguments: bool = False
    stand_in: str | None = None
    has_refusals: bool = True
    is_closed: bool = False
    no_end: bool = False
    no_ids: re.Pattern[str] = records.field(default=_NEVER, converter=any_case)
    no_names: re.Pattern[str] = records.field(default=_BLANK, converter=any_case)
    longest_name: int = 128
    longest_key: float = inf
    refuses: frozenset[Refused] = frozenset()
    thinks: re.Pattern[str] = records.field(default=_NEVER, converter=any_case)
    no_prefix: re.Pattern[str] = records.field(default=_NEVER, converter=any_case)
    issuers: re.Pattern[str] = records.field(default="", converter=any_case)
    one_model: bool = False

    def accepts_state(self, given: Names, asked: Names) -> bool:
        """Whether ``asked`` can read the state that ``given`` issued, which is of the
        same maker. Names that are not known count as equal."""
        if self.one_model and differ(model_name(given.model), model_name(asked.model)):
            return False
        if self.issuers.pattern and given.provider and asked.provider:
            return bool(self.issuers.search(given.provider))
        return not differ(given.provider.lower(), asked.provider.lower())

    def fits(self, provider: str, model: str) -> bool:
        """Whether the row is for these names."""
        return bool(self.provider.search(provider) and self.model.search(model))


ANYBODY: tuple[Rule, ...] = (Rule("no demand is known"),)
"""The rules of a wire on which no requirement is known."""


def rule_for(
    rules: tuple[Rule, ...], asked: Names, fields: Collection[str] = ()
) -> Rule:
    """The rule for the names ``asked``: of the server's row and the model's, if there
    are both; the last of ``rules`` fits all. ``fields``: the names of the fields in
    which reasoning came. If no provider is named, they may show the server."""
    fitting = [rule for rule in rules if rule.fits(asked.provider, asked.model)]
    by_field = () if asked.provider else (r for r in rules if r.came_in in fields)
    servers = (rule for rule in fitting if rule.provider.pattern)
    models = (r for r in fitting if r.model.pattern and not r.provider.pattern)
    server, model = next(chain(by_field, servers), None), next(models, None)
    if server is None or model is None:
        return server or model or fitting[-1]
    return _both(server, model)


def _both(server: Rule, model: Rule) -> Rule:
    """A rule of two rows: the ``model``'s needs that the ``server`` allows, and the
    refusals of both."""
    is_refused = server.reasoning == "never"
    is_servers = is_refused or server.is_gateway
    refuses = model.refuses - (_IN_MESSAGES if server.is_gateway else frozenset())
    return evolve(
        server,
        source=f"{server.source}; {model.source}",
        reasoning=server.reasoning if is_servers else model.reasoning,
        field=server.field or (None if server.is_gateway else model.field),
        required="" if is_refused else model.required,
        unsigned=model.unsigned,
        tags=None if server.is_gateway else model.tags,
        raw_arguments=model.raw_arguments and server.raw_arguments,
        has_refusals=model.has_refusals and server.has_refusals,
        is_closed=model.is_closed or server.is_closed,
        no_end=model.no_end or server.no_end,
        no_ids=_any_of(server.no_ids, model.no_ids),
        no_names=_any_of(server.no_names, model.no_names),
        longest_name=min(model.longest_name, server.longest_name),
        longest_key=min(model.longest_key, server.longest_key),
        refuses=refuses | server.refuses,
        no_prefix=_any_of(server.no_prefix, model.no_prefix),
    )


def _any_of(one: re.Pattern[str], other: re.Pattern[str]) -> re.Pattern[str]:
    parts = dict.fromkeys((one.pattern, other.pattern))
    return any_case("|".join(f"(?:{part})" for part in parts))
