"""What goes through a cleaning transport: responses are clean, requests prepared, and
everything else is byte for byte what it was. Both libraries, with and without asyncio.
"""

from __future__ import annotations

import asyncio
import copy
import gzip
import json
import tracemalloc
import warnings
import zlib
from collections.abc import AsyncIterator, Callable, Iterator
from functools import cache
from typing import Any

import pytest
from places import ROOT, TESTS
from sealing import misfits, seal_all

pytest.importorskip("httpx", reason="no httpx (pip install --group sdks)")
pytest.importorskip("httpx2", reason="no httpx2 (pip install --group sdks)")

import httpx
import httpx2

from stream_sidecar import Stream, UsageError
from stream_sidecar.transports import cleaning
from stream_sidecar.transports import httpx as of_httpx
from stream_sidecar.transports import httpx2 as of_httpx2
from stream_sidecar.transports.cleaning import Cleaner, UncleanedError
from stream_sidecar.transports.exchange import MOST_WHOLE
from stream_sidecar.wires.requests.seals import BETA

LEAKING = (TESTS / "wires" / "openai-chat" / "leaking.sse").read_bytes()
CHAT = "https://api.groq.com/openai/v1/chat/completions"
MESSAGES = "https://api.anthropic.com/v1/messages"
ASK: dict[str, Any] = {
    "model": "qwen3",
    "messages": [{"role": "user", "content": "Go."}],
    "tools": [
        {"type": "function", "function": {"name": "look", "later": 1}, "later": 1},
        {"type": "web"},
        7,
    ],
}
LEFT: dict[str, Any] = {
    **ASK,
    "messages": [
        *ASK["messages"],
        {"role": "assistant", "content": "<think>Hm.</think>Hi"},
        {"role": "user", "content": "Go on."},
    ],
}
SSE = {"content-type": "text/event-stream; charset=utf-8", "x-request-id": "r1"}
JSON = {"content-type": "application/json", "x-request-id": "r1"}


class Slices(httpx.SyncByteStream, httpx.AsyncByteStream):
    """A body in slices; ``error`` ends it, ``given`` are those that were asked for."""

    def __init__(self, slices: list[bytes], error: Exception | None = None) -> None:
        self.slices = slices
        self.error = error
        self.given = 0
        self.is_closed = False

    def __iter__(self) -> Iterator[bytes]:
        for data in self.slices:
            self.given += 1
            yield data
        if self.error:
            raise self.error

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for data in self:
            yield data

    def close(self) -> None:
        self.is_closed = True

    async def aclose(self) -> None:
        self.is_closed = True


class Slices2(Slices, httpx2.SyncByteStream, httpx2.AsyncByteStream):
    """A body that httpx2 knows as one, too."""


def cut(body: bytes, size: int) -> Slices:
    return Slices2([body[at : at + size] for at in range(0, len(body), size)])


class Lane:
    """One library, with asyncio or without."""

    def __init__(self, library: Any, transports: Any, is_async: bool) -> None:
        self.library = library
        self.transports = transports
        self.is_async = is_async
        self.sent: list[Any] = []
        self.lost: list[Exception] = []

    def get(
        self,
        response: Callable[[Any], Any],
        body: Any = None,
        url: str = CHAT,
        **more: Any,
    ) -> Any:
        """The response as its user has it; ``more`` are options and headers."""
        headers = more.pop("headers", {})
        content = body if isinstance(body, bytes) else json.dumps(body or ASK).encode()
        make = self.library.AsyncClient if self.is_async else self.library.Client
        transport = self.transport(response, **more)
        client = make(transport=transport, follow_redirects=True)
        request = client.build_request("POST", url, content=content, headers=headers)
        if not self.is_async:
            with client:
                return client.send(request)

        async def send() -> Any:
            async with client:
                return await client.send(request)

        return asyncio.run(send())

    @property
    def kind(self) -> Any:
        name = "AsyncCleaningTransport" if self.is_async else "CleaningTransport"
        return getattr(self.transports, name)

    def head(self, response: Callable[[Any], Any]) -> tuple[int, bytes]:
        """The status and the body as it was sent, which nobody decompresses."""
        transport = self.transport(response)
        content = json.dumps(ASK).encode()
        if not self.is_async:
            request = self.library.Request("POST", CHAT, content=content)
            given = transport.handle_request(request)
            return given.status_code, b"".join(given.iter_raw())

        async def send() -> tuple[int, bytes]:
            request = self.library.Request("POST", CHAT, content=content)
            given = await transport.handle_async_request(request)
            return given.status_code, b"".join([d async for d in given.aiter_raw()])

        return asyncio.run(send())

    def transport(self, response: Callable[[Any], Any], **options: Any) -> Any:
        def handle(request: Any) -> Any:
            self.sent.append(request)
            return response(self.library)

        inner = self.library.MockTransport(handle)
        return self.kind(inner, on_lost=self.lost.append, **options)


