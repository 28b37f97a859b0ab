"""What all choices of a stream share: the options, prepared for the text engine.

`surroundings` is the one place where policy, profile and declared tools become the
lexicon and the context of the splitters. `Surroundings.answer` and
`Surroundings.native` make the splitters.
"""

from __future__ import annotations

from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from stream_sidecar.dialects import (
    DIALECTS,
    SAFE,
    SENTINELS,
    companions,
    pair_of,
    tags_of,
    without,
)
from stream_sidecar.dialects.host_echo import host_forms
from stream_sidecar.dialects.leftovers import LEFTOVERS, RESULTS_DIALECT, elements_of
from stream_sidecar.dialects.profiles import Profile, profile_of
from stream_sidecar.forms.grammar import Context
from stream_sidecar.forms.known_results import KnownResults, known_value
from stream_sidecar.forms.literals import Delimiters
from stream_sidecar.forms.repeated_results import PATIENCE, EchoRules
from stream_sidecar.options import DEFAULT_TAGS
from stream_sidecar.records import evolve, frozen, hot
from stream_sidecar.text.fast_path import MIN_ROOM, gate_of
from stream_sidecar.text.lexicon import Lexicon, Rules, Vocabulary, total_share
from stream_sidecar.text.rereading import Rereading
from stream_sidecar.text.shown_text import Orphan
from stream_sidecar.text.splitter import Splitter

if TYPE_CHECKING:
    from collections.abc import Callable

    from stream_sidecar.forms.form import Dialect
    from stream_sidecar.message.outlet import Outlet
    from stream_sidecar.options import Policy, StreamOptions, Tool
    from stream_sidecar.text.fast_path import Passage
    from stream_sidecar.text.lexicon import Share


@hot
class Surroundings:
    """The options of a stream, prepared. ``profile``: the model's, with the dialects in
    force. ``policy``: the host's, with the tags in force.

    ``rules``: how to recognize a repeated result. ``tools``: the declared tools by
    name; None if the host gave no list of tools. ``watch``: the context of the splitter
    that only counts results, under ``toolResults.mode: report``; else None.
    """

    options: StreamOptions
    profile: Profile
    policy: Policy
    lexicon: Lexicon
    context: Context
    rules: EchoRules
    watch: Context | None
    outlet: Outlet
    tools: dict[str, Tool] | None

    def passes_at_first(self, text: str) -> Passage | None:
        """The `Passage` (fast path) for deltas after ``text``, the first text of a
        choice; None if the text engine must read ``text`` itself."""
        opened = self.policy.reasoning.starts_open == "open"
        has_room = self.options.limits.max_held_chars >= MIN_ROOM
        if opened or not has_room or self.lexicon.may_begin_form(text):
            return None
        passes = self.policy.reasoning.scope != "everywhere"
        return self.lexicon.gates_of(fences_pass=passes).passage_after(
            gate_of(""), text
        )

    def answer(
        self,
        others: Callable[[], Share] = total_share,
        settle: Callable[[], object] = total_share,
        native: Callable[[], Share] = total_share,
        *,
        has_thought: bool = False,
    ) -> Rereading:
        """The reader for the text of a new choice. ``others`` returns the `Share` of
        all readers except the first reading, ``native`` that of native reasoning.
        ``settle`` gives the other readers all pieces that the first reading has
        decided.

        ``has_thought``: native reasoning came before, so the choice did not begin its
        reasoning in the prompt (text rules 9.1 and 9.3).
        """
        opens, orphan = self.policy.reasoning.starts_open, Orphan.NONE
        if opens == "auto":
            orphan = Orphan.ARMED if self.profile.starts_open else Orphan.LINE
        opened = opens == "open" and not has_thought
        rules = self._rules(
            others, settle_others=settle, begins_open=opened, orphan=orphan
        )
        return Rereading(Splitter(rules), partial(self.shown, native))

    def shown(self, others: Callable[[], Share] = total_share) -> Splitter:
        """A splitter that reads visible text as a repair of the message would."""
        return Splitter(self._rules(others, opens_reasoning=False))

    def native(self, others: Callable[[], Share] = total_share) -> Splitter:
        """The splitter for the native reasoning of a new choice."""
        return Splitter(self._rules(others, native=True))

    def _rules(self, others: Callable[[], Share], **more: Any) -> Rules:
        limits, reasoning = self.options.limits, self.policy.reasoning
        return Rules(
            self.lexicon,
            self.context,
            reasoning.scope,
            limits.max_held_chars,
            limits.max_call_chars,
            others,
            keeps_reasoning=reasoning.unclosed == "text",
            **more,
        )


def decisive(options: StreamOptions) -> tuple[object, ...]:
    """The options on which the surroundings of a stream without a response template
    depend: equal results mean equal surroundings. The profile's name stands for the
    model."""
    profile = profile_of(options.model, options.provider)
    return profile.name, options.tools, options.policy, options.limits


@frozen
class _Formats:
    """How the model writes. ``named``: the dialects that the host or the profile named.
    ``families``: all dialects from the table that are read. ``own``: further dialects,
    which the host described. ``sentinels``: families whose pairs are delimiters,
    too."""

    profile: Profile
    named: tuple[str, ...]
    families: tuple[str, ...]
    tags: tuple[str, ...]
    sentinels: tuple[str, ...] = ()
    own: tuple[Dialect, ...] = ()


