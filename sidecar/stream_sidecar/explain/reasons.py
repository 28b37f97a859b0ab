"""Why characters have their owner: the `Reason` for each kind of event.

Tables from the kinds of events, and of removals that a diagnostic reports, to an owner
and a `Reason`. The decisions are the engine's; these tables only describe them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from stream_sidecar import events
from stream_sidecar.channel.found_forms import REMOVAL_DIAGNOSTICS
from stream_sidecar.dialects import DIALECTS
from stream_sidecar.explain.explanation import Owner, Reason
from stream_sidecar.forms.kinds import PieceKind
from stream_sidecar.records import frozen

if TYPE_CHECKING:
    from stream_sidecar.options import ReasoningPolicy

Verdict: TypeAlias = tuple[Owner, Reason]

PLAIN: Verdict = ("answer", Reason("no rule takes it out of the answer", "2.1"))
REPEATED: Verdict = (
    "dropped",
    Reason("the field had already sent it", "8.7", "duplicate-reasoning"),
)
MIRRORED: Verdict = ("dropped", Reason("another field had already sent it", "8.6"))
FROM_START: Verdict = ("reasoning", Reason("reasoning was open from the start", "9.1"))
KEPT: Verdict = (
    "answer",
    Reason("it stays: a stop token is removed only where the text ends", "12.1"),
)
UNREPORTED: Verdict = ("dropped", Reason("no event reports it", "2.1"))

_REMOVED: dict[PieceKind, tuple[Owner, str, str]] = {
    PieceKind.DELIMITER: ("delimiter", "a tag that begins or ends reasoning", "3.2"),
    PieceKind.STRAY: ("delimiter", "a delimiter without a partner", "3.6"),
    PieceKind.REBUILT: ("dropped", "it would have completed a delimiter", "5.1"),
    PieceKind.BLANK: ("dropped", "white space beside a removal", "6"),
    PieceKind.MARK: ("delimiter", "a token of the chat format, not text", "12"),
    PieceKind.CITE: ("citation", "the marker of a citation", "12.4"),
}

_BY_WORDS: dict[tuple[str, str], tuple[Owner, str, str]] = {
    (code, words): _REMOVED[kind]
    for kind, (code, _, words) in REMOVAL_DIAGNOSTICS.items()
}
"""Code and message of a diagnostic -> owner, words and rule."""

_COPIES = (
    ("8.2", "reasoning in tags: only the provider's own field for it counts"),
    ("8.5", "the provider's own reasoning says the same"),
)
"""Rule and words for tagged reasoning that is dropped; the second: ``merge``."""

_PARTS: dict[Owner, str] = {
    "call": "a call",
    "result": "a result",
    "citation": "a citation",
    "error": "an error",
}
_TIERS = {"A": "11.2", "B": "11.4", "C": "11.6"}
_FORMS = {
    "11.2": "in tokens that no person writes",
    "11.3": "the text ended inside it",
    "11.4": "complete, and {}",
    "11.6": "on lines of its own, and {}",
    "11.10": "inside its reasoning",
}
"""Rule that makes text a call -> what was true of this text."""
_DECLARED = {
    True: "the host declared its tool",
    False: "its form needs no declared tool",
    None: "the host gave no list of tools",
}
"""Whether the tool of a call was declared -> words for it."""


@frozen
class Setting:
    """What the rules depend on. ``opens``: the model's template opens reasoning;
    ``unclosed``: the choices in which reasoning was never closed."""

    policy: ReasoningPolicy
    opens: bool
    unclosed: frozenset[int]


def verdict(event: Any, setting: Setting, *, native: bool) -> Verdict:
    """The owner of the characters in the span of ``event``; ``native``: the
    characters are in the provider's own reasoning."""
    if isinstance(event, events.Diagnostic):
        return _removal(event, setting, native)
    if isinstance(event, events.ToolCall):
        rule = _rule_of(event)
        form = _FORMS.get(rule, "").format(_DECLARED[event.declared])
        words = f"the model wrote this call of {event.name} as text"
        words = f"{words} ({form}); it is reported, not run" if form else words
        return "call", Reason(words, rule, dialect=event.dialect or "")
    if isinstance(event, events.ToolResult):
        return _result(event)
    if isinstance(event, events.TextDelta):
        return PLAIN
    if native:
        return "reasoning", Reason("a field of the provider for reasoning", "8.1")
    return "reasoning", Reason("reasoning that the model wrote between two tags", "3.3")


def reclassified(event: events.Reclassify, setting: Setting) -> Verdict:
    """The owner of blocks that ``event`` moves to the other channel."""
    if event.to == "reasoning":
        words = "a closer without an opener follows: it was reasoning"
        return "reasoning", Reason(words, "9.3" if setting.opens else "9.2")
    if event.choice not in setting.unclosed:
        return "answer", Reason("there is no other answer", "7.6")
    return "answer", Reason("its reasoning was never closed", _unclosed(setting, "7"))


def left_open(setting: Setting) -> Verdict:
    """The owner of reasoning that was never closed and stays reasoning."""
    words = "the text ended before its closer"
    rule = _unclosed(setting, "7.1")
    return "reasoning", Reason(words, rule, "unclosed-reasoning")


def _unclosed(setting: Setting, rule: str) -> str:
    return rule if setting.policy.unclosed == "auto" else "7.5"


def is_delimiter(event: events.Event) -> bool:
    """Whether ``event`` reports the removal of a delimiter of reasoning."""
    _, _, words = REMOVAL_DIAGNOSTICS[PieceKind.DELIMITER]
    return isinstance(event, events.Diagnostic) and event.message == words


def retracted(event: events.Retract) -> Verdict:
    """The owner of text that ``event`` takes back: the provider sent the same in
    a better form, or the text is read again as the answer."""
    if event.reason == "duplicate-of-structured":
        return "dropped", Reason("the provider sent the same call", "11.12")
    if event.reason == "read-as-text":
        return "answer", Reason("its reasoning was never closed", "7.4")
    return "dropped", Reason("the provider's own reasoning says the same", "8.3")


def of_wire(owner: Owner, wire: str) -> Verdict:
    """The owner of a part with a structure: the wire names its channel."""
    return owner, Reason(f"the provider sent it as {_PARTS[owner]}", wire=wire)


def left_out(event: events.Diagnostic) -> Verdict:
    """The owner of input that could not be used, as ``event`` reports."""
    words = f"{event.message.rstrip('.')}: this is what the provider sent"
    return "dropped", Reason(words, code=event.code)


def _rule_of(event: events.ToolCall) -> str:
    if event.state == "truncated":
        return "11.3"
    if event.channel == "reasoning":
        return "11.10"
    dialect = DIALECTS.get(event.dialect or "")
    tiers = {form.tier for form in dialect.forms} if dialect is not None else set()
    return _TIERS[tiers.pop()] if len(tiers) == 1 else "11"


def _result(event: events.ToolResult) -> Verdict:
    if event.executed:
        words = "the model repeated the result of a tool, which the host knows"
        return "result", Reason(words, "10.5")
    words = "no tool gave this result: the model wrote it"
    is_object = str(event.raw).lstrip()[:1] in ("{", "[")
    return "result", Reason(words, "10.1" if is_object else "10.9")


def _removal(event: events.Diagnostic, setting: Setting, native: bool) -> Verdict:
    removal = _BY_WORDS.get((event.code, event.message))
    if removal is None:
        rule, words = _COPIES[setting.policy.precedence == "merge"]
        return "dropped", Reason(words, rule, event.code)
    owner, words, rule = removal
    if native and owner == "delimiter":
        rule = "8.8"
    return owner, Reason(words, rule, event.code)
