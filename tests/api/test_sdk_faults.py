"""What a host gets when it aborts, or when the connection breaks or is too slow: the
same text and the same exception with a cleaning transport and without one.

The rows are read from each SDK without the transport, not written here, so that an SDK
may change them. An SDK that is not installed is skipped.
"""

from __future__ import annotations

import asyncio
import importlib
import importlib.metadata
import json
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest
from attrs import frozen

TEXTS = ("Hello", " there", ", all.")
HELD = (*TEXTS, " <thi")
"""A text with an end that may become a delimiter."""


def _chat(texts: tuple[str, ...]) -> tuple[list[Any], list[Any]]:
    """Documents with the text, and those after it."""

    def of(delta: Any, reason: Any = None) -> Any:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        shared = {"id": "c", "created": 1, "model": "m"}
        return {**shared, "object": "chat.completion.chunk", "choices": [choice]}

    return [of({"content": each}) for each in texts], [of({}, "stop")]


def _responses(texts: tuple[str, ...]) -> tuple[list[Any], list[Any]]:
    place = {"item_id": "i", "output_index": 0, "content_index": 0}
    item: dict[str, Any] = {"type": "message", "id": "i", "role": "assistant"}
    begun = {**item, "status": "in_progress", "content": []}
    part = {"type": "output_text", "text": "".join(texts), "annotations": []}
    ended = {**item, "status": "completed", "content": [part]}
    shared = {"id": "r", "object": "response", "created_at": 1, "model": "m"}
    body: dict[str, Any] = {
        **shared,
        "parallel_tool_calls": False,
        "tool_choice": "auto",
        "tools": [],
        "status": "in_progress",
        "output": [],
    }
    start: list[Any] = [
        {"type": "response.created", "response": body},
        {"type": "response.output_item.added", "output_index": 0, "item": begun},
    ]
    end: list[Any] = [
        {"type": "response.output_item.done", "output_index": 0, "item": ended},
        {
            "type": "response.completed",
            "response": {**body, "status": "completed", "output": [ended]},
        },
    ]
    kind = "response.output_text.delta"
    deltas = [{"type": kind, **place, "delta": each, "logprobs": []} for each in texts]
    return _numbered(start + deltas), _numbered(end)


def _numbered(documents: list[Any]) -> list[Any]:
    return [{**each, "sequence_number": at} for at, each in enumerate(documents)]


def _messages(texts: tuple[str, ...]) -> tuple[list[Any], list[Any]]:
    usage = {"input_tokens": 1, "output_tokens": 1}
    message = {"id": "m", "type": "message", "role": "assistant", "model": "m"}
    ends = {"stop_reason": None, "stop_sequence": None}
    block = {"type": "text", "text": ""}
    kind = "content_block_delta"
    deltas = ({"type": "text_delta", "text": each} for each in texts)
    return [
        {
            "type": "message_start",
            "message": {**message, **ends, "content": [], "usage": usage},
        },
        {"type": "content_block_start", "index": 0, "content_block": block},
        *({"type": kind, "index": 0, "delta": each} for each in deltas),
    ], [
        {"type": "content_block_stop", "index": 0},
        {
            "type": "message_delta",
            "delta": {**ends, "stop_reason": "end_turn"},
            "usage": usage,
        },
        {"type": "message_stop"},
    ]


def _contents(texts: tuple[str, ...]) -> tuple[list[Any], list[Any]]:
    def of(text: str, **more: Any) -> Any:
        content = {"role": "model", "parts": [{"text": text}]}
        return {"candidates": [{"content": content, "index": 0, **more}]}

    return [of(each) for each in texts], [of("", finishReason="STOP")]


@frozen
class Api:
    """One method of an SDK. ``make`` gives a client; ``ask`` the stream of a client;
    ``text`` the text of an item."""

    package: str
    documents: Callable[[tuple[str, ...]], tuple[list[Any], list[Any]]]
    make: Callable[[Any, Any, bool], Any]
    ask: Callable[[Any], Any]
    text: Callable[[Any], str]


