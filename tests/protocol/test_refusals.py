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
from refusing import SERVERS, objections

from stream_sidecar.options import Limits, Policy
from stream_sidecar.protocol.methods import METHODS
from stream_sidecar.protocol.sessions import Sessions
from stream_sidecar.values.jsontext import dumps
from stream_sidecar.wires.shared.request_shapes import SHAPES

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
        name = SHAPES[row["wire"]].items
        items = row["body"][name]
        if row["ends"] == "accepted" and items[0]["role"] == "user":
            longer = {**row["body"], name: [*items, items[0], items[0]]}
            one, two = _prepare(row, row["body"]), _prepare(row, longer)
            short = one.get("body", row["body"])[name][:-1]
            assert two.get("body", longer)[name][: len(short)] == short


@pytest.mark.parametrize("server", ["ollama", "vllm", "llama.cpp", "lm studio"])
@pytest.mark.parametrize("model", ["glm-4.7", "minimax-m2", "deepseek-r1", "gemma-3"])
def test_a_model_does_not_hide_what_its_server_refuses(server: str, model: str) -> None:
    call = {"name": "f", "arguments": "{}"}
    calls = [{"id": "call_1", "type": "function", "function": call}]
    messages = [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": None, "reasoning_content": "Hm"},
        {"role": "user", "content": "Hi?"},
        {"role": "assistant", "content": "", "tool_calls": calls},
        {"role": "tool", "tool_call_id": "call_1", "content": None},
    ]
    body = {"model": model, "messages": messages}
    row = {"wire": "openai-chat", "provider": server, "model": model}
    sent = _prepare(row, body)["body"]["messages"]

    assert [each["role"] for each in sent].count("assistant") == 1
    assert all(each["content"] is not None for each in sent)
    if model == "deepseek-r1":  # what the model needs stays
        assert sent[-2]["reasoning_content"] == ""
