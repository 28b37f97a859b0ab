"""Calls that a model wrote into its text, before they are classified.

`opened` makes an `OpenCall` from each of them, with its part of the text as ``raw``.
`Twins` finds a structured call with the same name and arguments: the structured call
stays, and the call from the text is retracted (protocol.md, "What becomes of the
text").
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from stream_sidecar.tools.call import OpenCall
from stream_sidecar.values.equality import key_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from stream_sidecar.events import ChannelName, Span, ToolCall
    from stream_sidecar.forms.form import WrittenCall


def opened(
    calls: tuple[WrittenCall, ...],
    text: str,
    start: int,
    *,
    dialect: str,
    channel: ChannelName,
    choice: int,
    number: int,
    make_id: Callable[[str], str],
) -> Iterator[tuple[OpenCall, Span]]:
    """The calls of one candidate, each with its span. The candidate's ``text`` begins
    at position ``start`` of the channel.

    The ``raw`` of each call is its part of ``text``: of several calls in a row, as a
    fence of ``tool_code`` may hold, the text up to the call's end; the last call gets
    all the rest. If a removal split the candidate, ``text`` is the candidate's first
    part, and calls after that part have an empty ``raw``. ``make_id`` makes ids for
    calls without an id, from their numbers, which begin at ``number``.
    """
    begin = 0
    for place, call in enumerate(calls):
        is_last = place == len(calls) - 1
        end = len(text) if is_last else min(max(begin, call.end), len(text))
        made = OpenCall(
            name=call.name,
            id=call.id or make_id(f"t{number + place}"),
            id_synthetic=not call.id,
            choice=choice,
            arguments=call.arguments,
            format="text" if call.text else "json",
            origin="text",
            channel=channel,
            dialect=dialect,
            raw=text[begin:end],
            cut=call.cut,
            ended=True,
        )
        yield made, (start + begin, start + end)
        begin = end


class Twins:
    """Finds pairs of equal calls, one structured and one from the text. Keeps the
    complete calls without a twin so far. Nothing is compared before there are calls of
    both origins."""

    def __init__(self) -> None:
        self._new: list[ToolCall] = []
        self._ways: set[bool] = set()
        self._waiting: dict[bool, dict[str, deque[int]]] = {True: {}, False: {}}

    def find(self, event: ToolCall) -> int | None:
        """Adds ``event``. Returns the block of the call from the text that must now be
        retracted; None if there is none."""
        if event.state != "complete" or event.block is None:
            return None
        self._new.append(event)
        self._ways.add(event.origin == "text")
        if len(self._ways) == 1:
            return None
        new, self._new = self._new, []
        return [self._compare(each) for each in new][-1]

    def _compare(self, event: ToolCall) -> int | None:
        assert event.block is not None  # `find` ignores the others
        key = key_of([event.name, event.input])
        structured = event.origin != "text"
        others = self._waiting[not structured].get(key)
        if others:
            other = others.popleft()
            return other if structured else event.block
        self._waiting[structured].setdefault(key, deque()).append(event.block)
        return None
