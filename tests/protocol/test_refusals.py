"""Histories that providers refuse, and what `request/prepare` makes of them.

A line of ``data/refusals.jsonl`` is a request with the name of a check of the server's
that ``says`` no to it (`refusing`), and public ``source``s of that refusal. ``ends`` is
``accepted`` if the server accepts the prepared request, ``reported`` if ``lost`` says
why the request cannot be mended, and ``same`` if the server accepts the request as it
is, which then stays unchanged.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
from places import TESTS
from refusing import CHECKS, SERVERS, objections

from stream_sidecar.options import Limits, Policy
from stream_sidecar.protocol.methods import METHODS
from stream_sidecar.protocol.sessions import Sessions
from stream_sidecar.values.jsontext import dumps
from stream_sidecar.wires import WIRES

Json = Any

LINES = (TESTS / "data" / "refusals.jsonl").read_text("utf-8").splitlines()
ROWS = [json.loads(line) for line in LINES]


def _prepare(row: Json, body: Json) -> Json:
    params = {name: row[name] for name in ("wire", "provider", "model")}
    sessions = Sessions(Policy(), Limits())
    result = METHODS["request/prepare"].call(sessions, {**params, "body": body})
    return json.loads(dumps(result))


@pytest.mark.parametrize(
    "row", ROWS, ids=[f"{row['server']}: {row['case']}" for row in ROWS]
)
def test_a_refused_history(row: Json) -> None:
    body = copy.deepcopy(row["body"])
    result = _prepare(row, body)

    assert body == row["body"]
    assert result["changed"] == ("body" in result)
    said = objections(row["server"], row["wire"], body)
    if row["ends"] == "same":
        assert (said, result) == ([], {"changed": False, "lost": []})
        return
    assert row["says"] in said
    assert row["source"]
    now = result.get("body", body)
    left = objections(row["server"], row["wire"], now)
    if row["ends"] == "reported":
        assert result["lost"]
    else:
        assert (left, row["says"] in left) == ([], False)
        again = _prepare(row, now)
        assert (again["changed"], again["lost"]) == (False, [])


def test_every_check_is_tried() -> None:
    """Each check objects to a row of each server that has it, or of a like one."""
    said = {row["says"] for row in ROWS}
    assert {check for checks in SERVERS.values() for check in checks} <= said
    assert {row["server"] for row in ROWS} == SERVERS.keys()


# --- Any body -------------------------------------------------------------------------

ODD = [
    *(None, 5, 1.5, True, "", "x", [], {}, [None], [[]], [{}], {"type": ["x"]}),
    *({"type": "x"}, {"role": "assistant"}, {"text": 5}, {"role": ["x"]}),
]


def _places(value: Json) -> Iterator[tuple[Json, Json]]:
    if isinstance(value, dict | list):
        inner = value.items() if isinstance(value, dict) else enumerate(value)
        for name, each in list(inner):
            yield value, name
            yield from _places(each)


@pytest.mark.parametrize("seed", range(4))
def test_any_history_is_taken(seed: int) -> None:
    """Whatever stands anywhere: it does not raise, and is read no two ways."""
    chance = Random(seed)
    for row in ROWS:
        body = copy.deepcopy(row["body"])
        for _ in range(chance.randint(1, 3)):
            holder, name = chance.choice([*_places(body), (body, "model")])
            holder[name] = copy.deepcopy(chance.choice(ODD))
        result = _prepare(row, body)
        assert result["changed"] == (result.get("body", body) != body)


def test_a_turn_depends_on_no_later_one() -> None:
    """What goes of the turns before stays as it is when the history goes on."""
    for row in ROWS:
        name = WIRES[row["wire"]].shape.items
        items = row["body"][name]
        if row["ends"] == "accepted" and items[0]["role"] == "user":
            longer = {**row["body"], name: [*items, items[0], items[0]]}
            one, two = _prepare(row, row["body"]), _prepare(row, longer)
            short = one.get("body", row["body"])[name][:-1]
            assert two.get("body", longer)[name][: len(short)] == short


# --- Two rows answer ------------------------------------------------------------------

_SHAPES = ("no-content", "neither-content-nor-calls", "empty-turn")
SERVERS_ROWS = {
    **dict.fromkeys(("ollama", "vllm", "llama.cpp", "lm studio", "sglang"), _SHAPES),
    "openrouter": (),
    "litellm": (),
    "groq": ("members-of-chat", "models-content-is-a-list"),
    "cerebras": ("members-of-cerebras",),
    "fireworks": ("members-of-fireworks",),
    "dashscope": ("call-without-result",),
}
"""A server -> checks of `refusing` for what it refuses, whatever the model is."""

_BY_GATEWAY = ("openrouter", "litellm")
MODELS_ROWS: dict[str, tuple[tuple[str, ...], bool]] = {
    "glm-4.7": (("no-user",), False),
    "minimax-m2": (("call-without-result", "result-without-call"), False),
    "deepseek-r1": (("call-without-result", "content-is-missing"), True),
    "deepseek-v3.2": (("result-without-call", "content-is-missing"), True),
    "kimi-k2-thinking": (("call-without-result", "empty-turn"), True),
    "gemma-3": ((), False),
}
"""A model -> checks for what it refuses, whoever serves it, and whether turns with
calls need reasoning, be it empty."""

_REASONING = ("reasoning_content", "reasoning")


def _calls(*ids: str) -> Json:
    call = {"name": "f", "arguments": "{}"}
    return [{"id": id, "type": "function", "function": call} for id in ids]


@pytest.mark.parametrize("server", SERVERS_ROWS)
@pytest.mark.parametrize("model", MODELS_ROWS)
def test_neither_of_two_rows_hides_the_other(server: str, model: str) -> None:
    messages = [
        {"role": "assistant", "content": None, "reasoning_content": "Hm"},
        {"role": "assistant", "content": "", "tool_calls": _calls("call_1", "call_2")},
        {"role": "tool", "tool_call_id": "call_1", "content": None},
        {"role": "tool", "tool_call_id": "call_3", "content": "4"},
        {"role": "assistant", "tool_calls": _calls("call_4")},
        {"role": "tool", "tool_call_id": "call_4", "content": "4"},
    ]
    if model != "glm-4.7":
        messages[:0] = [{"role": "user", "content": "Hi"}]
    body = {"model": model, "messages": messages}
    row = {"wire": "openai-chat", "provider": server, "model": model}
    sent = _prepare(row, body).get("body", body)

    _assert_accepted(server, model, sent)
    again = _prepare(row, sent)
    assert (again["changed"], again["lost"]) == (False, [])


@pytest.mark.parametrize("server", SERVERS_ROWS)
@pytest.mark.parametrize("model", MODELS_ROWS)
def test_a_rendered_turn_is_by_two_rows(server: str, model: str) -> None:
    call = {"type": "tool-call", "toolCallId": "call_1", "name": "f", "arguments": "{}"}
    params = {
        "message": {"blocks": [call]},
        "wire": "openai-chat",
        "provider": server,
        "model": model,
        "results": [{"toolCallId": "call_1", "content": None}],
    }
    rendered = METHODS["message/render"].call(Sessions(Policy(), Limits()), params)
    user = {"role": "user", "content": "Hi"}
    messages = json.loads(dumps(rendered))["messages"]

    _assert_accepted(server, model, {"messages": [user, *messages]})


@pytest.mark.parametrize(("server", "is_kept"), [("ollama", True), ("litellm", False)])
def test_a_gateway_needs_no_tags_of_its_models(server: str, is_kept: bool) -> None:
    user = {"role": "user", "content": "2 + 2?"}
    turn = {"role": "assistant", "content": "<think>So.</think>4"}
    body = {"model": "minimax-m2", "messages": [user, turn, user]}
    row = {"wire": "openai-chat", "provider": server, "model": "minimax-m2"}

    assert _prepare(row, body)["changed"] != is_kept


@pytest.mark.parametrize("server", ["openrouter", "vercel", "litellm", "cerebras"])
@pytest.mark.parametrize("model", ["deepseek/deepseek-chat-v3.1", "z-ai/glm-4.7"])
def test_a_model_that_needs_nothing_changes_nothing(server: str, model: str) -> None:
    messages = [
        {"role": "user", "content": [{"type": "text", "text": "2 + 2?"}]},
        {"role": "assistant", "content": None, "tool_calls": _calls("call_1")},
        {"role": "tool", "tool_call_id": "call_1", "content": "4"},
    ]
    body = {"model": model, "messages": messages}
    row = {"wire": "openai-chat", "provider": server, "model": model}

    assert _prepare(row, body) == {"changed": False, "lost": []}


def _assert_accepted(server: str, model: str, body: Json) -> None:
    refused, needs_reasoning = MODELS_ROWS[model]
    if server in _BY_GATEWAY:
        refused = tuple(name for name in refused if name != "content-is-missing")
    checks = (*SERVERS_ROWS[server], *refused)
    assert [name for name in checks if CHECKS[name]("openai-chat", body)] == []
    turns = [each for each in body["messages"] if each.get("tool_calls")]
    if needs_reasoning and server != "groq":
        assert all(any(name in turn for name in _REASONING) for turn in turns)