@pytest.fixture(
    params=[
        (httpx, of_httpx, False),
        (httpx, of_httpx, True),
        (httpx2, of_httpx2, False),
        (httpx2, of_httpx2, True),
    ],
    ids=["httpx", "httpx-async", "httpx2", "httpx2-async"],
)
def lane(request: pytest.FixtureRequest) -> Lane:
    return Lane(*request.param)


def answers(
    stream: Any, headers: dict[str, str], status: int = 200
) -> Callable[..., Any]:
    return lambda library: library.Response(status, headers=headers, stream=stream)


def documents(body: bytes) -> list[Any]:
    lines = (line.removeprefix(b"data: ") for line in body.split(b"\n\n"))
    return [json.loads(line) for line in lines if line not in (b"", b"[DONE]")]


def contents(body: bytes) -> tuple[str, str]:
    """The answer and the reasoning of the documents."""
    deltas = [
        choice["delta"]
        for each in documents(body)
        for choice in each.get("choices", [])
    ]
    names = ("content", "reasoning_content")
    text, reasoning = ("".join(each.get(n) or "" for each in deltas) for n in names)
    return text, reasoning


@pytest.mark.parametrize("size", [1, 7, 1 << 20])
def test_a_stream_is_clean_however_it_is_cut(lane: Lane, size: int) -> None:
    source = cut(LEAKING, size)
    response = lane.get(answers(source, SSE))
    text, reasoning = contents(response.content)
    assert text == "I will look at the branch 🌿 first."
    assert "A `</think>` in code is no end." in reasoning
    assert response.content.endswith(b"data: [DONE]\n\n")
    assert dict(response.headers) == SSE
    assert response.request.url == CHAT
    assert source.is_closed
    assert lane.lost == []


def test_a_stream_is_read_compressed(lane: Lane) -> None:
    headers = {**SSE, "content-encoding": "gzip", "content-length": "7"}
    response = lane.get(answers(cut(gzip.compress(LEAKING), 11), headers))
    assert contents(response.content)[0] == "I will look at the branch 🌿 first."
    assert dict(response.headers) == SSE


def test_a_stream_does_not_wait_for_its_end() -> None:
    source = cut(LEAKING, 40)
    lane = Lane(httpx2, of_httpx2, False)
    client = httpx2.Client(transport=lane.transport(answers(source, SSE)))
    with client, client.stream("POST", CHAT, json=ASK) as response:
        first = next(response.iter_bytes())
        assert first.startswith(b"data: {")
        assert source.given < len(source.slices) / 2


def body_of(text: str) -> bytes:
    message = {"role": "assistant", "content": text, "extra": None}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return json.dumps({"id": "c", "choices": [choice]}, indent=1).encode()


@pytest.mark.parametrize("encoding", ["identity", "gzip"])
def test_a_body_is_clean(lane: Lane, encoding: str) -> None:
    raw = body_of("<think>Hm.</think>Hi 🌿")
    raw = gzip.compress(raw) if encoding == "gzip" else raw
    headers = {**JSON, "content-encoding": encoding}
    response = lane.get(answers(cut(raw, 5), headers))
    message = response.json()["choices"][0]["message"]
    assert (message["content"], message["reasoning_content"]) == ("Hi 🌿", "Hm.")
    length = {"content-length": str(len(response.content))}
    assert dict(response.headers) == {**JSON, **length}


