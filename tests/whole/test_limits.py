"""Every limit that a host can set does something, and says so with its name.

One test a field of ``Limits`` over the protocol, at the limit and one beyond it; what
the engine does there is told in ``spec/policy.md`` and from text rule 13.1 on.
"""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest
from attrs import fields
from checking import feed
from fuzz.rpc_host import SteppedHost
from memory_host import MemoryHost
from rpc_client import RpcError, frame, message

from stream_sidecar.options import Limits
from stream_sidecar.protocol.converter import unstructure

Json = Any

LIMIT_EXCEEDED = -31004


def refused(host: MemoryHost, method: str, params: Any) -> RpcError:
    with pytest.raises(RpcError) as caught:
        host.request(method, params)
    return caught.value


def diagnostics(result: Any) -> list[str]:
    return [each["code"] for each in result["events"] if each["type"] == "diagnostic"]


def test_every_limit_has_a_test() -> None:
    """A new one needs one, too."""
    names = unstructure(Limits()).keys()
    assert len(names) == len(fields(Limits))
    assert {f"test_{name}" for name in names} <= set(globals())


def test_maxStreams() -> None:  # noqa: N802
    host = MemoryHost(limits={"maxStreams": 2})
    for name in "ab":
        host.request("stream/open", {"streamId": name})
    error = refused(host, "stream/open", {"streamId": "c"})
    assert error.code == LIMIT_EXCEEDED
    assert (error.data["limit"], error.data["value"]) == (2, 3)
    assert host.request("message/normalize", {"wire": "text", "body": "x"})
    host.request("stream/close", {"streamId": "a"})
    assert host.request("stream/open", {"streamId": "c"})


def test_maxMessageBytes() -> None:  # noqa: N802
    """Bytes of the body, not characters; the connection goes on."""
    host = MemoryHost(limits={"maxMessageBytes": 1_000})
    request = message("message/normalize", {"wire": "text", "body": ""}, id=1)
    room = 1_000 - len(json.dumps(request).encode())
    for size, code in ((room, None), (room + 1, LIMIT_EXCEEDED)):
        request["params"]["body"] = "x" * size
        (answer,) = host.push(frame(json.dumps(request).encode()))
        assert answer.get("error", {}).get("code") == code
    data = answer["error"]["data"]
    assert (data["limit"], data["value"]) == (1_000, 1_001)
    assert host.request("stream/list") == {"streams": []}


def _sized(size: int) -> str:
    """A document of so many characters."""
    document = {"choices": [{"delta": {"content": ""}}]}
    room = size - len(json.dumps(document))
    return json.dumps({"choices": [{"delta": {"content": "x" * room}}]})


BODIES = {
    "json": lambda document: document,
    "sse": lambda document: f"data: {document}\n\n",
    "ndjson": lambda document: f"{document}\n",
    "json-array": lambda document: f"[{document}]",
}
"""A body of one document, by framing."""

ROOM = 200


@pytest.mark.parametrize("framing", BODIES)
def test_maxDocumentChars(framing: str) -> None:  # noqa: N802
    """A diagnostic, not a failed push; the next document is read."""
    host = MemoryHost(limits={"maxDocumentChars": ROOM})
    opening = {"streamId": "s", "wire": "openai-chat", "framing": framing}
    host.request("stream/open", opening)
    codes = []
    for size in (ROOM, ROOM + 1, ROOM):
        chunk = BODIES[framing](_sized(size))
        if framing == "json-array":  # one body is one array
            whole = {"wire": "openai-chat", "framing": framing, "body": chunk}
            result = host.request("message/normalize", whole)
        else:
            result = host.request("stream/push", {"streamId": "s", "chunk": chunk})
        codes.append("document-limit" in diagnostics(result))
    assert codes == [False, True, False]


HELD = {
    "text": ("text", "a `<think>" + "x" * ROOM),
    "document": ("openai-chat", 'data: {"choices": "' + "x" * ROOM),
    "undecided": ("auto", {"odd": ["x" * ROOM, 1]}),
    "call": (
        "openai-chat",
        {
            "choices": [
                {"delta": {"tool_calls": [{"function": {"arguments": "x" * ROOM}}]}}
            ]
        },
    ),
}
"""What a stream of a wire holds back whole."""


