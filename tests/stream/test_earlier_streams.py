"""Streams with the same options share what is made of these, others do not."""

from __future__ import annotations

import pytest
from attrs import evolve

from stream_sidecar.channel.setup import surroundings
from stream_sidecar.message.outlet import Outlet
from stream_sidecar.options import (
    Limits,
    Policy,
    StreamOptions,
    Tool,
    ToolCallsPolicy,
    ToolResultsPolicy,
)
from stream_sidecar.stream.earlier_streams import EarlierStreams

PLAIN = StreamOptions(tools=(Tool("ls"),))
OTHERS = [
    evolve(PLAIN, wire="openai-chat", framing="sse"),
    evolve(PLAIN, model="deepseek-r1"),
    evolve(PLAIN, provider="groq"),
    evolve(PLAIN, tools=None),
    evolve(PLAIN, tools=(Tool("ls", kind="read"),)),
    evolve(PLAIN, policy=Policy(tool_calls=ToolCallsPolicy(mode="off"))),
    evolve(PLAIN, limits=Limits(max_held_chars=9)),
]


@pytest.mark.parametrize("other", OTHERS)
def test_what_is_shared_is_as_if_it_were_not(other: StreamOptions) -> None:
    shared = EarlierStreams()
    for options in (PLAIN, other, other, PLAIN):
        outlet = Outlet(parts=True, trace=False)
        assert shared.surroundings(options, outlet) == surroundings(options, outlet)


def test_the_same_is_made_once() -> None:
    shared, outlet = EarlierStreams(), Outlet(parts=True, trace=False)
    one, other = (shared.surroundings(PLAIN, outlet) for _ in range(2))
    assert one.profile is other.profile


def test_models_of_one_profile_share_it() -> None:
    shared, outlet = EarlierStreams(), Outlet(parts=True, trace=False)
    models = [evolve(PLAIN, model=name) for name in ("deepseek-r1", "r1-1776")]
    one, other = (shared.surroundings(each, outlet) for each in models)
    assert one.profile is other.profile


def test_results_that_the_host_changes_in_place_are_read_anew() -> None:
    shared, outlet = EarlierStreams(), Outlet(parts=True, trace=False)
    result = {"size": 1}
    policy = Policy(tool_results=ToolResultsPolicy(known=(result,)))
    options = evolve(PLAIN, policy=policy)
    assert shared.surroundings(options, outlet).rules.knows({"size": 1})
    result["size"] = 2
    rules = shared.surroundings(options, outlet).rules
    assert [rules.knows({"size": size}) for size in (1, 2)] == [False, True]


def test_a_template_that_the_host_changes_in_place_is_read_anew() -> None:
    shared, outlet = EarlierStreams(), Outlet(parts=True, trace=False)
    template = {"fields": {"thinking": {"open": "<a>", "close": "</a>"}}}
    options = evolve(PLAIN, response_template=template)
    shared.surroundings(options, outlet)
    template["fields"]["thinking"] = {"open": "<b>", "close": "</b>"}
    again = shared.surroundings(options, outlet)
    assert again == surroundings(options, outlet)
