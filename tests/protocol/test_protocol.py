"""The methods: params in, results and errors out, all in strict JSON."""

from __future__ import annotations

import gc
import json
from weakref import ref

import pytest
from bad_params import BAD_CLOSES, BAD_OPENS, BAD_PUSHES
from memory_host import MemoryHost, error_of
from rpc_client import RpcError, frame, message

from stream_sidecar.dialects import SAFE
from stream_sidecar.errors import UsageError
from stream_sidecar.options import DEFAULT_TAGS, Limits, Policy, ReasoningPolicy
from stream_sidecar.protocol.converter import structure, unstructure
from stream_sidecar.protocol.methods import METHODS
from stream_sidecar.protocol.params import NoParams, OpenParams, PushParams
from stream_sidecar.protocol.sessions import Sessions

# stream/open


# The answer tells the tags that count, where the host left that to the profile.
DEFAULTS = json.loads(
    json.dumps(unstructure(Policy(ReasoningPolicy(tags=DEFAULT_TAGS))))
)


def test_open_with_defaults(host):
    result = host.request("stream/open", {})

    assert json.loads(json.dumps(result)) == {
        "streamId": "stream-1",
        "wire": "auto",
        "framing": "auto",
        "profile": {"name": "default", "dialects": list(SAFE), "startsOpen": False},
        "policy": DEFAULTS,
        "limits": unstructure(Limits()),
    }


def test_open_names_streams(host):
    host.request("stream/open", {"streamId": "stream-2"})

    names = [host.request("stream/open")["streamId"] for _ in range(2)]

    assert names == ["stream-1", "stream-3"]


@pytest.mark.parametrize(("params", "path"), BAD_OPENS)
def test_bad_params(host, params, path):
    """The message begins with the path of the field; nothing was opened."""
    error = error_of(host, "stream/open", params)

    assert error.code == -32602
    assert error.message.startswith(f"params{path}: ")
    assert error.data == {
        "kind": "invalid-params",
        "retryable": False,
        "path": f"params{path}",
    }
    assert host.request("stream/list") == {"streams": []}


def test_null_equals_absent_and_unknown_is_ignored(host):
    nothing = dict.fromkeys(
        ["streamId", "wire", "framing", "encoding", "provider", "model", "tools"]
    )
    policy = {"reasoning": {"scope": None, "later": 1}, "message": None, "trace": None}

    opened = host.request("stream/open", {**nothing, "policy": policy, "later": {}})

    assert json.loads(json.dumps(opened["policy"])) == DEFAULTS
    assert opened["ignored"] == ["later", "policy.reasoning.later"]


KNOWN = {
    "OpenAI": {
        "type": "function",
        "function": {"name": "f", "parameters": {"type": "object", "x": 1}},
        "strict": True,
    },
    "Responses": {"type": "function", "name": "f", "parameters": {}, "strict": True},
    "a grammar": {
        "type": "custom",
        "custom": {"name": "f", "format": {"a": "b"}},
    },
    "Anthropic": {
        "name": "f",
        "input_schema": {},
        "cache_control": {"type": "ephemeral"},
        "defer_loading": True,
    },
    "MCP": {"name": "f", "title": "F", "outputSchema": {}, "annotations": {"x": 1}},
    "a provider's": {"type": "web_search_20250305", "name": "search", "max_uses": 3},
}


@pytest.mark.parametrize("tool", KNOWN.values(), ids=KNOWN)
def test_members_of_providers_are_not_listed(host, tool):
    assert "ignored" not in host.request("stream/open", {"tools": [tool]})


UNKNOWN = {
    ".modle": {"modle": "qwen3"},
    ".limits": {"limits": {"maxHeldChars": 1}},
    ".policy.toolResult": {"policy": {"toolResult": {"mode": "keep"}}},
    ".policy.echo.marker": {"policy": {"echo": {"marker": ["x"]}}},
    ".emit.reasonning": {"emit": {"wire": "gemini", "reasonning": "drop"}},
    ".tools[1].exector": {"tools": [{"name": "f"}, {"name": "g", "exector": "server"}]},
    ".tools[0].function.paramters": {
        "tools": [{"type": "function", "function": {"name": "f", "paramters": {}}}]
    },
}


@pytest.mark.parametrize(("path", "params"), UNKNOWN.items(), ids=UNKNOWN)
def test_unknown_members_are_listed(host, path, params):
    """By their paths, as errors have them; what is null is absent."""
    nothing = {"metadata": {"mine": 1}, "absent": None}

    opened = host.request("stream/open", {**nothing, **params})

    assert opened["ignored"] == [path[1:]]


