"""Python's interface gives what the methods of the protocol give, and costs nothing
until it is asked for."""

from __future__ import annotations

import pydoc
import re
import subprocess
import sys
from typing import Any

import pytest
from memory_host import MemoryHost

import stream_sidecar
from stream_sidecar import (
    Message,
    Stream,
    TextDelta,
    UsageError,
    api,
    as_json,
    inspect,
    normalize,
    prepare,
    render,
    repair,
)

GEMINI_CALL = {"functionCall": {"name": "f", "args": {}}}
WRITTEN_CALL = '<tool_call>{"name": "f", "arguments": {}}</tool_call>'
LEAK = {"role": "assistant", "content": "<think>Hm.</think>Hi"}
SSE = (
    'data: {"choices":[{"index":0,"delta":{"content":"<think>2 + 2 🌿</think>Four"}}]}'
    '\n\ndata: {"choices":[{"index":0,"delta":{"content":" 🌿."},'
    '"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
).encode()
OPTIONS: dict[str, Any] = {
    "wire": "openai-chat",
    "model": "qwen3",
    "tools": [{"type": "function", "function": {"name": "look"}}],
    "policy": {"toolResults": {"mode": "keep"}},
    "emit": {"wire": "openai-chat"},
}


def read(chunks: list[Any], **options: Any) -> dict[str, Any]:
    """What a stream gives, as JSON; ``events`` and ``chunks`` are all of them."""
    stream = Stream(**options)
    pushed = [as_json(stream.push(chunk)) for chunk in chunks]
    closed: dict[str, Any] = as_json(stream.close())
    for name in ("events", "chunks"):
        if name in closed:
            closed[name] = [each for one in (*pushed, closed) for each in one[name]]
    return closed


def test_a_stream_says_what_the_process_says(host: MemoryHost) -> None:
    host.request("stream/open", {"streamId": "stream-1", **OPTIONS})
    chunk = {"streamId": "stream-1", "chunk": SSE.decode()}
    pushed = host.request("stream/push", chunk)
    closed = host.request("stream/close", {"streamId": "stream-1"})
    for name in ("events", "chunks"):
        closed[name] = pushed[name] + closed[name]
    assert read([SSE.decode()], stream_id="stream-1", **OPTIONS) == closed


@pytest.mark.parametrize("size", [1, 3, len(SSE)])
@pytest.mark.parametrize("encoding", ["utf-8", "base64"])
def test_bytes_are_cut_anywhere(size: int, encoding: str) -> None:
    slices = [SSE[at : at + size] for at in range(0, len(SSE), size)]
    message = read(slices, encoding=encoding, framing="sse", **OPTIONS)["message"]
    assert (message["text"], message["reasoning"]) == ("Four 🌿.", "2 + 2 🌿")


@pytest.mark.parametrize("emit", [None, {"wire": "openai-chat"}])
def test_a_character_that_is_cut_off_is_reported(emit: dict[str, Any] | None) -> None:
    closed = read([b"Hi ", "🌿".encode()[:2]], wire="text", emit=emit)
    assert closed["message"]["text"] == "Hi \ufffd"
    assert "".join(each.get("text", "") for each in closed["events"]) == "Hi \ufffd"


def test_events_are_objects() -> None:
    stream = Stream(wire="text")
    assert stream.opened.wire == "text"
    (event,) = stream.push("Hi").events
    assert isinstance(event, TextDelta)
    assert (event.type, event.text) == ("text-delta", "Hi")
    assert stream.snapshot().message.text == "Hi"
    error = {"status": 500, "body": "boom"}
    assert stream.close(error=error).message.finish.reason == "error"


def test_functions_say_what_the_process_says(host: MemoryHost) -> None:
    body = {"messages": [LEAK, {"role": "user", "content": "Go on."}]}
    message = normalize("Hi", wire="text").message
    calls: list[tuple[str, Any, dict[str, Any]]] = [
        ("message/normalize", normalize, {"body": SSE.decode(), **OPTIONS}),
        ("request/prepare", prepare, {"body": body, "wire": "openai-chat"}),
        ("message/render", render, {"message": as_json(message), "wire": "anthropic"}),
    ]
    for method, function, params in calls:
        assert as_json(function(**params)) == host.request(method, params), method
    assert render(message, "anthropic").messages[0]["role"] == "assistant"


def test_sessions_are_inspected_and_repaired() -> None:
    (found,) = inspect([LEAK], model="qwen3").results
    assert [finding.text for finding in found.findings] == ["<think>Hm.</think>"]
    (repaired,) = repair([LEAK]).results
    assert repaired.message == {"role": "assistant", "content": "Hi"}