ZLIB = zlib.compress(body_of("Hi 🌿"))

UNTOUCHED: list[tuple[str, int, dict[str, str], bytes, str]] = [
    ("clean", 200, JSON, body_of("Hi 🌿"), CHAT),
    ("compressed", 200, {**JSON, "content-encoding": "deflate"}, ZLIB, CHAT),
    ("an error", 429, JSON, b'{"error": {"message": "<think>"}}', CHAT),
    ("an error of a stream", 500, SSE, LEAKING, CHAT),
    ("no object", 200, JSON, b'["<think>"]', CHAT),
    ("no JSON", 200, JSON, b"<think>Hm.</think>", CHAT),
    ("another document", 200, JSON, b'{"hello":  "<think>"}', CHAT),
    ("text", 200, {"content-type": "text/plain"}, b"<think>Hm.</think>", CHAT),
    ("elsewhere", 200, SSE, LEAKING, "https://api.groq.com/openai/v1/models"),
]


@pytest.mark.parametrize(
    ("status", "headers", "raw", "url"),
    [row[1:] for row in UNTOUCHED],
    ids=[row[0] for row in UNTOUCHED],
)
def test_what_is_not_touched_is_as_it_was(
    lane: Lane, status: int, headers: dict[str, str], raw: bytes, url: str
) -> None:
    response = lane.get(answers(cut(raw, 9), headers, status), url=url)
    own = lane.library.Response(status, headers=headers, stream=cut(raw, 9))
    assert (response.status_code, dict(response.headers)) == (status, headers)
    assert response.content == own.read()


def test_a_body_that_cannot_be_decompressed_is_its_readers(lane: Lane) -> None:
    headers = {**JSON, "content-encoding": "gzip"}
    with pytest.raises(lane.library.DecodingError):
        lane.get(answers(cut(b"no gzip", 3), headers))
    assert [type(each) for each in lane.lost] == [lane.library.DecodingError]


def test_a_request_is_prepared(lane: Lane) -> None:
    headers = {"authorization": "Bearer k", "x-own": "1"}
    lane.get(answers(cut(b"{}", 9), JSON), LEFT, headers=headers)
    (request,) = lane.sent
    assert json.loads(request.content)["messages"][1]["content"] == "Hi"
    assert request.headers["content-length"] == str(len(request.content))
    assert {name: request.headers[name] for name in headers} == headers
    assert set(request.extensions) == {"timeout"}


def sealed(text: str) -> dict[str, Any]:
    """A conversation in which text comes before signed thinking."""
    thought = {"type": "thinking", "thinking": "Hm", "signature": ""}
    answer = {"role": "assistant", "content": [thought, {"type": "text", "text": text}]}
    user = {"role": "user", "content": "Sure?"}
    body = {
        "model": "claude-opus-5-5",
        "max_tokens": 9,
        "thinking": {"type": "adaptive"},
        "messages": [user, answer, user, copy.deepcopy(answer), user],
    }
    seal_all("anthropic", body)
    return body


@pytest.mark.parametrize(
    ("own", "spelled"),
    [
        ([("X-Api-Key", "k")], [("anthropic-beta", BETA)]),
        ([("Anthropic-Beta", "one")], [("Anthropic-Beta", f"one,{BETA}")]),
        (
            [("Anthropic-Beta", "one"), ("anthropic-beta", "two")],
            [("anthropic-beta", f"one, two,{BETA}")],
        ),
        ([("ANTHROPIC-BETA", f"a, {BETA}")], [("ANTHROPIC-BETA", f"a, {BETA}")]),
    ],
    ids=["none", "one", "two", "named"],
)
def test_a_provider_is_asked_to_drop_what_no_longer_fits(
    lane: Lane, own: list[tuple[str, str]], spelled: list[tuple[str, str]]
) -> None:
    body = sealed("<think>So.</think>Four.")
    assert not misfits("anthropic", body, {})
    lane.get(answers(cut(b"{}", 9), JSON), body, MESSAGES, headers=own)
    (request,) = lane.sent
    sent = json.loads(request.content)
    assert sent["messages"][1]["content"][1]["text"] == "Four."
    assert len(sent["messages"][3]["content"]) == 2
    assert not misfits("anthropic", sent, dict(request.headers))
    raw = [(name.decode(), value.decode()) for name, value in request.headers.raw]
    assert [each for each in raw if each[0].lower() == "anthropic-beta"] == spelled
    assert lane.lost == []


