"""The lanes of repair (see ``fuzz.engine``), by the rules of `test_history`.

- ``stored``: repair is idempotent, and inspect tells what it does.
- ``closed``: what a stream gave needs no repair.
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any

from checking import feed
from oracle import healed
from stored_messages import assistant, check, inspect

from fuzz import inputs

if TYPE_CHECKING:
    from stream_sidecar.events import Event, Span

Input = dict[str, Any]

_CHANNELS = {"text-delta": "text", "reasoning-delta": "reasoning"}


def draw_stored(number: int) -> Input:
    generator = Random(number)
    if number % 3 == 0:
        text = inputs.written(generator)[1]
    else:
        text = inputs.text_of(generator)
    parts = [text, *(inputs.text_of(generator, 4) for _ in range(number % 4 // 2))]
    return {"texts": parts}


def check_stored(given: Input) -> None:
    """Of a text and of parts."""
    texts = [healed(text) for text in given["texts"]]
    check(assistant(texts[0] if len(texts) == 1 else texts))


def check_closed(given: Input) -> None:
    """But where two removals met inside a form, or at the end of one that breaks off
    there, or behind it and blanks, or where nothing but such a form follows: only
    repair reads so often."""
    fed = feed({"wire": "text"}, given["texts"], trace=True)
    text, places = fed.message.text or "", _removals(fed.events)
    result = inspect(assistant(text))
    end = None  # where a form begins that two removals made
    for each in reversed(result.findings):
        at_it = (at for at in places if at >= each.start)
        met = sum(not text[each.end : at].strip() for at in at_it) > 1
        followed = end is not None and not text[each.end : end].strip()
        assert met or followed, "it needs repair"
        end = each.start
    assert result.malformed == bool(result.findings)


def _removals(events: list[Event]) -> list[int]:
    """How much visible text stands before each piece that was taken out of it."""
    moved = {
        n: each.to for each in events if each.type == "reclassify" for n in each.blocks
    }
    shown: list[Span] = []
    gone: list[Span] = []
    for event in events:
        span = getattr(event, "span", None)
        channel = _CHANNELS.get(event.type)
        if span is not None:
            visible = channel and moved.get(event.block, channel) == "text"
            (shown if visible else gone).append(span)
    return [
        sum(min(end, at) - start for start, end in shown if start < at)
        for at, _ in gone
    ]
