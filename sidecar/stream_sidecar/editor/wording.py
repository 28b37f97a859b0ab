"""What the editor says about a finding: its name, its fix, and the text of a hover.

The diagnostic names the finding. The hover does not repeat the name: it says why the
finding is bad and what the fix does. It shows the text of the finding only if the
document has it with escapes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stream_sidecar import patterns
from stream_sidecar.records import frozen

if TYPE_CHECKING:
    from stream_sidecar.editor.session import Leak, SessionMessage

_SHORTEST = 24
"""A diagnostic quotes a finding of at most this number of characters."""


@frozen
class Wording:
    """The texts about a kind of finding: its ``name``, ``why`` it is bad, the title of
    its ``fix``, and what remains ``after`` the fix."""

    name: str
    why: str
    fix: str
    after: str


WORDINGS: dict[str, Wording] = {
    "reasoning": Wording(
        "Reasoning in the answer",
        "The agent sends it back with every later turn as a part of the answer. "
        "The model imitates that, and reasons in its answers.",
        "Take out the reasoning",
        "The rest of the answer stays.",
    ),
    "delimiter": Wording(
        "Stray delimiter",
        "It belongs to the format between model and provider, and readers see it. "
        "The agent sends it back with every later turn, and the model imitates it.",
        "Take out the stray delimiter",
        "The text around it stays.",
    ),
    "tool-result": Wording(
        "Leaked tool result",
        "It stands in the answer as if the model had said it. "
        "The model imitates that in later turns, and makes up results.",
        "Take out the leaked tool result",
        "The messages of the tools stay as they are.",
    ),
    "tool-call": Wording(
        "Tool call written as text",
        "It is stored as text and not as a call. "
        "The model imitates that in later turns, and writes calls that no agent runs.",
        "Take out the call written as text",
        "The call is not run, and no other copy of it is stored.",
    ),
    "marker": Wording(
        "Leaked protocol marker",
        "It has no meaning for a reader. "
        "The agent sends it back with every later turn, and the model imitates it.",
        "Take out the leaked marker",
        "The text around it stays.",
    ),
    "white-space": Wording(
        "White space beside removed text",
        "It separated the answer from a text that is removed.",
        "Take out the white space",
        "The text around it stays.",
    ),
}
"""Kind of a finding -> its wording."""


def diagnostic_text(message: SessionMessage, leak: Leak) -> str:
    text = leak.finding.text.strip()
    is_short = 0 < len(text) <= _SHORTEST and "\n" not in text
    what = text if is_short else f"{len(leak.finding.text):,} characters"
    stays = "" if message.stays is None else f" (it stays: {message.stays})"
    return f"{WORDINGS[leak.finding.kind].name}: {what}{stays}"


def hover_text(
    message: SessionMessage, leak: Leak, written: str, *, keeps_length: bool
) -> str:
    """The Markdown of a hover; ``written`` is the finding as the document has it.
    ``keeps_length``: blanks replace what is removed."""
    wording = WORDINGS[leak.finding.kind]
    parts = [wording.why, _fix_text(message, leak, keeps_length=keeps_length)]
    calls = _calls(message, leak)
    for name, arguments in calls:
        parts += [f"`{name}`", _fenced(arguments, "json")]
    text = _plain(message, leak)
    if not calls and text not in written:
        parts.append(_fenced(text))
    return "\n\n".join(parts)


def _fix_text(message: SessionMessage, leak: Leak, *, keeps_length: bool) -> str:
    if message.stays is not None:
        return f"There is no fix: {message.stays}."
    wording, count = WORDINGS[leak.finding.kind], len(leak.finding.text)
    characters = "1 character" if count == 1 else f"{count:,} characters"
    blanks = ", and adds as many blanks to the line" if keeps_length else ""
    return f"**{wording.fix}** removes {characters}{blanks}. {wording.after}"


def _calls(message: SessionMessage, leak: Leak) -> list[tuple[str, str]]:
    """Names and arguments of the calls in a finding."""
    if leak.finding.kind != "tool-call":
        return []
    return [
        (each.name, each.arguments)
        for each in message.repair.tool_calls or ()
        if isinstance(each.raw, str) and each.raw in leak.finding.text
    ]


def _plain(message: SessionMessage, leak: Leak) -> str:
    """The text of a finding. If it is the only leaked reasoning of its message, without
    its tags."""
    reasons = [each for each in message.leaks if each.finding.kind == "reasoning"]
    reasoning = message.repair.reasoning
    return reasoning if reasoning and reasons == [leak] else leak.finding.text


def _fenced(text: str, language: str = "") -> str:
    """A fenced block; the fence is longer than any in the text."""
    longest = max(map(len, patterns.compile("`+").findall(text)), default=0)
    fence = "`" * max(longest + 1, 3)
    return f"{fence}{language}\n{text}\n{fence}"
