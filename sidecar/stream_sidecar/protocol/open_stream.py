"""An entry of `Sessions`: an open stream, and what the host can see of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stream_sidecar.records import define

if TYPE_CHECKING:
    from stream_sidecar.stream.emission import Emission
    from stream_sidecar.stream.stream import Stream


@define
class OpenStream:
    """An open stream. ``opened`` is in seconds since 1970; ``used``, its last use, is
    the monotonic clock's. ``pushes`` counts requests, not chunks."""

    stream: Stream
    opened: float
    used: float
    metadata: Any
    emission: Emission | None
    pushes: int = 0
