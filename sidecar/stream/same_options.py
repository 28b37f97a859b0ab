"""Streams of one host mostly have the same options: their surroundings are made once.

`SameOptions` gives what `surroundings` gives. It remembers the few that it made last,
without anything of a stream, and gives one again where model, provider, tools, policy
and limits are the same. ``cuts``: how the chunks of those streams were alike.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sidecar.channel.setup import Surroundings, surroundings
from sidecar.message.outlet import Outlet
from sidecar.stream.learned_chunks import KnownCuts

if TYPE_CHECKING:
    from sidecar.options import StreamOptions


_MOST = 8
"""Surroundings that are remembered: an agent and its helpers have a few models."""


class SameOptions:
    """``surroundings`` of a new stream."""

    def __init__(self) -> None:
        self._known: list[tuple[object, Surroundings]] = []  # the latest first
        self.cuts = KnownCuts()

    def surroundings(self, options: StreamOptions, outlet: Outlet) -> Surroundings:
        known = self._find(options)
        return Surroundings(
            options,
            known.profile,
            known.policy,
            known.lexicon,
            known.context,
            known.rules,
            known.watch,
            outlet,
            known.tools,
        )

    def _find(self, options: StreamOptions) -> Surroundings:
        decisive = _decisive(options)
        found = next((each for each in self._known if each[0] == decisive), None)
        if found is None:
            nobody = Outlet(parts=False, trace=False)
            found = decisive, surroundings(options, nobody)
            self._known = [found, *self._known[: _MOST - 1]]
        elif found is not self._known[0]:
            self._known.remove(found)
            self._known.insert(0, found)
        return found[1]


def _decisive(options: StreamOptions) -> tuple[object, ...]:
    """What surroundings are made of."""
    who = options.provider, options.model
    return *who, options.tools, options.policy, options.limits
