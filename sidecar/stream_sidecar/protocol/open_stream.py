"""An open stream as `Sessions` keeps it: the stream, and what the host knows of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stream_sidecar.records import define

if TYPE_CHECKING:
    from stream_sidecar.stream.emission import Emission
    from stream_sidecar.stream.stream import Stream


@define
class OpenStream:
    """An open stream; ``pushes`` counts requests, ``used`` is the monotonic clock.
    ``spelled`` is its id as JSON text."""

    spelled: bytes
    stream: Stream
    opened: float
    used: float
    metadata: Any
    emission: Emission | None
    pushes: int = 0