@pytest.mark.parametrize(
    ("method", "params", "paths"),
    [
        ("message/normalize", {"body": {"modle": 1}, "modle": "qwen3"}, ("modle",)),
        (
            "message/repair",
            {"messages": [{"mine": 1}], "policy": {"reasoning": {"tag": []}}},
            ("policy.reasoning.tag",),
        ),
        (
            "request/prepare",
            {"wire": "gemini", "body": {"a": 1}, "claim": 1},
            ("claim",),
        ),
        ("message/render", {"wire": "gemini", "message": {"a": 1}, "x": 1}, ("x",)),
        ("sidecar/stats", None, ()),
    ],
)
def test_every_method_knows_its_members(method, params, paths):
    assert METHODS[method].ignored(params) == paths


def test_policy_overrides_singly():
    reasoning = {"scope": "everywhere", "tags": ["a", "b"]}
    host = MemoryHost(policy={"reasoning": reasoning, "trace": True})

    override = {"reasoning": {"tags": ["c"], "unclosed": "text"}}
    result = host.request("stream/open", {"policy": override})

    assert json.loads(json.dumps(result["policy"])) == {
        **DEFAULTS,
        "trace": True,
        "reasoning": {
            **DEFAULTS["reasoning"],
            "scope": "everywhere",
            "unclosed": "text",
            "tags": ["c"],
        },
    }
    assert host.request("stream/open")["policy"]["reasoning"]["tags"] == ["a", "b"]


SCHEMA = {"type": "object"}


@pytest.mark.parametrize(
    "tool",
    [
        {"name": "read", "description": "d", "inputSchema": SCHEMA},
        {"name": "read", "description": "d", "input_schema": SCHEMA},
        {"type": "custom", "name": "read", "description": "d", "input_schema": SCHEMA},
        {"type": "function", "name": "read", "description": "d", "parameters": SCHEMA},
        {
            "type": "function",
            "function": {"name": "read", "description": "d", "parameters": SCHEMA},
        },
    ],
)
def test_spellings_of_tools(tool):
    """MCP, Anthropic, OpenAI's two."""
    params = structure({"tools": [{**tool, "kind": "read"}]}, OpenParams, "params")

    (read,) = params.tools
    assert (read.name, read.description, read.input_schema) == ("read", "d", SCHEMA)
    assert read.kind == "read"


def test_tools_of_a_provider_are_named_by_their_type():
    tools = [{"type": "web_search"}, {"type": "web_search_20250305", "name": "search"}]

    params = structure({"tools": tools}, OpenParams, "params")

    assert [tool.name for tool in params.tools] == ["web_search", "search"]


@pytest.mark.parametrize("name", ["wire", "framing"])
def test_text_implies_text(host, name):
    opened = host.request("stream/open", {name: "text"})

    assert (opened["wire"], opened["framing"]) == ("text", "text")


def test_stream_exists(stream):
    error = error_of(stream, "stream/open", {"streamId": "s"})

    assert (error.code, error.data["kind"]) == (-31002, "stream-exists")


def test_too_many_streams():
    host = MemoryHost(limits={"maxStreams": 1})
    host.request("stream/open", {"streamId": "s"})

    error = error_of(host, "stream/open", {})

    assert (error.code, error.data["kind"]) == (-31004, "limit-exceeded")
    assert (error.data["limit"], error.data["value"]) == (1, 2)
    assert error.data["retryable"] is True
    host.request("stream/close", {"streamId": "s"})
    assert host.request("stream/open")


# stream/push


def push(host, **params):
    return host.request("stream/push", {"streamId": "s", **params})


def test_push(stream):
    assert push(stream, chunk="hello") == {
        "streamId": "s",
        "events": [{"type": "text-delta", "seq": 1, "block": 0, "text": "hello"}],
        "lastSeq": 1,
        "pushes": 1,
    }


def test_chunks_give_the_events_of_pushes(stream):
    stream.request("stream/open", {"streamId": "t", "wire": "text"})
    single = [push(stream, chunk=chunk) for chunk in ("a<thi", "nk>b")]

    both = push(stream, streamId="t", chunks=["a<thi", "nk>b"])

    assert both["events"] == single[0]["events"] + single[1]["events"]
    assert (both["lastSeq"], both["pushes"]) == (single[1]["lastSeq"], 1)
    assert both["lastSeqs"] == [each["lastSeq"] for each in single]
    assert "lastSeqs" not in single[0]
    numbered = push(stream, streamId="t", chunks=["c", "d"], pushSeq=2)
    assert [*both["lastSeqs"], *numbered["lastSeqs"]] == [1, 3, 4, 5]
    assert push(stream, chunks=[])["events"] == []


