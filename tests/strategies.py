"""Inputs made of what the engine looks for: random characters never make a delimiter.

Texts are put together from pieces of delimiters, backticks, fences, line breaks and
half characters, documents from those of a chat, with junk in any place.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from sidecar.jsontext import loads

FRAGMENTS = [
    *("<think>", "</think>", "<thinking>", "</thought>", "[THINK]", "[/THINK]"),
    *("◁think▷", "◁/think▷", "<mm:think>", "</seed:think>", "</think>", "<think>"),
    *("<", "</", "<th", "</thi", "ink>", "nk>", "think>", "/think>", "[/", "◁", ">"),
    *("`", "``", "```", "````", "~~~", "`" * 33, "`<think>`", "`</think>`", "`"),
    *("\n", "\n\n", "\r\n", "\r", "\n```\n", "\n~~~\n", "\n</think>\n"),
    *(" ", "  ", "\t"),
    *("> ", "- ", "1. ", "12) ", "a", "word ", "end.", "x:", "(", "\xa0", "\v"),
    *("\ud83d", "\ude00", "😀", "é", "\ufeff", "\u2028", "\0"),
]
TEXTS = st.lists(st.sampled_from(FRAGMENTS), max_size=25).map("".join)

POLICIES = st.fixed_dictionaries(
    {},
    optional={
        "scope": st.sampled_from(["everywhere", "boundary"]),
        "startsOpen": st.sampled_from(["open", "closed"]),
        "unclosed": st.sampled_from(["reasoning", "text"]),
        "precedence": st.just("merge"),
        "tags": st.sampled_from([["think"], ["a", "aa", "<aa"], ["[[x]]", "<a"], []]),
    },
)
PARAMS = st.fixed_dictionaries(
    {"policy": POLICIES.map(lambda reasoning: {"reasoning": reasoning})},
    optional={
        "model": st.just("deepseek-r1"),
        "limits": st.sampled_from([0, 1, 7, 20]).map(lambda n: {"maxHeldChars": n}),
    },
)
SEEDS = st.integers(0, 10_000)

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.sampled_from([0, 1, -1, 2**70, 1.5, float("nan"), float("inf")]),
    st.sampled_from(FRAGMENTS),
    st.sampled_from(["stop", "tool_calls", "length", "error", "{}", '{"a":']),
)
NAMES = st.sampled_from(
    [
        *("choices", "delta", "message", "content", "text", "refusal", "role", "index"),
        *("reasoning", "reasoning_content", "reasoning_details", "thinking_blocks"),
        *("tool_calls", "function_call", "function", "name", "arguments", "id", "type"),
        *(
            "finish_reason",
            "usage",
            "prompt_tokens",
            "error",
            "code",
            "object",
            "model",
        ),
        *("annotations", "url_citation", "citations", "created", "signature", "data"),
        *("thinking", "summary", "x"),
    ]
)
JUNK = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(NAMES, inner, max_size=4)
    ),
    max_leaves=8,
)

_CALL = st.fixed_dictionaries(
    {"index": st.sampled_from([0, 0, 1, None])},
    optional={
        "id": st.sampled_from(["c1", "c2", "", None]),
        "type": st.just("function"),
        "function": st.fixed_dictionaries(
            {},
            optional={
                "name": st.sampled_from(["f", "g", ""]),
                "arguments": st.sampled_from(["", "{", "}", "{}", '{"a":1}', "x"]),
            },
        ),
    },
)
_DELTA = st.fixed_dictionaries(
    {},
    optional={
        "content": TEXTS,
        "reasoning": st.sampled_from(["", "why", " not", "<think>", "</thi", "nk>"]),
        "reasoning_content": st.sampled_from(["why", " not", "w", "hy"]),
        "tool_calls": st.lists(_CALL, max_size=2),
    },
)
_CHOICE = st.fixed_dictionaries(
    {"index": st.sampled_from([0, 0, 0, 1]), "delta": _DELTA},
    optional={"finish_reason": st.sampled_from([None, "stop", "tool_calls", "length"])},
)
CHUNKS = st.fixed_dictionaries(
    {"choices": st.lists(_CHOICE, min_size=1, max_size=2)},
    optional={"id": st.just("r"), "model": st.just("m"), "usage": JUNK},
)


def as_read(value: Any) -> Any:
    """``value`` as it comes out of a request: through JSON text."""
    return loads(json.dumps(value))


@st.composite
def _spoiled(draw: Any, documents: Any) -> Any:
    """One of ``documents`` with junk in one place."""
    document = json.loads(json.dumps(draw(documents)))
    place, key = [document], 0
    for _ in range(draw(st.integers(0, 6))):
        inner = place[key]
        if not isinstance(inner, dict | list) or not inner:
            break
        place = inner
        key = draw(
            st.sampled_from(sorted(inner) if type(inner) is dict else _of(inner))
        )
    if isinstance(place, list) and place[0] is document:
        return draw(JUNK)
    place[key] = draw(JUNK)
    return document


def _of(items: list[Any]) -> list[int]:
    return list(range(len(items)))


DOCUMENTS = st.lists(
    st.one_of(CHUNKS, CHUNKS, _spoiled(CHUNKS), JUNK).map(as_read), max_size=6
)


def _recordings() -> list[tuple[dict[str, Any], list[Any]]]:
    """The recordings under ``wires`` whose chunks are documents."""
    paths = sorted(Path(__file__).parent.glob("wires/*/*.chunks.jsonl"))
    texts = [path.read_text(encoding="utf-8") for path in paths]
    read = [[loads(line) for line in text.splitlines()] for text in texts]
    return [
        (header["options"], chunks)
        for header, *chunks in read
        if all(isinstance(chunk, dict) for chunk in chunks)
    ]


@st.composite
def recorded(draw: Any) -> tuple[dict[str, Any], list[Any]]:
    """A recording of any wire, with documents spoiled, lost, doubled and moved."""
    params, chunks = draw(st.sampled_from(_RECORDINGS))
    changed = list(chunks)
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(changed) - 1))
        there = draw(_spoiled(st.just(changed[at])))
        to = draw(st.integers(0, len(changed)))
        kept = draw(st.sampled_from([[there], [there], [], [there, there]]))
        changed = [*changed[:at], *kept, *changed[at + 1 :]]
        changed.insert(to, draw(st.sampled_from(chunks)))
    return params, as_read(changed)


_RECORDINGS = _recordings()