def test_a_signed_request_gets_no_thinking_that_the_next_cannot_carry(
    lane: Lane,
) -> None:
    """What a signature of AWS covers is sent as it is, so it must fit."""
    seals = [{"type": "thinking", "thinking": "Hm", "signature": s} for s in "ab"]
    text = {"type": "text", "text": "<think>So.</think>Four."}
    content = [seals[0], text, seals[1], text]
    answer = {"id": "m", "type": "message", "role": "assistant", "content": content}
    answer |= {"model": "claude-opus-5-5", "stop_reason": "end_turn"}
    come = answers(cut(json.dumps(answer).encode(), 9), JSON)
    signed = {"authorization": "AWS4-HMAC-SHA256 Credential=..."}
    body = {**sealed("Four."), "messages": [{"role": "user", "content": "2 + 2?"}]}
    clean = {"type": "text", "text": "Four."}

    got = lane.get(come, body, MESSAGES, headers=signed).json()["content"]
    assert got == [seals[0], clean, clean]
    got = lane.get(come, body, MESSAGES).json()["content"]
    assert got == [seals[0], clean, {**seals[1], "signature": ""}, clean]


def test_a_call_that_stays_in_the_text_stays_in_the_next_request(lane: Lane) -> None:
    """Otherwise each request would undo what is sealed behind it."""
    body = sealed('<tool_call>{"name": "f", "arguments": {}}</tool_call>Four.')
    for claims in ("text", "drop"):
        lane.get(answers(cut(b"{}", 9), JSON), body, MESSAGES, claims=claims)
    kept, dropped = (json.loads(request.content) for request in lane.sent)
    assert (kept, dropped == body) == (body, False)


def test_a_sealed_conversation_without_an_edit_goes_as_it_is(lane: Lane) -> None:
    body = json.dumps(sealed("Four."), indent=3).encode()
    lane.get(answers(cut(b"{}", 9), JSON), body, MESSAGES)
    (request,) = lane.sent
    assert request.content == body
    assert "anthropic-beta" not in request.headers


