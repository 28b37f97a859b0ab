"""Whole conversations with a provider that seals its thinking (`sealing`).

A script says what the model answers, turn by turn, with leaks anywhere. A host plays it
alone up to a turn, and cleans from there on: its requests by `request/prepare`, its
answers by ``emit``. Or it repairs what it stored. Whatever the provider accepts without
us, it accepts with us.
"""

from __future__ import annotations

import copy
from typing import Any

import pytest
from attrs import evolve, frozen
from hypothesis import Phase, given, settings
from hypothesis import strategies as some
from sealed_talk import (
    CITY,
    LANES,
    Lane,
    answered,
    body_before,
    body_of,
    documents,
    folded,
    results_of,
    turn_in,
    turn_of,
    user_of,
)
from sealing import misfits, seals_of

from stream_sidecar.api import Stream, normalize, prepare, repair

Json = Any

LEAKS = [
    "<think>So.</think>Four.",
    '<tool_call>{"name": "weather", "arguments": {}}</tool_call>Four.',
    f"<tool_response>{CITY}</tool_response>Four.",
    f"{CITY}Four.",
]
HALVES = [
    *("<think>So.", "So.</think>Four.", "<thi", "nk>So.</think>Four."),
    *('<tool_call>{"name": "weather", ', '"arguments": {}}</tool_call>Four.'),
]
CLEAN = ["Four.", "Write `<think>` here.", "Let me look."]


@frozen
class Turn:
    """What the user says (``calls`` of the turn before it are answered first), and the
    blocks of the answer. ``system``: a system's turn before the user's."""

    blocks: list[Json]
    system: bool = False
    is_list: bool = False


def _text(text: str) -> Json:
    return {"type": "text", "text": text}


def _thought(text: str) -> Json:
    return {"type": "thinking", "thinking": text, "signature": ""}


CALL = {"type": "tool_use", "name": "weather", "input": {"city": "Bonn"}}
REDACTED = {"type": "redacted_thinking", "data": "cmVkYWN0ZWQ="}
THOUGHTS = some.sampled_from([_thought("Hm"), _thought(""), REDACTED])
TEXTS = some.sampled_from([*LEAKS, *HALVES, *CLEAN]).map(_text)
CLEAN_TEXTS = some.sampled_from(CLEAN).map(_text)


def _turns(texts: Any) -> Any:
    """1 to 6 turns, each with up to three pairs of thinking and text, and calls."""
    pair = some.tuples(THOUGHTS, texts).map(list)
    blocks = some.builds(
        lambda begun, pairs, calls: [
            *begun,
            *(block for pair in pairs for block in pair),
            *[CALL] * calls,
        ],
        some.lists(texts, max_size=1),
        some.lists(pair, min_size=1, max_size=3),
        some.sampled_from([0, 0, 1, 2]),
    )
    turn = some.builds(Turn, blocks, some.booleans(), some.booleans())
    return some.lists(turn, min_size=1, max_size=6)


TURNS, CLEAN_TURNS = _turns(TEXTS), _turns(CLEAN_TEXTS)
HOW = ["whole", "streamed"]
quickly = settings(max_examples=40, phases=[Phase.generate, Phase.shrink])

HEADERS = some.sampled_from([None, {}, {"Anthropic-Beta": "mine"}])


class Talk:
    """A conversation of a host."""

    def __init__(self, lane: Lane) -> None:
        self.lane = lane
        self.messages: list[Json] = []
        self._calls = 0

    @property
    def body(self) -> Json:
        return body_before(self.lane, copy.deepcopy(self.messages))

    def asks(self, turn: Turn) -> None:
        """Adds the results of the calls of the last turn, or what the user says."""
        last = self.messages[-1] if self.messages else {"content": []}
        said = results_of(self.lane, last)
        is_known = self.lane.wire != "bedrock-converse" and self.messages
        if not said and turn.system and is_known:
            self.messages.append({"role": "system", "content": "Be brief."})
        self.messages += said or [user_of(self.lane, "2 + 2?")]

    def blocks(self, turn: Turn) -> list[Json]:
        """The blocks of an answer; each call has an id of its own. Chat Completions
        has thinking first, wherever it stood, and Claude would refuse that."""
        blocks = [dict(block) for block in turn.blocks]
        if self.lane.wire == "openai-chat" and blocks[0]["type"] == "text":
            del blocks[0]
        for block in blocks:
            if block["type"] == "tool_use":
                self._calls += 1
                block["id"] = f"toolu_{self._calls}"
        return blocks


def _alone(lane: Lane, turns: list[Turn]) -> Talk:
    """Plays the turns without us, with what the user says at the end."""
    talk = Talk(lane)
    for turn in turns:
        talk.asks(turn)
        after = answered(talk.lane, talk.body, talk.blocks(turn))
        talk.messages.append(turn_of(talk.lane, after))
    return talk


def _prepared(
    lane: Lane, body: Json, headers: Json, **more: Json
) -> tuple[Json, Json, Any]:
    """The body and headers to send, and the result."""
    was = copy.deepcopy(body)
    about = {"provider": lane.provider, "model": lane.model, "headers": headers} | more
    result = prepare(body, lane.wire, **about)
    assert body == was
    assert result == prepare(body, lane.wire, **about)
    sent = result.body or body
    return sent, {**(headers or {}), **(result.headers or {})}, result


def _refused(lane: Lane, body: Json, headers: Json) -> list[str]:
    return misfits(lane.wire, body, headers, server=lane.server, model=lane.model)


OWN = [lane for lane in LANES if lane.wire == lane.source]
EMITTED = [lane for lane in LANES if lane.wire != "bedrock-converse"]