def _openai(sdk: Any, http: Any, is_async: bool) -> Any:
    kind = sdk.AsyncOpenAI if is_async else sdk.OpenAI
    return kind(api_key="k", max_retries=0, http_client=http)


def _anthropic(sdk: Any, http: Any, is_async: bool) -> Any:
    kind = sdk.AsyncAnthropic if is_async else sdk.Anthropic
    return kind(api_key="k", max_retries=0, http_client=http)


def _genai(sdk: Any, http: Any, is_async: bool) -> Any:
    name = "httpx_async_client" if is_async else "httpx_client"
    client = sdk.Client(api_key="k", http_options={name: http})
    return client.aio if is_async else client


ASK: Any = [{"role": "user", "content": "?"}]
APIS = {
    "openai-chat": Api(
        "openai",
        _chat,
        _openai,
        lambda c: c.chat.completions.create(model="m", messages=ASK, stream=True),
        lambda each: each.choices[0].delta.content or "",
    ),
    "openai-responses": Api(
        "openai",
        _responses,
        _openai,
        lambda c: c.responses.create(model="m", input=ASK, stream=True),
        lambda each: each.delta if each.type.endswith("text.delta") else "",
    ),
    "anthropic": Api(
        "anthropic",
        _messages,
        _anthropic,
        lambda c: c.messages.create(model="m", max_tokens=9, messages=ASK, stream=True),
        lambda each: each.delta.text if each.type == "content_block_delta" else "",
    ),
    "google-genai": Api(
        "google.genai",
        _contents,
        _genai,
        lambda c: c.models.generate_content_stream(model="m", contents="?"),
        lambda each: each.text or "",
    ),
}

FAULTS = ("abort", "cut", "protocol", "timeout")
PLACES = ("before", "in", "after", "after the end mark")
MARK = "data: [DONE]\n\n"


def _body(api: Api, texts: tuple[str, ...], place: str) -> bytes:
    """The server-sent events up to a fault before, in or after the text, or after all
    documents and the mark at which some SDKs stop reading."""
    said, end = api.documents(texts)
    documents = {
        "before": [],
        "in": said[:-1],
        "after": said + end[:-1],
        "after the end mark": said + end,
    }.get(place)
    lines = (
        (f"event: {each['type']}\n" if "type" in each else "")
        + f"data: {json.dumps(each)}\n\n"
        for each in (said if documents is None else documents)
    )
    is_marked = place == "after the end mark" and api.documents is _chat
    return ("".join(lines) + MARK * is_marked).encode()


class Source:
    """A body that ends with a fault. An abort comes from the host, while the source
    waits."""

    def __init__(self, body: bytes, fault: str, library: Any) -> None:
        self.body = body
        self.waits = asyncio.Event() if fault == "abort" else None
        self.error = {
            "abort": KeyboardInterrupt(),
            "cut": library.ReadError("gone"),
            "protocol": library.RemoteProtocolError("incomplete"),
            "timeout": library.ReadTimeout("slow"),
        }[fault]
        self.is_closed = False

    def __iter__(self) -> Iterator[bytes]:
        yield from self._slices()
        raise self.error

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for each in self._slices():
            yield each
        if self.waits is None:
            raise self.error
        self.waits.set()
        await asyncio.Event().wait()

    def _slices(self) -> list[bytes]:
        return [self.body[at : at + 50] for at in range(0, len(self.body), 50)]

    def close(self) -> None:
        self.is_closed = True

    async def aclose(self) -> None:
        self.is_closed = True