@pytest.mark.parametrize("what", HELD)
def test_maxHeldBytes(what: str) -> None:  # noqa: N802
    """The push that could exceed it is refused whole; others go on."""
    wire, chunk = HELD[what]
    host = MemoryHost(limits={"maxHeldBytes": 8 * ROOM})
    for name in "ab":
        host.request("stream/open", {"streamId": name, "wire": wire})
    push = {"streamId": "b", "chunks": [chunk], "pushSeq": 1}
    assert host.request("stream/push", {**push, "streamId": "a"})["pushes"] == 1
    for again in (push, {"streamId": "b", "chunk": chunk}):
        error = refused(host, "stream/push", again)
        assert error.code == LIMIT_EXCEEDED
        assert error.data["limit"] == 8 * ROOM < error.data["value"]
        assert error.data["retryable"] is True
    error = refused(host, "stream/push", {**push, "chunks": ["x" * 3 * ROOM]})
    assert error.data["retryable"] is False
    host.request("stream/close", {"streamId": "a"})
    assert host.request("stream/push", push)["pushes"] == 1


def test_maxHeldChars() -> None:  # noqa: N802
    """What is held is decided at the limit, wherever the chunk ends."""
    host = MemoryHost(limits={"maxHeldChars": 10})
    for size, full in ((2, False), (40, True)):
        host.request("stream/open", {"streamId": "s", "wire": "text"})
        chunk = "a `<think>" + "x" * size
        result = host.request("stream/push", {"streamId": "s", "chunk": chunk})
        assert ("hold-limit" in diagnostics(result)) is full
        closed = host.request("stream/close", {"streamId": "s"})
        longest = len("<think>")
        assert closed["stats"]["heldPeak"] <= 10 + longest


def _deltas(field: str, text: str) -> list[dict[str, Any]]:
    return [{"choices": [{"index": 0, "delta": {field: each}}]} for each in text]


LONG = "x" * 990
READERS = {
    "what waits, and tagged reasoning": (
        *(("reasoning", "w"), ("content", '{"success": true}' + " " * 970)),
        ("content", f"<think>{LONG}</think>Done."),
    ),
    "quoted, and native": (
        *(("content", f"`<think>{LONG}"), ("reasoning", f"\ue200cite{LONG}")),
        ("content", LONG),
    ),
    "tagged reasoning, and a citation in it": (
        *(("reasoning", "w"), ("content", f"<think>{LONG}\ue200cite{LONG}")),
    ),
    "calls": (
        ("content", '[TOOL_CALLS]f{"a": "' + LONG),
        *(("reasoning", '[TOOL_CALLS]f{"a": "' + LONG), ("content", LONG)),
    ),
    "what a removal brought together, and what is quoted": (
        ("content", '{"success": t</think>rue, "a": "' + LONG + f"`<think>{LONG}"),
    ),
}
"""What readers of one choice would hold at once, almost 1,000 characters each."""


@pytest.mark.parametrize("turns", READERS.values(), ids=list(READERS))
def test_readers_of_a_choice_hold_no_more_together(turns: Any) -> None:
    """One bound for the answer, native reasoning and tagged reasoning."""
    documents = [each for field, text in turns for each in _deltas(field, text)]
    limits = {"maxHeldChars": 1_000, "maxCallChars": 1_000}
    fed = feed({"wire": "openai-chat", "limits": limits}, documents)
    assert 900 < fed.stats.held_peak <= 1_000 + len("<|tool_call_section_begin|>")
    assert "hold-limit" in {getattr(event, "code", "") for event in fed.events}


