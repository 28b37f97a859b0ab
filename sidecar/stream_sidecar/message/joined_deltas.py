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

    __slots__ = ("_at", "_events", "_run")

    def __init__(self, events: list[Event]) -> None:
        self._events = events
        self._at = 0
        self._run: list[Delta] = []  # the first of them is the event at ``_at``

    def add(self, events: Iterable[Event]) -> int:
        """Adds ``events``, and returns how many of them were joined to the event before
        them."""
        return sum(map(self._add, events))

    def _add(self, event: Event) -> bool:
        assert isinstance(event, _DELTAS)  # ``Outlet.plain`` gets nothing else
        run, known = self._run, self._events
        if run and known[-1] is run[0] and _continues(run[-1], event):
            run.append(event)
            return True
        self.end()
        self._at, self._run = len(known), [event]
        known.append(event)
        return False

    def end(self) -> None:
        """Replaces the first delta of the run with the joined delta."""
        run = self._run
        if len(run) > 1:
            first, last = run[0], run[-1]
            text = "".join([each.text for each in run])
            span = (first.span[0], last.span[1]) if first.span and last.span else None
            self._events[self._at] = evolve(first, text=text, span=span)


def _continues(last: Delta, delta: Delta) -> bool:
    """Whether ``delta`` continues ``last``: same block, same type and, if both have a
    span, nothing was removed between them."""
    if delta.block != last.block or type(delta) is not type(last):
        return False
    return not (last.span and delta.span) or last.span[1] == delta.span[0]