@pytest.mark.parametrize(
    "params", [{"chunk": None}, {"chunk": None, "chunks": None}, {"chunks": [None]}]
)
def test_null_is_a_chunk(stream, params):
    """What no document can be is a diagnostic, not a failed push."""
    (event,) = push(stream, **params)["events"]

    assert event["type"] == "diagnostic"


@pytest.mark.parametrize(("params", "path"), BAD_PUSHES)
def test_bad_push(stream, params, path):
    error = error_of(stream, "stream/push", {"streamId": "s", **params})

    assert error.code == -32602
    assert error.message.startswith(f"params.{path}: ")


def test_null_chunk_beside_chunks_is_absent(stream):
    """As languages without absent fields send it."""
    assert push(stream, chunk=None, chunks=["x"])["lastSeq"] == 1


def test_push_seq(stream):
    assert push(stream, chunk="a", pushSeq=1)["pushes"] == 1
    for wrong in (0, 1, 3):
        error = error_of(
            stream, "stream/push", {"streamId": "s", "chunk": "b", "pushSeq": wrong}
        )
        assert (error.code, error.data["kind"]) == (-31003, "sequence-error")
        assert error.data["expected"] == 2
    assert push(stream, chunk="c")["pushes"] == 2
    assert push(stream, chunks=["d", "e"], pushSeq=3)["pushes"] == 3

    assert (
        stream.request("stream/snapshot", {"streamId": "s"})["message"]["text"]
        == "acde"
    )


def test_a_push_gives_what_is_emitted(stream):
    """For one chunk, which is answered without a look at its params, as for several."""
    for stream_id in ("one", "list"):
        params = {"streamId": stream_id, "wire": "text", "emit": {"wire": "gemini"}}
        stream.request("stream/open", params)

    one = push(stream, streamId="one", chunk="a<think>b</think>c")

    assert len(one["chunks"]) == 3
    several = push(stream, streamId="list", chunks=["a<think>b</think>c"])
    assert several.pop("lastSeqs") == [one["lastSeq"]]
    assert one == {**several, "streamId": "one"}


def test_push_as_notification(stream):
    (noted,) = stream.notify("stream/push", {"streamId": "s", "chunk": "x"})

    assert noted["method"] == "stream/events"
    assert noted["params"]["events"][0]["text"] == "x"
    assert (noted["params"]["lastSeq"], noted["params"]["pushes"]) == (1, 1)


@pytest.mark.parametrize(
    ("params", "stream_id", "code"),
    [
        ({"streamId": "s"}, "s", -32602),
        ({"streamId": "t", "chunk": "x"}, "t", -31001),
        ({"streamId": "s", "chunk": "x", "pushSeq": 5}, "s", -31003),
        ([], None, -32602),
    ],
)
def test_refused_push_as_notification(stream, params, stream_id, code):
    (noted,) = stream.notify("stream/push", params)

    assert noted["method"] == "stream/events"
    assert noted["params"].get("streamId") == stream_id
    error = RpcError(noted["params"]["error"])
    assert error.code == code


def test_other_methods_as_notifications(host):
    """Best effort, without an answer: a client that drops a stream closes it so."""
    assert host.notify("stream/open", {"streamId": "n"}) == []
    assert len(host.request("stream/list")["streams"]) == 1
    assert host.notify("stream/close", {"streamId": "n"}) == []
    assert host.request("stream/list")["streams"] == []


# stream/close, snapshot, list, message/normalize, sidecar/stats


def test_close(stream):
    push(stream, chunk="hello")

    closed = stream.request("stream/close", {"streamId": "s"})

    assert closed["events"][-1] == closed["message"]["finish"]
    assert closed["events"][-1]["type"] == "finish"
    assert closed["message"]["role"] == "assistant"
    assert closed["message"]["text"] == "hello"
    assert closed["stats"]["pushes"] == 1


@pytest.mark.parametrize(
    ("params", "reason"),
    [
        ({}, "stop"),
        ({"reason": "cancelled"}, "cancelled"),
        ({"reason": "error"}, "error"),
        ({"error": {"status": 429, "body": "slow down"}}, "error"),
    ],
)
def test_close_reasons(stream, params, reason):
    push(stream, chunk="x")

    closed = stream.request("stream/close", {"streamId": "s", **params})

    assert closed["message"]["finish"]["reason"] == reason


