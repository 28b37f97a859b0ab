"""What holds for any input, tried on inputs made of what the engine looks for.

Random characters would never make a delimiter, so texts are put together from pieces of
delimiters, backticks, fences, line breaks and half characters, and documents from those
of a chat with junk in any place. ``SIDECAR_LONG=1`` tries many more.
"""

from __future__ import annotations

import base64
import json
from typing import Any

from checking import assert_conserved, assert_sound, feed, raw_answer
from cutting import at_random, pieces
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from notation import plain

FRAGMENTS = [
    *("<think>", "</think>", "<thinking>", "</thought>", "[THINK]", "[/THINK]"),
    *("◁think▷", "◁/think▷", "<mm:think>", "</seed:think>", "</think>", "<think>"),
    *("<", "</", "<th", "</thi", "ink>", "nk>", "think>", "/think>", "[/", "◁", ">"),
    *("`", "``", "```", "````", "~~~", "`" * 33, "`<think>`", "`</think>`", "`"),
    *("\n", "\n\n", "\r\n", "\r", " ", "  ", "\t", "\n```\n", "\n~~~\n", "\n</think>\n"),
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
        "tags": st.sampled_from([["think"], ["a", "aa", "<aa"], ["`x`"], ["\n#"], []]),
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


def _text_wire(params: dict[str, Any]) -> dict[str, Any]:
    return {"wire": "text", **params}


# --- Text ------------------------------------------------------------------------------


@settings(max_examples=1_500)
@given(PARAMS.map(_text_wire), TEXTS, SEEDS)
def test_cut_anywhere_same_result(params, text, seed):
    """Invariant 1: cut anywhere, same result."""
    whole = feed(params, [text])
    for cut in (list(text), at_random(text, seed, 3), at_random(text, seed)):
        fed = feed(params, cut)
        assert fed.lines == whole.lines
        assert plain(fed.message) == plain(whole.message)


@settings(max_examples=1_500)
@given(PARAMS.map(_text_wire), TEXTS)
def test_nothing_vanishes(params, text):
    """Invariant 2: every character of the input is in exactly one event."""
    for chunks in ([text], list(text)):
        assert_conserved(feed(params, chunks, trace=True), params, chunks)


@settings(max_examples=1_500)
@given(PARAMS.map(_text_wire), TEXTS)
def test_no_delimiter_is_shown(params, text):
    """Invariant 4: no supported delimiter in visible text outside code, and 6: held
    text is bounded; with all that any stream has to keep."""
    assert_sound(feed(params, [text]), params)
    assert_sound(feed(params, list(text)), params)


@given(PARAMS.map(_text_wire), TEXTS, SEEDS)
def test_a_replay_is_equal(params, text, seed):
    """Invariant 8: the same pushes give the same events, numbers included; looking at
    the message on the way changes nothing."""
    cut = at_random(text, seed, 3)
    assert feed(params, cut).events == feed(params, cut, snapshots=True).events


@given(PARAMS.map(_text_wire), TEXTS)
def test_trace_changes_nothing(params, text):
    """Trace adds spans and diagnostics of removals, and nothing else."""
    with_trace = feed(params, [text], trace=True)
    assert plain(with_trace.message) == plain(feed(params, [text]).message)


@given(PARAMS, TEXTS)
def test_clean_text_stays(params, text):
    """What the engine gave as text, given again as text, is not changed any more."""
    assume("scope" not in params["policy"]["reasoning"])
    params = _text_wire({**params, "policy": {"reasoning": {"startsOpen": "closed"}}})
    once = feed(params, [text]).message.text
    assert feed(params, [once]).message.text == once


# --- Documents -------------------------------------------------------------------------

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.sampled_from([0, 1, -1, 2**70, 1.5, float("nan"), float("inf")]),
    st.sampled_from(FRAGMENTS),
    st.sampled_from(["stop", "tool_calls", "length", "error", "{}", '{"a":', "function"]),
)
NAMES = st.sampled_from(
    """choices delta message content reasoning reasoning_content reasoning_details
    thinking_blocks tool_calls function_call function name arguments index id type text
    finish_reason usage error code prompt_tokens annotations url_citation citations
    refusal role object model created signature data thinking summary x""".split()
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


@st.composite
def _spoiled(draw: Any) -> Any:
    """A chat chunk with junk in one place."""
    document = json.loads(json.dumps(draw(CHUNKS)))
    place: Any = {"": document}
    key: Any = ""
    for _ in range(draw(st.integers(0, 6))):
        inner = place[key]
        if not isinstance(inner, dict | list) or not inner:
            break
        place = inner
        keys = list(inner) if isinstance(inner, dict) else list(range(len(inner)))
        key = draw(st.sampled_from(keys))
    if place is not document and key == "":
        return draw(JUNK)
    place[key] = draw(JUNK)
    return document


DOCUMENTS = st.lists(st.one_of(CHUNKS, CHUNKS, _spoiled(), JUNK), max_size=6)
CHAT = {"wire": "openai-chat"}


@settings(max_examples=1_000)
@given(PARAMS, DOCUMENTS)
def test_no_document_makes_it_fail(params, documents):
    """Invariant 3: push and close never raise for anything a provider sends; and what
    any stream has to keep is kept."""
    params = {**CHAT, **params}
    fed = feed(params, documents)
    assert_sound(fed, params)
    assert feed(params, documents, snapshots=True).events == fed.events


@settings(max_examples=500)
@given(PARAMS, st.lists(CHUNKS, max_size=6), SEEDS)
def test_a_body_is_its_documents(params, documents, seed):
    """Invariants 1 and 2: a body, cut anywhere, gives what its documents give."""
    params = {**CHAT, **params}
    body = "".join(f"data: {json.dumps(each)}\n\n" for each in documents)
    fed = feed(params, documents)
    cut = feed({**params, "framing": "sse"}, at_random(body, seed))
    assume(documents)
    assert cut.lines == fed.lines
    assert plain(cut.message) == plain(fed.message)
    traced = feed(params, documents, trace=True)
    assert_conserved(traced, params, documents)


@settings(max_examples=500)
@given(st.lists(st.tuples(TEXTS, TEXTS), max_size=5), PARAMS)
def test_content_is_a_channel_of_its_own(turns, params):
    """Invariant 1: how a provider cuts the content into documents changes nothing."""
    params = {**CHAT, **params}
    documents = [_delta(content=first) for turn in turns for first in turn]
    whole = [_delta(content="".join(first + second for first, second in turns))]
    fed, at_once = feed(params, documents), feed(params, whole)
    assume(turns)
    assert fed.lines == at_once.lines
    assert raw_answer(params, documents, 0) == raw_answer(params, whole, 0)


def _delta(**delta: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta}]}