@pytest.mark.parametrize(
    ("call", "path"),
    [
        (lambda: Stream(wire="telepathy"), "params.wire"),
        (lambda: Stream(policy={"trace": "yes"}), "params.policy.trace"),
        (lambda: prepare({}, "carrier-pigeon"), "params.wire"),
        (lambda: Stream(policy={"toolResult": {}}), "params.policy.toolResult"),
        (lambda: normalize("", emit={"wire": "gemini", "as": 1}), "params.emit.as"),
        (lambda: inspect([], tools=[{"name": "f", "nam": 1}]), "params.tools[0].nam"),
        (lambda: repair([], policy={"echo": {"x": 1}}), "params.policy.echo.x"),
        (lambda: prepare({}, "gemini", policy={"x": 1}), "params.policy.x"),
        (lambda: Stream().close(error={"bdy": 1}), "params.error.bdy"),
        (lambda: Stream(stream_id=""), "params.streamId"),
        (lambda: normalize("", stream_id=""), "params.streamId"),
    ],
)
def test_mistakes_are_typed(call: Any, path: str) -> None:
    with pytest.raises(UsageError) as caught:
        call()
    assert (caught.value.kind, caught.value.data["path"]) == ("invalid-params", path)


def test_a_near_name_is_offered() -> None:
    with pytest.raises(UsageError) as caught:
        Stream(policy={"toolResults": {"mdoe": "keep"}})
    path = "params.policy.toolResults.mdoe"
    assert str(caught.value) == f"{path}: is not known; did you mean mode?"


def test_lists_may_be_tuples() -> None:
    policy = {"reasoning": {"tags": ("plan",)}}
    stream = Stream(wire="text", policy=policy, tools=({"name": "f"},))
    assert [*stream.pipe(["<plan>a</plan>b"])]
    assert (stream.message.reasoning, stream.message.text) == ("a", "b")


def test_a_closed_stream_is_closed() -> None:
    stream = Stream(wire="text")
    stream.close()
    with pytest.raises(UsageError, match="is closed"):
        stream.push("Hi")


def test_the_package_names_the_face() -> None:
    assert sorted(stream_sidecar.__all__) == sorted(api.__all__)
    for name in api.__all__:
        assert getattr(stream_sidecar, name) is getattr(api, name)
    with pytest.raises(AttributeError, match="no attribute 'telepathy'"):
        _ = stream_sidecar.telepathy  # type: ignore[attr-defined]


def test_the_package_shows_its_names() -> None:
    """To ``dir()``, to ``help()`` and to editors that complete."""
    shown = {name for name in dir(stream_sidecar) if not name.startswith("__")}
    assert shown == {*api.__all__}
    shown = pydoc.plain(pydoc.render_doc(stream_sidecar))
    assert "for event in stream.pipe(response.iter_bytes()):" in shown
    for name in api.__all__:
        assert re.search(rf"\b{name}\b", shown), name


LOADED = """
import sys
import stream_sidecar
from stream_sidecar import patterns
print(*sorted(name for name in sys.modules if name.startswith("stream_sidecar")))
stream_sidecar.Stream
assert "stream_sidecar.api" in sys.modules and "pygls" not in sys.modules
"""


def test_importing_the_package_loads_nothing() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOADED], capture_output=True, text=True, check=True
    )
    assert done.stdout == "stream_sidecar stream_sidecar.patterns\n"


def test_two_turns_have_ids_of_their_own() -> None:
    body = {"choices": [{"message": {"content": WRITTEN_CALL}}]}
    ids = []
    for turn in ("one", "two"):
        stream = Stream(wire="openai-chat", stream_id=turn)
        stream.push(body)
        (streamed,) = stream.close().message.tool_calls
        message = normalize(body, wire="openai-chat", stream_id=turn).message
        assert [streamed.tool_call_id] == [
            each.tool_call_id for each in message.tool_calls
        ]
        ids.append(streamed.tool_call_id)
    assert ids[0] != ids[1]


CALLS: tuple[tuple[str, Any], ...] = (
    ("ollama", {"message": {"tool_calls": [{"function": {"name": "f"}}]}}),
    ("gemini", {"candidates": [{"content": {"parts": [GEMINI_CALL]}}]}),
    ("openai-chat", {"choices": [{"message": {"content": WRITTEN_CALL}}]}),
)


@pytest.mark.parametrize(("wire", "body"), CALLS)
def test_two_turns_without_an_id_have_ids_of_their_own(wire: Any, body: Any) -> None:
    def ids(message: Message) -> list[str]:
        return [call.tool_call_id for call in message.tool_calls]

    streams = [Stream(wire=wire), Stream(wire=wire)]
    for stream in streams:
        assert [*stream.pipe([body])]
    found = [ids(stream.message) for stream in streams]
    found += [ids(normalize(body, wire=wire).message) for _ in streams]
    assert all(found)
    assert len({*map(tuple, found)}) == len(found)
    again = streams[0].opened.stream_id
    assert ids(normalize(body, wire=wire, stream_id=again).message) == found[0]