@pytest.mark.thorough
@quickly
@given(some.sampled_from(OWN), TURNS, HEADERS)
def test_joined_in_mid_session(lane: Lane, turns: list[Turn], headers: Json) -> None:
    talk = _alone(lane, turns)
    talk.asks(turns[0])
    body = talk.body
    if _refused(lane, body, headers):
        return
    sent, to_send, _ = _prepared(lane, body, headers)

    assert _refused(lane, sent, to_send) == []


@quickly
@given(some.sampled_from(OWN), CLEAN_TURNS, HEADERS)
def test_clean(lane: Lane, turns: list[Turn], headers: Json) -> None:
    talk = _alone(lane, turns)
    talk.asks(turns[0])
    _, _, result = _prepared(lane, talk.body, headers)

    assert (result.changed, result.lost, result.headers) == (False, [], None)


def _emitted(
    lane: Lane, blocks: list[Json], how: str = "streamed", claims: str = "drop"
) -> Json:
    """The turn that a host gets of an answer that is cleaned."""
    emit = {"wire": lane.wire, "reasoning": "include", "claims": claims}
    about = {"wire": lane.source, "provider": lane.provider, "model": lane.model}
    if how == "whole":
        clean = normalize(body_of(lane, blocks), **about, emit=emit)
        return turn_in(lane, clean.body)
    stream = Stream(**about, emit=emit)
    chunks = [
        chunk
        for document in documents(lane, blocks)
        for chunk in stream.push(document).chunks or ()
    ]
    chunks += stream.close().chunks or []
    return folded(lane, chunks)


CLAIMS = [("drop", "drop"), ("promote", "drop"), ("text", "include")]
"""What `emit` and `request/prepare` do with calls in text, where both do the same."""


def _leaks(block: Json) -> bool:
    return block.get("text") in {*LEAKS, *HALVES}


@quickly
@given(
    some.sampled_from(EMITTED),
    TURNS,
    HEADERS,
    some.sampled_from(HOW),
    some.sampled_from(CLAIMS),
)
def test_from_the_first_turn(
    lane: Lane, turns: list[Turn], headers: Json, how: str, claims: tuple[str, str]
) -> None:
    """Nothing is asked for, and no seal is lost that was emitted."""
    talk = Talk(lane)
    for turn in turns:
        talk.asks(turn)
        body = talk.body
        sent, to_send, result = _prepared(lane, body, headers, claims=claims[1])
        assert _refused(lane, sent, to_send) == []
        assert result.headers is None
        assert "block_binding" not in str(sent)
        assert seals_of(lane.wire, sent) == seals_of(lane.wire, body)
        after = answered(lane, sent, talk.blocks(turn))
        talk.messages.append(_emitted(lane, after, how, claims[0]))
        kept = seals_of(lane.wire, {"messages": talk.messages[-1:]})
        made = [each["signature"] for each in after if each["type"] == "thinking"]
        first = next((n for n, each in enumerate(after) if _leaks(each)), len(after))
        whole = [each for each in after[:first] if each["type"] == "thinking"]
        assert kept[: len(whole)] == made[: len(whole)]


@pytest.mark.thorough
@quickly
@given(some.sampled_from(EMITTED), TURNS, some.integers(0, 5), HEADERS)
def test_restarted(lane: Lane, turns: list[Turn], start: int, headers: Json) -> None:
    """A host that cleans nothing up to a turn is not refused from there on."""
    talk = _alone(lane, turns[:start])
    if _refused(lane, talk.body, None):
        return
    for turn in turns[start:]:
        talk.asks(turn)
        sent, to_send, _ = _prepared(lane, talk.body, headers)
        assert _refused(lane, sent, to_send) == []
        after = answered(lane, sent, talk.blocks(turn))
        talk.messages.append(_emitted(lane, after))


@quickly
@given(some.sampled_from(OWN), TURNS, HEADERS)
def test_repaired_in_the_store(lane: Lane, turns: list[Turn], headers: Json) -> None:
    talk = _alone(lane, turns)
    talk.asks(turns[0])
    if _refused(lane, talk.body, None):
        return
    about = {"provider": lane.provider, "model": lane.model}
    repaired = repair(talk.messages, **about).results
    talk.messages = [each.message for each in repaired]

    assert _refused(lane, talk.body, None) == []
    sent, to_send, _ = _prepared(lane, talk.body, headers)
    assert _refused(lane, sent, to_send) == []


@pytest.mark.thorough
@quickly
@given(some.sampled_from(OWN), TURNS, HEADERS)
def test_later_turns_change_no_turn(
    lane: Lane, turns: list[Turn], headers: Json
) -> None:
    """Whatever comes later, a turn goes in the same way, so that what is sealed behind
    it stays whole."""
    talk = _alone(lane, turns)
    talk.asks(turns[0])
    whole = _prepared(lane, talk.body, headers)[0]["messages"]
    for end, message in enumerate(talk.messages, 1):
        if message["role"] != "assistant":
            body = body_before(lane, copy.deepcopy(talk.messages[:end]))
            short = _prepared(lane, body, headers)[0]["messages"]
            assert short == whole[: len(short)]


FREE = ["claude-opus-4-6", "claude-opus-5-20260901", "gpt-5", "claude-sonnet-4-5"]


@pytest.mark.thorough
@quickly
@given(some.sampled_from(OWN), some.sampled_from(FREE), TURNS, HEADERS)
def test_models_that_bind_nothing(
    lane: Lane, model: str, turns: list[Turn], headers: Json
) -> None:
    lane = evolve(lane, model=model)
    talk = _alone(lane, turns)
    talk.asks(turns[0])
    body = talk.body
    sent, _, result = _prepared(lane, body, headers)

    assert result.headers is None
    if model != "gpt-5" or lane.wire == "anthropic":
        assert seals_of(lane.wire, sent) == seals_of(lane.wire, body)
