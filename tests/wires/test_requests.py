"""Requests: what a turn is when it goes back, on each wire, and what is lost of it.

A line of ``data/requests.jsonl`` is ``{case, from, documents, to, messages, lost}``: a
response of the wire ``from``, and what `message/render` makes of its message for the
wire ``to``; ``results``, ``provider``, ``model``, ``claims`` and ``reasoning`` are the
params of the same name. ``policy`` is that of the stream, ``by`` its provider.
``messages`` and ``lost`` are golden.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from goldens import assert_golden
from places import TESTS
from refusing import objections

from stream_sidecar.options import Limits, Policy
from stream_sidecar.protocol.methods import METHODS
from stream_sidecar.protocol.sessions import Sessions
from stream_sidecar.values.jsontext import dumps
from stream_sidecar.wires import REQUESTS, WIRES
from stream_sidecar.wires.shared.request_rules import Names, rule_for

Json = Any

FILE = TESTS / "data" / "requests.jsonl"
PARAMS = ("results", "provider", "model", "claims", "reasoning")


def _call(method: str, sessions: Sessions | None = None, **params: Json) -> Json:
    """A method's result as JSON, as a host gets it."""
    sessions = sessions or Sessions(Policy(), Limits())
    return json.loads(dumps(METHODS[method].call(sessions, params)))


def message_of(wire: str, documents: list[Json], **more: Json) -> Json:
    """The message of a stream of documents."""
    sessions = Sessions(Policy(), Limits())
    _call("stream/open", sessions, streamId="s", wire=wire, **more)
    _call("stream/push", sessions, streamId="s", chunks=documents)
    return _call("stream/close", sessions, streamId="s")["message"]


def _rendered(row: dict[str, Json]) -> dict[str, Json]:
    more = {"policy": row["policy"]} if "policy" in row else {}
    more |= {"provider": row["by"]} if "by" in row else {}
    message = message_of(row["from"], row["documents"], **more)
    params = {name: row[name] for name in PARAMS if name in row}
    rendered: dict[str, Json] = _call(
        "message/render", message=message, wire=row["to"], **params
    )
    return rendered


@pytest.mark.golden
def test_requests() -> None:
    rows = [json.loads(line) for line in FILE.read_text("utf-8").splitlines()]
    now = (row | _rendered(row) for row in rows)
    lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in now)
    assert_golden(FILE, "".join(lines))


# --- What holds for any message -------------------------------------------------------


def _recordings() -> Iterator[tuple[str, str, list[Json]]]:
    for path in sorted((TESTS / "wires").glob("*/*.chunks.jsonl")):
        lines = path.read_text("utf-8").splitlines()
        yield path.name, path.parent.name, [json.loads(line) for line in lines]


MESSAGES = [
    (name, wire, message_of(wire, chunks)) for name, wire, chunks in _recordings()
]
"""Of every recording, with its name and its wire."""

BARE = ("gemini", "bedrock-converse")
"""Wires whose texts are parts without a type."""

ROWS = [
    json.loads(line)
    for line in (TESTS / "data" / "refusals.jsonl").read_text("utf-8").splitlines()
]
WHO = {
    row["server"]: (row["wire"], row["provider"], row["model"])
    for row in reversed(ROWS)
}
"""A server -> who it is, by its first row."""

STATE = (
    "signature",
    "data",
    "encrypted_content",
    "thoughtSignature",
    "redactedContent",
)
ODD = [None, 5, "{", [], [None], {}, {"type": "x"}, {"type": ["x"]}, {"text": 5}]


def _choices() -> Iterator[Json]:
    for _, _, message in MESSAGES:
        yield from message.get("choices", [message])


@pytest.mark.parametrize("wire", REQUESTS)
@pytest.mark.parametrize("reasoning", ["auto", "all", "none"])
def test_any_message_of_any_wire(wire: str, reasoning: str) -> None:
    """Nothing raises, and no message is empty."""
    for message in _choices():
        results = [
            {"toolCallId": call["toolCallId"], "content": ODD}
            for call in message["toolCalls"]
        ]
        rendered = _call(
            "message/render",
            message=message,
            wire=wire,
            results=results,
            claims="include",
            reasoning=reasoning,
        )
        assert all(rendered["messages"])


def test_state_goes_back_as_it_came(subtests: pytest.Subtests) -> None:
    """Byte for byte, or it is told that it is lost."""
    for name, wire, message in (each for each in MESSAGES if each[1] in REQUESTS):
        with subtests.test(name, wire=wire):
            params = {"message": message, "wire": wire, "reasoning": "all"}
            rendered = _call("message/render", **params)
            lost = {each.get("block") for each in rendered["lost"]}
            sent = {*_texts(rendered["messages"])}
            for block in message["blocks"]:
                state = {*_states(block)} if block["block"] not in lost else set()
                assert state <= sent


def test_tools_of_other_servers_are_no_items(subtests: pytest.Subtests) -> None:
    """Types that other wires share, or end alike, are no sign; nothing vanishes."""
    others = [each for each in MESSAGES if each[1] != "openai-responses"]
    assert others
    for name, wire, message in others:
        with subtests.test(name, wire=wire):
            for choice in message.get("choices", [message]):
                params = {"message": choice, "wire": "openai-responses"}
                rendered = _call("message/render", **params)
                lost = {each.get("block") for each in rendered["lost"]}
                assert _foreign(choice) <= lost


def _foreign(choice: Json) -> set[int]:
    """The blocks that belong to tools of a server."""
    return {
        block["block"]
        for block in choice["blocks"]
        if block["type"] == "tool-result" or block.get("executor") == "server"
    }


