"""What goes out on the wire it came on: as it came while nothing leaked."""

from __future__ import annotations

import json
from base64 import b64decode
from itertools import chain
from typing import Any

import pytest
from attrs import evolve
from corpus import CORPUS
from open_params import options_of
from recordings import PATHS, of_corpus, own

from stream_sidecar.api import normalize
from stream_sidecar.framing.framer import Framer
from stream_sidecar.parts import Document, DonePart
from stream_sidecar.stream.own_documents import MOST_WAITING
from stream_sidecar.stream.stream import Stream
from stream_sidecar.values.jsontext import portable
from stream_sidecar.wires import WIRES, WRITERS

BARE = {
    "reasoning": {"tags": []},
    "toolCalls": {"mode": "off"},
    "toolResults": {"mode": "keep"},
}
"""A policy under which nothing is taken out."""


def _pushed(params: dict[str, Any], chunks: list[Any]) -> list[list[Any]]:
    """The documents that each push gives, and the close."""
    stream = Stream(options_of(params))
    emission = stream.emission()
    assert emission is not None
    given: list[list[Any]] = [emission.push(stream.push(chunk)) for chunk in chunks]
    events = stream.close()
    return [*given, emission.close(events, stream.message())]


def _said(params: dict[str, Any], chunks: list[Any]) -> Any:
    stream = Stream(options_of(params))
    for chunk in chunks:
        stream.push(chunk)
    stream.close()
    message = stream.message()
    return message.text, message.reasoning, len(message.tool_calls)


def _documents(params: dict[str, Any], chunks: list[Any]) -> list[Any] | None:
    """What came, as chunks; None where something was no document of the wire."""
    framer = Framer(params.get("framing", "auto"), limit=1_000_000)
    frames = [frame for chunk in chunks for frame in framer.push(chunk)]
    came: list[Any] = []
    for frame in [*frames, *framer.close()]:
        if isinstance(frame, DonePart):
            came.append("[DONE]")
        elif (
            not isinstance(frame, Document)
            or not isinstance(frame.value, dict)
            or not WIRES[params["wire"]].is_written(frame.value)
        ):
            return None
        else:
            named = frame.event and "type" not in frame.value
            value = portable(frame.value)
            came.append({"event": frame.event, "data": value} if named else value)
    return came if "[DONE]" not in came[:-1] else None


def _is_clean(params: dict[str, Any], chunks: list[Any]) -> bool:
    policy = {**params.get("policy", {}), **BARE}
    return _said(params, chunks) == _said({**params, "policy": policy}, chunks)


@pytest.mark.parametrize("wire", WRITERS)
def test_recordings_go_out_as_they_came(wire: str) -> None:
    seen = 0
    paths = [path for path in PATHS if "failed-without" not in path.name]  # our error
    for recording in map(own, paths):
        params, chunks = recording.params, recording.chunks
        if params.get("wire") != wire or not _is_clean(params, chunks):
            continue
        came = _documents(params, chunks)
        if came is not None:
            given = _pushed({**params, "emit": {"wire": wire}}, chunks)
            assert [each for push in given for each in push] == came, recording.name
            seen += 1
    assert seen >= 15


@pytest.mark.thorough
@pytest.mark.skipif(
    not CORPUS.exists(),
    reason="no corpus beside the project (SIDECAR_CORPUS): recordings were not emitted",
)
def test_the_corpus_goes_out_as_it_came(record_property: Any) -> None:
    """But for a few: what a provider sent twice, or behind its end."""
    equal: list[bool] = []
    for recording in of_corpus():
        params, (data,) = {**recording.params}, recording.chunks
        del params["encoding"]
        wire, chunks = params["wire"], [b64decode(data).decode("utf-8", "replace")]
        came = None
        if wire in WRITERS and _is_clean(params, chunks):
            came = _documents(params, chunks)
        if came is not None:
            given = _pushed({**params, "emit": {"wire": wire}}, chunks)
            equal.append([each for push in given for each in push] == came)
    record_property("equal", f"{sum(equal)} of {len(equal)}")
    assert len(equal) > 400
    assert sum(equal) >= 0.98 * len(equal)


