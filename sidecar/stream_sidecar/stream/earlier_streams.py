"""What later streams of a process reuse from earlier ones: most have the same options.

`EarlierStreams` remembers the last few results of `surroundings`, which contain nothing
of a stream, and returns one again if profile, tools, policy and limits are the same.
`EARLIER` is the one of this process.
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
    """Makes the surroundings of new streams, from earlier ones if possible. Threads may
    share it."""

    def __init__(self) -> None:
        self._entries: tuple[tuple[object, Surroundings], ...] = ()  # the latest first

    def surroundings(self, options: StreamOptions, outlet: Outlet) -> Surroundings:
        if options.response_template is not None or options.policy.tool_results.known:
            # a host in this process may change their values in place
            return surroundings(options, outlet)
        key, entries = decisive(options), self._entries
        entry = next((entry for entry in entries if entry[0] == key), None)
        if entry is None:
            entry = key, surroundings(options, Outlet(parts=False, trace=False))
        if not entries or entry is not entries[0]:
            others = [each for each in entries if each is not entry]
            self._entries = (entry, *others[: _MOST - 1])
        return evolve(entry[1], options=options, outlet=outlet)


EARLIER = EarlierStreams()