class Host:
    """A user of an SDK, with the transport or without."""

    def __init__(self, api: Api, is_async: bool, is_clean: bool) -> None:
        self.sdk = pytest.importorskip(api.package, reason=f"no {api.package}")
        needed = importlib.metadata.requires(api.package.replace(".", "-")) or []
        name = (
            "httpx2" if any(each.startswith("httpx2") for each in needed) else "httpx"
        )
        self.library = importlib.import_module(name)
        self.transports = importlib.import_module(f"stream_sidecar.transports.{name}")
        self.api = api
        self.is_async = is_async
        self.is_clean = is_clean

    def row(self, body: bytes, fault: str, *, stops_after: int | None = None) -> Any:
        """The text, how it ended, and whether the source is closed. ``stops_after``:
        the host reads as many texts, and closes the stream."""
        streams = (self.library.SyncByteStream, self.library.AsyncByteStream)
        kind = type("Body", (Source, *streams), {})
        source = kind(body, fault, self.library)
        client = self.api.make(self.sdk, self._client(source), self.is_async)
        texts: list[str] = []
        try:
            if self.is_async:
                asyncio.run(self._aborted(client, texts, source, stops_after))
            else:
                self._read(client, texts, stops_after)
        except BaseException as error:
            kinds = [each.__name__ for each in type(error).__mro__]
            return "".join(texts), kinds, str(error), source.is_closed
        return "".join(texts), [], "", source.is_closed

    def _client(self, source: Any) -> Any:
        headers = {"content-type": "text/event-stream"}
        answer = self.library.Response(200, headers=headers, stream=source)
        inner: Any = self.library.MockTransport(lambda _request: answer)
        if self.is_clean:
            kind = "AsyncCleaningTransport" if self.is_async else "CleaningTransport"
            inner = getattr(self.transports, kind)(inner)
        kind = "AsyncClient" if self.is_async else "Client"
        return getattr(self.library, kind)(transport=inner)

    def _read(self, client: Any, texts: list[str], stops_after: int | None) -> None:
        stream = self.api.ask(client)
        for each in stream:
            texts.append(self.api.text(each))
            if len("".join(texts)) == stops_after:
                break
        stream.close()

    async def _aborted(
        self, client: Any, texts: list[str], source: Any, stops_after: int | None
    ) -> None:
        reading = asyncio.create_task(self._read_later(client, texts, stops_after))
        if source.waits is not None and stops_after is None:
            await source.waits.wait()
            reading.cancel()
        await reading

    async def _read_later(
        self, client: Any, texts: list[str], stops_after: int | None
    ) -> None:
        stream = await self.api.ask(client)
        async for each in stream:
            texts.append(self.api.text(each))
            if len("".join(texts)) == stops_after:
                break
        await (stream.close() if hasattr(stream, "close") else stream.aclose())


@pytest.mark.thorough
@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("name", APIS)
def test_the_host_gets_what_it_would_have_had(
    name: str, fault: str, place: str, is_async: bool
) -> None:
    api = APIS[name]
    body = _body(api, TEXTS, place)
    without, with_us = (
        Host(api, is_async, is_clean).row(body, fault) for is_clean in (False, True)
    )
    assert with_us == without
    assert with_us[1] != [] or place == "after the end mark"


@pytest.mark.thorough
@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize("fault", FAULTS[1:])
@pytest.mark.parametrize("name", APIS)
def test_text_that_was_held_comes_first(name: str, fault: str, is_async: bool) -> None:
    api = APIS[name]
    body = _body(api, HELD, "in the end of it")
    without, with_us = (
        Host(api, is_async, is_clean).row(body, fault) for is_clean in (False, True)
    )
    assert with_us == without
    assert with_us[0] == "".join(HELD)


@pytest.mark.thorough
@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize("name", APIS)
def test_a_host_that_stops_reading(name: str, is_async: bool) -> None:
    api = APIS[name]
    body = _body(api, TEXTS, "after")
    size = len("".join(TEXTS[:2]))
    without, with_us = (
        Host(api, is_async, is_clean).row(body, "abort", stops_after=size)
        for is_clean in (False, True)
    )
    assert with_us == without
    assert with_us[0] == "".join(TEXTS[:2])
