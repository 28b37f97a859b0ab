"""Calls that a model wrote into its text, before they are classified.

`open_calls` makes an `OpenCall` from each of them, with its part of the text as
``raw``. `Twins` finds a structured call with the same name and arguments: the
structured call stays, and the call from the text is retracted (protocol.md, "What
becomes of the text").
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


def open_calls(
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
    call_start = 0
    for index, call in enumerate(calls):
        is_last = index == len(calls) - 1
        call_end = len(text) if is_last else min(max(call_start, call.end), len(text))
        open_call = OpenCall(
            name=call.name,
            id=call.id or make_id(f"t{number + index}"),
            id_synthetic=not call.id,
            choice=choice,
            arguments=call.arguments,
            format="text" if call.text else "json",
            origin="text",
            channel=channel,
            dialect=dialect,
            raw=text[call_start:call_end],
            cut=call.cut,
            unclear=call.unclear,
            ended=True,
        )
        yield open_call, (start + call_start, start + call_end)
        call_start = call_end


class Twins:
    """Finds pairs of equal calls, one structured and one from the text. Keeps the
    complete calls without a twin. Compares once there are calls of both origins."""

    def __init__(self) -> None:
        self._uncompared: list[ToolCall] = []
        self._origins: set[bool] = set()
        self._unpaired: dict[bool, dict[str, deque[int]]] = {True: {}, False: {}}

    def find_retracted(self, event: ToolCall) -> int | None:
        """Adds ``event``. Returns the block of the call from the text that must now be
        retracted; None if there is none."""
        if event.state != "complete" or event.block is None:
            return None
        self._uncompared.append(event)
        self._origins.add(event.origin == "text")
        if len(self._origins) == 1:
            return None
        uncompared, self._uncompared = self._uncompared, []
        return [self._compare(call) for call in uncompared][-1]

    def _compare(self, event: ToolCall) -> int | None:
        assert event.block is not None  # `find_retracted` ignores the others
        key = key_of([event.name, event.input])
        structured = event.origin != "text"
        other_blocks = self._unpaired[not structured].get(key)
        if other_blocks:
            other_block = other_blocks.popleft()
            return other_block if structured else event.block
        self._unpaired[structured].setdefault(key, deque()).append(event.block)
        return None
