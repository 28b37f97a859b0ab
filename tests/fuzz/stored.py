"""The lanes of repair (see ``fuzz.engine``), by the rules of `test_history`.

- ``stored``: repair is idempotent, and inspect tells what it does.
- ``closed``: what a stream gave needs no repair.
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any

from checking import feed
from oracle import healed
from test_history import assistant, check, inspect

from fuzz import inputs
from sidecar.channel.extracted import REMOVALS
from sidecar.events import Diagnostic, ReasoningDelta, TextDelta
from sidecar.forms.kinds import PieceKind

if TYPE_CHECKING:
    from sidecar.events import Event
    from sidecar.history.results import Finding
    from sidecar.message.message import Message

Input = dict[str, Any]

_DELIMITER = REMOVALS[PieceKind.DELIMITER][2]


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
    """A message of the engine needs no repair, but where a form was torn.

    What breaks off before a call is text, and so is what reasoning tears, though
    neither stands in the text that is left, and reasoning may be empty. Where that
    changes how the text behind is read, the message with its calls in their places
    needs no repair.
    """
    fed = feed({"wire": "text"}, given["texts"], trace=True)
    message = fed.message
    text, calls = message.text or "", _places(message, "tool-call")
    thoughts = _places(message, "reasoning") + _empty_thoughts(fed.events)
    result = inspect(assistant(text))
    end = None  # of what broke off, perhaps behind tokens and blanks
    for each in reversed(result.findings):
        cut = any(each.start < at <= each.end for at in calls)
        torn = any(each.start < at < each.end for at in thoughts)
        behind = any(at <= each.start for at in calls)
        broken = end is not None and not text[each.end : end].strip()
        known = cut or torn or broken
        assert known or (behind and not _in_parts(message)), "it needs repair"
        end = each.start
    assert result.malformed == bool(result.findings)


def _in_parts(message: Message) -> list[Finding]:
    """The findings in a message of which each part stands where it came."""
    parts: list[dict[str, Any]] = []
    for block in message.blocks or ():
        if block.type == "text":
            parts.append({"type": "text", "text": block.text})
        elif block.type == "tool-call":
            call = {"id": f"c{block.block}", "name": "f", "input": {}}
            parts.append({"type": "tool_use", **call})
    return inspect(assistant(parts)).findings


def _empty_thoughts(events: list[Event]) -> list[int]:
    """How much text stood before each delimiter behind which no reasoning came."""
    places: list[int] = []
    size = 0
    delimited = False
    for event in events:
        if isinstance(event, ReasoningDelta):
            if delimited:
                places.pop()
            delimited = False
        elif isinstance(event, TextDelta):
            size += len(event.text)
        elif isinstance(event, Diagnostic) and event.message == _DELIMITER:
            places.append(size)
            delimited = True
    return places


def _places(message: Message, of: str) -> list[int]:
    """How much text stands before each block of a type."""
    places, size = [], 0
    for block in message.blocks or ():
        if block.type == "text":
            size += len(block.text)
        elif block.type == of:
            places.append(size)
    return places
