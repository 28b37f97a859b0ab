"""Two turns with a tool against servers that refuse what their providers refuse.

A server answers the first request with a stream that thinks and calls a tool. The
stream is read, its message rendered with the tool's result, and what comes of it sent
as the second request: the server takes it. The same request with the provider's state
missing or changed is refused, in the provider's own words; ``source`` says where they
are known from.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest
from attrs import frozen

from stream_sidecar.options import Limits, Policy
from stream_sidecar.protocol.methods import METHODS
from stream_sidecar.protocol.sessions import Sessions

Json = Any

SIGNATURE = "RXVZQ0NrWUlDeGdDS2tB+/=="
CALL = {"name": "weather", "arguments": '{"city": "Bonn"}'}


@frozen
class Refusal:
    """What a provider says to a second request that was changed by ``change``."""

    says: str
    source: str
    change: Callable[[Json], None]


@frozen
class Provider:
    """``answer`` are the events of its first turn, ``check`` gives its objection to the
    messages of a request."""

    name: str
    wire: str
    model: str
    answer: tuple[Json, ...]
    check: Callable[[list[Json]], str]
    refusals: tuple[Refusal, ...]
    status: int = 400


# --- Anthropic ------------------------------------------------------------------------


def _anthropic(*blocks: Json) -> tuple[Json, ...]:
    start = {"id": "msg_1", "model": "claude-sonnet-4-5", "content": []}
    events: list[Json] = [{"type": "message_start", "message": start}]
    for index, (block, *deltas) in enumerate(blocks):
        at = {"index": index}
        events.append({"type": "content_block_start", **at, "content_block": block})
        events += [{"type": "content_block_delta", **at, "delta": d} for d in deltas]
        events.append({"type": "content_block_stop", **at})
    return (*events, {"type": "message_stop"})


def _check_anthropic(messages: list[Json]) -> str:
    first, *_ = messages[1]["content"]
    if first["type"] != "thinking":
        return (
            "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but"
            f" found `{first['type']}`."
        )
    if "signature" not in first:
        return "messages.1.content.0.thinking.signature: Field required"
    if (first["thinking"], first["signature"]) != ("Look it up.", SIGNATURE):
        return "messages.1.content.0: Invalid `signature` in `thinking` block"
    ids = [block["id"] for block in messages[1]["content"] if "id" in block]
    answered = [block["tool_use_id"] for block in messages[2]["content"]]
    return "" if ids == answered else "`tool_use` ids were found without `tool_result`"


def _edit(name: str) -> Callable[[Json], None]:
    def edit(messages: Json) -> None:
        messages[1]["content"][0][name] += "x"

    return edit


def _drop(name: str) -> Callable[[Json], None]:
    def drop(messages: Json) -> None:
        del messages[1]["content"][0][name]

    return drop


def _drop_first(messages: Json) -> None:
    del messages[1]["content"][0]


ANTHROPIC = Provider(
    "anthropic",
    "anthropic",
    "claude-sonnet-4-5",
    _anthropic(
        (
            {"type": "thinking", "thinking": "", "signature": ""},
            {"type": "thinking_delta", "thinking": "Look "},
            {"type": "thinking_delta", "thinking": "it up."},
            {"type": "signature_delta", "signature": SIGNATURE},
        ),
        (
            {"type": "tool_use", "id": "toolu_1", "name": "weather", "input": {}},
            {"type": "input_json_delta", "partial_json": CALL["arguments"]},
        ),
    ),
    _check_anthropic,
    (
        Refusal(
            "Invalid `signature`", "anthropics/claude-code#10627", _edit("signature")
        ),
        Refusal(
            "Invalid `signature`", "anthropics/claude-code#10627", _edit("thinking")
        ),
        Refusal(
            "thinking.signature: Field required",
            "run-llama/llama_index#20851",
            _drop("signature"),
        ),
        Refusal(
            "Expected `thinking` or `redacted_thinking`, but found `tool_use`",
            "RooCodeInc/Roo-Code/pull/10351, lbjlaq/Antigravity-Manager#139",
            _drop_first,
        ),
    ),
)

# --- Gemini ---------------------------------------------------------------------------


def _check_gemini(contents: list[Json]) -> str:
    calls = [part for part in contents[1]["parts"] if "functionCall" in part]
    signature = calls[0].get("thoughtSignature")
    if signature is None:
        return (
            "Function call is missing a thought_signature in functionCall parts. This"
            " is required for tools to work correctly, and missing thought_signature"
            " may lead to degraded model performance."
        )
    return "" if signature == SIGNATURE else "Corrupted thought signature."


def _signed(contents: Json) -> Json:
    return next(part for part in contents[1]["parts"] if "functionCall" in part)


def _unsign(contents: Json) -> None:
    del _signed(contents)["thoughtSignature"]


def _resign(contents: Json) -> None:
    _signed(contents)["thoughtSignature"] = SIGNATURE.replace("+", "-")


_PARTS = (
    {"text": "Look it up.", "thought": True},
    {
        "functionCall": {"name": "weather", "args": {"city": "Bonn"}},
        "thoughtSignature": SIGNATURE,
    },
)

GEMINI = Provider(
    "gemini",
    "gemini",
    "gemini-3-pro-preview",
    tuple({"candidates": [{"content": {"parts": [part]}}]} for part in _PARTS),
    _check_gemini,
    (
        Refusal("is missing a thought_signature", "thClaws/thClaws#65", _unsign),
        Refusal(
            "Corrupted thought signature", "mpfaffenberger/code_puppy#356", _resign
        ),
    ),
)

# --- Responses ------------------------------------------------------------------------


def _responses(*, stored: bool) -> tuple[Json, ...]:
    said = [{"type": "summary_text", "text": "Look it up."}]
    thought = {"type": "reasoning", "id": "rs_1", "summary": said}
    if not stored:
        thought["encrypted_content"] = SIGNATURE
    call = {"type": "function_call", "id": "fc_1", "call_id": "call_1"} | CALL
    response = {"id": "resp_1", "model": "gpt-5", "store": stored}
    items = [
        {"type": f"response.output_item.{word}", "output_index": at, "item": item}
        for at, item in enumerate((thought, call))
        for word in ("added", "done")
    ]
    begun = {"type": "response.created", "response": response | {"output": []}}
    done = response | {"status": "completed", "output": [thought, call]}
    return (begun, *items, {"type": "response.completed", "response": done})


def _check_responses(*, stored: bool) -> Callable[[list[Json]], str]:
    def check(items: list[Json]) -> str:
        thoughts = {i["id"]: i for i in items if i.get("type") == "reasoning"}
        calls = [item for item in items if item.get("id") == "fc_1"]
        if calls and "rs_1" not in thoughts:
            return (
                "Item 'fc_1' of type 'function_call' was provided without its required"
                " 'reasoning' item: 'rs_1'."
            )
        for id, thought in thoughts.items():
            encrypted = thought.get("encrypted_content")
            if not stored and encrypted is None:
                return (
                    f"Item with id '{id}' not found. Items are not persisted when"
                    " `store` is set to false. Try again with `store` set to true, or"
                    " remove this item from your input."
                )
            if not stored and encrypted != SIGNATURE:
                return f"The encrypted content for item {id} could not be verified."
        return ""

    return check


def _drop_thought(items: Json) -> None:
    items[:] = [item for item in items if item.get("type") != "reasoning"]


def _encryption(value: str | None) -> Callable[[Json], None]:
    def change(items: Json) -> None:
        thought = next(item for item in items if item.get("type") == "reasoning")
        thought["encrypted_content"] = value

    return change


_ALONE = Refusal(
    "was provided without its required 'reasoning' item",
    "VRSEN/agency-swarm#367",
    _drop_thought,
)

RESPONSES = Provider(
    "responses, stored",
    "openai-responses",
    "gpt-5",
    _responses(stored=True),
    _check_responses(stored=True),
    (_ALONE,),
)

UNSTORED = Provider(
    "responses, not stored",
    "openai-responses",
    "gpt-5",
    _responses(stored=False),
    _check_responses(stored=False),
    (
        _ALONE,
        Refusal(
            "Items are not persisted when `store` is set to false",
            "vercel/ai#7543",
            _encryption(None),
        ),
        Refusal(
            "could not be verified",
            "openai/codex#8145, smallmain/vscode-unify-chat-provider#178",
            _encryption(SIGNATURE[:-2]),
        ),
    ),
)

# --- Chat Completions -----------------------------------------------------------------


def _chat(**thought: Json) -> tuple[Json, ...]:
    call = {"index": 0, "id": "call_1", "type": "function", "function": CALL}
    deltas: tuple[Json, ...] = (thought, {"content": None, "tool_calls": [call]})
    return tuple({"choices": [{"index": 0, "delta": delta}]} for delta in deltas)


def _check_deepseek(messages: list[Json]) -> str:
    if messages[1].get("reasoning_content") == "Look it up.":
        return ""
    return (
        "The `reasoning_content` in the thinking mode must be passed back to the API."
    )


def _check_kimi(messages: list[Json]) -> str:
    if "reasoning_content" in messages[1]:
        return ""
    return (
        "thinking is enabled but reasoning_content is missing in assistant tool call"
        " message at index 1"
    )


def _check_fields(says: str, *known: str) -> Callable[[list[Json]], str]:
    """Servers that know the fields of a message, and no other."""

    def check(messages: list[Json]) -> str:
        odd = messages[1].keys() - {"role", "content", "tool_calls", *known}
        return says.format(min(odd)) if odd else ""

    return check


def _put(name: str) -> Callable[[Json], None]:
    def put(messages: Json) -> None:
        messages[1][name] = "Look it up."

    return put


def _take(name: str) -> Callable[[Json], None]:
    def take(messages: Json) -> None:
        del messages[1][name]

    return take


_MUST = "The `reasoning_content` in the thinking mode must be passed back"

DEEPSEEK = Provider(
    "deepseek",
    "openai-chat",
    "deepseek-v4-pro",
    _chat(reasoning_content="Look it up."),
    _check_deepseek,
    (Refusal(_MUST, "anomalyco/opencode#24083", _take("reasoning_content")),),
)

KIMI = Provider(
    "moonshot",
    "openai-chat",
    "kimi-k2.6",
    _chat(),
    _check_kimi,
    (
        Refusal(
            "reasoning_content is missing in assistant tool call message",
            "mastra-ai/mastra#12592",
            _take("reasoning_content"),
        ),
    ),
)

GROQ = Provider(
    "groq",
    "openai-chat",
    "openai/gpt-oss-120b",
    _chat(reasoning="Look it up."),
    _check_fields("'messages.1' : property '{}' is unsupported"),
    (
        Refusal(
            "property 'reasoning_content' is unsupported",
            "janhq/jan#8136",
            _put("reasoning_content"),
        ),
        Refusal(
            "property 'reasoning' is unsupported",
            "karthink/gptel#774",
            _put("reasoning"),
        ),
    ),
)

CEREBRAS = Provider(
    "cerebras",
    "openai-chat",
    "gpt-oss-120b",
    _chat(reasoning="Look it up."),
    _check_fields("property 'messages.1.assistant.{}' is unsupported", "reasoning"),
    (
        Refusal(
            "property 'messages.1.assistant.reasoning_content' is unsupported",
            "Kilo-Org/kilocode#10375",
            _put("reasoning_content"),
        ),
    ),
)

MISTRAL = Provider(
    "mistral",
    "openai-chat",
    "magistral-medium-latest",
    _chat(
        content=[{"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}]
    ),
    _check_fields("extra_forbidden: body.messages.1.assistant.{}"),
    (
        Refusal(
            "extra_forbidden: body.messages.1.assistant.reasoning_content",
            "BerriAI/litellm#30835",
            _put("reasoning_content"),
        ),
    ),
    status=422,
)

PROVIDERS = (
    *(ANTHROPIC, GEMINI, RESPONSES, UNSTORED),
    *(DEEPSEEK, KIMI, GROQ, CEREBRAS, MISTRAL),
)


# --- The server and its client --------------------------------------------------------


@contextmanager
def _served(provider: Provider) -> Iterator[HTTPConnection]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            size = int(self.headers["content-length"])
            status, body = _answer(provider, json.loads(self.rfile.read(size)))
            self.send_response(status)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Not on the test's output."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        host, port, *_ = server.server_address
        connection = HTTPConnection(str(host), port)
        yield connection
        connection.close()
        server.shutdown()
        thread.join()


def _answer(provider: Provider, messages: list[Json]) -> tuple[int, bytes]:
    """The stream of a first turn; of a second one whether it is taken."""
    if len(messages) == 1:
        events = (f"data: {json.dumps(event)}\n\n" for event in provider.answer)
        return 200, "".join(events).encode()
    if objection := provider.check(messages):
        error = {"error": {"message": objection, "type": "invalid_request_error"}}
        return provider.status, json.dumps(error).encode()
    return 200, b"{}"


def _post(connection: HTTPConnection, messages: Json) -> tuple[int, str]:
    connection.request("POST", "/", json.dumps(messages))
    response = connection.getresponse()
    return response.status, response.read().decode()


def _call(method: str, **params: Json) -> Json:
    result = METHODS[method].call(Sessions(Policy(), Limits()), params)
    return json.loads(json.dumps(result))


def _second(provider: Provider, body: str) -> list[Json]:
    """The next request, as a host makes it."""
    named = {"wire": provider.wire, "model": provider.model}
    message = _call("message/normalize", body=body, **named)["message"]
    (call,) = message["toolCalls"]
    results = [{"toolCallId": call["toolCallId"], "content": "Rain."}]
    if provider.wire == "openai-chat":
        named["provider"] = provider.name
    rendered = _call("message/render", message=message, results=results, **named)
    return [{"role": "user", "content": "How is the weather?"}, *rendered["messages"]]


@pytest.mark.parametrize("provider", PROVIDERS, ids=lambda provider: provider.name)
def test_the_second_turn_is_taken(provider: Provider) -> None:
    with _served(provider) as server:
        _, body = _post(server, ["How is the weather?"])
        messages = _second(provider, body)

        assert _post(server, messages) == (200, "{}")


CHANGED = [(provider, each) for provider in PROVIDERS for each in provider.refusals]


@pytest.mark.parametrize(
    ("provider", "refusal"),
    CHANGED,
    ids=[f"{provider.name}: {each.says}" for provider, each in CHANGED],
)
def test_a_changed_one_is_refused(provider: Provider, refusal: Refusal) -> None:
    with _served(provider) as server:
        _, body = _post(server, ["How is the weather?"])
        messages = copy.deepcopy(_second(provider, body))
        refusal.change(messages)
        status, said = _post(server, messages)

    error = _call("error/normalize", body=said, status=status, provider=provider.name)
    assert status == provider.status
    assert refusal.says in error["message"]
    assert error["kind"] == "invalid-request"
