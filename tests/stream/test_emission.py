"""What all writers share: claims, what is taken back, and the order of the end."""

from __future__ import annotations

import json
from typing import Any

import pytest
from emitting import Emitted, codes, emitted

CALL = '<tool_call>{"name": "look", "arguments": {"at": 1}}</tool_call>'
STRUCTURED = {
    "choices": [
        {
            "delta": {
                "tool_calls": [
                    {
                        "index": 0,
                        "id": "c1",
                        "function": {"name": "look", "arguments": '{"at": 1}'},
                    }
                ]
            },
            "finish_reason": "tool_calls",
        }
    ]
}
LOOK = [{"name": "look"}]


def _said(text: str) -> dict[str, Any]:
    return {"choices": [{"delta": {"content": text}}]}


def _emit(chunks: list[Any], claims: str = "drop", **params: Any) -> Emitted:
    params = {"wire": "openai-chat", "model": "qwen3", **params}
    return emitted(params, chunks, "openai-chat", claims=claims)


def _deltas(trip: Emitted, name: str) -> list[Any]:
    return [
        choice["delta"][name]
        for chunk in trip.chunks
        for choice in chunk.get("choices", ())
        if name in choice["delta"]
    ]


@pytest.mark.parametrize(
    ("claims", "text", "names"),
    [
        ("drop", "See.", []),
        ("text", f"See.{CALL}", []),
        ("promote", "See.", ["look"]),
    ],
)
def test_a_claim_becomes_what_was_asked(
    claims: str, text: str, names: list[str]
) -> None:
    trip = _emit([_said("See."), _said(CALL)], claims, tools=LOOK)
    assert "".join(_deltas(trip, "content")) == text
    calls = [call for calls in _deltas(trip, "tool_calls") for call in calls]
    assert [call["function"]["name"] for call in calls] == names
    assert not any(call.executable for call in trip.read.message.tool_calls)


def test_an_ambiguous_claim_is_not_promoted() -> None:
    twice = CALL.replace('"at": 1', '"at": 1, "at": 2')
    trip = _emit([_said(twice)], "promote", tools=LOOK)
    assert _deltas(trip, "tool_calls") == []
    assert "suspicious-arguments" in codes(trip.read)


def test_a_promoted_claim_ends_with_calls() -> None:
    stop = {"choices": [{"delta": {}, "finish_reason": "stop"}]}
    trip = _emit([_said(CALL), stop], "promote", tools=LOOK)
    assert trip.read.message.finish.reason == "stop"
    assert trip.chunks[-1]["choices"][0]["finish_reason"] == "tool_calls"


def test_a_twin_is_one_call() -> None:
    """The structured call came; its copy in the text is not promoted beside it."""
    trip = _emit([_said(CALL), STRUCTURED], "promote", tools=LOOK)
    (call,) = (call for calls in _deltas(trip, "tool_calls") for call in calls)
    assert call["id"] == "c1"
    assert "emitted-before" not in codes(trip.read)


def test_the_text_of_a_twin_stays_and_is_reported() -> None:
    trip = _emit([_said(CALL), STRUCTURED], "text", tools=LOOK)
    assert "".join(_deltas(trip, "content")) == CALL
    assert "emitted-before" in codes(trip.read)


def test_what_stays_in_the_text_is_not_written_twice() -> None:
    policy = {"toolCalls": {"mode": "report"}}
    trip = _emit([_said(CALL)], "text", tools=LOOK, policy=policy)
    assert "".join(_deltas(trip, "content")) == CALL


def test_a_draft_in_the_reasoning_stays_there() -> None:
    chunks = [_said(f"<think>a {CALL} b</think>See.")]
    promoted = _emit(chunks, "promote", model="deepseek-r1")
    assert _deltas(promoted, "tool_calls") == []
    kept = _emit(chunks, "text", model="deepseek-r1")
    assert CALL in "".join(_deltas(kept, "reasoning_content"))


