"""What the engine makes of stored text: which of its characters it would show.

`has_to_be_read` asks the sieve whether a field may have anything to remove. `read_text`
pushes the items of the field (``messages``) into one `Stream`, each item as one block
of the provider, and reads the spans of the events. Text that is in no visible text
delta is a removal, and the events around it say which kind. This module searches for
no delimiters but those that one program writes itself (`engine_text`). Positions are
code points of all texts of the field, joined.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, Any, TypeAlias

from stream_sidecar import patterns
from stream_sidecar.events import (
    Diagnostic,
    ReasoningDelta,
    Reclassify,
    Retract,
    TextDelta,
    ToolCall,
    ToolResult,
)
from stream_sidecar.history.messages import StoredCall, Text, Thought
from stream_sidecar.records import evolve, field, frozen
from stream_sidecar.stream.stream import Stream
from stream_sidecar.tools.classify import from_item
from stream_sidecar.values.surrogates import without_halves

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from stream_sidecar.channel.sieve import Sieve
    from stream_sidecar.events import Event
    from stream_sidecar.history.messages import StoredItem
    from stream_sidecar.options import StreamOptions

Mark: TypeAlias = tuple[int, int, str]
"""``(start, end, kind)``."""

VISIBLE = "text"
_BLANK = "white-space"
_LEFTOVER = "marker"

_KINDS = {
    "orphan-reasoning-close": "delimiter",
    "delimiter-stripped": "delimiter",
    "duplicate-reasoning": "reasoning",
}
"""Kinds of removals by the code of their diagnostic. A diagnostic with another code is
about a marker."""

_OF_TEXT = (TextDelta, ReasoningDelta, Reclassify, Retract)
"""Events that may be about the answer's text while reasoning is read."""

_WIRE = "anthropic"
"""A wire that has blocks of text, reasoning and calls in any order."""

STAND_IN = "\ufffc"
"""The engine reads this character, which has no meaning, in place of each character
that may not be edited."""

_OWN_OPENER = patterns.compile(r'<details type="reasoning"[^<>]*+>')
_OWN_CLOSER = "</details>"
"""The delimiters around reasoning that Open WebUI moved out of the answer, and shows
folded."""


@frozen
class TextReading:
    """What the engine found in one field. ``removals`` are sorted and do not touch
    visible text; the other lists hold what was removed, in the order of the answer."""

    removals: list[Mark]
    reasoning: list[str] = field(factory=list)
    results: list[ToolResult] = field(factory=list)
    calls: list[ToolCall] = field(factory=list)


def reading_options(options: StreamOptions) -> StreamOptions:
    """The options of the streams that read a field, made once for speed."""
    policy = evolve(options.policy, trace=True)
    return evolve(options, wire=_WIRE, framing="json", policy=policy)


def engine_text(text: str) -> str:
    """``text`` for the engine, with `STAND_IN` in place of the blocks of reasoning that
    the host's own program wrote into it, which stay. An opener without a closer ends
    the search: after it there is no block either, however many openers follow."""
    if _OWN_CLOSER not in text:
        return text
    pieces: list[str] = []
    read_to = 0
    while opener := _OWN_OPENER.search(text, read_to):
        closer = text.find(_OWN_CLOSER, opener.end())
        if closer < 0:
            break
        start, end = opener.start(), closer + len(_OWN_CLOSER)
        pieces += (text[read_to:start], STAND_IN * (end - start))
        read_to = end
    return "".join((*pieces, text[read_to:]))


def has_to_be_read(items: tuple[StoredItem, ...], sieve: Sieve) -> bool:
    """Whether a text of the field may have something to remove. Several texts are
    checked joined, too: a delimiter may begin in one and end in the next."""
    texts = [engine_text(item.text) for item in items if isinstance(item, Text)]
    joined = ["".join(texts)] if len(texts) > 1 else []
    return not all(map(sieve.passes, (*joined, *texts)))


def read_text(items: tuple[StoredItem, ...], options: StreamOptions) -> TextReading:
    """Reads one field, with options from `reading_options`.

    A locked text keeps every character. If it would lose some, the field is read again
    with this text made meaningless, because its delimiters stay and must not change how
    the other texts are read.
    """
    while True:
        reading = _begun(items, options)
        touched = _touched(items, reading.removals)
        if not touched:
            return reading
        items = tuple(
            evolve(item, text=STAND_IN * len(item.text))
            if isinstance(item, Text) and number in touched
            else item
            for number, item in enumerate(items)
        )


def texts_of(items: Iterable[StoredItem]) -> list[tuple[int, int, Text]]:
    """The texts of a field with their spans in the joined text."""
    texts, start = [], 0
    for item in items:
        if isinstance(item, Text):
            texts.append((start, start + len(item.text), item))
            start += len(item.text)
    return texts


def _begun(items: tuple[StoredItem, ...], options: StreamOptions) -> TextReading:
    """Reads a field. If ``startsOpen: open`` leaves nothing visible, the field is read
    again as ``closed``: a stored text without a closing tag had its reasoning removed
    before, so all of it is an answer."""
    reading, rule = _read(items, options), options.policy.reasoning
    size = sum(len(item.text) for item in items if isinstance(item, Text))
    size -= sum(end - start for start, end, _ in reading.removals)
    if size or rule.starts_open != "open":
        return reading
    policy = evolve(options.policy, reasoning=evolve(rule, starts_open="closed"))
    return _read(items, evolve(options, policy=policy))


