"""A short run of every lane of fuzzing, always over the same inputs.

``tests/fuzz/run.py`` tries millions of others. What it finds becomes a page's case, so
that it is never lost.
"""

from __future__ import annotations

import re
import signal
from random import Random
from typing import Any

import pytest
from fuzz.engine import check_pieces
from fuzz.finds import (
    EndlessError,
    Find,
    SlowError,
    alarm,
    examine,
    examine_given,
    minimal,
)
from fuzz.fragments import LITERALS
from fuzz.guided import KNOWN
from fuzz.guided_inputs import dictionary, given_of, seeds
from fuzz.lanes import LANES, Lane
from fuzz.rpc import RULES, Rule
from fuzz.rpc_session import Session
from fuzz.running import Task, _numbers, work
from fuzz.shrink import shrunk
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

from stream_sidecar.dialects import DIALECTS
from stream_sidecar.protocol.params import PushResult
from stream_sidecar.text.splitter import Splitter

SHORT = {
    "pieces": 1_200,
    "text": 140,
    "long": 3,
    "turns": 100,
    "documents": 80,
    "neighbours": 40,
    "bodies": 100,
    "legitimate": 150,
    "mentions": 300,
    "leaks": 300,
    "stored": 120,
    "closed": 120,
    "amplify": 40,
    "pump": 6,
    "rpc": 100,
}
"""Inputs of each lane here."""

STRIDE = 65
"""Neighbours have the same parameters."""


@pytest.mark.thorough
@pytest.mark.parametrize("name", SHORT)
def test_lane(name: str) -> None:
    """Times are measured by command only."""
    numbers = range(0, SHORT[name] * STRIDE, STRIDE)
    found = (examine(LANES[name], number, timed=False) for number in numbers)
    reports = [find.report() for find in found if find is not None]
    assert not reports, reports[0]


# --- The protocol, driven by hypothesis -----------------------------------------------


class Protocol(RuleBasedStateMachine):
    """One connection: every request is answered once, and as the model expects."""

    def __init__(self) -> None:
        super().__init__()
        self.session = Session()

    def teardown(self) -> None:
        self.session.finish()


def _as_rule(given: Rule) -> Any:
    def run(self: Protocol, generator: Random) -> None:
        given(self.session, generator)

    run.__name__ = given.__name__
    return rule(generator=st.randoms(use_true_random=False))(run)


for _rule in RULES:
    setattr(Protocol, _rule.__name__, _as_rule(_rule))


def test_protocol() -> None:
    few = settings(max_examples=30, stateful_step_count=20)
    run_state_machine_as_test(Protocol, settings=few)


# --- Coverage-guided fuzzing, without what guides it ----------------------------------


@pytest.mark.parametrize("name", KNOWN)
def test_bytes_are_inputs(name: str) -> None:
    """Whatever bytes a mutation makes; here some recorded ones, whole and broken."""
    generator = Random(name)
    corpus = generator.sample([*seeds(name)], 6)
    for data in (*corpus, b"", b"\xff", generator.randbytes(60)):
        broken = data[: generator.randrange(len(data) + 1)]
        for each in (data, broken):
            LANES[name].check(given_of(name, each))


def test_a_dictionary_has_our_literals() -> None:
    """One quoted word a line, in hexadecimal."""
    lines = dictionary().splitlines()
    assert all(re.fullmatch(r'"(\\x[0-9a-f]{2})+"', line) for line in lines)
    assert len(lines) >= len(LITERALS)


@pytest.mark.parametrize(("seed", "count"), [(0, 10), (500, 1_300), (512, 512)])
def test_processes_share_the_inputs(seed: int, count: int) -> None:
    """Each number is tried once, whatever the number of processes."""
    for workers in (1, 3):
        tasks = [Task("", seed, count, None, n, workers) for n in range(workers)]
        numbers = sorted(number for task in tasks for number in _numbers(task))
        assert numbers == list(range(seed, seed + count))