def test_what_was_emitted_is_not_taken_back() -> None:
    """The opener was in the prompt: the answer so far is reasoning after all."""
    trip = _emit([_said("Hm.\n"), _said("</think>\n"), _said("Hi")])
    assert trip.read.message.text == "Hi"
    assert trip.is_early
    assert "".join(_deltas(trip, "content")) == "Hm.\nHi"
    seqs = [event.seq for event in trip.read.events]
    assert seqs == list(range(1, len(seqs) + 1))
    diagnostics = [event for event in trip.read.events if event.type == "diagnostic"]
    assert [event.code for event in diagnostics].count("emitted-before") == 1


def test_a_retract_at_the_end_is_reported_before_the_finish() -> None:
    native = {"choices": [{"delta": {"reasoning_content": "Hm."}}]}
    trip = _emit([_said("<think>Hm.</think>Hi"), native])
    assert "emitted-before" in codes(trip.read)
    assert trip.read.events[-1].type == "finish"


def test_an_opener_that_never_closes_is_reported_at_the_end() -> None:
    trip = _emit([_said("See <think>what I mean")])
    assert trip.read.message.text == "See what I mean"
    assert "emitted-before" in codes(trip.read)
    assert "".join(_deltas(trip, "reasoning_content")) == "what I mean"


def test_a_result_that_the_model_wrote_is_not_emitted() -> None:
    trip = _emit([_said('{"success": true, "board_id": 1}Done.')])
    assert [each.source for each in trip.read.message.tool_results] == ["echo"]
    assert "".join(_deltas(trip, "content")) == "Done."
    assert _deltas(trip, "executed_tools") == []


def test_a_signed_block_ends_once_before_text_that_leaked() -> None:
    """Its end has gone out as it came when the text behind it turns out to leak."""
    thought = [
        {"type": "thinking_delta", "thinking": "Hm."},
        {"type": "signature_delta", "signature": "c2ln"},
    ]
    said = [{"type": "text_delta", "text": "<think>So.</think>Four."}]
    chunks: list[Any] = [{"type": "message_start", "message": {"model": "claude"}}]
    for index, (kind, deltas) in enumerate((("thinking", thought), ("text", said))):
        start = {"type": "content_block_start", "content_block": {"type": kind}}
        between = [{"type": "content_block_delta", "delta": each} for each in deltas]
        documents = [start, *between, {"type": "content_block_stop"}]
        chunks += [{**each, "index": index} for each in documents]
    written = emitted({"wire": "anthropic"}, chunks, "anthropic").chunks
    edges = [(each["type"][14:], each["index"]) for each in written if "index" in each]
    edges = [each for each in edges if each[0] != "delta"]
    assert edges == [("start", 0), ("stop", 0), ("start", 1), ("stop", 1)]


def test_nothing_takes_back_in_a_body() -> None:
    body = {"choices": [{"message": {"content": "Hm.\n</think>\nHi"}}]}
    trip = emitted({"wire": "openai-chat"}, [body], "openai-chat", whole=True)
    message = trip.chunks[0]["choices"][0]["message"]
    assert message["content"] == "Hi"
    assert message["reasoning_content"] == "Hm.\n"


def test_state_that_comes_twice_is_once_in_a_body() -> None:
    """The state is an object, and the last one counts."""
    state = {"provider_specific_fields": {"thought_signatures": ["s"]}}
    signed = {"choices": [{"delta": state}]}
    ended = {"choices": [{"finish_reason": "stop"}]}
    trip = emitted(
        {"wire": "openai-chat"},
        [signed, ended, signed],
        "openai-chat",
        whole=True,
    )
    first, last = (block for block in trip.read.message.blocks if block.opaque)
    assert first.block != last.block
    message = trip.chunks[0]["choices"][0]["message"]
    assert {name: message[name] for name in state} == last.opaque


TAGGED = [_said("<think>Hm."), _said("</think>See.")]


