"""What later streams of a host reuse from earlier ones, as most have the same options.

`EarlierStreams` remembers the last few results of `surroundings`, which contain nothing
of a stream, and returns one again if profile, tools, policy and limits are the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stream_sidecar.channel.setup import Surroundings, decisive, surroundings
from stream_sidecar.message.outlet import Outlet
from stream_sidecar.records import evolve

if TYPE_CHECKING:
    from stream_sidecar.options import StreamOptions

_MOST = 8
"""At most this many surroundings are remembered: an agent and its helpers differ in
little."""


class EarlierStreams:
    """Makes the surroundings of new streams, from earlier ones if possible."""

    def __init__(self) -> None:
        self._entries: list[tuple[object, Surroundings]] = []  # the latest first

    def surroundings(self, options: StreamOptions, outlet: Outlet) -> Surroundings:
        key = decisive(options)
        entry = next((entry for entry in self._entries if entry[0] == key), None)
        if entry is None:
            nobody = Outlet(parts=False, trace=False)
            entry = key, surroundings(options, nobody)
            self._entries = [entry, *self._entries[: _MOST - 1]]
        elif entry is not self._entries[0]:
            self._entries.remove(entry)
            self._entries.insert(0, entry)
        return evolve(entry[1], options=options, outlet=outlet)
