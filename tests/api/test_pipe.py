"""`pipe` and `apipe` yield every event, and close the stream however reading ends."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing, nullcontext
from typing import Any

import pytest

from stream_sidecar import Event, Stream, UsageError

HELD = ["So: ", "[1, 2, 3", "]"]


def text_of(events: list[Event]) -> str:
    return "".join(event.text for event in events if event.type == "text-delta")


def chunks(error: BaseException | None = None) -> Iterator[str]:
    yield from HELD
    if error is not None:
        raise error


async def later(error: BaseException | None = None) -> AsyncIterator[str]:
    for chunk in chunks(error):
        yield chunk


class Reader:
    """Reads a stream to its end, or to the exception that ends it; ``events`` are all
    that came."""

    def __init__(self) -> None:
        self.stream = Stream(wire="text")
        self.events: list[Event] = []

    def read(self, error: BaseException | None = None) -> None:
        for event in self.stream.pipe(chunks(error)):
            self.events.append(event)

    def read_later(self, error: BaseException | None = None) -> None:
        async def main() -> None:
            async for event in self.stream.apipe(later(error)):
                self.events.append(event)

        asyncio.run(main())


WAYS = pytest.mark.parametrize("way", ["read", "read_later"])


@WAYS
def test_all_events_come(way: str) -> None:
    reader = Reader()
    getattr(reader, way)()
    assert [event.seq for event in reader.events] == [*range(1, 1 + len(reader.events))]
    assert text_of(reader.events) == "".join(HELD) == reader.stream.message.text
    assert reader.events[-1] == reader.stream.message.finish


@WAYS
def test_an_exception_comes_after_the_text_that_was_held(way: str) -> None:
    reader, error = Reader(), ConnectionError("gone")
    with pytest.raises(ConnectionError) as caught:
        getattr(reader, way)(error)
    assert caught.value is error
    assert text_of(reader.events) == "".join(HELD)
    assert [event.type for event in reader.events[-2:]] == ["error", "finish"]
    (failure,) = reader.stream.message.errors
    assert (failure.kind, failure.message) == ("network", "gone")


@WAYS
@pytest.mark.parametrize("error", [KeyboardInterrupt, asyncio.CancelledError])
def test_nothing_comes_after_an_abort(way: str, error: Any) -> None:
    reader = Reader()
    with pytest.raises(error):
        getattr(reader, way)(error())
    assert "finish" not in {event.type for event in reader.events}
    message = reader.stream.message
    assert message.finish is not None
    assert (message.finish.reason, message.errors) == ("cancelled", ())


@WAYS
def test_a_chunk_that_is_none_cancels(way: str) -> None:
    reader = Reader()
    HELD.append({1})  # type: ignore[arg-type]
    try:
        with pytest.raises(UsageError, match=r"params\.chunk"):
            getattr(reader, way)()
    finally:
        HELD.pop()
    message = reader.stream.message
    assert message.finish is not None
    assert (message.finish.reason, message.errors) == ("cancelled", ())


def ended(stream: Stream) -> tuple[str | None, str | None]:
    message = stream.message
    return message.text, message.finish and message.finish.reason


def test_a_consumer_that_stops_cancels() -> None:
    stream = Stream(wire="text")
    for _ in stream.pipe(chunks()):
        break
    assert ended(stream) == ("So: ", "cancelled")


@pytest.mark.parametrize("is_in_block", [False, True])
def test_an_exception_of_the_consumer_cancels(is_in_block: bool) -> None:
    def consume() -> None:
        with stream if is_in_block else nullcontext():
            for _ in stream.pipe(chunks()):
                raise ValueError("not mine")

    stream = Stream(wire="text")
    with pytest.raises(ValueError, match="not mine"):
        consume()
    assert ended(stream) == ("So: ", "cancelled")
    assert stream.message.errors == ()


@pytest.mark.parametrize("closes_generator", [True, False])
def test_an_asynchronous_consumer_that_stops_cancels(closes_generator: bool) -> None:
    async def main(stream: Stream) -> None:
        if closes_generator:
            async with aclosing(stream.apipe(later())) as events:
                async for _ in events:
                    break
        else:
            async with stream:
                async for _ in stream.apipe(later()):
                    break
        assert ended(stream) == ("So: ", "cancelled")

    asyncio.run(main(Stream(wire="text")))


def test_a_block_closes() -> None:
    with Stream(wire="text") as stream:
        stream.push("a [")
        assert ended(stream) == ("a ", None)
    assert ended(stream) == ("a [", "stop")


def test_a_block_closes_after_an_exception() -> None:
    with pytest.raises(ConnectionError), Stream(wire="text") as stream:
        raise ConnectionError("gone")
    assert [error.message for error in stream.message.errors] == ["gone"]


def test_close_may_be_called_again() -> None:
    stream = Stream(wire="text")
    events = [*stream.pipe(["a ["])]
    closed = stream.close()
    assert closed is stream.close("cancelled")
    assert closed.events == events[1:]
    assert closed.message is stream.message


def test_a_refused_close_leaves_the_stream_open() -> None:
    stream = Stream(wire="text")
    stream.push("Hi \N{HERB}".encode()[:-1])
    with pytest.raises(UsageError, match=r"params\.reason"):
        stream.close("bogus")  # type: ignore[arg-type]
    assert text_of(stream.close().events) == "\ufffd"


@pytest.mark.parametrize(
    ("way", "given"),
    [
        *(("pipe", each) for each in ("text", b"", {}, 3, None, later())),
        *(("apipe", each) for each in ("text", b"", {}, 3, None, HELD)),
    ],
)
def test_a_value_that_is_no_source_is_refused_at_once(way: str, given: Any) -> None:
    stream = Stream(wire="text")
    with pytest.raises(UsageError, match=r"^chunks: must be an"):
        getattr(stream, way)(given)
    assert [*stream.pipe(["Hi"])]


def test_a_second_pipe_is_refused() -> None:
    stream = Stream(wire="text")
    stream.pipe([])
    with pytest.raises(UsageError, match="a pipe reads"):
        stream.apipe(later())
