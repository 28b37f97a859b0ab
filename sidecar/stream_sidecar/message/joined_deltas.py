"""Deltas of a text that was read in slices, joined into one event.

A long text is read slice by slice (`stream_sidecar.text.fast_path`). A host must not
notice that, so deltas that continue each other become one delta. Example: 3,000
characters of prose are read as three slices and sent as one delta.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from stream_sidecar.events import ReasoningDelta, TextDelta
from stream_sidecar.records import evolve

if TYPE_CHECKING:
    from collections.abc import Iterable

    from stream_sidecar.events import Event

Delta: TypeAlias = "TextDelta | ReasoningDelta"

_DELTAS = (TextDelta, ReasoningDelta)


class JoinedDeltas:
    """Joins the deltas that ``add`` appends to ``events``, the list of all events,
    until ``end``."""

    def __init__(self, events: list[Event]) -> None:
        self._events = events
        self._index = 0
        self._run: list[Delta] = []  # the first of them is the event at ``_index``

    def add(self, events: Iterable[Event]) -> int:
        """Adds ``events``; returns how many were joined to the one before them."""
        return sum(map(self._add, events))

    def _add(self, event: Event) -> bool:
        assert isinstance(event, _DELTAS)  # ``Outlet.plain`` gets nothing else
        run, events = self._run, self._events
        if run and events[-1] is run[0] and _continues(run[-1], event):
            run.append(event)
            return True
        self.end()
        self._index, self._run = len(events), [event]
        events.append(event)
        return False

    def end(self) -> None:
        """Replaces the first delta of the run with the joined delta."""
        run = self._run
        if len(run) > 1:
            head, tail = run[0], run[-1]
            text = "".join([delta.text for delta in run])
            span = (head.span[0], tail.span[1]) if head.span and tail.span else None
            self._events[self._index] = evolve(head, text=text, span=span)


def _continues(previous: Delta, delta: Delta) -> bool:
    """Whether ``delta`` continues ``previous``: same block, same type and, if both have
    a span, nothing was removed between them."""
    if delta.block != previous.block or type(delta) is not type(previous):
        return False
    return not (previous.span and delta.span) or previous.span[1] == delta.span[0]
