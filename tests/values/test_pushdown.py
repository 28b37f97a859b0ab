"""The tables of the scanners: whole, and without a state that leads nowhere."""

from __future__ import annotations

import pytest

from stream_sidecar.values.pushdown import Syntax
from stream_sidecar.values.pythonic_tables import CALLS
from stream_sidecar.values.relaxed_tables import BARE, RELAXED

SYNTAXES = {"relaxed": RELAXED, "bare": BARE, "calls": CALLS}


def successors(syntax: Syntax) -> dict[str, set[str]]:
    """By state and verb: where it may lead."""
    found = {state: set(moves.values()) for state, moves in syntax.moves.items()}
    for state, (_, move) in syntax.classes.items():
        found[state].add(move)
    for state, move in syntax.defaults.items():
        found[state].add(move)
    found |= {verb: {first} for verb, (_, first) in syntax.containers.items()}
    found |= {verb: set(of.values()) for verb, of in syntax.container_moves.items()}
    return found | {"close": {after for after, _ in syntax.containers.values()}}


@pytest.mark.parametrize("name", SYNTAXES)
def test_every_move_leads_somewhere(name: str) -> None:
    syntax = SYNTAXES[name]
    known = successors(syntax)
    assert set().union(*known.values()) <= {*known, "failed"}
    assert {*syntax.runs, *syntax.classes, *syntax.defaults} <= set(syntax.moves)
    afters = {after for after, _ in syntax.containers.values()}
    assert all(set(of) <= afters for of in syntax.container_moves.values())


@pytest.mark.parametrize("name", SYNTAXES)
def test_every_state_can_be_reached(name: str) -> None:
    known = successors(SYNTAXES[name])
    reached = {state for state in known if state.startswith("start")}
    while more := set().union(*map(known.__getitem__, reached)) - reached - {"failed"}:
        reached |= more
    assert reached == set(known)


@pytest.mark.parametrize("name", SYNTAXES)
def test_every_state_can_still_become_whole(name: str) -> None:
    """A character that does not fail leaves a way to go on."""
    known = successors(SYNTAXES[name])
    closing = {"close"}
    while more := {state for state in known if known[state] & closing} - closing:
        closing |= more
    assert closing == set(known)


@pytest.mark.parametrize("name", SYNTAXES)
def test_every_run_may_be_empty(name: str) -> None:
    """So that a run always matches, whatever comes."""
    for state, run in SYNTAXES[name].runs.items():
        assert run.match("\0", 0), state
