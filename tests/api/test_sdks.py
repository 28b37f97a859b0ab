"""openai and anthropic over a cleaning transport, with and without asyncio: two turns
with a tool, streamed and whole, against a server that refuses what leaked before.

LangChain and LiteLLM send through these clients.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("openai", reason="no SDKs (pip install --group sdks)")

import anthropic
import httpx2
import openai

from stream_sidecar.transports.httpx2 import AsyncCleaningTransport, CleaningTransport

LEAKS = ["<thi", "nk>2 + 2.</think", ">Let me look."]
ARGUMENTS = '{"path": "a.txt"}'
TOOL: dict[str, Any] = {"type": "object", "properties": {"path": {"type": "string"}}}


class Server:
    """Refuses a request in which anything of a leak stands; keeps those it took."""

    def __init__(self) -> None:
        self.taken: list[Any] = []

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        body = json.loads(request.content)
        if "think" in json.dumps(body["messages"]):
            said = {"error": {"type": "invalid_request_error", "message": "a leak"}}
            return httpx2.Response(400, json=said)
        self.taken.append(body)
        is_chat = request.url.path.endswith("/chat/completions")
        made = _chat(body) if is_chat else _messages(body)
        if not body.get("stream"):
            return httpx2.Response(200, json=next(made))
        lines = "".join(
            f"event: {each.get('type')}\ndata: {json.dumps(each)}\n\n" for each in made
        )
        end = "data: [DONE]\n\n" if is_chat else ""
        headers = {"content-type": "text/event-stream"}
        return httpx2.Response(200, headers=headers, content=(lines + end).encode())


def _event(each: dict[str, Any]) -> str:
    return f"event: {each.get('type')}\ndata: {json.dumps(each)}\n\n"


def _chat(body: Any) -> Iterator[dict[str, Any]]:
    """The documents of an answer of Chat Completions; the one of a whole answer."""
    shared = {"id": "c1", "created": 1, "model": body["model"]}
    call = {
        "id": "k1",
        "type": "function",
        "function": {"name": "look", "arguments": ARGUMENTS},
    }
    if not body.get("stream"):
        message = {"role": "assistant", "content": "".join(LEAKS), "tool_calls": [call]}
        choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
        yield {**shared, "object": "chat.completion", "choices": [choice]}
        return
    deltas: list[dict[str, Any]] = [{"content": each} for each in LEAKS]
    deltas.append({"tool_calls": [{"index": 0, **call}]})
    for number, delta in enumerate([*deltas, {}]):
        reason = "tool_calls" if number == len(deltas) else None
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        yield {**shared, "object": "chat.completion.chunk", "choices": [choice]}


def _messages(body: Any) -> Iterator[dict[str, Any]]:
    """The same of Messages."""
    shared = {
        "id": "m1",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }
    call = {"type": "tool_use", "id": "k1", "name": "look", "input": {}}
    if not body.get("stream"):
        text = {"type": "text", "text": "".join(LEAKS)}
        called = {**call, "input": json.loads(ARGUMENTS)}
        yield {**shared, "content": [text, called], "stop_reason": "tool_use"}
        return
    yield {
        "type": "message_start",
        "message": {**shared, "content": [], "stop_reason": None},
    }
    blocks = (
        (
            {"type": "text", "text": ""},
            [{"type": "text_delta", "text": each} for each in LEAKS],
        ),
        (call, [{"type": "input_json_delta", "partial_json": ARGUMENTS}]),
    )
    for index, (block, deltas) in enumerate(blocks):
        yield {"type": "content_block_start", "index": index, "content_block": block}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    delta = {"stop_reason": "tool_use", "stop_sequence": None}
    yield {"type": "message_delta", "delta": delta, "usage": {"output_tokens": 9}}
    yield {"type": "message_stop"}


ASK: dict[str, Any] = {
    "model": "qwen3",
    "messages": [{"role": "user", "content": "Go."}],
}
OPENAI: dict[str, Any] = {
    **ASK,
    "tools": [{"type": "function", "function": {"name": "look", "parameters": TOOL}}],
}
ANTHROPIC: dict[str, Any] = {
    **ASK,
    "max_tokens": 99,
    "tools": [{"name": "look", "input_schema": TOOL}],
}
LEFT: dict[str, Any] = {"role": "assistant", "content": "".join(LEAKS)}
"""What a client without us has in its history."""


def _clients(sdk: Any, name: str, server: Server, **options: Any) -> tuple[Any, Any]:
    """The client, and the one for asyncio."""
    inner = httpx2.MockTransport(server)
    plain = httpx2.Client(transport=CleaningTransport(inner, **options))
    waiting = httpx2.AsyncClient(transport=AsyncCleaningTransport(inner, **options))
    shared = {"api_key": "k", "max_retries": 0}
    return (
        getattr(sdk, name)(http_client=plain, **shared),
        getattr(sdk, f"Async{name}")(http_client=waiting, **shared),
    )


def _run(call: Any, is_async: bool) -> Any:
    """What the call gives; the items of a stream."""
    if not is_async:
        given = call()
        return (
            [*given]
            if hasattr(given, "__iter__") and hasattr(given, "response")
            else given
        )

    async def wait() -> Any:
        given = await call()
        return [each async for each in given] if hasattr(given, "__aiter__") else given

    return asyncio.run(wait())


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize("streams", [False, True], ids=["whole", "stream"])
def test_openai(is_async: bool, streams: bool) -> None:
    server = Server()
    client = _clients(openai, "OpenAI", server)[is_async]
    create = client.chat.completions.create
    given = _run(lambda: create(**OPENAI, stream=streams), is_async)
    if streams:
        deltas = [each.choices[0].delta for each in given if each.choices]
        text = "".join(each.content or "" for each in deltas)
        calls = [call for each in deltas for call in each.tool_calls or ()]
        arguments = "".join(call.function.arguments or "" for call in calls)
        call_id = calls[0].id
    else:
        message = given.choices[0].message
        text = message.content
        (call,) = message.tool_calls
        arguments, call_id = call.function.arguments, call.id
    assert (text, json.loads(arguments)) == ("Let me look.", {"path": "a.txt"})
    function = {"name": "look", "arguments": arguments}
    called = {"id": call_id, "type": "function", "function": function}
    second = [
        *OPENAI["messages"],
        {**LEFT, "tool_calls": [called]},
        {"role": "tool", "tool_call_id": call_id, "content": "Hi"},
    ]
    _run(lambda: create(**{**OPENAI, "messages": second}), is_async)
    assert server.taken[1]["messages"][1]["content"] == "Let me look."
    assert server.taken[1]["messages"][1]["tool_calls"] == [called]


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize("streams", [False, True], ids=["whole", "stream"])
def test_anthropic(is_async: bool, streams: bool) -> None:
    server = Server()
    client = _clients(anthropic, "Anthropic", server)[is_async]
    create = client.messages.create
    given = _run(lambda: create(**ANTHROPIC, stream=streams), is_async)
    if streams:
        deltas = [each.delta for each in given if each.type == "content_block_delta"]
        text = "".join(each.text for each in deltas if each.type == "text_delta")
        inputs = (each for each in deltas if each.type == "input_json_delta")
        called = json.loads("".join(each.partial_json for each in inputs))
    else:
        text = "".join(each.text for each in given.content if each.type == "text")
        (called,) = (each.input for each in given.content if each.type == "tool_use")
    assert (text, called) == ("Let me look.", {"path": "a.txt"})
    use = {"type": "tool_use", "id": "k1", "name": "look", "input": called}
    text_left = {"type": "text", "text": LEFT["content"]}
    result = {"type": "tool_result", "tool_use_id": "k1", "content": "Hi"}
    second = [
        *ANTHROPIC["messages"],
        {"role": "assistant", "content": [text_left, use]},
        {"role": "user", "content": [result]},
    ]
    _run(lambda: create(**{**ANTHROPIC, "messages": second}), is_async)
    text_sent, use_sent = server.taken[1]["messages"][1]["content"]
    assert (text_sent["text"], use_sent) == ("Let me look.", use)


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
def test_without_preparing_the_server_refuses(is_async: bool) -> None:
    """The error reaches the SDK as the provider sent it."""
    client = _clients(openai, "OpenAI", Server(), prepare=False)[is_async]
    messages = [*OPENAI["messages"], LEFT, {"role": "user", "content": "Go on."}]
    create = client.chat.completions.create
    with pytest.raises(openai.BadRequestError, match="a leak"):
        _run(lambda: create(**{**OPENAI, "messages": messages}), is_async)