@pytest.mark.parametrize(("params", "path"), BAD_CLOSES)
def test_bad_close(stream, params, path):
    error = error_of(stream, "stream/close", {"streamId": "s", **params})

    assert error.message.startswith(f"params.{path}: ")


def test_a_stream_whose_close_was_refused_continues(stream):
    push(stream, chunk="Hello")
    error_of(stream, "stream/close", {"streamId": "s", "error": {"status": "429"}})

    push(stream, chunk=" you")
    closed = stream.request("stream/close", {"streamId": "s", "error": {"status": 429}})

    assert closed["message"]["text"] == "Hello you"
    assert closed["message"]["errors"][0]["httpStatus"] == 429


@pytest.mark.parametrize("method", ["stream/push", "stream/close", "stream/snapshot"])
def test_streams_that_are_not_open(stream, method):
    stream.request("stream/close", {"streamId": "s"})

    for stream_id, reason in (("s", "closed"), ("t", "never")):
        error = error_of(stream, method, {"streamId": stream_id, "chunk": "x"})
        assert (error.code, error.data["kind"]) == (-31001, "stream-not-found")
        assert error.data["reason"] == reason


def test_id_of_a_closed_stream_is_free(stream):
    stream.request("stream/close", {"streamId": "s"})
    stream.request("stream/open", {"streamId": "s", "wire": "text"})

    assert push(stream, chunk="x")["pushes"] == 1


def test_snapshot(stream):
    push(stream, chunks=["a", "b"])

    snapshot = stream.request("stream/snapshot", {"streamId": "s"})

    assert snapshot["message"]["text"] == "ab"
    assert snapshot["stats"]["pushes"] == 1
    assert snapshot["lastSeq"] == 2
    assert push(stream, chunk="c")["lastSeq"] == 3


def test_list(stream):
    stream.request("stream/open", {"streamId": "t", "metadata": {"tab": 1}})
    push(stream, chunk="abc")

    first, second = stream.request("stream/list")["streams"]

    assert first.pop("openedAt").endswith("Z")
    assert first == {
        "streamId": "s",
        "wire": "text",
        "pushes": 1,
        "chars": 3,
        "lastSeq": 1,
    }
    assert (second["streamId"], second["metadata"]) == ("t", {"tab": 1})


def test_normalize_is_push_and_close(stream):
    text = "<think>a</think>b"
    events = push(stream, chunk=text)["events"]
    closed = stream.request("stream/close", {"streamId": "s"})

    whole = stream.request("message/normalize", {"wire": "text", "body": text})

    assert whole["events"] == events + closed["events"]
    assert whole["message"] == closed["message"]
    assert whole["stats"] == closed["stats"]
    assert error_of(stream, "message/normalize", {}).message.startswith("params.body: ")


def test_stats(stream):
    push(stream, chunk="<think>a</think>b")
    stream.request("stream/close", {"streamId": "s"})
    for model in ("m", "m", None):
        params = {"wire": "text", "body": "x", "model": model, "provider": "p"}
        stream.request("message/normalize", params)

    stats = stream.request("sidecar/stats")

    assert stats["streams"] == {"open": 0, "opened": 1, "closed": 1, "expired": 0}
    counters = stats["counters"]
    assert (counters["messages"], counters["delimitersStripped"]) == (4, 2)
    rows = [(row.get("provider"), row.get("model")) for row in counters["byModel"]]
    assert rows == [(None, None), ("p", "m"), ("p", None)]
    assert [row["messages"] for row in counters["byModel"]] == [1, 2, 1]


def test_stats_take_the_names_that_providers_give(host):
    chunk = {"object": "chat.completion.chunk", "model": "said", "choices": []}
    host.request("message/normalize", {"wire": "openai-chat", "body": chunk})

    (row,) = host.request("sidecar/stats")["counters"]["byModel"]

    assert row["model"] == "said"


def test_counters_of_many_models_stay_bounded(host):
    for number in range(300):
        params = {"wire": "text", "body": "x", "model": f"m{number}"}
        host.request("message/normalize", params)

    counters = host.request("sidecar/stats")["counters"]

    assert counters["messages"] == 300
    assert len(counters["byModel"]) == 257
    assert sum(row["messages"] for row in counters["byModel"]) == 300


def test_counters_of_long_names_stay_bounded(host):
    for number in range(3):
        name = "m" * 256 + f"{number}" * 100_000
        params = {"wire": "text", "body": "x", "model": name, "provider": name}
        host.request("message/normalize", params)

    (row,) = host.request("sidecar/stats")["counters"]["byModel"]

    assert row["messages"] == 3
    assert row["model"] == row["provider"] == "m" * 256


