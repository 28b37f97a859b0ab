"""What is kept of the streams of one host for those that come after them.

They mostly have the same options: `EarlierStreams` gives what `surroundings` gives. It
remembers the few that it made last, without anything of a stream, and gives one again
where profile, tools, policy and limits are the same. And they mostly have the same
provider, whose chunks look alike in all of them: how those are cut and what they have
in common is kept, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stream_sidecar.channel.setup import Surroundings, decisive, surroundings
from stream_sidecar.message.outlet import Outlet
from stream_sidecar.stream.recalled_strings import Shapes

if TYPE_CHECKING:
    from stream_sidecar.options import StreamOptions
    from stream_sidecar.stream.cut_strings import Cuts


_MOST = 8
"""Surroundings that are remembered: an agent and its helpers differ in little."""


class EarlierStreams:
    """``surroundings`` of a new stream, and the ``cuts`` of chunks like its own."""

    def __init__(self) -> None:
        self._known: list[tuple[object, Surroundings]] = []  # the latest first
        self._cuts: dict[tuple[str, ...], Cuts] = {}
        self._shapes: dict[tuple[str, ...], Shapes] = {}

    def cuts(self, wire: str, framing: str, encoding: str) -> Cuts:
        """What streams have learned that are read in the same way."""
        return self._cuts.setdefault((wire, framing, encoding), {})

    def shapes(self, wire: str, framing: str, encoding: str) -> Shapes:
        """What their strings were like that are read in the same way."""
        return self._shapes.setdefault((wire, framing, encoding), Shapes())

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
        wanted = decisive(options)
        found = next((each for each in self._known if each[0] == wanted), None)
        if found is None:
            nobody = Outlet(parts=False, trace=False)
            found = wanted, surroundings(options, nobody)
            self._known = [found, *self._known[: _MOST - 1]]
        elif found is not self._known[0]:
            self._known.remove(found)
            self._known.insert(0, found)
        return found[1]