def _touched(items: tuple[StoredItem, ...], removals: list[Mark]) -> set[int]:
    """Numbers of the locked texts that would lose something."""
    starts = [start for start, _, _ in removals]
    touched, end = set(), 0
    for number, item in enumerate(items):
        if not isinstance(item, Text):
            continue
        start, end = end, end + len(item.text)
        if item.locked and item.text.strip(STAND_IN):
            index = bisect_right(starts, end - 1) - 1
            if index >= 0 and removals[index][1] > start:
                touched.add(number)
    return touched


def _read(items: tuple[StoredItem, ...], options: StreamOptions) -> TextReading:
    stream = Stream(options)
    events: list[Event] = []
    for number, item in enumerate(items):
        for document in _documents(item, number):
            # What is found in reasoning is not in the text.
            kinds = _OF_TEXT if isinstance(item, Thought) else object
            events += [e for e in stream.push(document) if isinstance(e, kinds)]
    events += stream.close()
    size = sum(len(item.text) for item in items if isinstance(item, Text))
    calls = [e for e in events if isinstance(e, ToolCall)]
    retracted = {n for e in events if isinstance(e, Retract) for n in e.blocks}
    return TextReading(
        _grouped(_gaps(_marks(events), size)),
        _reasoning(events, retracted),
        [e for e in events if isinstance(e, ToolResult) and e.source == "echo"],
        [e for e in calls if e.origin == "text" and e.block not in retracted],
    )


def _reasoning(events: list[Event], retracted: set[int]) -> list[str]:
    """The reasoning in the text, block by block."""
    blocks: dict[int, list[str]] = {}
    channels: dict[int, str] = {}
    for event in events:
        if isinstance(event, Reclassify):
            channels |= dict.fromkeys(event.blocks, event.to)
        elif isinstance(event, ReasoningDelta) and event.source == "tag":
            blocks.setdefault(event.block, []).append(event.text)
            channels.setdefault(event.block, "reasoning")
        elif isinstance(event, TextDelta):
            blocks.setdefault(event.block, []).append(event.text)
    texts = (
        "".join(pieces).replace(STAND_IN, "")
        for block, pieces in sorted(blocks.items())
        if channels.get(block) == "reasoning" and block not in retracted
    )
    return [text for text in texts if text]


def _documents(item: StoredItem, index: int) -> Iterator[dict[str, Any]]:
    """The documents of one block: the start, with the whole content, and the end."""
    content: dict[str, Any] = {"type": "text", "text": ""}
    if isinstance(item, Text):
        # One character for one: positions must not move.
        content["text"] = without_halves(engine_text(item.text))
    elif isinstance(item, Thought):
        content = {"type": "thinking", "thinking": item.text}
    elif isinstance(item, StoredCall):
        call = from_item(item.item, index)
        identity = {"id": call.id, "name": call.name or "unknown"}
        content = {"type": "tool_use", "input": call.arguments, **identity}
    yield {"type": "content_block_start", "index": index, "content_block": content}
    yield {"type": "content_block_stop", "index": index}


# Events -> marks


def _marks(events: list[Event]) -> list[Mark]:
    """The spans of the text's events, with their kinds: first the visible spans, then
    the others, each in the order of the text."""
    channels: dict[int, str] = {}
    for event in events:
        if isinstance(event, Reclassify):
            channels |= dict.fromkeys(event.blocks, event.to)
        elif isinstance(event, Retract):
            channels |= dict.fromkeys(event.blocks, "reasoning")
    marks = [mark for event in events if (mark := _mark(event, channels)) is not None]
    return sorted(marks, key=lambda mark: (mark[2] != VISIBLE, mark[0]))


def _mark(event: Event, channels: dict[int, str]) -> Mark | None:
    span = getattr(event, "span", None)
    if span is None or isinstance(event, Retract):
        return None
    kind = _LEFTOVER
    if isinstance(event, TextDelta):
        kind = channels.get(event.block, VISIBLE)
    elif isinstance(event, ReasoningDelta):
        if event.source == "native":
            return None
        kind = channels.get(event.block, "reasoning")
    elif isinstance(event, ToolCall | ToolResult):
        kind = event.type
    else:
        assert isinstance(event, Diagnostic)  # nothing else has a span
        kind = _BLANK if str(event.raw).isspace() else _KINDS.get(event.code, kind)
    return (*span, kind)


def _gaps(marks: list[Mark], size: int) -> list[Mark]:
    """The spans from 0 to ``size`` that are in no visible mark, each of one kind."""
    visible = [mark for mark in marks if mark[2] == VISIBLE]
    hidden = [mark for mark in marks if mark[2] != VISIBLE]
    gaps, position, number = [], 0, 0
    for start, end, _ in [*visible, (size, size, VISIBLE)]:
        while position < start:
            while number < len(hidden) and hidden[number][1] <= position:
                number += 1
            low, high, kind = start, start, ""
            if number < len(hidden):
                low, high, kind = hidden[number]
            if low > position:
                gaps.append((position, min(low, start), _LEFTOVER))
            else:
                gaps.append((position, min(high, start), kind))
            position = gaps[-1][1]
        position = max(position, end)
    return gaps


def _grouped(gaps: list[Mark]) -> list[Mark]:
    """Joins neighbours that a reader sees as one removal: reasoning with its
    delimiters, white space with what it was removed with."""
    groups: list[Mark] = []
    for start, end, kind in gaps:
        if groups and groups[-1][1] == start:
            kinds = {groups[-1][2], kind}
            if len(kinds - {_BLANK}) <= 1 or kinds == {"reasoning", "delimiter"}:
                joined = next((k for k in _STRENGTH if k in kinds), kind)
                groups[-1] = (groups[-1][0], end, joined)
                continue
        groups.append((start, end, kind))
    return groups


_STRENGTH = ("tool-call", "tool-result", _LEFTOVER, "reasoning", "delimiter")
