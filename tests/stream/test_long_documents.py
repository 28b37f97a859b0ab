"""Documents above ``maxDocumentChars``: their text is not read, and on their own wire
they go out as they came."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from open_params import options_of
from recordings import PATHS, own

from stream_sidecar.stream.stream import Stream
from stream_sidecar.values.jsontext import portable
from stream_sidecar.wires import WIRES, WRITERS

LIMITS = {"maxDocumentChars": 300, "maxMessageBytes": 2000}
LONG = "<think>x</think>" + "y" * 300
IMAGE = {"inlineData": {"mimeType": "image/png", "data": "A" * 300}}


class Fed:
    """What a stream gave: ``chunks`` of its pushes and its close."""

    def __init__(self, params: dict[str, Any], chunks: list[Any]) -> None:
        wire = params["wire"]
        emit = {"wire": wire, "reasoning": "include"}
        stream = Stream(options_of({"limits": LIMITS, "emit": emit, **params}))
        emission = stream.emission()
        assert emission is not None
        self.events, self.pushed = [], []
        for chunk in chunks:
            events = stream.push(chunk)
            self.events += events
            self.pushed.append(emission.push(events))
        last = stream.close()
        self.events += last
        self.message = stream.message()
        self.chunks = [each for push in self.pushed for each in push]
        self.chunks += emission.close(last, self.message)
        self.codes = [each.code for each in self.events if each.type == "diagnostic"]


def chat(text: str | None, finish: str | None = None) -> dict[str, Any]:
    delta = {} if text is None else {"content": text}
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def gemini(part: Any, finish: str | None = None) -> dict[str, Any]:
    more = {} if finish is None else {"finishReason": finish}
    content = {"role": "model", "parts": [part]}
    return {"candidates": [{"content": content, "index": 0, **more}]}


def sse(documents: list[Any]) -> str:
    return "".join(f"data: {json.dumps(each)}\n\n" for each in documents)


BODIES: dict[str, Callable[[list[Any]], str]] = {
    "sse": sse,
    "ndjson": lambda documents: "\n".join(map(json.dumps, documents)) + "\n",
    "json-array": json.dumps,
}
"""The body of documents, by framing."""


@pytest.mark.parametrize("framing", BODIES)
@pytest.mark.parametrize("size", [1, 7, 1 << 20])
def test_an_image_goes_out_in_its_place(framing: str, size: int) -> None:
    """The finish reason beside it is read."""
    documents = [
        gemini({"text": "Here:"}),
        gemini(IMAGE),
        gemini({"text": "."}, "STOP"),
    ]
    body = BODIES[framing](documents)
    cut = [body[at : at + size] for at in range(0, len(body), size)]
    fed = Fed({"wire": "gemini", "framing": framing}, cut)
    assert fed.chunks == documents
    assert fed.message.text == "Here:."
    assert fed.codes == ["document-limit"]
    last = Fed(
        {"wire": "gemini", "framing": framing},
        [BODIES[framing]([gemini(IMAGE, "STOP")])],
    )
    assert last.chunks == [gemini(IMAGE, "STOP")]
    assert last.message.finish.reason == "stop"


def test_text_before_it_does_not_wait() -> None:
    """Nobody knows what follows that text, so it is decided as at the end of a block;
    reasoning continues."""
    documents = [
        chat("<think>a</think>A"),
        chat(LONG),
        chat("C"),
        chat(None, "stop"),
    ]
    fed = Fed(
        {"wire": "openai-chat", "framing": "sse"}, [sse([each]) for each in documents]
    )
    texts = [
        each["choices"][0]["delta"].get("content")
        for each in fed.chunks
        if each["choices"][0]["delta"]
    ]
    assert texts == [None, "A", LONG, "C"]
    assert documents[1] in fed.pushed[1]
    assert fed.chunks[-2:] == documents[2:]
    assert (fed.message.text, fed.message.reasoning) == ("AC", "a")


def test_its_calls_and_its_finish_are_read() -> None:
    """So that calls of the documents around it are whole."""
    arguments = json.dumps({"text": "z" * 300})
    function = {"name": "put", "arguments": arguments}
    call = {"index": 0, "id": "c1", "type": "function", "function": function}
    document = chat(None, "tool_calls")
    document["choices"][0]["delta"]["tool_calls"] = [call]
    fed = Fed({"wire": "openai-chat", "framing": "sse"}, [sse([document])])
    assert fed.chunks == [document]
    (called,) = fed.message.tool_calls
    assert (called.name, called.arguments, called.executable) == (
        "put",
        arguments,
        True,
    )
    assert fed.message.finish.reason == "tool-calls"


def test_a_wire_of_blocks_goes_on_from_the_events() -> None:
    """After a removal, documents of this wire are made from the events; one that was
    not read goes out as it came all the same."""

    def start(index: int, kind: str) -> dict[str, Any]:
        block = {"type": kind, "text": ""}
        return {"type": "content_block_start", "index": index, "content_block": block}

    def delta(index: int, text: str) -> dict[str, Any]:
        said = {"type": "text_delta", "text": text}
        return {"type": "content_block_delta", "index": index, "delta": said}

    message = {"id": "m", "role": "assistant", "content": [], "usage": {}}
    documents = [
        {"type": "message_start", "message": message},
        start(0, "text"),
        delta(0, "<invoke></invoke>A"),
        delta(0, LONG),
        delta(0, "C"),
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}},
        {"type": "message_stop"},
    ]
    fed = Fed(
        {"wire": "anthropic", "framing": "sse"}, [sse([each]) for each in documents]
    )
    texts = [
        each["delta"]["text"] for each in fed.chunks if "text" in each.get("delta", {})
    ]
    assert LONG in texts
    assert "".join(texts).endswith(f"A{LONG}C")
    assert fed.message.finish.reason == "stop"


def test_what_no_message_could_carry_is_left_out() -> None:
    documents = [chat("A"), chat("B" * 2000), chat("C", "stop")]
    fed = Fed({"wire": "openai-chat", "framing": "sse"}, [sse(documents)])
    assert fed.chunks == [documents[0], documents[2]]
    (limited,) = (each for each in fed.events if each.type == "diagnostic")
    assert "left out" in limited.message


@pytest.mark.parametrize("raw", ["[" + '"a", ' * 90 + "1]", '{"a": ' + "1" * 400])
def test_only_an_object_is_passed_on(raw: str) -> None:
    fed = Fed({"wire": "openai-chat", "framing": "sse"}, [f"data: {raw}\n\n"])
    assert "document-limit" in fed.codes
    assert [each for each in fed.chunks if "error" not in each] == []


def test_a_document_that_fits_no_wire_is_left_out() -> None:
    stream = Stream(options_of({"limits": LIMITS, "framing": "sse"}))
    events = stream.push(sse([{"odd": "x" * 400}]))
    assert [each.code for each in events if each.type == "diagnostic"] == [
        "document-limit"
    ]
    read = stream.push(sse([chat("y" * 400, "stop")])) + stream.close()
    assert stream.wire == "openai-chat"
    assert read[-1].reason == "stop"


@pytest.mark.parametrize("wire", WRITERS)
def test_recordings_of_long_documents_go_out_as_they_came(wire: str) -> None:
    """Nothing is taken out, because no text is read. An error that no document says
    follows them, as it does without a limit."""
    seen = 0
    for recording in map(own, PATHS):
        params, chunks = recording.params, recording.chunks
        is_own = params.get("wire") == wire and all(
            type(each) is dict and WIRES[wire].is_written(each) for each in chunks
        )
        if is_own and not recording.close:
            limits = {"maxDocumentChars": 1}
            body = [sse([each]) for each in chunks]
            fed = Fed({**params, "framing": "sse", "limits": limits}, body)
            came = list(map(portable, chunks))
            assert fed.chunks[: len(came)] == came, recording.name
            assert len(fed.chunks) == len(came) or fed.message.errors, recording.name
            seen += 1
    assert seen >= 15
