"""What happened to a stream, in one sentence, and the answer that the user sees.

Example: "87 characters of reasoning and 23 of tags were taken out of the answer; 1
call; 1 chunk was not JSON (9 characters)." The counts agree with the legend; dropped
characters are counted by the reason why they were dropped.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from stream_sidecar.events import Diagnostic, ProviderError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stream_sidecar.explain.explanation import Explanation, Owner

_REMOVED: dict[Owner, str] = {
    "reasoning": "reasoning",
    "delimiter": "tags",
    "call": "calls written as text",
    "result": "tool results that the model wrote",
    "citation": "marks of citations",
}
"""Owner of what was taken out of an answer -> its name in the sentence."""

_COPIED = "reasoning beside the provider's own"
_DROPPED: dict[str, str] = {
    "8.2": _COPIED,
    "8.3": _COPIED,
    "8.4": _COPIED,
    "8.5": _COPIED,
    "11.12": "calls that the provider also sent in their field",
    "6": "white space",
}
"""Rule that dropped something from an answer -> its name in the sentence."""
_LEFTOVERS = "leftovers of tags"

_COUNTED: dict[str, tuple[str, str]] = {
    "tool-call": ("call", "calls"),
    "error": ("error of the provider", "errors of the provider"),
    "malformed-chunk": ("chunk was not JSON", "chunks were not JSON"),
    "unknown-chunk": (
        *("chunk was JSON of no known form", "chunks were JSON of no known form"),
    ),
    "document-limit": ("chunk was too long", "chunks were too long"),
}
"""Type of an event, or a diagnostic's code -> its words, singular and plural."""


def summary(explanation: Explanation) -> str:
    """The whole sentence."""
    return _sentence(_clauses(explanation))


def headline(explanation: Explanation) -> tuple[str, str]:
    """The sentence in two parts: its first clause, and the rest."""
    first, *rest = _clauses(explanation)
    return _sentence([first]), _sentence(rest) if rest else ""


def cut(explanation: Explanation) -> tuple[int, str] | None:
    """The number of the step in which an error of the provider ended the answer, and
    the words for it; None if no error did."""
    for number, step in enumerate(explanation.steps):
        for event in step.events:
            if isinstance(event, ProviderError) and event.phase == "mid-stream":
                return number, f"cut off by an error of the provider ({event.kind})"
    return None


def _sentence(clauses: list[str]) -> str:
    joined = "; ".join(clauses)
    return f"{joined[:1].upper()}{joined[1:]}."


def _clauses(explanation: Explanation) -> list[str]:
    ending = cut(explanation)
    first = [f"the answer is {ending[1]}"] if ending else []
    return [*first, _removed(explanation), *_others(explanation)]


def _removed(explanation: Explanation) -> str:
    sizes: Counter[str] = Counter()
    for lane in explanation.lanes:
        if lane.usual == "answer":
            for each in lane.pieces:
                rule = each.fates[-1].reason.rule
                words = _REMOVED.get(each.owner, "")
                if each.owner == "dropped":
                    words = _DROPPED.get(rule, _LEFTOVERS)
                sizes[words] += len(each.text)
    kinds = dict.fromkeys([*_REMOVED.values(), *_DROPPED.values(), _LEFTOVERS])
    reported = [(sizes[words], words) for words in kinds if sizes[words]]
    if not reported:
        return "nothing was taken out of the answer"
    (size, words), *more = reported
    first = f"{_count(size, _CHARACTERS)} of {words}"
    listed = [first, *(f"{size:,} of {words}" for size, words in more)]
    verb = "was" if size == 1 and not more else "were"
    return f"{_joined(listed)} {verb} taken out of the answer"


def _others(explanation: Explanation) -> Iterator[str]:
    native = [lane for lane in explanation.lanes if lane.usual == "reasoning"]
    size = sum(len(piece.text) for lane in native for piece in lane.pieces)
    if size:
        yield f"{size:,} of reasoning came in a field of its own"
    happened: Counter[str] = Counter()
    for step in explanation.steps:
        for event in step.events:
            name = event.code if isinstance(event, Diagnostic) else event.type
            happened[name] += 1
    unused: Counter[str] = Counter()
    for lane in explanation.lanes:
        for piece in lane.pieces:
            if lane.is_part and piece.owner == "dropped":
                unused[piece.fates[-1].reason.code] += len(piece.text)
    for name, words in _COUNTED.items():
        if happened[name]:
            length = f" ({_count(unused[name], _CHARACTERS)})" if unused[name] else ""
            yield f"{_count(happened[name], words)}{length}"


_CHARACTERS = ("character", "characters")


def _count(number: int, words: tuple[str, str]) -> str:
    return f"{number:,} {words[number != 1]}"


def _joined(reported: list[str]) -> str:
    """``a, b and c``."""
    *first, last = reported
    return f"{', '.join(first)} and {last}" if first else last


def answer(explanation: Explanation) -> str:
    """The text that is visible in the end; choices are joined by a blank line."""
    message = explanation.message
    texts = [each.text or "" for each in message.choices or (message,)]
    return "\n\n".join(filter(None, texts))
