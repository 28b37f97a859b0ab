"""Two turns whose calls have one id: `request/prepare` gives each an id of its own.

Hosts that make ids for calls without one (Ollama, Gemini, calls in text) may begin
again with every response.
"""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream_sidecar.options import Limits, Policy
from stream_sidecar.protocol.methods import METHODS
from stream_sidecar.protocol.sessions import Sessions
from stream_sidecar.values.jsontext import dumps
from stream_sidecar.wires import WIRES

Json = Any


def _chat_call(id: str) -> Json:
    function = {"name": "f", "arguments": "{}"}
    return {
        "role": "assistant",
        "tool_calls": [{"id": id, "type": "function", "function": function}],
    }


def _blocks(role: str, block: Json) -> Json:
    return {"role": role, "content": [block]}


WRITTEN: dict[str, tuple[Any, Any, Any]] = {
    "openai-chat": (
        _chat_call,
        lambda id: {"role": "tool", "tool_call_id": id, "content": "1"},
        lambda: {"role": "user", "content": "Hi"},
    ),
    "ollama": (
        _chat_call,
        lambda id: {"role": "tool", "tool_call_id": id, "content": "1"},
        lambda: {"role": "user", "content": "Hi"},
    ),
    "cohere": (
        _chat_call,
        lambda id: {"role": "tool", "tool_call_id": id, "content": "1"},
        lambda: {"role": "user", "content": "Hi"},
    ),
    "openai-responses": (
        lambda id: {
            "type": "function_call",
            "call_id": id,
            "name": "f",
            "arguments": "{}",
        },
        lambda id: {"type": "function_call_output", "call_id": id, "output": "1"},
        lambda: {"role": "user", "content": "Hi"},
    ),
    "gemini": (
        lambda id: {
            "role": "model",
            "parts": [{"functionCall": {"id": id, "name": "f", "args": {}}}],
        },
        lambda id: {
            "role": "user",
            "parts": [{"functionResponse": {"id": id, "name": "f", "response": {}}}],
        },
        lambda: {"role": "user", "parts": [{"text": "Hi"}]},
    ),
    "anthropic": (
        lambda id: _blocks(
            "assistant", {"type": "tool_use", "id": id, "name": "f", "input": {}}
        ),
        lambda id: _blocks(
            "user", {"type": "tool_result", "tool_use_id": id, "content": "1"}
        ),
        lambda: {"role": "user", "content": "Hi"},
    ),
}
"""How each wire writes a call, its result and a user's turn. For none of them a
provider is named, so nothing else of a request changes."""


def _items(wire: str, steps: list[tuple[str, str]]) -> list[Json]:
    call, result, user = WRITTEN[wire]
    made = {"call": call, "result": result, "user": lambda _: user()}
    return [made[kind](id) for kind, id in steps]


def _prepared(wire: str, items: list[Json], **asked: str) -> tuple[list[Json], Json]:
    """The items that are sent, and what is lost; the params stay as they were."""
    body = {WIRES[wire].shape.items: items}
    before = copy.deepcopy(body)
    params = {"wire": wire, "body": body, **asked}
    result = METHODS["request/prepare"].call(Sessions(Policy(), Limits()), params)
    assert body == before
    assert result["changed"] == (result.get("body", body) != body)
    prepared = json.loads(dumps(result.get("body", body)))
    return prepared[WIRES[wire].shape.items], result["lost"]


def _ids(wire: str, items: list[Json]) -> list[str]:
    """The ids of the calls and results, in order."""
    shape, found = WIRES[wire].shape, []
    for item in items:
        found += [call[shape.id] for call in shape.calls(item)]
        found += [answer[shape.answered] for answer in shape.answers(item)]
    return found


LOOP = [("user", ""), ("call", "c-0"), ("result", "c-0")]
CALLS = [("call", "c-0"), ("user", ""), ("call", "c-0"), ("result", "c-0")]


