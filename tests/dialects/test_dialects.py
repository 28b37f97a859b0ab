"""What models write into their text: calls, reasoning, echoed results, stop tokens.

A line of ``data/dialects.jsonl`` is one text with what must come of it, written by hand
from the rules of ``text/README.md`` and never from what the engine gave:

- ``dialect`` and ``case`` name it, ``why`` tells the rule;
- ``model``, ``tools``, ``dialects`` and ``policy`` are stream/open's, absent or null
  where the host said nothing;
- ``text`` goes in; ``visible`` and ``reasoning`` are the message's two channels;
- ``calls`` are its calls in order: ``arguments`` as parsed (null: not parsed), ``id``
  where the model wrote one, ``channel`` where it is not ``text``;
- ``results`` are the ``raw`` of its tool results, none where the key is absent.

Each text is fed whole, by character and cut at random. All wrong cases of a family are
shown at once.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from checking import Fed, assert_sound, feed
from cutting import at_random
from places import TESTS

from stream_sidecar.events import ToolCall

DATA = TESTS / "data" / "dialects.jsonl"

Case = dict[str, Any]
Seen = dict[str, Any]

REQUIRED = {"dialect", "case", "model", "dialects", "tools"}
REQUIRED |= {"text", "visible", "reasoning", "calls", "why"}
OPTIONAL = {"policy", "results"}
CALL_KEYS = {"name", "arguments", "state", "id", "channel"}
STATES = {"complete", "truncated", "invalid"}

SEEDS = range(3)

LOOK_ALIKES = "look-alikes"
"""The family in which nothing may happen."""


def _cases() -> list[Case]:
    lines = DATA.read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


CASES = _cases()
FAMILIES = sorted({case["dialect"] for case in CASES})


def _params(case: Case) -> dict[str, Any]:
    """stream/open's parameters."""
    params: dict[str, Any] = {"wire": "text", "policy": dict(case.get("policy", {}))}
    if case["dialects"] is not None:
        params["policy"]["dialects"] = case["dialects"]
    for key in ("model", "tools"):
        if case[key] is not None:
            params[key] = case[key]
    return params


def _cuts(text: str) -> list[list[str]]:
    return [[text], list(text), *(at_random(text, seed) for seed in SEEDS)]


def _expected(case: Case) -> Seen:
    return {
        "visible": case["visible"],
        "reasoning": case["reasoning"],
        "calls": [_claim(call, case["tools"]) for call in case["calls"]],
        "results": case.get("results", []),
    }


def _claim(call: dict[str, Any], tools: list[Any] | None) -> dict[str, Any]:
    """A call of the table in full: it is of the text, so nobody may run it."""
    names = None if tools is None else [tool["name"] for tool in tools]
    return {
        "name": call["name"],
        "input": call["arguments"],
        "state": call["state"],
        "id": call.get("id"),
        "channel": call.get("channel", "text"),
        "declared": None if names is None else call["name"] in names,
        "origin": "text",
        "executable": False,
    }


def _seen(fed: Fed) -> Seen:
    results = [event.raw for event in fed.events if event.type == "tool-result"]
    return {
        "visible": fed.message.text,
        "reasoning": fed.message.reasoning,
        "calls": [_call(call) for call in fed.message.tool_calls],
        "results": results,
    }


def _call(call: ToolCall) -> dict[str, Any]:
    return {
        "name": call.name,
        "input": call.input,
        "state": call.state,
        "id": None if call.id_synthetic else call.tool_call_id,
        "channel": call.channel,
        "declared": call.declared,
        "origin": call.origin,
        "executable": call.executable,
    }


def _exact(value: Any) -> str:
    """A value such that 1, 1.0 and true are different; the order of keys is not."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def _difference(case: Case, chunks: list[str]) -> list[str]:
    """What comes out wrong of one way of feeding a case."""
    params = _params(case)
    try:
        fed = feed(params, chunks)
        assert_sound(fed, params)
    except Exception as error:  # Told with all the others, as what it is.
        return [f"  {type(error).__name__}: {error}"]
    seen = _seen(fed)
    return [
        f"  {key}: {_exact(seen[key])}\n    wanted: {_exact(value)}"
        for key, value in _expected(case).items()
        if _exact(seen[key]) != _exact(value)
    ]


def _wrong(case: Case) -> str:
    """The first wrong feeding of a case; empty when all are right."""
    for chunks in _cuts(case["text"]):
        if found := _difference(case, chunks):
            name = f"{case['dialect']}/{case['case']}: {case['why']}"
            return "\n".join([name, f"  fed: {_exact(chunks)[:300]}", *found])
    return ""


@pytest.mark.parametrize("family", FAMILIES)
def test_a_family(family: str) -> None:
    cases = [case for case in CASES if case["dialect"] == family]

    wrong = [difference for case in cases if (difference := _wrong(case))]

    assert not wrong, f"{len(wrong)} of {len(cases)}\n\n" + "\n\n".join(wrong)


def test_the_table_is_well_formed() -> None:
    """A slip of the pen in the table must not pass as a case."""
    names = [(case["dialect"], case["case"]) for case in CASES]
    assert len(set(names)) == len(names)
    for case in CASES:
        assert REQUIRED <= case.keys() <= REQUIRED | OPTIONAL, case
        assert case["why"], case
        for call in case["calls"]:
            assert call.keys() <= CALL_KEYS, case
            assert call["state"] in STATES, case
            assert call["state"] == "complete" or call["arguments"] is None, case


def test_look_alikes_expect_nothing() -> None:
    cases = [case for case in CASES if case["dialect"] == LOOK_ALIKES]
    assert len(cases) >= 40
    for case in cases:
        assert case["visible"] == case["text"], case
        assert not case["reasoning"], case
        assert not case["calls"], case
