"""How much goes out for what comes in: bytes of JSON, of the events and of the message.

A chunk that is a string counts as the bytes that a provider sent, any other value as
its compact JSON. `assert_in_proportion` says that neither the events nor the message at
close are more than `MOST` times that; `assert_written_in_proportion` says it of what
``emit`` writes.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from open_params import options_of

from stream_sidecar.protocol.converter import unstructure
from stream_sidecar.stream.stream import Stream
from stream_sidecar.values.jsontext import encode, portable

if TYPE_CHECKING:
    from collections.abc import Iterable

MOST = 60
"""Bytes out for each byte in: the size of an event with one character."""

MOST_WRITTEN = 160
"""The same of what is emitted: reasoning and text of one character each, which have ten
events in the Responses API."""

DOCUMENT = 256
"""Bytes of a wire's own document around one chunk, however small that is."""

FREE = 24_576
"""Bytes that even the smallest input may cause: its end, and some citations."""


def size_of(chunk: Any) -> int:
    if isinstance(chunk, str):
        return len(chunk.encode("utf-8", "surrogatepass"))
    return len(encode(portable(chunk, 10_000)))


def sizes_of(params: dict[str, Any], chunks: Iterable[Any]) -> tuple[int, Counter[str]]:
    """Bytes that went in, and bytes that came out by type of event, and ``message``."""
    stream, taken, given = Stream(options_of(params)), 0, Counter[str]()
    events = []
    for chunk in chunks:
        taken += size_of(chunk)
        events += stream.push(chunk)
    for event in (*events, *stream.close()):
        given[event.type] += len(encode(unstructure(event)))
    given["message"] = len(encode(unstructure(stream.message())))
    return taken, given


def assert_in_proportion(
    params: dict[str, Any], chunks: Iterable[Any], free: int = 0
) -> Counter[str]:
    """Gives the bytes by type of event."""
    taken, given = sizes_of(params, chunks)
    events = given.total() - given["message"]
    most = MOST * taken + free
    assert events <= most, f"{events / taken:.0f} times the input in events: {given}"
    assert given["message"] <= most, (
        f"{given['message'] / taken:.0f} times in a message"
    )
    return given


def written_sizes(
    params: dict[str, Any], chunks: Iterable[Any], wire: str
) -> tuple[int, int, int]:
    """Bytes that went in, that came out as chunks of ``wire``, and as its body."""
    emit = {"wire": wire, "claims": "promote"}
    stream = Stream(options_of({**params, "emit": emit}))
    emission, taken, given = stream.emission(), 0, 0
    assert emission is not None
    for chunk in chunks:
        taken += size_of(chunk)
        given += _sum(emission.push(stream.push(chunk)))
    last, message = stream.close(), stream.message()
    given += _sum(emission.close(last, message))
    again = Stream(options_of({**params, "emit": emit}))
    body = again.emission()
    assert body is not None
    for chunk in chunks:
        again.push(chunk)
    again.close()
    return taken, given, _sum([body.body(again.message(), again.wire)])


def _sum(chunks: Iterable[Any]) -> int:
    return sum(len(encode(chunk)) for chunk in chunks)


def assert_written_in_proportion(
    params: dict[str, Any], chunks: Iterable[Any], wire: str, free: int = 0
) -> None:
    chunks = [*chunks]
    taken, *given = written_sizes(params, chunks, wire)
    most = MOST_WRITTEN * taken + DOCUMENT * len(chunks) + free
    for kind, size in zip(("chunks", "a body"), given, strict=True):
        assert size <= most, f"{size / taken:.0f} times the input in {kind}"