@pytest.mark.parametrize("wire", WRITTEN)
def test_a_later_turn_gets_its_own(wire: str) -> None:
    items = _items(wire, LOOP * 3)

    sent, lost = _prepared(wire, items)

    one, its, two, twos, three, threes = _ids(wire, sent)
    assert (one, two, three) == (its, twos, threes)
    assert one == "c-0"
    assert len({one, two, three}) == 3
    assert lost == []
    assert _prepared(wire, sent) == (sent, [])


@pytest.mark.parametrize("provider", ["", "anthropic"])
def test_a_new_id_meets_no_other(provider: str) -> None:
    """Also where the host has used the id that would be made."""
    found = _ids("anthropic", _prepared("anthropic", _items("anthropic", LOOP * 2))[0])
    before = [(kind, found[2] if id else id) for kind, id in LOOP]
    items = _items("anthropic", [*before, *LOOP, *LOOP, *before, ("user", "")])

    sent, _ = _prepared("anthropic", items, provider=provider)

    ids = _ids("anthropic", sent)
    assert ids[::2] == ids[1::2]
    assert len({*ids}) == 4


@pytest.mark.parametrize("wire", WRITTEN)
def test_the_id_stays_where_a_result_is_not_certain(wire: str) -> None:
    items = _items(wire, [("user", ""), *CALLS])

    sent, lost = _prepared(wire, items)

    assert sent == items
    assert [(each["path"], each["what"]) for each in json.loads(dumps(lost))] == [
        (f"/{WIRES[wire].shape.items}/3", "tool-call-id")
    ]


def test_a_signed_part_of_gemini_keeps_its_id() -> None:
    items = _items("gemini", LOOP * 2)
    items[4]["parts"][0]["thoughtSignature"] = "c2ln"

    sent, lost = _prepared("gemini", items)

    assert sent == items
    assert [each["what"] for each in json.loads(dumps(lost))] == ["tool-call-id"]


@pytest.mark.parametrize("wire", ["openai-chat", "openai-responses"])
def test_a_provider_that_has_rules(wire: str) -> None:
    sent, lost = _prepared(wire, _items(wire, LOOP * 2), provider="openai")

    one, its, two, twos = _ids(wire, sent)
    assert (one, two, lost) == (its, twos, [])
    assert one != two


STEPS = st.lists(
    st.tuples(st.sampled_from(["call", "result", "user"]), st.sampled_from("ab")),
    max_size=12,
)


@given(wire=st.sampled_from([*WRITTEN]), steps=STEPS, end=st.integers(0, 12))
def test_any_history(wire: str, steps: list[tuple[str, str]], end: int) -> None:
    """No turn depends on a later one, the answer is the same each time, and each
    result keeps its call. Ids that nobody repeats stay."""
    items = _items(wire, [("user", ""), *steps, ("user", "")])
    begin = _items(wire, [("user", ""), *steps[:end], ("user", "")])

    sent, lost = _prepared(wire, items)

    assert _prepared(wire, items) == (sent, lost)
    short, _ = _prepared(wire, begin)
    assert sent[: len(short) - 1] == short[:-1]
    _assert_paired([("user", ""), *steps], _ids(wire, sent))
    if not lost:
        calls = [each for kind, each in _named(steps, _ids(wire, sent)) if kind]
        assert len(set(calls)) == len(calls)


def _named(steps: list[tuple[str, str]], ids: list[str]) -> list[tuple[bool, str]]:
    kinds = [kind for kind, _ in steps if kind != "user"]
    return [(kind == "call", id) for kind, id in zip(kinds, ids, strict=True)]


def _assert_paired(steps: list[tuple[str, str]], ids: list[str]) -> None:
    """A result goes to the last call before it that had its id. A result without a call
    stays as it was, and so does the first call with an id."""
    sent: dict[str, str] = {}
    given = [step for step in steps if step[0] != "user"]
    for (kind, was), now in zip(given, ids, strict=True):
        if kind == "call":
            assert now == was or was in sent
            sent[was] = now
        else:
            assert now == sent.get(was, was)
