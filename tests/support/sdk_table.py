"""The official Python SDKs: how a client of each is built, and how a turn is asked.

A new SDK is a new row. ``ask`` is written once for clients with and without asyncio:
`Waiting` gives a value, or all items of a stream, whatever the client returned.
Standard library only: `tests/sdk_versions.py` reads the rows, and they import SDKs.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import re
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, requires, version
from typing import Any

Call = tuple[str, str, Any]
"""The id, the name and the arguments."""

TOOL = "look"
SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}}
ARGUMENTS = {"path": "a.txt"}
LEFT = "<think>2 + 2.</think>Four."
"""An answer that a client without the sidecar has kept."""

QUESTION = "2 + 2?"
RESULT = "a.txt, b.txt"


@dataclass
class Said:
    """What a host reads in a turn; ``kept`` is what it adds to its history."""

    text: str
    calls: list[Call]
    kept: list[Any]


class Waiting:
    """Runs what a client returns to its end, in one loop of asyncio."""

    def __init__(self) -> None:
        self._runner = asyncio.Runner()

    def __enter__(self) -> Waiting:
        return self

    def __exit__(self, *_: object) -> None:
        self._runner.close()

    def run(self, waits: Any) -> Any:
        return (
            self._runner.run(_awaited(waits)) if inspect.isawaitable(waits) else waits
        )

    def items(self, made: Any) -> list[Any]:
        """All items of a stream."""
        given = self.run(made)
        if hasattr(given, "__aiter__"):
            return self._runner.run(_collected(given))
        return [*given]


async def _awaited(waits: Any) -> Any:
    return await waits


async def _collected(stream: Any) -> list[Any]:
    return [each async for each in stream]


@dataclass
class Sdk:
    """``build(http, address, is_async)`` makes a client with the host's HTTP client.
    ``start(client, history, streams)`` sends a turn, and returns an answer that
    ``whole`` reads, or a stream; ``streamed`` reads its items, ``text`` one of them.
    ``results(calls)`` are the items that report calls. ``servers`` are names of
    `refusing.SERVERS` with the providers that they stand for."""

    package: str
    older: str
    servers: dict[str, str]
    history: list[Any]
    build: Callable[[Any, str, bool], Any]
    start: Callable[[Any, list[Any], bool], Any]
    whole: Callable[[Any], Said]
    streamed: Callable[[list[Any]], Said]
    text: Callable[[Any], str | None]
    results: Callable[[list[Call]], list[Any]]

    def ask(
        self, client: Any, history: list[Any], streams: bool, wait: Waiting
    ) -> Said:
        """One turn."""
        made = self.start(client, history, streams)
        return (
            self.streamed(wait.items(made)) if streams else self.whole(wait.run(made))
        )

    def lacks(self) -> str | None:
        """Why it cannot be tried here."""
        try:
            version(self.package)
        except PackageNotFoundError:
            return f"there is no {self.package} (python3 tests/run.py sdks)"
        return None

    def library(self) -> Any:
        """httpx or httpx2, whichever the installed version sends with."""
        needed = (re.match(r"httpx2?\b", each) for each in requires(self.package) or ())
        return import_module(max(found[0] for found in needed if found))


# --- openai ---------------------------------------------------------------------------

_FUNCTION = {"name": TOOL, "parameters": SCHEMA}
CHAT: dict[str, Any] = {
    "model": "qwen3",
    "tools": [{"type": "function", "function": _FUNCTION}],
}


def _openai(http: Any, address: str, is_async: bool) -> Any:
    import openai

    named = openai.AsyncOpenAI if is_async else openai.OpenAI
    shared = {"api_key": "k", "max_retries": 0}
    return named(base_url=f"{address}/v1", http_client=http, **shared)


def _start_chat(client: Any, history: list[Any], streams: bool) -> Any:
    return client.chat.completions.create(messages=history, stream=streams, **CHAT)


def _whole_chat(answer: Any) -> Said:
    return _said_in_chat(answer.choices[0].message.model_dump(mode="json"))


def _streamed_chat(chunks: list[Any]) -> Said:
    deltas = [chunk.choices[0].delta for chunk in chunks if chunk.choices]
    return _said_in_chat(_chat_message([each.model_dump() for each in deltas]))


def _text_of_chat(chunk: Any) -> str | None:
    return chunk.choices[0].delta.content if chunk.choices else None


def _chat_message(deltas: list[dict[str, Any]]) -> dict[str, Any]:
    """The message that a host makes of the deltas of a stream."""
    message: dict[str, Any] = {"role": "assistant"}
    calls: dict[int, dict[str, Any]] = {}
    for delta in deltas:
        for name in ("content", "reasoning_content"):
            if delta.get(name):
                message[name] = message.get(name, "") + delta[name]
        if delta.get("thinking_blocks"):
            message.setdefault("thinking_blocks", []).extend(delta["thinking_blocks"])
        for part in delta.get("tool_calls") or ():
            empty = {"id": part["id"], "type": "function", "function": {}}
            function = calls.setdefault(part["index"], empty)["function"]
            for name in ("name", "arguments"):
                function[name] = function.get(name, "") + (part["function"][name] or "")
    return message | ({"tool_calls": [*calls.values()]} if calls else {})


def _said_in_chat(message: dict[str, Any]) -> Said:
    message = {name: value for name, value in message.items() if value is not None}
    calls = [
        (
            each["id"],
            each["function"]["name"],
            json.loads(each["function"]["arguments"]),
        )
        for each in message.get("tool_calls") or ()
    ]
    return Said(message.get("content") or "", calls, [message])


def _chat_results(calls: list[Call]) -> list[Any]:
    return [
        {"role": "tool", "name": name, "tool_call_id": id, "content": RESULT}
        for id, name, _ in calls
    ]


def _start_response(client: Any, history: list[Any], streams: bool) -> Any:
    tools = [{"type": "function", **_FUNCTION, "strict": False}]
    asked = {"model": "qwen3", "tools": tools, "stream": streams}
    return client.responses.create(input=history, **asked)


def started_by_helper(client: Any, history: list[Any], _streams: bool) -> Any:
    """The items of a stream, as the SDK's own helper reads them."""
    tools = [{"type": "function", **_FUNCTION, "strict": False}]
    made = client.responses.stream(input=history, model="qwen3", tools=tools)
    return _all_async(made) if hasattr(made, "__aenter__") else _all(made)