def test_finds_of_a_kind_are_reported_once(monkeypatch: pytest.MonkeyPatch) -> None:
    lane = Lane("fake", lambda n: {"chunks": ["<think>" + "x" * n]}, _fails_on_think)
    monkeypatch.setitem(LANES, "fake", lane)
    tried, found = work(Task("fake", 3, 20, None, 0, 1))
    ((times, finds),) = found.values()
    assert (tried, times) == (20, 20)
    assert [find.number for find in finds] == [3, 4, 5, 6, 7, 8]


# --- The fuzzer itself ----------------------------------------------------------------


def test_a_new_dialect_is_covered() -> None:
    """The fragments are those of the tables."""
    for dialect in DIALECTS.values():
        openers = [form.openers for form in dialect.forms if not form.per_tool]
        for literals in (*dialect.pairs, dialect.marks, dialect.ends, *openers):
            assert {literal for literal in literals if literal} <= set(LITERALS)


@pytest.mark.parametrize("name", LANES)
def test_a_number_is_an_input(name: str) -> None:
    draw = LANES[name].draw
    assert [draw(number) for number in range(40)] == [draw(n) for n in range(40)]


@pytest.mark.parametrize(
    ("value", "needed", "expected"),
    [
        ("abcdefgh", "f", "f"),
        (["ab", "cd", "ef"], "e", ["e"]),
        (["ab", "cd"], "bc", ["bc"]),
        ({"x": [{"y": "fog"}, 2], "z": 1}, "o", {"x": [{"y": "o"}]}),
        ({"params": {"t": ["fog", "a"]}}, "o", {"params": {"t": ["fog"]}}),
    ],
)
def test_shrunk(value: Any, needed: str, expected: Any) -> None:
    """What is left fails, and nothing of it can go."""

    def fails(each: Any) -> bool:
        joined = "".join(each) if isinstance(each, list) else repr(each)
        return needed in joined

    assert shrunk(value, fails) == expected


def _fails_on_think(given: Any) -> None:
    assert "<think>" not in "".join(given["chunks"]), "found"


def test_a_find_is_reported_small() -> None:
    lane = Lane("fake", lambda _: {"chunks": ["abc<th", "ink>d"]}, _fails_on_think)
    find = examine(lane, 7)
    assert isinstance(find, Find)
    small = minimal(lane, find)
    assert "".join(small.given["chunks"]) == "<think>"
    assert "--lane fake --seed 7" in small.report()


def test_what_takes_long_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Time is measured again before it counts; here each run takes a second."""
    clock = iter(range(100))
    for name in ("perf_counter", "process_time"):
        monkeypatch.setattr(f"fuzz.finds.time.{name}", lambda: next(clock))
    find = examine(Lane("fake", lambda _: {"chunks": []}, lambda _: None), 0)
    assert find is not None
    assert find.kind == SlowError.__name__


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no alarms")
def test_what_does_not_end_is_found() -> None:
    def check(_given: Any) -> None:
        while True:
            pass

    with alarm(1):
        find = examine_given(Lane("fake", lambda _: {}, check), {})
    assert find is not None
    assert find.kind == EndlessError.__name__


def test_a_lane_can_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    """An engine that loses a character is found by the first inputs."""
    give = Splitter.push
    monkeypatch.setattr(Splitter, "push", lambda self, text: give(self, text[:-1]))
    with pytest.raises(AssertionError):
        check_pieces({"params": {"wire": "text"}, "chunks": ["ab", "c"]})


def test_the_model_of_the_protocol_can_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    """A number that is wrong by one is found."""

    def wrong(stream_id: str, events: Any, last: int, *rest: Any) -> PushResult:
        return PushResult(stream_id, events, last + 1, *rest)

    monkeypatch.setattr("stream_sidecar.protocol.sessions.PushResult", wrong)
    found = [examine(LANES["rpc"], number, timed=False) for number in range(20)]
    assert any(find is not None for find in found)