def _delta(text: str, **more: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": {"content": text}}], "odd": None, **more}


CHAT = {"wire": "openai-chat", "emit": {"wire": "openai-chat"}}
FINISH = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}


def test_a_document_waits_while_its_text_is_undecided() -> None:
    first, second, third = _delta("a <thi"), {"ping": 1}, _delta("ck> b")
    given = _pushed(CHAT, [first, second, third, FINISH])
    assert given == [[], [], [first, second, third], [], [FINISH]]


def test_from_a_removal_on_documents_are_written() -> None:
    given = _pushed(CHAT, [_delta("Hi "), _delta("you.<think>"), _delta("a</think>b")])
    texts = [each["choices"][0]["delta"] for push in given for each in push]
    assert given[0] == [_delta("Hi ")]
    assert json.dumps(given).count('"odd"') == 4
    assert "".join(each.get("content", "") for each in texts) == "Hi you.b"


PING = {"type": "ping"}


@pytest.mark.parametrize("wire", ["openai-chat", "gemini", "anthropic"])
def test_behind_a_removal_documents_go_out_as_they_came(wire: str) -> None:
    """Only what the leak was in is other."""
    leak, clean = "<think>a</think>", "There "
    documents = _answer(wire, clean)
    emit = {"wire": wire, "emit": {"wire": wire, "reasoning": "drop"}}
    given = [e for push in _pushed(emit, _answer(wire, leak + clean)) for e in push]
    assert _without_pings(given) == _without_pings(documents)
    assert given.count(PING) == documents.count(PING)


def _without_pings(documents: list[Any]) -> list[Any]:
    """A ping stands behind the block that begins with its first text."""
    return [document for document in documents if document != PING]


def _answer(wire: str, first: str) -> list[Any]:
    """A stream with what no event carries in each document."""
    texts = (first, "it ", "is.")
    if wire == "openai-chat":
        counts = {"choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": 2}}
        begin = {"choices": [{"index": 0, "delta": {"role": "assistant"}}]}
        return [begin, *map(_delta, texts), {"filters": 1}, FINISH, counts]
    if wire == "gemini":
        usage = {"usageMetadata": {"promptTokenCount": 1, "totalTokenCount": 2}}
        said = [_candidate([{"text": text}]) for text in texts]
        last = {**_candidate([{"text": ""}], finishReason="STOP"), **usage}
        return [said[0], *[{**each, **usage, "odd": None} for each in said[1:]], last]
    block = {"type": "text", "text": ""}
    message = {"type": "message", "id": "m", "usage": {"input_tokens": 7}}
    return [
        {"type": "message_start", "message": message},
        PING,
        {"type": "content_block_start", "index": 0, "content_block": block},
        *[_text_delta(text) for text in texts],
        PING,
        {"type": "content_block_stop", "index": 0, "odd": None},
        {
            "type": "message_delta",
            "delta": {"stop_reason": "end_turn"},
            "usage": {"output_tokens": 3},
        },
        {"type": "message_stop"},
    ]


def _candidate(parts: list[Any], **more: Any) -> dict[str, Any]:
    return {"candidates": [{"content": {"parts": parts, "role": "model"}, **more}]}


def _text_delta(text: str) -> dict[str, Any]:
    delta = {"type": "text_delta", "text": text}
    return {"type": "content_block_delta", "index": 0, "delta": delta, "odd": 1}


def test_a_named_document_keeps_its_name() -> None:
    chunks = [_delta("<thi"), _delta("nk>a</think>b")]
    lines = [f"event: said\ndata: {json.dumps(each)}\n\n" for each in chunks]
    emit = {"wire": "openai-chat", "reasoning": "drop"}
    given = _pushed({**CHAT, "framing": "sse", "emit": emit}, lines)
    chunks = [each for push in given for each in push]
    assert [each["event"] for each in chunks] == ["said"]
    assert chunks[0]["data"]["choices"][0]["delta"]["content"] == "b"


def test_places_in_the_text_are_written_behind_a_removal() -> None:
    place = {"type": "url_citation", "url_citation": {"url": "u", "start_index": 17}}
    cited = {"choices": [{"index": 0, "delta": {"annotations": [place]}}]}
    given = _pushed(CHAT, [_delta("<think>a</think>b"), _delta(" c"), cited, FINISH])
    assert given[1] == [_delta(" c")]
    assert cited not in [each for push in given for each in push]


