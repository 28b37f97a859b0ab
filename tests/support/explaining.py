"""`explained`: the explanation of chunks under stream/open's parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from open_params import options_of

from stream_sidecar.explain.explaining import explain
from stream_sidecar.explain.source import PushedChunk, StreamSource

if TYPE_CHECKING:
    from stream_sidecar.explain.explanation import Explanation


def explained(
    params: dict[str, Any],
    chunks: list[Any],
    close: dict[str, Any] | None = None,
    name: str = "s",
) -> Explanation:
    pushed = [PushedChunk(chunk, str(chunk)) for chunk in chunks]
    return explain(
        StreamSource(name, options_of(params), lambda _: pushed, close or {})
    )
