"""Inputs made of what the engine looks for: random characters never make a delimiter.

Texts are put together from pieces of delimiters, backticks, fences, line breaks, half
characters, and of calls, results and leftovers; or they are leaks of models, damaged.
Documents are put together from those of a chat, with junk in any place.
"""

from __future__ import annotations

import json
import re
from typing import Any

from hypothesis import strategies as st
from places import TESTS
from recordings import PATHS, own

from stream_sidecar.dialects import DIALECTS
from stream_sidecar.values.jsontext import loads

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
PROTOCOL = [
    *("<tool_call>", "</tool_call>", "<tool_", "_call>", "<tool_calls>", "<TOOLCALL>"),
    *("<function=f>", "<parameter=a>", "</parameter>", "</function>", "<function>"),
    *('<invoke name="f">', '<parameter name="a">', "</invoke>", "</function_calls>"),
    *("<function_calls>", "<minimax:tool_call>", "<function_results>", "court\n"),
    *('<｜DSML｜invoke name="f">', "</｜DSML｜invoke>", "<｜DSML｜calls>", "｜DSML｜"),
    *("[TOOL_CALLS]", "[ARGS]", "[CALL_ID]1", "<|python_tag|>", "functools", ";"),
    *("<|tool_call>", "<tool_call|>", "call:", "default_api:", "f{", "response:f{"),
    *("<ctrl46>", ",a:1}<ctrl45>", "<unused94>thought", "<unused95>", "<unused", "7>"),
    *("<|tool_call_begin|>", "functions.f:0", "<|tool_call_argument_begin|>"),
    *("<|tool_call_end|>", "<|tool_calls_section_begin|>", "<｜tool▁calls▁begin｜>"),
    *("<｜tool▁call▁begin｜>", "<｜tool▁sep｜>", "<｜tool▁call▁end｜>", "<arg_key>"),
    *("</arg_key>", "<arg_value>", "</arg_value>", "]<]minimax[>[", "<f>", "</f>"),
    *("<|channel|>", "analysis", "<|message|>", "<|end|>", "<|start|>", " to=f"),
    *("<|call|>", "assistantfinal", "<|open|>call", "<|sep|>", "<|START_ACTION|>"),
    *("<|START_RESPONSE|>", "<answer>", "</answer>", "[BEGIN FINAL RESPONSE]"),
    *("{", "}", "[", "]", '"', "'", ":", ",", "(", ")", "\\", "f", "g", "1", "null"),
    *('{"name": "f", ', '"arguments": {"a": 1}}', '{"name": "g"}', "f(a=1)", "print("),
    *('{"success": true}', "{error: 'x'}", '{"type": 1} ', '{"a": 1}', "{'query': "),
    *("\n```tool_code\n", "\n```tool_outputs\n", "tool_code = ", "<tool_code>"),
    *("</tool_code>", "[tool_code:", "default_api.f(", '[Called function "f" with'),
    *(
        " args: {}]",
        "Tool calls requested:",
        "- f({})",
        ">>>f\n",
        ">>>all\n",
        "Action:",
    ),
    *("<|im_end|>", "</s>", "<s>", "[EOS]", "<end_of_turn>", "<|eot_id|>", "<|end"),
    *("\ue200", "\ue202", "\ue201", "\ue200cite\ue202turn0\ue201", "[thought]:"),
    *("THOUGHT:", "[host]", "[/host]", "Bot: ", "[2026-01-25 18:48] ", "[2026"),
]
"""What calls, results and leftovers in text are made of."""

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


def _mode(mode: str) -> dict[str, str]:
    return {"mode": mode}


