"""When an answer is read, and that its events are the same if it is not."""

from __future__ import annotations

from typing import Any

import pytest

from stream_sidecar.channel.setup import Surroundings
from stream_sidecar.options import Policy, StreamOptions
from stream_sidecar.stream.stream import Stream

CALL = {"index": 0, "id": "c", "function": {"name": "f", "arguments": "{}"}}


def _chunk(delta: dict[str, Any]) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta}]}


@pytest.mark.parametrize(
    ("texts", "readers"),
    [
        pytest.param(["Hi, it is 12\n\n* degrees"], 0, id="plain"),
        pytest.param(["a << b c"], 0, id="no literal"),
        pytest.param(["Hi, ", "it is 12\n", "\n* degrees"], 0, id="more text"),
        pytest.param(["Hi ", "<think>x</think>", "a"], 1, id="a literal"),
        pytest.param(["Hi ", "a <thi"], 1, id="what may be one"),
        pytest.param(['{"a": 1}'], 1, id="what a form may begin with"),
        pytest.param([" Hi"], 1, id="blanks"),
        pytest.param(["abc" * 1000], 0, id="long"),
        pytest.param(["abc" * 1000] * 2, 1, id="longer than is kept for a reader"),
    ],
)
def test_an_answer_is_read_when_something_in_it_matters(
    monkeypatch: pytest.MonkeyPatch, texts: list[str], readers: int
) -> None:
    made: list[Any] = []
    make = Surroundings.answer

    def answer(*given: Any, **more: Any) -> Any:
        made.append(make(*given, **more))
        return made[-1]

    monkeypatch.setattr(Surroundings, "answer", answer)
    stream = Stream(StreamOptions(wire="text"))
    for text in texts:
        stream.push(text)
    stream.close()
    assert len(made) == readers


@pytest.mark.parametrize("before", [[], [{"reasoning_content": "Hm."}]])
@pytest.mark.parametrize("between", [[], [{"tool_calls": [CALL]}]])
@pytest.mark.parametrize(
    "behind", ["</think>b", "<think>c</think>d", "```\n<think>", "> e", " `f", "g"]
)
def test_a_reader_made_late_reads_the_same(
    before: list[Any], between: list[Any], behind: str
) -> None:
    """Under ``trace`` all text is read as it comes."""
    deltas = [*before, {"content": "a\n"}, {"content": "b `"}, *between]
    messages = []
    for trace in (False, True):
        policy = Policy(trace=trace)
        stream = Stream(StreamOptions(wire="openai-chat", policy=policy))
        for delta in [*deltas, {"content": behind}, {"content": "\nh"}]:
            stream.push(_chunk(delta))
        stream.close()
        blocks = stream.message().blocks or ()
        messages.append([(each.type, getattr(each, "text", "")) for each in blocks])
    assert messages[0] == messages[1]
