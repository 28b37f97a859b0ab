"""The search that saves most readings: what it lets pass, the engine leaves alone."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import LEAKS, TEXTS, WRITTEN_TEXTS

from stream_sidecar.channel import sieve
from stream_sidecar.channel.sieve import Sieve
from stream_sidecar.history.messages import read_message
from stream_sidecar.history.reading import has_to_be_read, read_text, reading_options
from stream_sidecar.history.shapes import shape_of
from stream_sidecar.options import (
    Limits,
    Policy,
    ReasoningPolicy,
    StreamOptions,
    Tool,
    ToolResultsPolicy,
)

KNOWN = ({"a": 1}, {"city": "Oslo", "sun": True})
MODELS = (None, "qwen3", "gpt-oss-120b", "granite-3.2", "gemini-2.5-pro", "deepseek-r1")
PIECES = st.sampled_from(
    (
        *("{", "[", "```", "```python\n", "```tool_code\n", "~~~", "\n", "\n\n", " "),
        *(
            '{"a": 1}',
            '{"city": "Oslo", "sun": true}',
            '{"name": "f", "arguments": {}}',
        ),
        *("f(a=1)", "[f(a=1)]", "print(default_api.f(a=1))", "default_api.f()", ">>>"),
        *("<", "</", "think", ">", "Action:", "Action: f\nAction Input: {}", "to=f"),
        *("> ", "- ", "1. ", "\t", "\r", "é", "\ud83d", "functools", "tool_code = ["),
        *("Tool calls requested:", "response:", "call:f{}", "</s>", "[THINK]", "word"),
    )
)
ANY = st.one_of(
    TEXTS,
    WRITTEN_TEXTS,
    st.sampled_from([row["text"] for row in LEAKS]),
    st.lists(PIECES, max_size=12).map("".join),
)


def options_of(
    model: str | None, opens: str, *, tools: bool, known: bool
) -> StreamOptions:
    policy = Policy(
        reasoning=ReasoningPolicy(starts_open=opens),  # type: ignore[arg-type]
        tool_results=ToolResultsPolicy(known=KNOWN if known else ()),
    )
    declared = (Tool("f"),) if tools else None
    given: Any = {"model": model, "policy": policy, "tools": declared}
    return reading_options(StreamOptions(**given))


OPTIONS = st.builds(
    options_of,
    st.sampled_from(MODELS),
    st.sampled_from(["auto", "open", "closed"]),
    tools=st.booleans(),
    known=st.booleans(),
)
BESIDE = st.sampled_from(
    (
        {},
        {"reasoning_content": "word"},
        {"tool_calls": [{"function": {"name": "f", "arguments": "{}"}}]},
    )
)


def cut(text: str, places: list[int]) -> list[str]:
    """``text`` in pieces."""
    ends = sorted({min(each, len(text)) for each in places} | {0, len(text)})
    return [text[first:last] for first, last in pairwise(ends)] or [""]


CUT = st.builds(cut, ANY, st.lists(st.integers(0, 60), max_size=3))


@settings(max_examples=600, deadline=None)
@given(st.one_of(ANY, CUT, st.lists(ANY, min_size=1, max_size=3)), BESIDE, OPTIONS)
def test_what_passes_stays(content: Any, beside: dict[str, Any], options: Any) -> None:
    """A string or parts, with reasoning and calls beside, for any options."""
    message = {"role": "assistant", "content": content, **beside}
    for items in read_message(message, shape_of(message)).fields:
        if not has_to_be_read(items, Sieve(options)):
            assert read_text(items, options).removals == []


@pytest.mark.parametrize(
    ("text", "passes"),
    [
        ("", True),
        (" \n", True),
        ("a < b, a[0] and {x}\n- `c`", True),
        ("```python\nx = 1\n```\n" * 3, True),
        ("{\n  int x;\n}", True),
        ("a</think>", False),
        ("say\n  </s>", False),
        ('{"name": "f", "arguments": {}}', False),
        ("a\n```tool_code\nf(a=1)\n```", False),
        ("```tool_code\ng(a=1)\n```", True),
    ],
)
def test_examples(text: str, passes: bool) -> None:
    assert Sieve(StreamOptions(tools=(Tool("f"),))).passes(text) is passes


def test_a_result_that_is_known_matters() -> None:
    text = '{"a": 1} is it.'
    policy = Policy(tool_results=ToolResultsPolicy(known=KNOWN))
    assert not Sieve(StreamOptions(policy=policy)).passes(text)


def test_a_fence_is_read_where_it_may_hold_a_call(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What every such fence needs is nowhere in most texts."""
    tried = []
    real = sieve.Candidate

    def candidate(*arguments: Any) -> Any:
        tried.append(arguments)
        return real(*arguments)

    monkeypatch.setattr(sieve, "Candidate", candidate)
    known = Sieve(StreamOptions(model="gemini-2.5-pro"))
    assert known.passes("```python\n1\n```\n" * 20)
    assert not tried
    assert known.passes("```python\n1\n```\nas `default_api.` says")
    assert tried
    assert not known.passes("```python\nprint(default_api.f(a=1))\n```\n")


def test_what_would_cost_too_much_is_read() -> None:
    """Each line begins what fails at the end only."""
    nested = "{'a':\n" * 300
    assert not Sieve(StreamOptions()).passes(nested + "x")
    few = StreamOptions(limits=Limits(max_held_chars=1024, max_call_chars=1024))
    assert not Sieve(few).passes('{"success": "' + "b" * 5000)