def test_only_the_headers_that_are_read_are_given(
    lane: Lane, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[Any] = []

    def prepare(*_words: Any, headers: Any, **_more: Any) -> Any:
        given.append(headers)
        raise ValueError

    monkeypatch.setattr(cleaning, "prepare", prepare)
    headers = {"authorization": "Bearer k", "cookie": "c", "Anthropic-Beta": "one"}
    lane.get(answers(cut(b"{}", 9), JSON), LEFT, headers=headers)
    assert given == [{"Anthropic-Beta": "one"}]


@pytest.mark.parametrize(
    ("body", "more"),
    [
        (json.dumps(ASK, indent=3).encode(), {}),
        (json.dumps(LEFT, indent=3).encode(), {"prepare": False}),
        (
            json.dumps(LEFT, indent=3).encode(),
            {"headers": {"authorization": "AWS4-HMAC-SHA256 Credential=..."}},
        ),
        (b"no JSON", {}),
        (b'["no object"]', {}),
    ],
    ids=["clean", "switched off", "signed", "no JSON", "no object"],
)
def test_a_request_goes_as_it_is(lane: Lane, body: bytes, more: dict[str, Any]) -> None:
    lane.get(answers(cut(b"{}", 9), JSON), body, **more)
    assert [request.content for request in lane.sent] == [body]


def test_a_request_that_is_written_while_it_is_sent_is_not_read() -> None:
    """Its response passes, and that is said."""
    lane = Lane(httpx2, of_httpx2, False)
    transport = lane.transport(answers(cut(LEAKING, 99), SSE))
    with httpx2.Client(transport=transport) as client:
        response = client.post(CHAT, content=iter([json.dumps(ASK).encode()]))
        client.post("https://localhost/files", content=iter([b"a"]))
    assert response.content == LEAKING
    (error,) = lane.lost
    assert "while it is sent" in str(error)


async def listen_later(*_values: Any) -> None: ...


WRONG: list[dict[str, Any]] = [
    {"claims": "data"},
    {"policy": "x"},
    {"policy": {"toolResults": {"mode": "keeep"}}},
    {"policy": {"toolResult": {}}},
    {"response_template": {"a": 1}},
    {"provider": 5},
    {"prepare": "no"},
    {"on_event": 1},
    {"on_message": 1},
    {"on_lost": "print"},
    {"on_event": listen_later},
    {"transport": "http://localhost"},
    {"transport": httpx.HTTPTransport},
    {"transport": httpx.AsyncHTTPTransport},
]


@pytest.mark.parametrize("options", WRONG, ids=str)
def test_wrong_options_raise_where_they_are_given(
    lane: Lane, options: dict[str, Any]
) -> None:
    (name,) = options
    with pytest.raises(UsageError, match="(?i)" + name.replace("_", ".?")):
        lane.kind(**options)
    with pytest.raises(TypeError, match="polcy"):
        lane.kind(polcy={})


def test_the_other_kind_of_transport_is_a_wrong_one(lane: Lane) -> None:
    names = ("AsyncHTTPTransport", "HTTPTransport")
    other = getattr(lane.library, names[lane.is_async])()
    with pytest.raises(UsageError, match="handle_"):
        lane.kind(other)


@pytest.mark.parametrize("size", [7, 1 << 20])
def test_listeners_get_events_and_the_message(lane: Lane, size: int) -> None:
    events, messages = [], []
    listeners = {
        "on_event": lambda event, answer: events.append((event, answer)),
        "on_message": lambda message, answer: messages.append((message, answer)),
    }
    lane.get(answers(cut(LEAKING, size), SSE), **listeners)
    ((message, answer),) = messages
    assert {id(each) for _, each in events} == {id(answer)}
    assert answer.model == ASK["model"]
    shown = (each.text for each, _ in events if each.type == "text-delta")
    assert "".join(shown) == message.text != ""
    assert events[-1][0].type == "finish"
    for text in ("<think>Hm.</think>Hi", "Hi"):  # one that leaked, one that did not
        lane.get(answers(cut(body_of(text), size), JSON), **listeners)
        last, other = messages[-1]
        assert last.text == "Hi"
        assert other.stream_id != answer.stream_id
    assert len(messages) == 3


def test_a_listener_that_raises_changes_nothing(
    lane: Lane, caplog: pytest.LogCaptureFixture
) -> None:
    response = lane.get(answers(cut(LEAKING, 99), SSE), on_message=broken)
    assert response.content.endswith(b"data: [DONE]\n\n")
    assert [type(each) for each in lane.lost] == [BrokenError]
    assert caplog.records == []
    Cleaner(on_lost=broken).report_loss(ValueError())
    assert "listener" in caplog.text


def test_a_response_template_reads_the_answer(lane: Lane) -> None:
    fields = {"thinking": {"open": "<hm>", "close": "</hm>"}, "content": {}}
    body = answers(cut(body_of("<hm>Well.</hm>Hi"), 9), JSON)
    response = lane.get(body, response_template={"fields": fields})
    message = response.json()["choices"][0]["message"]
    assert (message["content"], message["reasoning_content"]) == ("Hi", "Well.")


def test_media_types_have_no_case(lane: Lane) -> None:
    for name in ("Text/Event-Stream", "TEXT/EVENT-STREAM ; charset=UTF-8"):
        response = lane.get(answers(cut(LEAKING, 99), {"content-type": name}))
        assert contents(response.content)[0] == "I will look at the branch 🌿 first."
    raw = body_of("<think>Hm.</think>Hi")
    response = lane.get(answers(cut(raw, 99), {"content-type": "Application/JSON"}))
    assert response.json()["choices"][0]["message"]["content"] == "Hi"


@pytest.mark.parametrize("name", ["text/plain", "application/vnd.x+json", ""])
def test_a_response_of_another_type_passes_with_a_word(lane: Lane, name: str) -> None:
    headers = {"content-type": name} if name else {}
    response = lane.get(answers(cut(LEAKING, 99), headers))
    assert response.content == LEAKING
    assert "is not read" in str(lane.lost)


IMAGE = "A" * 9_000_000


def test_a_long_event_passes(lane: Lane) -> None:
    """The finish reason in it reaches the SDK."""
    part = {"inlineData": {"mimeType": "image/png", "data": IMAGE}}
    candidate = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP"}
    document = {"candidates": [candidate]}
    raw = b"data: " + json.dumps(document).encode() + b"\n\n"
    url = f"{GEMINI}:streamGenerateContent?alt=sse"
    response = lane.get(answers(cut(raw, 65536), SSE), GEMINI_ASK, url)
    assert documents(response.content) == [document]
    assert lane.lost == []


def test_a_long_event_whose_text_is_not_read_is_reported(lane: Lane) -> None:
    def event(text: str) -> bytes:
        chunk = {"choices": [{"index": 0, "delta": {"content": text}}]}
        return b"data: " + json.dumps(chunk).encode() + b"\n\n"

    raw = event("<think>a</think>A") + event(IMAGE) + event("C")
    response = lane.get(answers(cut(raw, 65536), SSE))
    assert contents(response.content) == (f"A{IMAGE}C", "a")
    (error,) = lane.lost
    assert type(error) is UncleanedError
    assert "9000000" in str(error) or "unread" in str(error)


@pytest.mark.thorough
def test_a_long_body_is_clean_up_to_the_bound(lane: Lane) -> None:
    raw = body_of("<think>a</think>" + IMAGE)
    response = lane.get(answers(cut(raw, 65536), JSON))
    assert response.json()["choices"][0]["message"]["content"] == IMAGE
    assert lane.lost == []
    raw += b" " * (MOST_WHOLE + 1 - len(raw)) + b" " * 70_000
    source = cut(raw, 65536)
    response = lane.get(answers(source, {**JSON, "content-length": str(len(raw))}))
    assert response.content == raw
    assert source.is_closed
    assert [type(each) for each in lane.lost] == [UncleanedError]
    assert response.headers["content-length"] == str(len(raw))


def test_a_long_body_breaks_off_with_its_error(lane: Lane) -> None:
    raw = b" " * MOST_WHOLE
    for size in (len(raw) // 2, len(raw) + 1):
        source = cut(raw[:size].ljust(size), 1 << 20)
        source.error = lane.library.ReadTimeout("slow")
        with pytest.raises(lane.library.ReadTimeout):
            lane.get(answers(source, JSON))
        assert source.is_closed


@cache
def bomb(encoding: str) -> bytes:
    """A short body of 300 MB."""
    squeezed = zlib.compressobj(wbits=31 if encoding == "gzip" else 15)
    block = b" " * (1 << 20)
    return b"".join(squeezed.compress(block) for _ in range(300)) + squeezed.flush()


@pytest.mark.thorough
@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
def test_a_bomb_is_not_unpacked(lane: Lane, encoding: str) -> None:
    """It passes as it came, with no more memory than the bound."""
    raw = bomb(encoding)
    headers = {**JSON, "content-encoding": encoding}
    tracemalloc.start()
    try:
        with_status = lane.head(answers(cut(raw, 65536), headers))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert with_status == (200, raw)
    assert peak < 3 * MOST_WHOLE
    assert [type(each) for each in lane.lost] == [UncleanedError]


@pytest.mark.parametrize("more", [{"user": IMAGE}, {"seed": 10**30}], ids=min)
def test_a_request_that_cannot_be_prepared_goes_as_it_is(
    lane: Lane, more: dict[str, Any]
) -> None:
    body = json.dumps({**LEFT, **more}, indent=1).encode()
    lane.get(answers(cut(b"{}", 9), JSON), body)
    assert [each.content for each in lane.sent] == [body]
    assert [type(each) for each in lane.lost] == [UncleanedError]


def test_who_stops_reading_stops_the_stream() -> None:
    """Nothing more is written, and the listener gets what came."""
    messages: list[Any] = []
    lane = Lane(httpx2, of_httpx2, False)
    source = cut(LEAKING, 40)
    transport = lane.transport(
        answers(source, SSE),
        on_message=lambda message, _answer: messages.append(message),
    )
    client = httpx2.Client(transport=transport)
    with client, client.stream("POST", CHAT, json=ASK) as response:
        next(response.iter_bytes())
    assert source.is_closed
    (message,) = messages
    assert message.finish.reason == "cancelled"


def test_a_redirect_is_followed(lane: Lane) -> None:
    """As the SDKs do. Both requests are prepared."""

    def answer(library: Any) -> Any:
        if len(lane.sent) == 1:
            return library.Response(307, headers={"location": CHAT})
        return library.Response(200, headers=SSE, content=LEAKING)

    assert b"<think>" not in lane.get(answer, LEFT).content
    first, second = (each.read() for each in lane.sent)
    assert first == second
    assert b"<think>" not in first
    assert lane.lost == []


def test_who_reads_on_after_closing_gets_the_error_of_the_source() -> None:
    """As another thread does whose response was closed."""
    lane = Lane(httpx2, of_httpx2, False)
    source = cut(LEAKING[: LEAKING.index(b"data: undefined")], 20)
    source.error = httpx2.ReadError("closed")
    client = httpx2.Client(transport=lane.transport(answers(source, SSE)))
    with client, client.stream("POST", CHAT, json=ASK) as response:
        slices = response.iter_bytes()
        next(slices)
        response.close()
        with pytest.raises(httpx2.ReadError, match="closed"):
            next(slices)
    assert lane.lost == []


def test_a_source_that_breaks_off(lane: Lane) -> None:
    """What was certain is given, and then the error of the source."""
    source = cut(LEAKING[: LEAKING.index(b"data: undefined")], 20)
    source.error = lane.library.ReadError("gone")
    for status, given in ((200, True), (500, False)):
        with pytest.raises(lane.library.ReadError, match="gone"):
            lane.get(answers(source, SSE, status))
        assert source.is_closed is given or not given
    assert lane.lost == []


class BrokenError(Exception):
    """A bug of ours."""


def broken(*_words: Any, **_more: Any) -> Any:
    raise BrokenError


@pytest.mark.parametrize("name", ["push", "close", "options"])
def test_a_stream_that_we_cannot_read_passes(
    lane: Lane, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(Cleaner if name == "options" else Stream, name, broken)
    if name == "close":  # nothing was certain before
        monkeypatch.setattr(Stream, "push", lambda *_words: Nothing)
    response = lane.get(answers(cut(LEAKING, 30), SSE))
    assert response.content == LEAKING
    assert [type(each) for each in lane.lost] == [BrokenError]


class Nothing:
    """What a push gives before anything is certain."""

    chunks = None
    events = ()


@pytest.mark.parametrize("name", ["normalize", "prepare"])
def test_a_body_that_we_cannot_read_passes(
    lane: Lane, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(cleaning, name, broken)
    lane.get(answers(cut(body_of("Hi"), 30), JSON), LEFT)
    kept = json.loads(lane.sent[0].content) == LEFT
    assert kept is (name == "prepare")
    assert [type(each) for each in lane.lost] == [BrokenError]


def test_what_breaks_off_behind_what_was_given_is_raised(
    lane: Lane, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Stream, "close", broken)
    with pytest.raises(BrokenError):
        lane.get(answers(cut(LEAKING, 30), SSE))
    assert [type(each) for each in lane.lost] == [BrokenError]


def test_a_source_breaks_off_where_we_do(
    lane: Lane, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Stream, "push", broken)
    source = cut(LEAKING, 30)
    source.error = lane.library.ReadError("gone")
    with pytest.raises(lane.library.ReadError):
        lane.get(answers(source, SSE))
    monkeypatch.setattr(Stream, "close", broken)
    monkeypatch.setattr(Stream, "push", lambda *_words: Nothing)
    with pytest.raises(lane.library.ReadError):
        lane.get(answers(source, SSE))
    assert [type(each) for each in lane.lost] == [BrokenError] * 2


@pytest.mark.parametrize("times", [1, 3])
def test_without_on_lost_there_is_one_warning(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, times: int
) -> None:
    monkeypatch.setattr(cleaning, "normalize", broken)
    handle = httpx2.MockTransport(lambda _request: httpx2.Response(200, json={}))
    client = httpx2.Client(transport=of_httpx2.CleaningTransport(handle))
    with client, warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        for _ in range(times):
            assert client.post(CHAT, json=ASK).json() == {}
    (warning,) = given
    assert warning.category is RuntimeWarning
    assert "uncleaned" in str(warning.message)
    assert [each.name for each in caplog.records] == ["stream_sidecar"]


def test_a_transport_sends_by_itself() -> None:
    of_httpx2.CleaningTransport().close()
    asyncio.run(of_httpx.AsyncCleaningTransport().aclose())


GEMINI = "https://generativelanguage.googleapis.com/v1beta/models/gemini%2D3"
GEMINI_ASK = {
    "contents": [{"role": "user", "parts": [{"text": "Go."}]}],
    "tools": [{"functionDeclarations": [{"name": "look", "parameters": {}}, 3]}, 5],
}


def gemini(*texts: str) -> bytes:
    parts = [
        {"content": {"role": "model", "parts": [{"text": each}]}} for each in texts
    ]
    return json.dumps([{"candidates": [each]} for each in parts]).encode()


@pytest.mark.parametrize("size", [1, 1 << 20])
def test_gemini_streams_as_an_array(lane: Lane, size: int) -> None:
    raw = gemini("<thi", "nk>Hm.</think>Hi", " there.")
    url = f"{GEMINI}:streamGenerateContent"
    response = lane.get(answers(cut(raw, size), JSON), GEMINI_ASK, url)
    parts = [
        part
        for each in response.json()
        for candidate in each["candidates"]
        for part in candidate["content"]["parts"]
    ]
    text = "".join(part["text"] for part in parts if not part.get("thought"))
    assert text == "Hi there."


@pytest.mark.parametrize("tools", [None, "none"])
def test_gemini_streams_nothing(lane: Lane, tools: Any) -> None:
    url = f"{GEMINI}:streamGenerateContent"
    ask = {**GEMINI_ASK, "tools": tools}
    (document,) = lane.get(answers(cut(b"", 1), JSON), ask, url).json()
    assert document["error"]["status"] == "INTERNAL"


def test_gemini_streams_as_events(lane: Lane) -> None:
    (document,) = json.loads(gemini("<think>Hm.</think>Hi"))
    raw = b"data: " + json.dumps(document).encode() + b"\n\n"
    url = f"{GEMINI}:streamGenerateContent?alt=sse"
    response = lane.get(answers(cut(raw, 3), SSE), GEMINI_ASK, url)
    assert b"<think>" not in response.content
    assert b"[DONE]" not in response.content


@pytest.mark.parametrize("kind", ["a\n\ndata: 1", "a\ud800", "a\r"], ids=ascii)
def test_a_type_that_names_no_event(lane: Lane, kind: str) -> None:
    body = b"data: " + json.dumps({"type": kind}).encode() + b"\n\n"
    url = "https://api.anthropic.com/v1/messages"
    response = lane.get(answers(cut(body, 99), SSE), ASK, url)
    lines = response.text.split("\n")
    assert json.loads(lines[0].removeprefix("data: "))["type"][0] == "a"
    assert "data: 1" not in lines


def test_named_events_keep_their_names(lane: Lane) -> None:
    """An event whose document says no type has the name of its event."""
    start = {"type": "message_start", "message": {"role": "assistant", "content": []}}
    raw = (
        b"event: message_start\ndata: " + json.dumps(start).encode() + b"\n\n"
        b'event: own\ndata: {"a": 1}\n\n'
    )
    url = "https://api.anthropic.com/v1/messages"
    response = lane.get(answers(cut(raw, 4), SSE), ASK, url)
    assert b'event: message_start\ndata: {"type":"message_start"' in response.content
    assert b'event: own\ndata: {"a":1}\n\n' in response.content


def test_the_libraries_have_one_text() -> None:
    home = ROOT / "sidecar" / "stream_sidecar" / "transports"
    one, two = (
        (home / f"{name}.py").read_text(encoding="utf-8")
        for name in ("httpx", "httpx2")
    )
    assert two.replace("httpx2", "httpx") == one