def _leaking(wire: str) -> tuple[list[Any], list[str]]:
    """A stream with a leak, and what has to be in its documents all the same."""
    text = "<think>a</think>b"
    if wire == "openai-chat":
        choice = {"index": 0, "delta": {"content": text}, "logprobs": {"content": []}}
        said = {"id": "1", "model": "m", "choices": [choice], "service_tier": "x"}
        end = {"choices": [{**FINISH["choices"][0], "stop_reason": 7}]}
        return [said, end], ["service_tier", "logprobs", "stop_reason"]
    if wire == "gemini":
        item = {"content": {"parts": [{"text": text}]}, "avgLogprobs": 1}
        end = {"candidates": [{"finishReason": "STOP", "tokenCount": 3}], "turn": "x"}
        return [{"candidates": [item]}, end], ["avgLogprobs", "tokenCount", "turn"]
    start = {"type": "message_start", "message": {"id": "m", "diagnostics": {}}}
    delta = {"delta": {"type": "text_delta", "text": text}, "usual": 1}
    block = {"type": "text", "text": ""}
    end = {"delta": {"stop_reason": "stop_sequence", "stop_sequence": "END"}}
    documents = [
        start,
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_delta", "index": 0, **delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", **end, "context_management": {}},
        {"type": "message_stop"},
    ]
    return documents, ["diagnostics", "usual", "END", "context_management"]


@pytest.mark.parametrize("wire", ["openai-chat", "gemini", "anthropic"])
def test_what_no_event_carries_goes_out_all_the_same(wire: str) -> None:
    documents, kept = _leaking(wire)
    given = _pushed({"wire": wire, "emit": {"wire": wire}}, documents)
    text = json.dumps(given)
    assert not [name for name in kept if f'"{name}"' not in text]
    assert "think>" not in text


def test_it_goes_out_in_a_body() -> None:
    message = {"role": "assistant", "content": "<think>a</think>b"}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    body = {"choices": [choice], "service_tier": "x"}
    stream = Stream(options_of(CHAT))
    stream.push(body)
    stream.close()
    emission = stream.emission()
    assert emission is not None
    written: Any = emission.body(stream.message(), "openai-chat")
    assert written["service_tier"] == "x"
    assert written["choices"][0]["message"]["content"] == "b"


def test_a_finish_waits_for_the_close_and_text_continues() -> None:
    more = _delta("again")
    given = _pushed(CHAT, [_delta("Hi"), FINISH, more, FINISH])
    assert given == [[_delta("Hi")], [], [FINISH, more], [], [FINISH]]


def test_the_end_mark_is_the_last() -> None:
    lines = [f"data: {json.dumps(each)}\n\n" for each in (_delta("Hi"), FINISH)]
    *_, last = _pushed({**CHAT, "framing": "sse"}, [*lines, "data: [DONE]\n\n"])
    assert last == [FINISH, "[DONE]"]


def test_few_documents_wait() -> None:
    """Then they are written, as far as their text is decided."""
    pings = [{"choices": [], "ping": number} for number in range(MOST_WAITING)]
    given = _pushed(CHAT, [_delta("a <thi"), *pings, _delta("ck> b"), FINISH])
    assert not any(given[:MOST_WAITING])
    *_, full, rest, end = given[:-1]
    texts = [each["choices"][0]["delta"]["content"] for each in (full[0], *rest)]
    assert full[1:] == pings
    assert texts == ["a ", "<thick> b"]
    assert end == []
    assert given[-1] == [FINISH]


def test_little_text_waits() -> None:
    """What stands beside it goes out, when more is held back than may wait."""
    options = options_of(CHAT)
    options = evolve(options, limits=evolve(options.limits, max_held_chars=64))
    stream = Stream(options)
    emission = stream.emission()
    assert emission is not None
    chunks = [_delta("a <|tool_call>call:f{x:"), {"choices": [], "ping": 1}]
    chunks += [_delta("y" * 50)] * 2
    given = [emission.push(stream.push(chunk)) for chunk in chunks]
    assert [len(each) for each in given] == [0, 0, 2, 0]
    assert given[2][0]["choices"][0]["delta"]["content"] == "a "


