"""The official SDKs read emitted streams: text, calls and counts as an SDK gives them.

No request leaves the process: a transport of ours answers. If an SDK has a helper that
assembles a stream's message, the stream goes through it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import anthropic
import httpx2 as httpx  # what all three are built on
import openai
from attrs import frozen
from google import genai
from google.genai import errors, types

Chunks = list[dict[str, Any]]


@frozen
class Seen:
    """What a user of an SDK gets; ``calls`` are names and arguments."""

    text: str
    calls: list[tuple[str, Any]]
    counts: tuple[int, int]


class FailedError(Exception):
    """The SDK raised the error that the stream reported."""


class _Answers(httpx.BaseTransport):
    """Answers every request with what was put here last."""

    type = content = ""

    def handle_request(self, _request: httpx.Request) -> httpx.Response:
        headers = {"content-type": self.type}
        return httpx.Response(200, headers=headers, content=self.content.encode())

    def stream(self, chunks: Chunks, *, named: bool = False, end: str = "") -> None:
        events = [
            (f"event: {chunk['type']}\n" if named else "")
            + f"data: {json.dumps(chunk)}\n\n"
            for chunk in chunks
        ]
        self.type, self.content = "text/event-stream", "".join(events) + end

    def body(self, chunks: Chunks) -> None:
        self.type, self.content = "application/json", json.dumps(chunks[0])


_ANSWERS = _Answers()
_HTTP = httpx.Client(transport=_ANSWERS)
_OPENAI = openai.OpenAI(api_key="k", http_client=_HTTP, max_retries=0)
_ANTHROPIC = anthropic.Anthropic(api_key="k", http_client=_HTTP, max_retries=0)
_GENAI = genai.Client(api_key="k", http_options=types.HttpOptions(httpx_client=_HTTP))


def _input(arguments: str) -> Any:
    try:
        return json.loads(arguments or "{}")
    except ValueError:
        return None


# --- OpenAI ---------------------------------------------------------------------------

_ASK: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "?"}]}


def _chat_stream(chunks: Chunks) -> Seen:
    _ANSWERS.stream(chunks, end="data: [DONE]\n\n")
    try:
        with _OPENAI.chat.completions.create(**_ASK, stream=True) as stream:
            read = list(stream)
    except openai.APIError as error:
        raise FailedError from error
    texts, calls, usage = [], dict[int, list[str]](), None
    for chunk in read:
        usage = chunk.usage or usage
        for choice in chunk.choices:
            if choice.index:
                continue
            texts.append(choice.delta.content or "")
            for call in choice.delta.tool_calls or ():
                known = calls.setdefault(call.index, ["", ""])
                if call.function:
                    known[0] += call.function.name or ""
                    known[1] += call.function.arguments or ""
                else:  # which the SDK does not know in streams
                    known[0] += call.custom.get("name", "")
                    known[1] += call.custom["input"]
    return _chat("".join(texts), [tuple(call) for call in calls.values()], usage)


def _chat_body(chunks: Chunks) -> Seen:
    _ANSWERS.body(chunks)
    body = _OPENAI.chat.completions.create(**_ASK)
    if not body.choices:
        raise FailedError
    message = body.choices[0].message
    calls = []
    for call in message.tool_calls or ():
        if call.type == "custom":
            calls.append((call.custom.name, call.custom.input))
        else:
            calls.append((call.function.name, call.function.arguments))
    return _chat(message.content or "", calls, body.usage)


def _chat(text: str, calls: list[Any], usage: Any) -> Seen:
    counts = (usage.prompt_tokens, usage.completion_tokens) if usage else (0, 0)
    return Seen(text, [(name, _input(said)) for name, said in calls], counts)


_BROKEN = ("failed", "in_progress")


def _responses_stream(chunks: Chunks) -> Seen:
    _ANSWERS.stream(chunks, named=True)
    response = None
    try:
        with _OPENAI.responses.stream(model="m", input="?") as stream:
            for event in stream:
                response = getattr(event, "response", response)
    except openai.APIError as error:  # it is raised where an event has an ``error``
        raise FailedError from error
    if response is None or response.status in _BROKEN:
        raise FailedError
    return _responses(response)


def _responses_body(chunks: Chunks) -> Seen:
    _ANSWERS.body(chunks)
    return _responses(_OPENAI.responses.create(model="m", input="?"))


def _responses(response: Any) -> Seen:
    if response.error is not None:
        raise FailedError
    calls = [
        (item.name, _input(item.arguments))
        for item in response.output
        if item.type == "function_call"
    ]
    free = [
        item
        for item in response.output
        if item.type == "custom_tool_call" and not item.call_id.startswith("xs_call_")
    ]
    calls += [(item.name, _input(item.input)) for item in free]
    usage = response.usage
    counts = (usage.input_tokens, usage.output_tokens) if usage else (0, 0)
    return Seen(response.output_text, calls, counts)


# --- Anthropic ------------------------------------------------------------------------


def _messages_stream(chunks: Chunks) -> Seen:
    _ANSWERS.stream(chunks, named=True)
    try:
        with _ANTHROPIC.messages.stream(**_ASK, max_tokens=9) as stream:
            return _messages(stream.get_final_message())
    except anthropic.APIStatusError as error:
        raise FailedError from error


def _messages_body(chunks: Chunks) -> Seen:
    _ANSWERS.body(chunks)
    return _messages(_ANTHROPIC.messages.create(**_ASK, max_tokens=9))


def _messages(message: Any) -> Seen:
    if message.type == "error":
        raise FailedError
    texts = [block.text for block in message.content if block.type == "text"]
    calls = [block for block in message.content if block.type == "tool_use"]
    usage = message.usage
    cached = (usage.cache_read_input_tokens, usage.cache_creation_input_tokens)
    inputs = usage.input_tokens + sum(filter(None, cached))
    counts = inputs, usage.output_tokens
    return Seen("".join(texts), [(call.name, call.input) for call in calls], counts)


# --- Google ---------------------------------------------------------------------------


def _gemini_stream(chunks: Chunks) -> Seen:
    _ANSWERS.stream(chunks)
    try:
        stream = _GENAI.models.generate_content_stream(model="m", contents="?")
        return _gemini(list(stream))
    except errors.APIError as error:
        raise FailedError from error


def _gemini_body(chunks: Chunks) -> Seen:
    if "error" in chunks[0]:
        raise FailedError
    _ANSWERS.body(chunks)
    return _gemini([_GENAI.models.generate_content(model="m", contents="?")])


def _gemini(responses: list[Any]) -> Seen:
    texts, calls, counts = [], [], (0, 0)
    for response in responses:
        usage = response.usage_metadata
        if usage is not None:
            inputs = (usage.prompt_token_count, usage.tool_use_prompt_token_count)
            outputs = (usage.candidates_token_count, usage.thoughts_token_count)
            counts = sum(filter(None, inputs)), sum(filter(None, outputs))
        for candidate in (response.candidates or ())[:1]:
            content = candidate.content
            for part in (
                content.parts if content and not candidate.index else ()
            ) or ():
                if part.text and not part.thought:
                    texts.append(part.text)
                if part.function_call:
                    calls.append((part.function_call.name, part.function_call.args))
    return Seen("".join(texts), calls, counts)


STREAMS: dict[str, Callable[[Chunks], Seen]] = {
    "openai-chat": _chat_stream,
    "openai-responses": _responses_stream,
    "anthropic": _messages_stream,
    "gemini": _gemini_stream,
}
BODIES: dict[str, Callable[[Chunks], Seen]] = {
    "openai-chat": _chat_body,
    "openai-responses": _responses_body,
    "anthropic": _messages_body,
    "gemini": _gemini_body,
}
