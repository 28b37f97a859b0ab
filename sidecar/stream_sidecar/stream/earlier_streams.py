"""What later streams of a host reuse from earlier ones.

Streams mostly have the same options. `EarlierStreams` returns what `surroundings`
returns. It remembers the last few results, which contain nothing of a stream, and
returns one of them again if profile, tools, policy and limits are the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stream_sidecar.channel.setup import Surroundings, decisive, surroundings
from stream_sidecar.message.outlet import Outlet

if TYPE_CHECKING:
    from stream_sidecar.options import StreamOptions


_MOST = 8
"""At most this many surroundings are remembered: an agent and its helpers differ in
little."""


class EarlierStreams:
    """Makes the surroundings of new streams, from those of earlier streams if
    possible."""

    def __init__(self) -> None:
        self._known: list[tuple[object, Surroundings]] = []  # the latest first

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