TOOL = {"name": "f", "inputSchema": {"properties": {"a": {"type": "integer"}}}}
TOOLS = st.sampled_from([[], [TOOL], [TOOL, {"name": "g"}, {"name": "think"}]])
HOST = {"markers": ["[host]", "Bot", "timestamp"], "prefixes": ["Bot: ", "timestamp"]}
WRITTEN_PARAMS = st.fixed_dictionaries(
    {
        "policy": st.fixed_dictionaries(
            {},
            optional={
                "reasoning": POLICIES,
                "toolCalls": st.sampled_from(["report", "off"]).map(_mode),
                "toolResults": st.sampled_from(["report", "keep"]).map(_mode),
                "dialects": st.lists(st.sampled_from(sorted(DIALECTS)), max_size=4),
                "echo": st.just(HOST),
            },
        )
    },
    optional={
        "tools": TOOLS,
        "model": st.sampled_from(["qwen3-32b", "gpt-oss-20b", "gemini-2.5-pro"]),
        "limits": st.tuples(
            st.sampled_from([0, 1, 7, 20, 60]), st.sampled_from([0, 1, 20, 60, 200])
        ).map(lambda n: {"maxHeldChars": n[0], "maxCallChars": n[1]}),
    },
)
"""``stream/open``'s parameters as far as they are about text."""

WRITTEN_TEXTS = st.lists(st.sampled_from([*PROTOCOL, *FRAGMENTS]), max_size=16).map(
    "".join
)
_TOKEN = re.compile(r"<[^<>\s]{0,30}>?|\[/?[A-Z_]+\]|\w+|\s+|.", re.DOTALL)


def _leaks() -> list[dict[str, Any]]:
    """The texts of ``data/dialects.jsonl``, each as its tokens."""
    path = TESTS / "data" / "dialects.jsonl"
    cases = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return [{**case, "tokens": _TOKEN.findall(case["text"])} for case in cases]


LEAKS = _leaks()


@st.composite
def _damaged(draw: Any, tokens: list[str]) -> str:
    """A leak with parts that are lost, doubled, or interrupted by other text."""
    tokens = list(tokens)
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, len(tokens)))
        part = tokens[at : at + draw(st.integers(1, 4))]
        other = draw(st.sampled_from([*PROTOCOL, *FRAGMENTS]))
        tokens[at : at + len(part)] = draw(
            st.sampled_from([[], part + part, [*part, other], [other]])
        )
    return "".join(tokens[: draw(st.sampled_from([len(tokens), len(tokens) // 2]))])


@st.composite
def leaked(draw: Any) -> tuple[dict[str, Any], str]:
    """Damaged leaks, with the host's parameters of one of them or with any."""
    cases = draw(st.lists(st.sampled_from(LEAKS), min_size=1, max_size=3))
    text = "".join(draw(_damaged(case["tokens"])) for case in cases)
    if draw(st.booleans()):
        return {"wire": "text", **draw(WRITTEN_PARAMS)}, text
    case = cases[0]
    known = {key: case[key] for key in ("model", "tools") if case[key] is not None}
    policy = dict(case.get("policy", {}))
    if case["dialects"] is not None:
        policy["dialects"] = case["dialects"]
    return {"wire": "text", "policy": policy, **known}, text


def _text_wire(params: dict[str, Any]) -> dict[str, Any]:
    return {"wire": "text", **params}


TEXT_STREAMS = st.one_of(
    st.tuples(PARAMS.map(_text_wire), TEXTS),
    st.tuples(WRITTEN_PARAMS.map(_text_wire), WRITTEN_TEXTS),
    leaked(),
)
"""Parameters and text."""

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
        "content": st.one_of(TEXTS, WRITTEN_TEXTS),
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


def recordings() -> list[tuple[dict[str, Any], list[Any]]]:
    """The recordings under ``wires``: parameters and chunks."""
    read = map(own, PATHS)
    return [(each.params, each.chunks) for each in read]


@st.composite
def recorded(draw: Any) -> tuple[dict[str, Any], list[Any]]:
    """A recording of any wire, with documents spoiled, lost, doubled and moved."""
    params, chunks = draw(st.sampled_from(RECORDINGS))
    changed = list(chunks)
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(changed) - 1))
        there = draw(_spoiled(st.just(changed[at])))
        to = draw(st.integers(0, len(changed)))
        kept = draw(st.sampled_from([[there], [there], [], [there, there]]))
        changed = [*changed[:at], *kept, *changed[at + 1 :]]
        changed.insert(to, draw(st.sampled_from(chunks)))
    return params, as_read(changed)


RECORDINGS = [
    (params, chunks)
    for params, chunks in recordings()
    if all(isinstance(chunk, dict) for chunk in chunks)
]
"""Wires whose chunks are documents."""