def _call(arguments: str) -> dict[str, Any]:
    function = {"name": "f", "arguments": arguments}
    call = {"index": 0, "id": "c", "function": function}
    return {"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]}


@pytest.mark.parametrize("size", [100, 101])
def test_maxCallChars(size: int) -> None:  # noqa: N802
    """A call keeps so much of its arguments, and is cut off there."""
    host = MemoryHost(limits={"maxCallChars": 100})
    host.request("stream/open", {"streamId": "s", "wire": "openai-chat"})
    arguments = json.dumps({"a": "x" * (size - len(json.dumps({"a": ""})))})
    pushed = host.request("stream/push", {"streamId": "s", "chunk": _call(arguments)})
    closed = host.request("stream/close", {"streamId": "s"})
    (call,) = closed["message"]["toolCalls"]
    codes = diagnostics(pushed) + diagnostics(closed)
    assert ("hold-limit" in codes) is (size > 100)
    assert call["state"] == ("complete" if size <= 100 else "truncated")
    assert len(call["arguments"]) <= 100


@pytest.mark.parametrize("text", ['<tool_call>{"name": "f", "arguments": {"a": "%s"}}'])
def test_a_written_call_is_bounded_as_well(text: str) -> None:
    """It fails at the limit, and what was held is text again."""
    host = MemoryHost(limits={"maxCallChars": 100})
    host.request("stream/open", {"streamId": "s", "wire": "text"})
    chunk = text % ("x" * 100)
    result = host.request("stream/push", {"streamId": "s", "chunk": chunk})
    assert "hold-limit" in diagnostics(result)
    closed = host.request("stream/close", {"streamId": "s"})
    assert closed["message"]["text"] == chunk
    assert closed["stats"]["heldPeak"] <= 100 + len("<tool_call>")


@pytest.mark.parametrize(
    "method", ["stream/push", "stream/close", "stream/snapshot", "stream/list"]
)
def test_idleTimeoutMs(method: str) -> None:  # noqa: N802
    """Any call forgets the streams that were not used for so long."""
    host = SteppedHost(limits={"idleTimeoutMs": 1_000})
    host.request("stream/open", {"streamId": "s", "wire": "text"})
    host.clock.seconds = 0.999
    host.request("stream/push", {"streamId": "s", "chunk": "x"})
    host.clock.seconds = 1.999
    if method == "stream/list":
        assert host.request(method) == {"streams": []}
    else:
        error = refused(host, method, {"streamId": "s", "chunk": "x"})
        assert error.data["reason"] == "expired"
    assert host.request("sidecar/stats")["streams"]["expired"] == 1


def test_a_stream_that_expired_makes_room() -> None:
    host = SteppedHost(limits={"idleTimeoutMs": 1_000, "maxStreams": 1})
    host.request("stream/open", {"streamId": "s"})
    host.clock.seconds = 1.0
    assert host.request("stream/open", {"streamId": "t"})


# What is bounded without a limit of its own

DEEP = 5_000
"""Deeper than Python may call functions."""


@pytest.mark.parametrize("framing", ["json", "sse", "ndjson", "json-array"])
def test_documents_nest_as_deep_as_they_like(framing: str) -> None:
    """A diagnostic, no crash and no failed push; what follows is read."""
    host = MemoryHost()
    body = BODIES[framing]("[" * DEEP + "]" * DEEP)
    params = {"wire": "openai-chat", "framing": framing, "body": body}
    result = host.request("message/normalize", params)
    assert {"malformed-chunk", "unknown-chunk"} & set(diagnostics(result))


@pytest.mark.thorough
@pytest.mark.parametrize("opener", ["{", '{"a":', "[", "f(", '<tool_call>{"a":'])
def test_text_nests_as_deep_as_it_likes(opener: str) -> None:
    """Leading objects and calls are read without recursion."""
    host = MemoryHost()
    body = opener * DEEP
    params = {"wire": "text", "body": body, "tools": [{"name": "f"}]}
    assert host.request("message/normalize", params)["message"]["text"] == body


# --- Long names and results ----------------------------------------------------------


def _tool(size: int) -> tuple[Json, str]:
    name = "n" * size
    texts = (
        f'<tool_call>{{"name": "{name}", "arguments": {{}}}}</tool_call>',
        f'\n<{name}>{{"a": 1}}</{name}>',
        f"\n[{name}(a=1)]",
        f"\n<{name[:-1]}>",
    )
    return {"tools": [{"name": name}]}, "".join(texts)


def _known(size: int) -> tuple[Json, str]:
    value = {"k" * size: "v" * size}
    known = [value, "w" * size]
    return {"policy": {"toolResults": {"known": known}}}, json.dumps(value) * 2


def _memory(made: tuple[Json, str]) -> int:
    """The bytes at the peak of a stream that is pushed in slices."""
    options, text = made
    host = MemoryHost()
    tracemalloc.start()
    try:
        host.request("stream/open", {"streamId": "s", "wire": "text", **options})
        for at in range(0, len(text), 64):
            chunk = text[at : at + 64]
            host.request("stream/push", {"streamId": "s", "chunk": chunk})
        host.request("stream/close", {"streamId": "s"})
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("make", [_tool, _known])
def test_long_names_take_linear_memory(make: Callable[[int], tuple[Json, str]]) -> None:
    """Ten times the name takes ten times the memory, not a hundred times."""
    _memory(make(999))  # what is built once; streams of equal options share it
    small, large = _memory(make(1000)), _memory(make(10_000))
    assert large < 12 * small