@settings(max_examples=500)
@given(
    st.sampled_from(["auto", "text", "openai-chat"]),
    st.sampled_from(["auto", "json", "sse", "ndjson", "json-array", "text"]),
    st.sampled_from(["utf-8", "base64"]),
    st.lists(
        st.one_of(
            TEXTS,
            JUNK,
            st.sampled_from(['data: {"choices":[{"delta":{"content":"a"}}]}\n\n', "data:"]),
            st.sampled_from(["[", "{", "}", "]", '"', ",", "[DONE]", "event: error\n"]),
            st.binary(max_size=9).map(lambda raw: base64.b64encode(raw).decode()),
        ),
        max_size=8,
    ),
)
def test_no_chunk_makes_it_fail(wire, framing, encoding, chunks):
    """Invariant 3: the same for strings under any framing, and for both mixed."""
    params = {"wire": wire, "framing": framing, "encoding": encoding}
    fed = feed(params, chunks)
    assert_sound(fed, params)
    assert feed(params, chunks).events == fed.events


@settings(max_examples=500)
@given(st.lists(CHUNKS, min_size=1, max_size=4), st.sampled_from("sla"), SEEDS)
def test_bytes_may_be_cut_inside_a_character(documents, shape, seed):
    """Invariant 1: base64 of any slices of the bytes gives what the text gives."""
    written = [json.dumps(each, ensure_ascii=False) for each in documents]
    body = {
        "s": "".join(f"data: {each}\n\n" for each in written),
        "l": "".join(f"{each}\n" for each in written),
        "a": f"[{','.join(written)}]",
    }[shape]
    raw = body.encode("utf-8", "replace")
    places = [len(part) for part in at_random(body, seed, 40)]
    slices = pieces(raw, [sum(places[:n]) for n in range(len(places))])
    coded = [base64.b64encode(each).decode() for each in slices]
    fed = feed({"encoding": "base64"}, coded)
    assert fed.lines == feed({}, [raw.decode()]).lines