@pytest.mark.parametrize(
    ("wire", "provider", "model", "goes"),
    [
        ("openai-chat", None, None, True),
        ("openai-chat", "groq", "qwen3", False),
        ("openai-chat", "mistral", "magistral", False),
        ("openai-chat", "cerebras", "qwen3", False),
        ("openai-chat", "openai", "gpt-5", False),
        ("openai-chat", "deepseek", "deepseek-reasoner", False),
        ("openai-chat", "deepseek", "deepseek-v3.2", True),
        ("openai-chat", None, "kimi-k2-thinking", True),
        ("anthropic", None, None, False),
        ("anthropic", "anthropic", "claude-opus-4-5", False),
        ("anthropic", None, "glm-4.6", True),
        ("openai-responses", None, None, False),
        ("openai-responses", "openai", "gpt-5", False),
        ("gemini", None, None, True),
        ("gemini", "google", "gemini-3-pro", True),
    ],
)
@pytest.mark.parametrize("whole", [False, True])
def test_tagged_reasoning_goes_where_it_may_come_back(
    wire: str, provider: str | None, model: str | None, goes: bool, whole: bool
) -> None:
    params = {"wire": "openai-chat", "provider": provider, "model": model}
    trip = emitted(params, TAGGED, wire, reasoning="auto", whole=whole)
    assert trip.read.message.reasoning == "Hm."
    assert trip.again.message.reasoning == ("Hm." if goes else "")
    assert trip.again.message.text == "See."


def test_the_model_may_be_the_one_that_was_read() -> None:
    named = [{"model": "gpt-5", **chunk} for chunk in TAGGED]
    options = {"wire": "openai-chat"}
    trip = emitted(options, named, "openai-chat", reasoning="auto")
    assert _deltas(trip, "reasoning_content") == []


@pytest.mark.parametrize(("reasoning", "goes"), [("drop", False), ("include", True)])
def test_a_host_decides_on_tagged_reasoning(reasoning: str, goes: bool) -> None:
    params = {"wire": "openai-chat", "provider": "groq"}
    for wire in ("openai-chat", "openai-responses", "anthropic", "gemini"):
        trip = emitted(params, TAGGED, wire, reasoning=reasoning)
        assert bool(trip.again.message.reasoning) == goes


def test_native_reasoning_always_goes() -> None:
    native = [{"choices": [{"delta": {"reasoning_content": "Hm."}}]}, _said("See.")]
    trip = emitted({"wire": "openai-chat"}, native, "openai-chat", reasoning="drop")
    assert _deltas(trip, "reasoning_content") == ["Hm."]


@pytest.mark.parametrize("wire", ["openai-chat", "anthropic", "openai-responses"])
def test_what_was_left_out_comes_where_it_is_the_answer(wire: str) -> None:
    policy = {"reasoning": {"asAnswer": "when-empty"}}
    stop = {"choices": [{"delta": {}, "finish_reason": "stop"}]}
    chunks = [_said("<think>See.</think>"), stop]
    params = {"wire": "openai-chat", "policy": policy}
    trip = emitted(params, chunks, wire, reasoning="drop")
    assert trip.read.message.text == trip.again.message.text == "See."


def _sent_ids(wire: str, parts: list[Any], **params: Any) -> list[str]:
    value = {"candidates": [{"content": {"parts": parts}, "finishReason": "STOP"}]}
    trip = emitted({"wire": "gemini", **params}, [value], wire, claims="promote")
    return [call.tool_call_id for call in trip.again.message.tool_calls]


@pytest.mark.parametrize("wire", ["openai-chat", "openai-responses", "anthropic"])
def test_an_id_that_repeats_is_sent_once(wire: str) -> None:
    """Whoever told it: the provider, or the model in a call that is promoted."""
    look = {"functionCall": {"id": "a", "name": "look", "args": {}}}
    again = {"functionCall": {"id": "a", "name": "look", "args": {"b": 1}}}
    written = '{"id": "a", "name": "find", "arguments": {}}'
    text = {"text": f"<tool_call>{written}</tool_call>"}
    first, *others = _sent_ids(wire, [look, again, text], tools=[{"name": "find"}])
    assert first == "a"
    assert len({first, *others}) == 3


def test_gemini_gets_no_id_that_was_made() -> None:
    made = {"functionCall": {"name": "look", "args": {}}}
    value = {
        "candidates": [{"content": {"parts": [{"text": "<think>a</think>"}, made]}}]
    }
    trip = emitted({"wire": "gemini"}, [value], "gemini")
    assert '"id"' not in json.dumps(trip.chunks)