def _all(made: Any) -> Iterator[Any]:
    with made as stream:
        yield from stream


async def _all_async(made: Any) -> AsyncIterator[Any]:
    async with made as stream:
        async for each in stream:
            yield each


def _whole_response(response: Any) -> Said:
    calls = [
        (item.call_id, item.name, json.loads(item.arguments))
        for item in response.output
        if item.type == "function_call"
    ]
    kept = [item.model_dump(exclude_none=True) for item in response.output]
    return Said(response.output_text, calls, kept)


def _streamed_response(events: list[Any]) -> Said:
    return _whole_response(events[-1].response)


def _text_of_event(event: Any) -> str | None:
    return event.delta if event.type == "response.output_text.delta" else None


def _response_results(calls: list[Call]) -> list[Any]:
    kind = "function_call_output"
    return [{"type": kind, "call_id": id, "output": RESULT} for id, _, _ in calls]


# --- anthropic ------------------------------------------------------------------------


def _anthropic(http: Any, address: str, is_async: bool) -> Any:
    import anthropic

    named = anthropic.AsyncAnthropic if is_async else anthropic.Anthropic
    shared = {"api_key": "k", "max_retries": 0}
    return named(base_url=address, http_client=http, **shared)


def _start_message(client: Any, history: list[Any], streams: bool) -> Any:
    tools = [{"name": TOOL, "input_schema": SCHEMA}]
    asked = {"model": "claude-opus-5-5", "max_tokens": 99, "tools": tools}
    asked["thinking"] = {"type": "adaptive"}
    return client.messages.create(messages=history, stream=streams, **asked)


def _whole_message(message: Any) -> Said:
    return _said_in(each.model_dump(exclude_none=True) for each in message.content)


def _streamed_message(events: list[Any]) -> Said:
    return _said_in(_blocks([event.model_dump() for event in events]))


def _text_of_block(event: Any) -> str | None:
    is_delta = event.type == "content_block_delta"
    return event.delta.text if is_delta and event.delta.type == "text_delta" else None


def _said_in(content: Iterable[dict[str, Any]]) -> Said:
    blocks = [*content]
    text = "".join(each["text"] for each in blocks if each["type"] == "text")
    used = [each for each in blocks if each["type"] == "tool_use"]
    calls = [(each["id"], each["name"], each["input"]) for each in used]
    return Said(text, calls, [{"role": "assistant", "content": blocks}])