def _states(value: Json) -> Iterator[str]:
    """The provider's state in a block, wherever it stands."""
    for name, inner in value.items() if isinstance(value, dict) else ():
        if name in STATE and isinstance(inner, str):
            yield inner
        yield from _states(inner)
    for inner in value if isinstance(value, list) else ():
        yield from _states(inner)


def _texts(value: Json) -> Iterator[str]:
    inner = value.values() if isinstance(value, dict) else value
    for each in inner if isinstance(value, dict | list) else ():
        yield from [each] if isinstance(each, str) else _texts(each)


def _kinds() -> list[Json]:
    """A block of each kind, told apart by its fields."""
    found = {}
    for message in _choices():
        for block in message["blocks"]:
            kind = block["type"], block.get("executor"), *sorted(block)
            found.setdefault(kind, block)
    return list(found.values())


@pytest.mark.parametrize("wire", REQUESTS)
@pytest.mark.parametrize("name", ["opaque", "raw", "content", "caller", "arguments"])
def test_odd_values(wire: str, name: str) -> None:
    """Nothing raises for what a host stored otherwise than it came."""
    texts = ["", "{", "5", "[" * 9_000, "\ud800"]
    for odd in texts if name == "arguments" else ODD:
        blocks = [block | {name: odd} for block in _kinds()]
        _call("message/render", message={"blocks": blocks}, wire=wire)


def _turns_of(message: Json) -> Iterator[Json]:
    """A message as it came, and with all that a provider may refuse in it."""
    yield message
    odd = json.loads(json.dumps(message))
    for block in odd["blocks"]:
        if block["type"] == "tool-call" and block.get("executor") != "server":
            number = block["block"] % 3
            block["name"] = (" ", "a b\0", "x" * 200)[number]
            block["toolCallId"] = ("", "functions.x:0/" * 9, "same")[number]
        if block["type"] == "text":
            block["text"] = " "
        if block.get("signature"):
            block["signature"] = "{}"
    yield odd


_OF_HOST = {
    *("no-tools", "no-container", "item-without-its-reasoning"),
    "servers-call-without-result",
}
"""What one turn cannot mend, or cannot tell: what was cut away, a pause."""


@pytest.mark.parametrize("server", WHO)
def test_no_server_refuses_a_turn(server: str) -> None:
    """Each message of each wire, as it goes back to any provider."""
    wire, provider, model = WHO[server]
    name = "parts" if wire == "gemini" else "content"
    user = {"role": "user", name: [{"text": "Hi"}] if wire in BARE else "Hi"}
    for message in (turn for choice in _choices() for turn in _turns_of(choice)):
        calls = [b for b in message["blocks"] if b.get("executor") == "client"]
        results = [{"toolCallId": c["toolCallId"], "content": " "} for c in calls]
        params = {"wire": wire, "provider": provider, "model": model}
        rendered = _call("message/render", message=message, results=results, **params)[
            "messages"
        ]
        shape = WIRES[wire].shape
        is_last = bool(rendered) and shape.role(rendered[-1]) == "model"
        body = {shape.items: [user, *rendered, *([user] if is_last else [])]}
        assert set(objections(server, wire, body)) <= _OF_HOST


# --- The table ------------------------------------------------------------------------


def test_every_writer_has_a_rule_for_anybody() -> None:
    for wire in REQUESTS:
        rule = rule_for(WIRES[wire].rules, Names("nobody", "nothing"))
        assert (rule.provider.pattern, rule.model.pattern) == ("", "")


NAMES = {
    "openai-chat": (
        *(("openrouter", "m"), ("vercel-gateway", "m"), ("litellm", "m"), ("groq", "")),
        *(("cerebras", ""), ("mistral", ""), ("deepseek", "deepseek-reasoner")),
        *(("deepseek", "deepseek-v4-pro"), ("moonshot", "kimi-k2.6"), ("zai", "glm-5")),
        *(("minimax", "MiniMax-M2.5"), ("xai", "grok-4"), ("", "Qwen/Qwen3-8B")),
        *(("openai", "gpt-5"), ("fireworks", ""), ("google", "gemini-3-pro"), ("", "")),
        *(("litellm", "gemini-2.5-pro"), ("perplexity", ""), ("dashscope", "qwen3")),
        *(("vllm", "qwen3.5"), ("vllm", "gemma-3"), ("llama.cpp", "")),
        *(("vllm", "mistral-small"), ("azure", "mine"), ("deepseek", "coder")),
        *(("moonshot", "moonshot-v1-8k"), ("zhipu", "glm-4"), ("minimax", "abab")),
    ),
    "openai-responses": (
        *(("azure", ""), ("openai", ""), ("copilot", ""), ("xai", "")),
        *(("deepseek", ""), ("llama.cpp", ""), ("", "")),
    ),
    "anthropic": (
        ("bedrock", "claude-opus-4-7"),
        ("", "deepseek-v4-pro"),
        ("", "kimi-k2.6"),
        ("", "claude-opus-4-7"),
        ("", "m"),
    ),
    "gemini": (("", "gemini-3-pro"), ("", "gemini-2.5-flash")),
    "bedrock-converse": (
        *(("", "us.deepseek.r1-v1:0"), ("", "amazon.nova-pro-v1:0")),
        *(("", "us.anthropic.claude-sonnet-4-5"), ("", "meta.llama3")),
    ),
    "ollama": (("", ""),),
    "cohere": (("", ""),),
}
"""Providers and models, for each row of the rules one."""

ANYBODY = (("", ""),)


def test_every_rule_is_somebodys() -> None:
    for wire, row in ((each, WIRES[each]) for each in REQUESTS):
        found = [
            rule_for(row.rules, Names(*names)) for names in NAMES.get(wire, ANYBODY)
        ]
        sources = "\n".join(rule.source for rule in found)
        assert [rule.source for rule in row.rules if rule.source not in sources] == []
        assert len(found) == len(row.rules)
