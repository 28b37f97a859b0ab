"""A wire's cleaner and writer act on every member that a rule of their wire sets.

The rules are read through a recorder, while the histories of ``data/refusals.jsonl``
and a turn of every kind of block go to the wire.
"""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from attrs import fields
from places import TESTS

from stream_sidecar.message.turn import TurnBlock, TurnResult
from stream_sidecar.wires import REQUESTS, WIRES
from stream_sidecar.wires.requests.accepted import accepted_request
from stream_sidecar.wires.requests.destination import Destination
from stream_sidecar.wires.shared.rendering import Rendering
from stream_sidecar.wires.shared.request_rules import Rule

Json = Any

LINES = (TESTS / "data" / "refusals.jsonl").read_text("utf-8").splitlines()
BODIES = [(row["wire"], row["body"]) for row in map(json.loads, LINES)]

OF_ALL_WIRES = {
    *("source", "provider", "model", "is_gateway", "came_in"),
    *("issuers", "one_model", "tags"),
}
"""Members that no wire reads: which row it is, whose state it takes, and the tags that
stay in the text."""

ODD_CALL = TurnBlock("tool-call", 1, tool_call_id="c", name="f", arguments="[")
BLOCKS = (
    TurnBlock("reasoning", 0, "Hm.", source="native", fields=("reasoning",)),
    ODD_CALL,
    TurnBlock("text", 2, "4"),
)


class Words(frozenset[str]):
    """The words of ``refuses``; asking for one is reading it."""

    read: set[str]

    def __contains__(self, word: object) -> bool:
        self.read.add(str(word))
        return super().__contains__(word)


class Recorder:
    """A rule that notes which of its members are read."""

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        self.read: set[str] = set()

    def __getattr__(self, name: str) -> Json:
        self.read.add(name)
        value = getattr(self.rule, name)
        if name != "refuses":
            return value
        words = Words(value)
        words.read = self.read
        return words


def _read(wire: str, rule: Rule) -> set[str]:
    """The members of ``rule``, and the words that it refuses, that ``wire`` reads."""
    recorder: Json = Recorder(rule)
    row = WIRES[wire]
    assert row.request is not None
    turn = Rendering(BLOCKS, (), recorder)
    turn.answers = [(ODD_CALL, TurnResult("c", "4"))]
    written = row.request(turn)
    own = [body for each, body in BODIES if each == wire]
    user = row.shape.turn("user", "Hi")
    own += [{row.shape.items: [user, *written, *end]} for end in ([], [user])]
    for body in own:
        to = Destination(row, "", "m", "auto", stores=True, continues=False)
        items = copy.deepcopy(body[row.shape.items])
        accepted_request(to, recorder, body, items, [])
    return recorder.read


def _set(rule: Rule) -> set[str]:
    """The members that a row sets, and the words that it refuses."""
    anybody = Rule("")
    members = {each.name for each in fields(Rule)} - OF_ALL_WIRES
    changed = {n for n in members if _value(rule, n) != _value(anybody, n)}
    return changed | rule.refuses


def _value(rule: Rule, name: str) -> Json:
    value = getattr(rule, name)
    return getattr(value, "pattern", value)


@pytest.mark.parametrize("wire", REQUESTS)
def test_what_a_rule_sets_is_read(wire: str) -> None:
    for rule in WIRES[wire].rules:
        assert _set(rule) - _read(wire, rule) == set(), rule.source


@pytest.mark.parametrize(
    ("wire", "rule", "unread"),
    [
        ("ollama", Rule("", unsigned=True), {"unsigned"}),
        ("cohere", Rule("", refuses=frozenset(("nulls",))), {"nulls"}),
        ("gemini", Rule("", required="calls"), {"required"}),
    ],
)
def test_what_is_not_read_is_found(wire: str, rule: Rule, unread: set[str]) -> None:
    assert _set(rule) - _read(wire, rule) == unread


def _cleaned(wire: str, rule: Rule, *items: Json) -> tuple[list[Json], list[str]]:
    row, lost = WIRES[wire], []  # type: ignore[var-annotated]
    to = Destination(row, "", "m", "auto", stores=True, continues=False)
    user = row.shape.turn("user", "Hi")
    sent, _ = accepted_request(to, rule, {}, [user, *items, user], lost)
    return sent[1:-1], [each.path for each in lost]


FIELDS = [("ollama", "thinking"), ("cohere", "tool_plan")]
CALL = {"id": "c", "function": {"name": "f", "arguments": {}}}


@pytest.mark.parametrize(("wire", "name"), FIELDS)
def test_a_required_field_is_added(wire: str, name: str) -> None:
    """To turns with calls, or to every turn after one, also if the turn is rendered."""
    says = {"role": "assistant", "content": "4"}
    calls = {"role": "assistant", "tool_calls": [CALL]}
    on_calls, in_turns = (Rule("", required="calls"), Rule("", required="turns"))

    assert _cleaned(wire, on_calls, says, calls, says) == (
        [says, {**calls, name: ""}, says],
        [],
    )
    assert _cleaned(wire, in_turns, says, calls, says) == (
        [says, {**calls, name: ""}, {**says, name: ""}],
        [],
    )
    row = WIRES[wire]
    assert row.request is not None
    block = TurnBlock("tool-call", 0, tool_call_id="c", name="f", arguments="{}")
    assert row.request(Rendering((block,), (), on_calls))[0][name] == ""


@pytest.mark.parametrize(("wire", "name"), FIELDS)
def test_refused_reasoning_goes(wire: str, name: str) -> None:
    turn = {"role": "assistant", "content": "4", name: "Hm."}
    sent = [{"role": "assistant", "content": "4"}]
    assert _cleaned(wire, Rule("", reasoning="never"), turn) == (
        sent,
        [f"/messages/1/{name}"],
    )


def test_refused_thinking_in_the_content_goes() -> None:
    said = {"type": "text", "text": "4"}
    content = [{"type": "thinking", "thinking": "Hm."}, said]
    turn = {"role": "assistant", "content": content}
    assert _cleaned("cohere", Rule("", reasoning="never"), turn) == (
        [{"role": "assistant", "content": [said]}],
        ["/messages/1/content/0"],
    )