def _blocks(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The content that a host makes of the events of a stream."""
    blocks: list[dict[str, Any]] = []
    inputs: dict[int, str] = {}
    for event in events:
        if event["type"] == "content_block_start":
            block = event["content_block"]
            blocks.append({n: v for n, v in block.items() if v is not None})
        if event["type"] != "content_block_delta":
            continue
        index, delta = event["index"], event["delta"]
        if delta["type"] == "input_json_delta":
            inputs[index] = inputs.get(index, "") + delta["partial_json"]
            continue
        for name in ("text", "thinking", "signature"):
            if delta.get(name):
                blocks[index][name] = (blocks[index].get(name) or "") + delta[name]
    for index, said in inputs.items():
        blocks[index]["input"] = json.loads(said or "{}")
    return blocks


def _message_results(calls: list[Call]) -> list[Any]:
    results = [
        {"type": "tool_result", "tool_use_id": id, "content": RESULT}
        for id, _, _ in calls
    ]
    return [{"role": "user", "content": results}]


# --- google-genai ---------------------------------------------------------------------


def _genai(http: Any, address: str, is_async: bool) -> Any:
    from google import genai

    name = "httpx_async_client" if is_async else "httpx_client"
    client = genai.Client(api_key="k", http_options={"base_url": address, name: http})
    return client.aio if is_async else client


def _start_gemini(client: Any, history: list[Any], streams: bool) -> Any:
    function = {"name": TOOL, "parameters_json_schema": SCHEMA}
    config = {
        "tools": [{"function_declarations": [function]}],
        "automatic_function_calling": {"disable": True},
    }
    models = client.models
    start = models.generate_content_stream if streams else models.generate_content
    return start(model="gemini-3-pro", contents=history, config=config)


def _whole_gemini(answer: Any) -> Said:
    return _streamed_gemini([answer])


def _streamed_gemini(answers: list[Any]) -> Said:
    parts = [part for answer in answers for part in _parts_of(answer)]
    text = "".join(_text_of_answer(answer) for answer in answers)
    called = [part.function_call for part in parts if part.function_call]
    calls = [(each.id, each.name, each.args) for each in called]
    return Said(text, calls, [{"role": "model", "parts": parts}])


def _text_of_answer(answer: Any) -> str:
    spoken = [part for part in _parts_of(answer) if not part.thought]
    return "".join(part.text or "" for part in spoken)


def _parts_of(answer: Any) -> list[Any]:
    content = answer.candidates[0].content
    return content.parts or [] if content else []


def _gemini_results(calls: list[Call]) -> list[Any]:
    answers = [
        {"id": id, "name": name, "response": {"output": RESULT}}
        for id, name, _ in calls
    ]
    return [{"role": "user", "parts": [{"function_response": a} for a in answers]}]


# --- mistralai ------------------------------------------------------------------------


def _mistral(http: Any, address: str, is_async: bool) -> Any:
    try:
        from mistralai.client import Mistral
    except ImportError:  # before 2.0
        from mistralai import Mistral

    name = "async_client" if is_async else "client"
    client = Mistral(api_key="k", server_url=address, **{name: http})
    client.chat.is_async = is_async
    return client


def _start_mistral(client: Any, history: list[Any], streams: bool) -> Any:
    name = "stream" if streams else "complete"
    start = getattr(client.chat, f"{name}_async" if client.chat.is_async else name)
    return start(messages=history, **CHAT)


def _streamed_mistral(events: list[Any]) -> Said:
    deltas = [event.data.choices[0].delta.model_dump(mode="json") for event in events]
    return _said_in_chat(_chat_message(deltas))


def _text_of_data(event: Any) -> str | None:
    return event.data.choices[0].delta.content


# --- The rows -------------------------------------------------------------------------


def _turns(*texts: str, model: str = "assistant") -> list[Any]:
    roles = ("user", model, "user")
    return [{"role": r, "content": t} for r, t in zip(roles, texts, strict=True)]


def _same(*servers: str) -> dict[str, str]:
    return {name: name for name in servers}


_ASKED = _turns(QUESTION, LEFT, "Look.")
_PARTS = [
    {"role": turn["role"], "parts": [{"text": turn["content"]}]}
    for turn in _turns(QUESTION, LEFT, "Look.", model="model")
]

SDKS = {
    "openai chat": Sdk(
        *("openai", "1.109.1"),
        *(_same("openai", "deepseek", "kimi", "groq", "mistral"), _ASKED, _openai),
        *(_start_chat, _whole_chat, _streamed_chat, _text_of_chat, _chat_results),
    ),
    "openai responses": Sdk(
        *("openai", "1.109.1", {"responses": "openai"}, _ASKED, _openai),
        *(_start_response, _whole_response, _streamed_response, _text_of_event),
        _response_results,
    ),
    "anthropic": Sdk(
        *("anthropic", "0.69.0", _same("anthropic"), _ASKED, _anthropic),
        *(_start_message, _whole_message, _streamed_message, _text_of_block),
        _message_results,
    ),
    "google-genai": Sdk(
        *("google-genai", "1.50.0", {"gemini": "google"}, _PARTS, _genai),
        *(_start_gemini, _whole_gemini, _streamed_gemini, _text_of_answer),
        _gemini_results,
    ),
    "mistralai": Sdk(
        *("mistralai", "1.9.11", _same("mistral"), _ASKED, _mistral),
        *(_start_mistral, _whole_chat, _streamed_mistral, _text_of_data),
        _chat_results,
    ),
}

CALLED = [(TOOL, ARGUMENTS)]
