"""Right and wrong uses of Python's interface, for type checkers.

A line whose comment is ``expect: error`` must have an error, and no other line may.
``tests/api/test_types.py`` compares. Nothing runs this file.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Literal, assert_type

from stream_sidecar import (
    CallResult,
    Chunk,
    Event,
    Finish,
    Message,
    PolicyOptions,
    RenderResult,
    Stream,
    TextDelta,
    UsageError,
    Wire,
    as_json,
    normalize,
    prepare,
    render,
    repair,
)


class Dumped:
    def model_dump(self, *, mode: str = "python") -> dict[str, object]:
        return {"mode": mode}


def right(body: Iterator[bytes], wire: Wire, tools: list[dict[str, object]]) -> None:
    policy: PolicyOptions = {"toolResults": {"mode": "keep"}, "dialects": "auto"}
    stream = Stream(wire=wire, tools=tools, policy=policy, emit={"wire": "gemini"})
    for event in stream.pipe(body):
        if event.type == "text-delta":
            assert_type(event, TextDelta)
        elif event.type == "tool-call":
            assert_type(event.state, Literal["complete", "truncated", "invalid"])
        elif isinstance(event, Finish):
            assert_type(event.type, Literal["finish"])
    assert_type(stream.message, Message)
    for chunk in (b"", bytearray(), memoryview(b""), "", {"a": 1}, Dumped()):
        stream.push(chunk)
    stream.close("cancelled")
    stream.close(error=ConnectionError())
    stream.close(error={"status": 429, "headers": {}, "body": "Slow down."})
    normalize(Dumped(), wire="anthropic", encoding="base64")
    results: list[CallResult] = [{"toolCallId": "c1", "content": ["any", 1]}]
    rendered = render(stream.message, "openai-chat", results=results)
    assert_type(rendered, RenderResult)
    prepare({"messages": rendered.messages}, "openai-chat", claims="include")
    repair([{"role": "assistant", "content": "x"}])
    assert as_json(stream.message) == stream.message.to_dict()["text"]


async def right_later(body: AsyncIterator[str]) -> list[Event]:
    async with Stream(wire="text", policy={"reasoning": {"tags": ("think",)}}) as it:
        return [event async for event in it.apipe(body)]


def blocks(message: Message) -> str:
    texts = [block.text for block in message.blocks or () if block.type == "text"]
    calls = [each.name for each in message.blocks or () if each.type == "tool-call"]
    return "".join(texts + calls)


def wrong(stream: Stream, message: Message, chunk: Chunk) -> None:
    Stream(wire="openai")  # expect: error
    Stream(modle="qwen3")  # expect: error
    Stream(framing="xml")  # expect: error
    Stream(encoding="latin-1")  # expect: error
    Stream(policy="strict")  # expect: error
    Stream(policy={"toolResult": {"mode": "keep"}})  # expect: error
    Stream(policy={"toolResults": {"mode": "kep"}})  # expect: error
    Stream(policy={"reasoning": {"tags": "think"}})  # expect: error
    Stream(emit={"wire": "ollama"})  # expect: error
    Stream(emit={"claims": "drop"})  # expect: error
    Stream("openai-chat")  # expect: error
    stream.push(3)  # expect: error
    stream.push(object())  # expect: error
    stream.pipe(3)  # expect: error
    stream.apipe([chunk])  # expect: error
    stream.close("stop")  # expect: error
    stream.close(error="gone")  # expect: error
    stream.close(error={"code": 429})  # expect: error
    render(message, "auto")  # expect: error
    render(message, "anthropic", claims="text")  # expect: error
    render(message, "anthropic", results=[{"id": "c1"}])  # expect: error
    prepare({}, "text")  # expect: error
    prepare({}, "gemini", reasoning="some")  # expect: error
    normalize(object())  # expect: error
    for event in stream.push(chunk).events:
        shown = event.text  # expect: error
        if event.type == "tool-call":
            shown += event.text  # expect: error
    shown = message.txt  # expect: error
    raise UsageError(3)  # expect: error
