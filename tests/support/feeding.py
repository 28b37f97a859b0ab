"""`feed`: the only test code that knows how the core is called.

It needs the package and what the package needs, and so runs where no library of tests
is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
from notation import lines
from open_params import options_of

from stream_sidecar.options import MessagePolicy
from stream_sidecar.stream.earlier_streams import EarlierStreams
from stream_sidecar.stream.stream import Stream

if TYPE_CHECKING:
    from stream_sidecar.events import Event
    from stream_sidecar.message.message import Message, Stats

Chunks = list[Any]
Params = dict[str, Any]

_EARLIER = EarlierStreams()
"""Shared by all streams, as those of one connection share it."""


@attrs.frozen
class Fed:
    """The result of one way of feeding."""

    events: list[Event]
    message: Message
    stats: Stats

    @property
    def lines(self) -> list[str]:
        return lines(self.events, self.message)

    @property
    def all_lines(self) -> list[str]:
        """The lines, every event as it came, and the statistics."""
        return [*self.lines, *map(repr, self.events), repr(self.stats)]


def feed(
    params: Params,
    chunks: Chunks,
    *,
    close: Params | None = None,
    trace: bool = False,
    parts: bool = True,
    snapshots: bool = False,
) -> Fed:
    """Opens a stream with stream/open's ``params``, pushes ``chunks`` and closes it.
    Without ``parts`` the message has no texts."""
    options = options_of(params)
    policy = options.policy
    if trace:
        policy = attrs.evolve(policy, trace=True)
    if not parts:
        policy = attrs.evolve(policy, message=MessagePolicy(parts=False))
    options = attrs.evolve(options, policy=policy)
    stream = Stream(options, earlier=_EARLIER)
    events: list[Event] = []
    for chunk in chunks:
        events += stream.push(chunk)
        if snapshots:
            stream.message()
    events += stream.close(**(close or {}))
    return Fed(events, stream.message(), stream.stats())
