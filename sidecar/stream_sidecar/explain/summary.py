"""What happened to a stream, in one sentence, and the answer that the user sees.

Example: "87 characters of reasoning and 23 of tags were taken out of the answer; 1
call; 1 chunk was not JSON (9 characters)." The counts agree with the legend; dropped
characters are counted by their kind.

The sentence is made from a tally, and each change of the tally has its step. So there
is a sentence for every step, not only for the end.
"""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, TypeAlias

from stream_sidecar.events import Diagnostic, ProviderError
from stream_sidecar.explain.kinds import KINDS_DROPPED, kind
from stream_sidecar.explain.reasons import KEPT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stream_sidecar.explain.explanation import (
        Explanation,
        Fate,
        InputPiece,
        Lane,
        Owner,
    )

_Key: TypeAlias = tuple[str, str]
"""What is counted ("removed", "event"), and its kind, name or code."""

_REMOVED: dict[Owner, str] = {
    "reasoning": "reasoning",
    "delimiter": "tags",
    "call": "calls written as text",
    "result": "tool results that the model wrote",
    "citation": "marks of citations",
}
"""Owner of what was taken out of an answer -> its name in the sentence."""

_COUNTED_EVENTS: dict[str, tuple[str, str]] = {
    "tool-call": ("call", "calls"),
    "error": ("error of the provider", "errors of the provider"),
    "malformed-chunk": ("chunk was not JSON", "chunks were not JSON"),
    "unknown-chunk": (
        "chunk was JSON of no known form",
        "chunks were JSON of no known form",
    ),
    "document-limit": ("chunk was too long", "chunks were too long"),
}
"""Type of an event, or a diagnostic's code -> its words, singular and plural."""

_CHARACTERS = ("character", "characters")


def summary(explanation: Explanation) -> str:
    """The whole sentence."""
    tally: Counter[_Key] = Counter()
    for _, key, number in _changes(explanation):
        tally[key] += number
    return _sentence(_clauses(tally, explanation.is_stored))


def sentences(explanation: Explanation) -> Iterator[tuple[int, str, str]]:
    """The sentence after each step that changes it, from step 0 on: the step, the
    first clause, and the rest."""
    tally: Counter[_Key] = Counter()
    changes = [(0, ("", ""), 0), *_changes(explanation)]
    step = itemgetter(0)
    for number, step_changes in groupby(sorted(changes, key=step), key=step):
        for _, key, size in step_changes:
            tally[key] += size
        clause, *clauses = _clauses(tally, explanation.is_stored)
        yield number, _sentence([clause]), _sentence(clauses) if clauses else ""


def break_off(explanation: Explanation) -> tuple[int, str] | None:
    """The number of the step in which an error of the provider ended the answer, and
    the words for it; None if no error did."""
    for number, step in enumerate(explanation.steps):
        for event in step.events:
            if isinstance(event, ProviderError) and event.phase == "mid-stream":
                return number, _cut_off(event.kind)
    return None


def _cut_off(error: str) -> str:
    return f"cut off by an error of the provider ({error})"


# The tally


def _changes(explanation: Explanation) -> Iterator[tuple[int, _Key, int]]:
    """Each change of the tally: the step, what is counted, and the difference."""
    for lane in explanation.lanes:
        for piece in lane.pieces:
            yield from _piece_changes(lane, piece)
    for number, step in enumerate(explanation.steps):
        for event in step.events:
            name = event.code if isinstance(event, Diagnostic) else event.type
            if name in _COUNTED_EVENTS:
                yield number, ("event", name), 1
            if isinstance(event, ProviderError) and event.phase == "mid-stream":
                yield number, ("cut", event.kind), 1


def _piece_changes(lane: Lane, piece: InputPiece) -> Iterator[tuple[int, _Key, int]]:
    size = len(piece.text)
    if lane.usual == "reasoning":
        yield piece.step, ("native", ""), size
        return
    earlier_key: _Key | None = None
    for fate in piece.fates:
        if earlier_key is not None:
            yield fate.step, earlier_key, -size
        earlier_key = _key(lane, fate)
        if earlier_key is not None:
            yield fate.step, earlier_key, size


def _key(lane: Lane, fate: Fate) -> _Key | None:
    """What characters with ``fate`` are counted as; None if they are not counted."""
    if lane.is_part:
        return ("unused", fate.reason.code) if fate.owner == "dropped" else None
    if fate.owner == "dropped":
        return "removed", kind(fate.owner, fate.reason)
    if (fate.owner, fate.reason) == KEPT:
        return "kept", ""
    return ("removed", _REMOVED[fate.owner]) if fate.owner in _REMOVED else None


# The sentence


def _sentence(clauses: list[str]) -> str:
    text = "; ".join(clauses)
    return f"{text[:1].upper()}{text[1:]}."


def _clauses(tally: Counter[_Key], is_stored: bool) -> list[str]:
    errors = [name for (kind, name), number in tally.items() if kind == "cut"]
    break_offs = [f"the answer is {_cut_off(errors[0])}"] if errors else []
    unchanged = ["the file was not changed"] if is_stored else []
    return [*break_offs, _removal(tally, is_stored), *unchanged, *_others(tally)]


def _removal(tally: Counter[_Key], is_stored: bool) -> str:
    """What was taken out of an answer. A stored session is only looked at."""
    sizes = [
        (size, name)
        for name in (*_REMOVED.values(), *KINDS_DROPPED)
        if (size := tally["removed", name])
    ]
    if not sizes and is_stored:
        return "nothing leaked into the answers"
    if not sizes:
        return "nothing was taken out of the answer"
    (size, name), *further_sizes = sizes
    first_size = f"{_count(size, _CHARACTERS)} of {name}"
    amounts = [first_size, *(f"{size:,} of {name}" for size, name in further_sizes)]
    if is_stored:
        return f"{_enumerate(amounts)} can be taken out of the answers"
    verb = "was" if size == 1 and not further_sizes else "were"
    return f"{_enumerate(amounts)} {verb} taken out of the answer"


def _others(tally: Counter[_Key]) -> Iterator[str]:
    if size := tally["kept", ""]:
        yield f"{_count(size, _CHARACTERS)} of stop tokens stay in it"
    if size := tally["native", ""]:
        yield f"{_count(size, _CHARACTERS)} of reasoning came in a field of its own"
    for name, words in _COUNTED_EVENTS.items():
        if number := tally["event", name]:
            size = tally["unused", name]
            length = f" ({_count(size, _CHARACTERS)})" if size else ""
            yield f"{_count(number, words)}{length}"


def _count(number: int, words: tuple[str, str]) -> str:
    return f"{number:,} {words[number != 1]}"


def _enumerate(phrases: list[str]) -> str:
    """``a, b and c``."""
    *head, tail = phrases
    return f"{', '.join(head)} and {tail}" if head else tail


# The answer


def answer(explanation: Explanation) -> str:
    """The text that is visible in the end; choices are joined by a blank line."""
    message = explanation.message
    texts = [choice.text or "" for choice in message.choices or (message,)]
    return "\n\n".join(filter(None, texts))
