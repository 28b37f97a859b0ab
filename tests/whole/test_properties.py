"""What holds for any input; ``SIDECAR_LONG=1`` tries twenty times as many of them."""

from __future__ import annotations

import base64
import json
from typing import Any

from checking import assert_sound, assert_traced, feed, raw_answer
from cutting import IS_FEW, LONG, at_random, pieces
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from notation import plain
from strategies import (
    CHUNKS,
    DOCUMENTS,
    JUNK,
    PARAMS,
    SEEDS,
    TEXT_STREAMS,
    TEXTS,
    WRITTEN_PARAMS,
    WRITTEN_TEXTS,
    as_read,
    recorded,
)

CHAT = {"wire": "openai-chat"}


def tried(examples: int) -> settings:
    """So many where inputs are cut at every place; fewer where they are at few."""
    times = 20 if LONG else 1
    return settings(max_examples=examples // 4 if IS_FEW else examples * times)


# --- Text -----------------------------------------------------------------------------


@tried(700)
@given(TEXT_STREAMS, SEEDS)
def test_cut_anywhere_same_result(stream, seed):
    """Cut anywhere, same result (text rule 1.1)."""
    params, text = stream
    whole = feed(params, [text])
    for cut in (list(text), at_random(text, seed, 3), at_random(text, seed)):
        fed = feed(params, cut)
        assert fed.lines == whole.lines
        assert plain(fed.message) == plain(whole.message)


@tried(700)
@given(TEXT_STREAMS)
def test_nothing_vanishes(stream):
    """Every character of the input is in exactly one event (text rule 2.1); to tell
    which changes nothing else."""
    params, text = stream
    for chunks in ([text], list(text)):
        assert_traced(feed(params, chunks), params, chunks)


@tried(700)
@given(TEXT_STREAMS)
def test_no_delimiter_is_shown(stream):
    """No supported delimiter is in visible text outside code (text rule 5.1), held text
    is bounded (text rule 13.1), and what any stream has to keep is kept."""
    params, text = stream
    assert_sound(feed(params, [text]), params)
    assert_sound(feed(params, list(text)), params)


@tried(300)
@given(TEXT_STREAMS, SEEDS)
def test_a_replay_is_equal(stream, seed):
    """The same pushes give the same events, numbers included; looking at the message
    on the way changes nothing."""
    params, text = stream
    cut = at_random(text, seed, 3)
    assert feed(params, cut).events == feed(params, cut, snapshots=True).events


@tried(500)
@given(PARAMS, TEXTS)
def test_clean_text_stays(params, text):
    """What the engine gave as text, given again as text, is not changed any more."""
    assume("scope" not in params["policy"]["reasoning"])
    policy = {"reasoning": {"startsOpen": "closed"}}
    params = {"wire": "text", **params, "policy": policy}
    once = feed(params, [text]).message.text
    assert feed(params, [once]).message.text == once


# --- Documents ------------------------------------------------------------------------


@tried(400)
@given(st.one_of(PARAMS, WRITTEN_PARAMS), DOCUMENTS)
def test_no_document_makes_it_fail(params, documents):
    """Push and close never raise for anything a provider sends, and what any stream has
    to keep is kept."""
    params = {**CHAT, **params}
    fed = feed(params, documents)
    assert_sound(fed, params)
    assert feed(params, documents, snapshots=True).events == fed.events


@tried(1_000)
@given(recorded())
def test_no_recording_makes_it_fail(recording):
    """The same for every wire, with its own documents out of order."""
    params, documents = recording
    fed = feed(params, documents)
    assert_sound(fed, params)
    assert feed(params, documents, snapshots=True).events == fed.events


@tried(300)
@given(
    st.one_of(PARAMS, WRITTEN_PARAMS),
    st.lists(CHUNKS.map(as_read), min_size=1, max_size=6),
    SEEDS,
)
def test_a_body_is_its_documents(params, documents, seed):
    """A body, cut anywhere, gives what its documents give."""
    params = {**CHAT, **params}
    body = "".join(f"data: {json.dumps(each)}\n\n" for each in documents)
    fed = feed(params, documents)
    cut = feed({**params, "framing": "sse"}, at_random(body, seed))
    assert cut.lines == fed.lines
    assert plain(cut.message) == plain(fed.message)
    assert_traced(fed, params, documents)


@tried(300)
@given(
    st.one_of(
        st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=5),
        st.lists(st.tuples(WRITTEN_TEXTS, WRITTEN_TEXTS), min_size=1, max_size=3),
    ),
    st.one_of(PARAMS, WRITTEN_PARAMS),
)
def test_content_is_a_channel_of_its_own(turns, params):
    """How a provider cuts the content into documents changes nothing."""
    params = {**CHAT, **params}
    documents = [_delta(content=first) for turn in turns for first in turn]
    whole = [_delta(content="".join(first + second for first, second in turns))]
    fed, at_once = feed(params, documents), feed(params, whole)
    assert fed.lines == at_once.lines
    assert raw_answer(params, documents, 0) == raw_answer(params, whole, 0)


def _delta(**delta: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta}]}


@tried(500)
@given(
    st.sampled_from(["auto", "text", "openai-chat"]),
    st.sampled_from(["auto", "json", "sse", "ndjson", "json-array", "text"]),
    st.sampled_from(["utf-8", "base64"]),
    st.lists(
        st.one_of(
            TEXTS,
            JUNK.map(as_read),
            st.sampled_from(['data: {"choices":[{"delta":{"content":"a"}}]}\n\n']),
            st.sampled_from(["[", "{", "}", "]", '"', ",", "[DONE]", "event: error\n"]),
            st.binary(max_size=9).map(lambda raw: base64.b64encode(raw).decode()),
        ),
        max_size=8,
    ),
)
def test_no_chunk_makes_it_fail(wire, framing, encoding, chunks):
    """Nothing raises for strings under any framing either, nor for both mixed."""
    params = {"wire": wire, "framing": framing, "encoding": encoding}
    fed = feed(params, chunks)
    assert_sound(fed, params)
    assert feed(params, chunks).events == fed.events


@tried(500)
@given(st.lists(CHUNKS, min_size=1, max_size=4), st.sampled_from("sla"), SEEDS)
def test_bytes_may_be_cut_inside_a_character(documents, shape, seed):
    """Base64 of any slices of the bytes gives what the text gives."""
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