def test_an_error_of_no_document_is_written() -> None:
    chunks = [f"data: {json.dumps(_delta('Hi'))}\n\n", "data: Error: it broke\n\n"]
    _, _, last = _pushed({**CHAT, "framing": "sse"}, chunks)
    assert [*last[0]] == ["error"]


def test_other_wires_and_families_are_written() -> None:
    step = {"event_type": "interaction.created", "interaction": {"id": "i"}}
    params = {"wire": "gemini", "emit": {"wire": "gemini"}}
    assert step not in [each for push in _pushed(params, [step]) for each in push]
    other = {**CHAT, "wire": "ollama"}
    given = _pushed(other, [{"message": {"content": "Hi"}, "done": True}])
    assert all("choices" in each for push in given for each in push)


_ECHO: dict[str, Any] = {
    "completed_at": 1754000005,
    "frequency_penalty": 0.1,
    "instructions": "Be short.",
    "metadata": {"a": "b"},
    "parallel_tool_calls": False,
    "presence_penalty": 0.2,
    "service_tier": "priority",
    "store": True,
    "temperature": 0.3,
    "text": {"format": {"type": "json_object"}, "verbosity": "low"},
    "tool_choice": "required",
    "tools": [{"type": "function", "name": "f", "parameters": {}}],
    "top_logprobs": 2,
    "top_p": 0.5,
    "truncation": "auto",
    "unknown": {"x": None},
}
"""What a response repeats of its request."""


def test_a_removal_changes_nothing_around_the_text() -> None:
    text = "<think>So.</think>Four."
    part = {"type": "output_text", "text": text, "annotations": []}
    item = {"id": "msg_1", "type": "message", "role": "assistant", "content": [part]}
    head = {"id": "resp_1", "object": "response", "created_at": 1754000000}
    response = {**head, **_ECHO, "status": "completed", "output": [item]}
    emit = {"wire": "openai-responses"}
    begun = {**response, "status": "in_progress", "output": []}
    place = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
    came = [
        {"type": "response.created", "response": begun},
        {"type": "response.output_text.delta", **place, "delta": text},
        {"type": "response.completed", "response": response},
    ]
    params = {"wire": "openai-responses", "emit": emit}
    sent = [each for chunks in _pushed(params, came) for each in chunks]
    body = normalize(response, **params).body or {}

    for each in (sent[0]["response"], sent[-1]["response"], body):
        assert {name: each[name] for name in _ECHO} == _ECHO
    assert text not in json.dumps([sent, body])


def test_an_item_of_another_type_lends_nothing() -> None:
    block = {"type": "text", "text": "<think>So.</think>Four.", "citations": None}
    body = {"id": "msg_1", "type": "message", "role": "assistant", "content": [block]}
    emit = {"wire": "anthropic", "reasoning": "include"}
    clean = (normalize(body, wire="anthropic", emit=emit).body or {})["content"]

    assert [each["type"] for each in clean] == ["thinking", "text"]
    assert "text" not in clean[0]


LEAKING: dict[str, list[dict[str, Any]]] = {
    "anthropic": [
        {"type": "content_block_start", "content_block": {"type": "text"}},
        {"type": "content_block_delta", "delta": {"type": "text_delta"}},
    ],
    "openai-responses": [{"type": "response.output_text.delta", "item_id": "m"}],
}
LEAKING["anthropic"][1]["delta"]["text"] = "<thinking>a</thinking>Hi"
LEAKING["openai-responses"][0]["delta"] = "<think>a</think>Hi"


@pytest.mark.parametrize("wire", LEAKING)
@pytest.mark.parametrize("kind", [{}, [], 1, None, ["error"]], ids=repr)
def test_a_type_may_be_any_value(wire: str, kind: Any) -> None:
    odd = {"type": kind, "delta": "x"}
    params = {"wire": wire, "emit": {"wire": wire}}
    given = _pushed(params, [odd, *LEAKING[wire], odd])
    assert [each for each in chain.from_iterable(given) if each == odd]