# Time, which stands still here


class Clock:
    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


def test_idle_streams_expire():
    clock = Clock()
    limits = Limits(idle_timeout_ms=1000)
    opened = Sessions(Policy(), limits, monotonic=clock, now=lambda: 0.5)
    for name in "ab":
        opened.open(OpenParams(stream_id=name, wire="text"))
    clock.seconds = 0.9
    opened.push(PushParams("a", "x"))
    clock.seconds = 1.0

    (row,) = opened.list(NoParams()).streams

    assert (row.stream_id, row.opened_at) == ("a", "1970-01-01T00:00:00.500Z")
    with pytest.raises(UsageError) as caught:
        opened.push(PushParams("b", "x"))
    assert caught.value.data["reason"] == "expired"
    stats = opened.stats(NoParams())
    assert (stats.streams.expired, stats.uptime_ms) == (1, 1000)
    assert stats.counters.messages == 1


def test_streams_never_expire_by_default():
    clock = Clock()
    opened = Sessions(Policy(), Limits(), monotonic=clock)
    opened.open(OpenParams(stream_id="a"))
    clock.seconds = 1e9

    assert len(opened.list(NoParams()).streams) == 1


@pytest.mark.thorough
def test_memory_of_closed_streams_is_bounded(host):
    for number in range(5000):
        host.notify("stream/open", {"streamId": str(number)})
        host.notify("stream/close", {"streamId": str(number)})

    for stream_id, reason in (("0", "never"), ("4999", "closed")):
        error = error_of(host, "stream/close", {"streamId": stream_id})
        assert error.data["reason"] == reason


def test_a_closed_stream_is_free_at_once(stream):
    """Its parts know each other in circles, but nothing waits for the collector."""
    sessions = stream.connection._sessions
    push(stream, chunk="<think>a</think>b <tool")
    gc.collect()
    gc.disable()
    try:
        reader = ref(sessions._streams["s"].stream._outlet.builder)
        closed = stream.request("stream/close", {"streamId": "s"})
        gone = reader() is None
    finally:
        gc.enable()

    assert closed["message"]["text"] == "b <tool"
    assert gone


# JSON that strict readers refuse: ``metadata`` comes back as it was given

DEEP = "[" * 64 + "1" + "]" * 64


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("1.5", 1.5),
        ("18446744073709551615", 2**64 - 1),
        ("-9223372036854775808", -(2**63)),
        ("18446744073709551616", "18446744073709551616"),
        ("-9223372036854775809", "-9223372036854775809"),
        ("123456789012345678901234567890", "123456789012345678901234567890"),
        ("1e400", "1e400"),
        ("-1E+999", "-1E+999"),
        ("NaN", "NaN"),
        ("-Infinity", "-Infinity"),
        ('"\\ud83d"', "\ufffd"),
        ('"\\ude00\\ud83d"', "\ufffd\ufffd"),
        ('"\\ud83d\\ude00"', "😀"),
        ('{"\\ud83d":1}', {"\ufffd": 1}),
        (DEEP, json.loads(DEEP)),
        (f"[{DEEP}]", json.loads(DEEP.replace("1", '"[1]"'))),
        ('{"a":' * 400 + "{}" + "}" * 400, None),
        ("[" * 900 + "]" * 900, None),
    ],
)
def test_values_in_the_strict_subset(host, given, expected):
    """What cannot be written leaves as JSON text; the host checks what it reads."""
    body = '{"jsonrpc":"2.0","id":1,"method":"stream/open","params":{"metadata":%s}}'
    host.push(frame((body % given).encode()))

    (row,) = host.request("stream/list")["streams"]

    if expected is not None:
        assert row["metadata"] == expected


def test_half_characters_in_chunks(stream):
    """JavaScript hosts cut characters in two."""
    body = message(
        "stream/push", {"streamId": "s", "chunks": ["\ud83d", "\ude00"]}, id=1
    )

    (answer,) = stream.push(frame(body))

    assert "".join(event["text"] for event in answer["result"]["events"]) == "😀"


def test_formats_of_the_host_and_dialects_are_taken(host):
    echo = {"markers": ["[used:"], "prefixes": ["timestamp"]}
    policy = {"echo": echo, "dialects": ["hermes", "glm"]}

    opened = host.request("stream/open", {"policy": policy})

    answer = json.loads(json.dumps(opened))
    assert answer["policy"]["echo"] == echo
    assert answer["profile"]["dialects"] == ["hermes", "glm"]