def _formats_of(options: StreamOptions) -> _Formats:
    """How the model writes, by its profile or the host's response template."""
    profile = profile_of(options.model, options.provider)
    policy, auto = options.policy, options.policy.dialects == "auto"
    tags = policy.reasoning.tags
    if options.response_template is not None:
        # few streams have a template, so others do not load this module
        from stream_sidecar.templates.response_template import NAME, template_of

        template = template_of(options.response_template)
        named = companions(() if auto else tuple(policy.dialects))
        opens = profile.starts_open or template.starts_open
        profile = evolve(profile, dialects=(NAME, *named), starts_open=opens)
        return _Formats(profile, named, named, tags or (), own=(template.dialect,))
    named = companions(profile.dialects if auto else tuple(policy.dialects))
    left_out = without(named)
    safe = [name for name in SAFE if auto and name not in left_out]
    families = tuple(dict.fromkeys((*named, *safe)))
    profile = evolve(profile, dialects=families)
    if tags is None:
        sentinels = SENTINELS if auto else ()
        return _Formats(profile, named, families, DEFAULT_TAGS, sentinels)
    return _Formats(profile, named, families, tags)


def surroundings(options: StreamOptions, outlet: Outlet) -> Surroundings:
    """The surroundings of a new stream."""
    policy, formats = options.policy, _formats_of(options)
    named, tagging = formats.named, _tagging(policy, formats.named)
    tools = None  # the host gave no list of tools
    if options.tools is not None:
        tools = {tool.name: tool for tool in options.tools}
    results = policy.tool_results
    rules = EchoRules(
        frozenset(results.indicators),
        KnownResults(map(known_value, results.known)),
        options.limits.max_held_chars if "gemini-call" in named else PATIENCE,
    )
    echoes = tools != {} or bool(rules.known)
    words = lexicon(
        formats.tags,
        formats.families,
        tagging=tuple(dict.fromkeys((*tagging, *formats.sentinels))),
        named=named,
        about=_about(policy, bare=bool(tools), echoes=echoes),
        tools=tuple(tools or ()),
        own=(*formats.own, *filter(None, (host_forms(policy.echo),))),
    )
    context = Context(tools, rules, policy.tool_calls.mode)
    tags = tags_of(formats.tags, tagging, formats.own)
    return Surroundings(
        options,
        formats.profile,
        evolve(policy, reasoning=evolve(policy.reasoning, tags=tags)),
        words,
        context,
        rules,
        Context(tools, rules, "off") if results.mode == "report" and echoes else None,
        outlet,
        tools,
    )


def _tagging(policy: Policy, named: tuple[str, ...]) -> tuple[str, ...]:
    """The families whose pairs are delimiters: the ``named`` families. If the host gave
    a list of tags and named no dialects, only these tags are delimiters, and there are
    no such families (text rule 3.2)."""
    exact = policy.dialects == "auto" and policy.reasoning.tags is not None
    return () if exact else named


def _about(policy: Policy, *, bare: bool, echoes: bool) -> tuple[str, ...]:
    """The values of `Form.about` that the policy allows. ``bare``: calls without a
    marker may be read, too (text rule 11.13). ``echoes``: results may be repeated."""
    about = ["leftovers", "reserved", "channels", *(("bare",) if bare else ())]
    if policy.tool_results.mode == "strip":
        about += ["results", "echoes"] if echoes else ["results"]
    if policy.tool_calls.mode == "extract":
        about += ["calls", "marks"]
    elif policy.tool_calls.mode == "report":
        about.append("calls")
    return tuple(about)


@lru_cache(maxsize=64)
def vocabulary(
    tags: tuple[str, ...],
    tagging: tuple[str, ...],
    families: tuple[str, ...],
    named: tuple[str, ...],
    about: frozenset[str],
    own: tuple[Dialect, ...],
) -> Vocabulary:
    """The vocabulary with ``tags`` and the pairs of ``tagging`` as delimiters, and with
    the forms of ``families``.

    ``named``: the families that the host or the profile named. ``about``: which forms
    are read. ``own``: dialects that the host has described.
    """
    pairs = [pair_of(tag) for tag in tags]
    pairs += [pair for dialect in own for pair in dialect.pairs]
    pairs += [pair for name in tagging for pair in DIALECTS[name].pairs]
    chosen = [(DIALECTS[name], name in named) for name in families]
    chosen += [(LEFTOVERS, False), (RESULTS_DIALECT, False)]
    chosen.append((elements_of(tuple(dict.fromkeys(pairs))), False))
    chosen += [(dialect, True) for dialect in own]
    return Vocabulary(Delimiters(tuple(dict.fromkeys(pairs))), tuple(chosen), about)


@lru_cache(maxsize=64)
def lexicon(
    tags: tuple[str, ...],
    families: tuple[str, ...] = (),
    *,
    tagging: tuple[str, ...] = (),
    named: tuple[str, ...] = (),
    about: tuple[str, ...] = (),
    tools: tuple[str, ...] = (),
    own: tuple[Dialect, ...] = (),
) -> Lexicon:
    """The literals at which the splitters of a stream stop. ``tools``: the names of the
    declared tools. For the other parameters see `vocabulary`."""
    words = vocabulary(tags, tagging, families, named, frozenset(about), own)
    return Lexicon(words, tools)
