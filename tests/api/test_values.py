"""What people have in Python is read: bytes of any class, tuples, objects of SDKs,
exceptions. What is no value of the protocol is refused where it was given."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from recordings import PATHS, own

from stream_sidecar import (
    Stream,
    UsageError,
    as_json,
    inspect,
    normalize,
    prepare,
    render,
)
from stream_sidecar.events import EVENTS
from stream_sidecar.values.jsontext import decode, encode, portable

DOCUMENT = {"choices": [{"index": 0, "delta": {"content": "<think>a</think>Hi"}}]}
SSE = f"data: {json.dumps(DOCUMENT)}\n\n".encode()


class Dumped:
    def model_dump(self) -> Any:
        return DOCUMENT


class AsDict:
    def to_dict(self) -> Any:
        return DOCUMENT


class Role(StrEnum):
    ASSISTANT = "assistant"


CHUNKS = [SSE, bytearray(SSE), memoryview(SSE), DOCUMENT, Dumped(), AsDict()]


@pytest.mark.parametrize("chunk", CHUNKS, ids=lambda chunk: type(chunk).__name__)
def test_a_chunk_in_any_form(chunk: Any) -> None:
    stream = Stream(wire="openai-chat")
    assert [*stream.pipe([chunk])]
    for message in (stream.message, normalize(chunk, wire="openai-chat").message):
        assert (message.reasoning, message.text) == ("a", "Hi")


def test_bytes_of_a_body_in_base64() -> None:
    assert normalize(b"Hi", wire="text", encoding="base64").message.text == "Hi"


@pytest.mark.parametrize("encoding", ["utf-8", "base64"])
def test_a_view_may_have_gaps(encoding: Any) -> None:
    view = memoryview(b"H.i.")[::2]
    stream = Stream(wire="text", encoding=encoding)
    assert [*stream.pipe([view])]
    read = normalize(view, wire="text", encoding=encoding)
    assert (stream.message.text, read.message.text) == ("Hi", "Hi")


def test_sdks_objects_mean_what_their_documents_mean() -> None:
    """Objects of the SDKs for openai-chat, anthropic and gemini, for each recording
    whose chunks are documents."""
    reason = "no SDKs (pip install --group sdks)"
    anthropic = pytest.importorskip("anthropic.types", reason=reason)
    google = pytest.importorskip("google.genai.types", reason=reason)
    openai = pytest.importorskip("openai.types.chat", reason=reason)
    pydantic = pytest.importorskip("pydantic", reason=reason)

    kinds: dict[str, Any] = {
        "openai-chat": openai.ChatCompletionChunk,
        "anthropic": anthropic.RawMessageStreamEvent,
        "gemini": google.GenerateContentResponse,
    }
    seen = dict.fromkeys(kinds, 0)
    for recording in map(own, PATHS):
        wire = recording.name.split("/")[0]
        if wire not in kinds or not all(type(c) is dict for c in recording.chunks):
            continue
        adapter = pydantic.TypeAdapter(kinds[wire])
        try:
            objects = [adapter.validate_python(each) for each in recording.chunks]
        except (pydantic.ValidationError, AttributeError):
            continue  # leaks and faults that this SDK does not read
        messages = []
        for chunks in (objects, recording.chunks):
            stream = Stream(**{**recording.params, "stream_id": "s"})
            assert [*stream.pipe(chunks)]
            message = stream.message
            calls = [(each.name, each.input) for each in message.tool_calls]
            messages.append((message.text, message.reasoning, calls))
        assert messages[0] == messages[1], recording.name
        seen[wire] += 1
    assert min(seen.values()) > 3, seen


def test_messages_of_sdks_are_read_in_lists() -> None:
    message = SimpleNamespace(model_dump=lambda: LEAK)
    (found,) = inspect((message,)).results
    assert found.malformed
    body = {"model": "m", "messages": ({"role": "user", "content": "Go."}, message)}
    assert prepare({**body, "messages": [*body["messages"], LEAK]}, "openai-chat").body
    assert inspect([{**LEAK, "role": Role.ASSISTANT}]).results[0].malformed


LEAK = {"role": "assistant", "content": "<think>Hm.</think>Hi"}


@pytest.mark.parametrize(
    ("value", "path"),
    [
        (object(), "params.chunk"),
        ({1}, "params.chunk"),
        (Dumped, "params.chunk"),
        ({"choices": [{"delta": object()}]}, "params.chunk.choices[0].delta"),
        ([b"raw"], "params.chunk[0]"),
        ({1: 2}, "params.chunk"),
    ],
)
def test_what_is_no_chunk_is_refused(value: Any, path: str) -> None:
    stream = Stream(wire="openai-chat")
    with pytest.raises(UsageError) as caught:
        stream.push(value)
    assert caught.value.data["path"] == path
    with pytest.raises(UsageError, match=r"^params\.body"):
        normalize(value)
    assert stream.push(SSE).events  # the refused chunk changed nothing


def test_what_contains_itself_is_refused() -> None:
    document: dict[str, Any] = {"choices": [{}]}
    document["choices"] += [document, {}]
    for call in (Stream().push, normalize):
        with pytest.raises(UsageError, match="contains itself"):
            call(document)


def test_a_document_may_be_nested_without_end() -> None:
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    stream = Stream(wire="openai-chat")
    stream.push({"deep": deep})
    assert stream.close().message.finish
    while deep:  # frees it without recursion
        deep = deep.pop()


@pytest.mark.parametrize("value", [3, "text", None, object(), [], {"type": "finish"}])
def test_as_json_refuses_what_is_not_ours(value: Any) -> None:
    with pytest.raises(UsageError, match=r"^value: must be an event, a message"):
        as_json(value)


class HttpError(Exception):
    """As the SDKs of providers and HTTP libraries raise it."""

    def __init__(self, **fields: Any) -> None:
        super().__init__("words")
        vars(self).update(fields)


RATE = {"error": {"type": "rate_limit_error", "message": "Slow down."}}
HEADERS = {"retry-after": "3"}


@pytest.mark.parametrize(
    "error",
    [
        {"status": 429, "headers": HEADERS, "body": RATE},
        {"status": 429, "headers": HEADERS, "body": json.dumps(RATE).encode()},
        HttpError(
            status_code=429, body=RATE, response=SimpleNamespace(headers=HEADERS)
        ),
        HttpError(code=429, status="LIMIT", details=RATE, headers=HEADERS),
        HttpError(
            response=SimpleNamespace(
                status_code=429, headers=HEADERS, text=json.dumps(RATE)
            )
        ),
    ],
)
def test_a_failed_response_may_be_an_exception(error: Any) -> None:
    (failure,) = Stream(wire="openai-chat").close(error=error).message.errors
    assert (failure.kind, failure.http_status) == ("rate-limit", 429)
    assert (failure.message, failure.retry_after_ms) == ("Slow down.", 3000)


class Unread:
    """A response whose body nobody read."""

    status_code = 500
    headers = HEADERS

    @property
    def text(self) -> str:
        raise RuntimeError("the body was not read")


@pytest.mark.parametrize(
    ("error", "kind", "message"),
    [
        (ConnectionError("gone"), "network", "gone"),
        (ConnectionError(), "network", "ConnectionError"),
        (HttpError(body=object()), "network", "words"),
        (HttpError(response=Unread()), "server", "words"),
    ],
)
def test_an_exception_is_reported(error: Any, kind: str, message: str) -> None:
    stream = Stream(wire="openai-chat")
    stream.push(SSE)
    (failure,) = stream.close(error=error).message.errors
    assert (failure.kind, failure.message) == (kind, message)


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.parent.name + path.stem)
def test_objects_mean_what_their_json_means(path: Path) -> None:
    """Snapshot, render and prepare of each recording, with the message as an object and
    as JSON."""
    recording = own(path)
    stream = Stream(**{"stream_id": "s", **recording.params})
    for chunk in recording.chunks:
        for event in stream.push(chunk).events:
            assert_json(event)
    assert_json(stream.opened)
    assert_json(stream.snapshot())
    closed = stream.close()
    assert_json(closed)
    message = closed.message
    for wire, name in LISTS.items():
        rendered = render(message, wire)  # type: ignore[arg-type]
        assert_json(rendered)
        assert render(as_json(message), wire) == rendered  # type: ignore[arg-type]
        body = {"model": "m", name: [*ASKED[name], *rendered.messages, *ASKED[name]]}
        prepared = prepare(body, wire)  # type: ignore[arg-type]
        assert_json(prepared)
        assert prepare(json.loads(json.dumps(body)), wire) == prepared  # type: ignore[arg-type]


@pytest.mark.parametrize("wire", ["anthropic", "gemini", "openai-chat"])
def test_what_is_written_can_be_sent(wire: Any) -> None:
    """A call with half a character and a number of 31 digits in its arguments."""
    tool = {"type": "tool_use", "id": "a", "name": "f"}
    tool["input"] = {"x": "\ud83d", "y": 10**30}
    body = {"type": "message", "role": "assistant", "content": [tool]}
    message = normalize(body, wire="anthropic").message
    for written in (render(message, wire).messages, message.to_dict()):
        text = json.dumps(written, ensure_ascii=False).encode().decode()
        assert "\ufffd" in text
        assert decode(encode(portable(written))) == written


LISTS = {
    **dict.fromkeys(("openai-chat", "anthropic", "ollama"), "messages"),
    **dict.fromkeys(("bedrock-converse", "cohere"), "messages"),
    "openai-responses": "input",
    "gemini": "contents",
}
"""Wire -> the name of a request's list of messages."""

ASKED: dict[str, list[Any]] = {
    "messages": [{"role": "user", "content": "Go."}],
    "input": [{"role": "user", "content": "Go."}],
    "contents": [{"role": "user", "parts": [{"text": "Go."}]}],
}


def assert_json(value: Any) -> None:
    """``value`` is written as JSON reads it back: no tuples, no objects."""
    written = value.to_dict()
    assert written == as_json(value)
    assert json.loads(json.dumps(written)) == written


def test_every_event_is_written() -> None:
    assert {event for event in EVENTS if "to_dict" not in dir(event)} == set()
