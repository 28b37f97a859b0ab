"""What the editor says about a leak: its name, its fix, and the text of a hover.

The diagnostic names the leak and counts its characters. The hover does not repeat this:
it says why the leak is bad and what the fix does. It shows the text of the leak only if
the document has it with escapes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stream_sidecar import patterns
from stream_sidecar.history.bound import BOUND
from stream_sidecar.history.results import SURROGATE
from stream_sidecar.records import frozen

if TYPE_CHECKING:
    from stream_sidecar.editor.session import Leak, SessionMessage

FIX_TITLE = "Take it out"
REPLACE_TITLE = "Replace it"

_UNSEAL = (
    " The provider signed the thinking after the text together with it, and would "
    "refuse the session. `stream-sidecar repair --write --unseal` edits the text, and "
    "removes that thinking."
)

_SHORTEST = 24
"""A diagnostic quotes a leak of at most this number of characters."""


@frozen
class Wording:
    """The texts about a kind of leak: its ``name``, the ``harm`` that it does, and what
    the ``effect`` of the fix is."""

    name: str
    harm: str
    effect: str


WORDINGS: dict[str, Wording] = {
    "reasoning": Wording(
        "Leaked reasoning",
        "The agent of this session sends the reasoning back with every later turn as a "
        "part of the answer. The model imitates that, and reasons in its answers.",
        "The rest of the answer stays.",
    ),
    "delimiter": Wording(
        "Leaked delimiter",
        "The delimiter belongs to the format between model and provider, and readers "
        "of the answer see it. The agent of this session sends it back with every "
        "later turn, and the model imitates it.",
        "The text around it stays.",
    ),
    "tool-result": Wording(
        "Leaked tool result",
        "The result stands in the answer as if the model had said it. "
        "The model imitates that in later turns, and makes up results.",
        "The messages of the tools stay as they are.",
    ),
    "tool-call": Wording(
        "Leaked tool call",
        "The call is stored as text and not as a call. "
        "The model imitates that in later turns, and writes calls that no agent runs.",
        "The call is not run, and no other copy of it is stored. "
        "The answer may still announce it.",
    ),
    "marker": Wording(
        "Leaked marker",
        "The marker belongs to a protocol and has no meaning for a reader. The agent "
        "of this session sends it back with every later turn, and the model imitates "
        "it.",
        "The text around it stays.",
    ),
    "white-space": Wording(
        "Leaked white space",
        "The white space separated the answer from another leak.",
        "The text around it stays.",
    ),
    SURROGATE: Wording(
        "Half a character",
        "A surrogate without its partner is not a character. Providers refuse every "
        "request that has one.",
        "The text around it stays.",
    ),
}
"""Kind of a leak -> its wording."""


def noun_of(kind: str) -> str:
    """A kind of leak as a word: ``tool call``."""
    return kind.replace("-", " ")


def fix_title(kind: str) -> str:
    title = REPLACE_TITLE if kind == SURROGATE else FIX_TITLE
    return f"{title}: {noun_of(kind)}"


def diagnostic_text(message: SessionMessage, leak: Leak) -> str:
    text = leak.finding.text.strip()
    is_short = 0 < len(text) <= _SHORTEST and "\n" not in text
    quote = text if is_short else _size(message, leak)
    reason = "" if leak.stays is None else f" (it stays: {leak.stays})"
    return f"{WORDINGS[leak.finding.kind].name}: {quote}{reason}"


def _size(message: SessionMessage, leak: Leak) -> str:
    """``77 characters``, or ``77 characters (62 of reasoning, 15 of tags)``."""
    text, reasoning = leak.finding.text, _plain(message, leak)
    size = "1 character" if len(text) == 1 else f"{len(text):,} characters"
    opener, inner, closer = text.partition(reasoning)
    tags = opener + closer
    if not inner or not tags:
        return size
    words = "tags and white space" if any(map(str.isspace, tags)) else "tags"
    return f"{size} ({len(reasoning):,} of reasoning, {len(tags):,} of {words})"


def hover_text(
    message: SessionMessage, leak: Leak, source: str, *, keeps_length: bool
) -> str:
    """The Markdown of a hover; ``source`` is the leak as the document has it.
    ``keeps_length``: blanks replace what is removed."""
    harm = WORDINGS[leak.finding.kind].harm
    parts = [harm, _fix_text(leak, keeps_length=keeps_length)]
    text = _plain(message, leak)
    is_call = leak.finding.kind == "tool-call"
    has_call = False
    for call in message.repair.tool_calls or () if is_call else ():
        if isinstance(call.raw, str) and call.raw in leak.finding.text:
            has_call = True
            parts += [f"`{call.name}`", _fenced(call.arguments, "json")]
    if not has_call and text not in source:
        parts.append(_fenced(text))
    return "\n\n".join(parts)


def _fix_text(leak: Leak, *, keeps_length: bool) -> str:
    if leak.stays is not None:
        hint = _UNSEAL if leak.stays == BOUND else ""
        return f"There is no fix: {leak.stays}.{hint}"
    if leak.finding.kind == SURROGATE:
        return f"The fix “{REPLACE_TITLE}” puts U+FFFD in its place."
    blanks = ", and adds as many blanks to the line" if keeps_length else ""
    effect = WORDINGS[leak.finding.kind].effect
    return f"The fix “{FIX_TITLE}” deletes the leaked characters{blanks}. {effect}"


def _plain(message: SessionMessage, leak: Leak) -> str:
    """The text of a leak, without its tags if it is all reasoning that leaked."""
    leaks = [other for other in message.leaks if other.finding.kind == "reasoning"]
    reasoning = message.repair.reasoning
    return reasoning if reasoning and leaks == [leak] else leak.finding.text


def _fenced(text: str, language: str = "") -> str:
    """A fenced block; the fence is longer than any in the text."""
    longest = max(map(len, patterns.compile("`+").findall(text)), default=0)
    fence = "`" * max(longest + 1, 3)
    return f"{fence}{language}\n{text}\n{fence}"
