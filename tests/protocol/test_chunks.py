"""A push of ``chunks`` gives what pushes of each give, and says where each ends."""

from __future__ import annotations

import json
from typing import Any

from cutting import at_random
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import SEEDS, TEXT_STREAMS, recorded

from stream_sidecar.options import Limits, Policy
from stream_sidecar.protocol.methods import METHODS
from stream_sidecar.protocol.sessions import Sessions

PUSH = METHODS["stream/push"]

Params = dict[str, Any]
Pushed = list[dict[str, Any]]


@st.composite
def _streams(draw: Any) -> tuple[Params, list[Any]]:
    """Params and chunks of a stream of text or documents, with ``emit`` or without."""
    if draw(st.booleans()):
        params, chunks = draw(recorded())
    else:
        params, text = draw(TEXT_STREAMS)
        chunks = at_random(text, draw(SEEDS))
    emit = draw(st.sampled_from([{}, {"emit": {"wire": "openai-chat"}}]))
    return {**params, **emit}, chunks


def _opened(params: Params) -> Sessions:
    sessions = Sessions(Policy(), Limits())
    METHODS["stream/open"].write(sessions, {**params, "streamId": "s"})
    return sessions


def _push(sessions: Sessions, **what: Any) -> dict[str, Any]:
    return json.loads(PUSH.write(sessions, {"streamId": "s", **what}))


@settings(max_examples=150)
@given(_streams(), st.lists(st.integers(1, 5)), st.booleans())
def test_any_chunks_give_what_single_pushes_give(
    stream: tuple[Params, list[Any]], sizes: list[int], numbered: bool
) -> None:
    params, chunks = stream
    alone, together = _opened(params), _opened(params)
    rest = [*chunks]
    for pushes, size in enumerate([*sizes, len(chunks)], 1):
        taken, rest = rest[:size], rest[size:]
        number = {"pushSeq": pushes} if numbered else {}
        single = [_push(alone, chunk=chunk) for chunk in taken]
        answer = _push(together, chunks=taken, **number)
        assert answer["lastSeqs"] == [each["lastSeq"] for each in single]
        assert _cut(answer) == [each["events"] for each in single]
        assert answer["pushes"] == pushes
        assert not any("lastSeqs" in each for each in single)
    assert _ends(alone) == _ends(together)


def _cut(answer: dict[str, Any]) -> list[Pushed]:
    """The events of each chunk, cut where ``lastSeqs`` says."""
    first = answer["lastSeq"] - len(answer["events"])
    ends = [last - first for last in answer["lastSeqs"]]
    starts = [0, *ends]
    return [
        answer["events"][start:end] for start, end in zip(starts, ends, strict=False)
    ]


def _ends(sessions: Sessions) -> Any:
    closed = json.loads(METHODS["stream/close"].write(sessions, {"streamId": "s"}))
    del closed["stats"]["pushes"]
    closed.pop("chunks", None)
    return closed
