"""Made sessions of every agent: quiet where nothing is wrong.

A sound session has no finding, and a strict server takes its request. In a damaged one
something is refused exactly if the server refuses it, or the agent heals it. The two
read a request each on their own. ``SIDECAR_LONG=1`` tries 24,000 sessions.
"""

from __future__ import annotations

import os
import random
from typing import Any

import pytest
from made_sessions import WRITERS, copied, made
from made_talks import damaged
from refusing import CHECKS, LISTS, objections, turns

from stream_sidecar.records import evolve
from stream_sidecar.resume.conversation import ResumedConversation
from stream_sidecar.resume.findings import ResumeFinding
from stream_sidecar.resume.formats import FORMATS, format_of
from stream_sidecar.resume.images import images_in
from stream_sidecar.resume.records import Outlines, StoredRecord, outline
from stream_sidecar.resume.sessions import findings_in

COUNT = 800 if os.environ.get("SIDECAR_LONG") else 10
"""Sessions of an agent, sound ones and as many damaged ones."""

SERVERS = {
    "anthropic": "anthropic",
    "gemini": "gemini",
    "openai-chat": "openai",
    "openai-responses": "responses",
}
_OF_NAMES = {
    ("", "kimi-k3"): "kimi",
    ("groq", "kimi-k2"): "groq",
    ("", "qwen3-coder-plus"): "lm-studio-qwen",
    ("", "qwen3-max"): "lm-studio-qwen",
}
"""Providers and models with a server of their own."""

_MORE = ("half-surrogate", "name-of-letters")
"""Checks that only some servers have, of what this corpus damages on every wire."""

_PAIRS = ("call-without-result", "result-without-call", "result-twice")
_OF_ANYBODY = (*_PAIRS, *_MORE)
"""What is refused where nobody names a provider or a model."""

_UNSURE = {"id-twice", "call-behind-a-models-turn", "no-reasoning-with-calls"}
"""Checks of damages that may be found or not: servers differ in them, or the session
does not show whether the model was to think."""

_OF_A_LOOP = ("no-call-signature",)
"""What Google refuses in a running loop of tools only, which the next question ends."""


def stored(values: list[Any]) -> list[StoredRecord]:
    return [
        StoredRecord(number, outline(value), {"line": number + 1}, (), images_in(value))
        for number, value in enumerate(values)
    ]


def read_only(values: list[Any], agent: str) -> list[StoredRecord]:
    """The records with those members alone that the reader of the ``agent`` names."""
    outlines = Outlines(next(row.reads for row in FORMATS if row.name == agent))
    return [
        evolve(record, value=outlines.of(value))
        for record, value in zip(stored(values), values, strict=True)
    ]


def refused(records: list[StoredRecord], agent: str) -> list[str]:
    """What the server refuses of the request with the next question."""
    row = format_of(records)
    assert row is not None
    assert row.name in (agent, "cline" if agent == "roo" else agent)
    found: list[str] = []
    for conversation in row.conversations(records):
        if conversation.items:
            found += _objected(conversation)
    return found


def _objected(conversation: ResumedConversation) -> list[str]:
    wire, body = conversation.wire, body_of(conversation)
    names = conversation.provider, conversation.model
    found = objections(_OF_NAMES.get(names, SERVERS[wire]), wire, body)
    found += [name for name in (*_MORE, "id-twice") if CHECKS[name](wire, body)]
    if not any(names):
        known = (*_OF_ANYBODY, *_UNSURE) if wire == "openai-chat" else found
        found = [each for each in found if each in known and each != "id-of-claude"]
    return [each for each in found if each not in _OF_A_LOOP]


def body_of(conversation: ResumedConversation) -> Any:
    """The body with results for the calls that still wait, and the next question."""
    wire = conversation.wire
    items = [sent.item for sent in conversation.items]
    while items and items[-1].get("type") == "reasoning":
        items.pop()  # what follows it is still to come
    name = LISTS.get(wire, "messages")
    for results in results_of(wire, waiting(wire, {name: items})):
        parts = "parts" if wire == "gemini" else "content"
        if wire in ("anthropic", "gemini") and items[-1]["role"] == "user":
            earlier = items.pop()
            results = {**earlier, parts: [*earlier[parts], *results[parts]]}
        items.append(results)
    asked = [{"type": "text", "text": "Go on."}]
    question: Any = {"role": "user", "content": asked}
    if wire == "gemini":
        question = {"role": "user", "parts": [{"text": "Go on."}]}
    return {**conversation.settings, name: [*items, question]}


def waiting(wire: str, body: Any) -> list[Any]:
    """The calls at the end whose results are not there yet."""
    calls: list[Any] = []
    answered = set()
    for turn in reversed(turns(wire, body)):
        if turn.answers and not calls:
            answered |= {answer.id for answer in turn.answers}
            continue
        is_item = wire == "openai-responses" and turn.role == "model"
        if is_item or (turn.calls and not calls):
            calls = [*turn.calls, *calls]
            continue
        break
    by_id = {call.id: call for call in calls if call.id not in answered}
    return [*by_id.values()]


def results_of(wire: str, calls: list[Any]) -> list[Any]:
    if wire == "anthropic":
        parts: list[Any] = [
            {"type": "tool_result", "tool_use_id": call.id, "content": "no"}
            for call in calls
        ]
        return [{"role": "user", "content": parts}] if parts else []
    if wire == "gemini":
        parts = [
            {"functionResponse": {"id": c.id, "name": c.name, "response": {}}}
            for c in calls
        ]
        return [{"role": "user", "parts": parts}] if parts else []
    if wire == "openai-chat":
        return [
            {"role": "tool", "tool_call_id": call.id, "content": "no"} for call in calls
        ]
    return [
        {"type": "function_call_output", "call_id": call.id, "output": "no"}
        for call in calls
    ]


def told(finding: ResumeFinding) -> str:
    place = finding.source
    return f"{finding.kind} {finding.rule} {place.record.number} {place.path}"


def test_every_agent_has_a_writer() -> None:
    assert sorted(WRITERS) == sorted(row.name for row in FORMATS)


@pytest.mark.parametrize("agent", WRITERS)
def test_nothing_is_found_in_a_sound_session(agent: str) -> None:
    for seed in range(COUNT):
        records = stored(copied(made(agent, seed)))
        assert [*map(told, findings_in(records))] == [], seed
        assert {*refused(records, agent)} <= _UNSURE, seed


@pytest.mark.parametrize("agent", WRITERS)
def test_what_is_found_in_a_damaged_session_is_what_its_server_refuses(
    agent: str,
) -> None:
    for seed in range(COUNT):
        chosen = random.Random(f"damage of {agent} {seed}")
        values = damaged(made(agent, seed), chosen)
        records = stored(values)
        row = format_of(records)
        if row is None:
            continue
        findings = [*findings_in(records)]
        of_members = findings_in(read_only(values, row.name))
        assert [*map(told, findings)] == [*map(told, of_members)]
        refusals = [each for each in findings if each.kind == "refused" and each.source]
        healed = [each for each in findings if each.kind == "left-out"]
        objected = set(refused(records, agent))
        why = (seed, [*map(told, findings)], objected)
        assert not refusals or objected, why
        assert not objected or objected & _UNSURE or refusals or healed, why
