"""What happened to a stream, in one sentence, and the answer that its user sees.

Example: "87 characters of reasoning and 23 of tags were taken out of the answer; 1
call; 1 chunk was no JSON."
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from stream_sidecar.events import Diagnostic

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stream_sidecar.explain.explanation import Explanation, Owner

_TAKEN: dict[Owner, str] = {
    "reasoning": "reasoning",
    "delimiter": "tags",
    "call": "calls written as text",
    "result": "tool results",
    "citation": "marks of citations",
    "dropped": "white space and repetitions",
}
"""What is taken out of an answer -> how it is called."""

_COUNTED: dict[str, tuple[str, str]] = {
    "tool-call": ("call", "calls"),
    "error": ("error of the provider", "errors of the provider"),
    "malformed-chunk": ("chunk was no JSON", "chunks were no JSON"),
    "unknown-chunk": ("chunk was not understood", "chunks were not understood"),
    "document-limit": ("chunk was too long", "chunks were too long"),
}
"""Type of an event, or a diagnostic's code -> what happened, once and more often."""


def summary(explanation: Explanation) -> str:
    """The sentence."""
    said = "; ".join((_taken(explanation), *_others(explanation)))
    return f"{said[:1].upper()}{said[1:]}."


def _taken(explanation: Explanation) -> str:
    sizes: Counter[Owner] = Counter()
    for lane in explanation.lanes:
        if lane.usual == "answer":
            for each in lane.pieces:
                sizes[each.owner] += len(each.text)
    reported = [
        (sizes[owner], words) for owner, words in _TAKEN.items() if sizes[owner]
    ]
    if not reported:
        return "nothing was taken out of the answer"
    (size, words), *more = reported
    first = f"{_count(size, ('character', 'characters'))} of {words}"
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
    for name, words in _COUNTED.items():
        if happened[name]:
            yield _count(happened[name], words)


def _count(number: int, words: tuple[str, str]) -> str:
    return f"{number:,} {words[number != 1]}"


def _joined(reported: list[str]) -> str:
    """``a, b and c``."""
    *first, last = reported
    return f"{', '.join(first)} and {last}" if first else last


def answer(explanation: Explanation) -> str:
    """The text that is visible in the end: of all choices, one after the other."""
    message = explanation.message
    texts = [each.text or "" for each in message.choices or (message,)]
    return "\n\n".join(filter(None, texts))
