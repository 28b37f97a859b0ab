"""Envelope, methods and spelling: what any request is answered with."""

from __future__ import annotations

import json
from typing import Any, Literal

import pytest
from attrs import Factory, frozen
from lsprotocol import types
from lsprotocol.converters import get_converter
from memory_host import MemoryHost
from pygls.capabilities import ServerCapabilitiesBuilder
from pygls.lsp.server import LanguageServer
from rpc_client import RpcError, frame, message

from sidecar import handshake, sessions
from sidecar.converter import structure, unstructure
from sidecar.errors import InvalidParamsError, UsageError
from sidecar.events import EVENTS, Span
from sidecar.framing import FRAMINGS
from sidecar.jsontext import encode
from sidecar.methods import NoParams, OpenParams, PushParams
from sidecar.options import Limits, Policy
from sidecar.protocol import METHODS, WIRE_NAMES
from sidecar.sessions import Sessions


@pytest.fixture
def host():
    return MemoryHost()


@pytest.fixture
def stream(host):
    """A host with the stream ``s``, of text."""
    host.request("stream/open", {"streamId": "s", "wire": "text"})
    return host


def error_of(host, method, params=None):
    with pytest.raises(RpcError) as caught:
        host.request(method, params)
    return caught.value


# The envelope

LIST = '"method":"stream/list"'
ANSWERED = 0

# name, body, expected id, expected code
ENVELOPES: list[tuple[str, str | bytes, Any, int]] = [
    ("string id", '{"jsonrpc":"2.0","id":"","method":"stream/list"}', "", ANSWERED),
    ("id 0", '{"jsonrpc":"2.0","id":0,"method":"stream/list"}', 0, ANSWERED),
    ("large id", f'{{"jsonrpc":"2.0","id":{2**53 - 1},{LIST}}}', 2**53 - 1, ANSWERED),
    ("negative id", f'{{"jsonrpc":"2.0","id":-7,{LIST}}}', -7, ANSWERED),
    ("null params", f'{{"jsonrpc":"2.0","id":1,{LIST},"params":null}}', 1, ANSWERED),
    ("more members", f'{{"jsonrpc":"2.0","id":1,{LIST},"x":[]}}', 1, ANSWERED),
    ("white space", f' {{"jsonrpc" : "2.0","id":1,{LIST}}}\r\n', 1, ANSWERED),
    ("BOM", f'\ufeff{{"jsonrpc":"2.0","id":1,{LIST}}}', 1, ANSWERED),
    ("UTF-16", f'{{"jsonrpc":"2.0","id":1,{LIST}}}'.encode("utf-16"), 1, ANSWERED),
    ("half surrogate", f'{{"jsonrpc":"2.0","id":"\\ud83d",{LIST}}}', "\ufffd", 0),
    ("no JSON", "{", None, -32700),
    ("no JSON, id in front", '{"jsonrpc":"2.0","id":5,"method":', 5, -32700),
    ("no JSON, id cut off", '{"jsonrpc":"2.0","id":5', None, -32700),
    ("no JSON, foreign id", '{"params":{"id":5},"x"}', None, -32700),
    ("no JSON, text id", '{"id":"a\\"b","method":"x",}', 'a"b', -32700),
    ("no JSON, bad id", '{"id":1.5,"method":"x",}', None, -32700),
    ("no JSON, broken id", '{"id":"\\x","method":"x",}', None, -32700),
    ("no UTF-8", b'{"jsonrpc":"2.0","id":5,"method":"\xff"}', 5, -32700),
    ("nested too deeply", '{"id":5,"x":' + "[" * 100_000, 5, -32700),
    ("JSON and more", "{}{}", None, -32700),
    ("batch", f'[{{"jsonrpc":"2.0","id":1,{LIST}}}]', None, -32600),
    ("empty batch", "[]", None, -32600),
    ("text", '"stream/list"', None, -32600),
    ("null", "null", None, -32600),
    ("empty object", "{}", None, -32600),
    ("no jsonrpc", f'{{"id":1,{LIST}}}', 1, -32600),
    ("jsonrpc 1.0", f'{{"jsonrpc":"1.0","id":1,{LIST}}}', 1, -32600),
    ("jsonrpc 2", f'{{"jsonrpc":2.0,"id":1,{LIST}}}', 1, -32600),
    ("no method", '{"jsonrpc":"2.0","id":1}', 1, -32600),
    ("method is null", '{"jsonrpc":"2.0","id":1,"method":null}', 1, -32600),
    ("method is a number", '{"jsonrpc":"2.0","id":1,"method":1}', 1, -32600),
    ("null id", f'{{"jsonrpc":"2.0","id":null,{LIST}}}', None, -32600),
    ("float id", f'{{"jsonrpc":"2.0","id":1.0,{LIST}}}', None, -32600),
    ("boolean id", f'{{"jsonrpc":"2.0","id":true,{LIST}}}', None, -32600),
    ("object id", f'{{"jsonrpc":"2.0","id":{{}},{LIST}}}', None, -32600),
    ("huge id", f'{{"jsonrpc":"2.0","id":{2**53},{LIST}}}', None, -32600),
    ("endless id", f'{{"jsonrpc":"2.0","id":{"9" * 30},{LIST}}}', None, -32600),
    ("array params", f'{{"jsonrpc":"2.0","id":1,{LIST},"params":[]}}', 1, -32602),
    ("text params", f'{{"jsonrpc":"2.0","id":1,{LIST},"params":"x"}}', 1, -32602),
    ("unknown method", '{"jsonrpc":"2.0","id":1,"method":"$/x"}', 1, -32601),
]


@pytest.mark.parametrize(
    ("body", "message_id", "code"),
    [pytest.param(*row[1:], id=row[0]) for row in ENVELOPES],
)
def test_envelope(host, body, message_id, code):
    """Exactly one answer, with the id where it is one."""
    body = body if isinstance(body, bytes) else body.encode()

    (answer,) = host.push(frame(body))

    assert answer["id"] == message_id
    assert answer.get("error", {}).get("code", ANSWERED) == code
    if code:
        RpcError(answer["error"])


@pytest.mark.parametrize(
    ("head", "tail", "found"),
    [
        ('{"id":"f","text":"', '"}', "f"),
        ('{"text":"', '","id":5,"method":"x","jsonrpc":"2.0" }', 5),
        ('{"text":"', '", "id" : "e" }\n', "e"),
        ('{"text":"', '","params":{"id":5}}', None),
        ('{"text":"', '","id":99999999999999999}', None),
        ('[{"id":1},"', '"]', None),
        ('{"id":', " 5}", None),
    ],
)
def test_id_of_a_long_unreadable_message(host, head, tail, found):
    body = head.encode() + b"\xff" * 10_000 + tail.encode()

    (answer,) = host.push(frame(body))

    assert (answer["id"], answer["error"]["code"]) == (found, -32700)


@pytest.mark.parametrize(
    "ignored",
    [
        {"jsonrpc": "2.0", "id": 1, "result": None},
        {"jsonrpc": "2.0", "id": None, "error": {"code": 1, "message": "x"}},
        {"error": {}},
        message("no/method"),
        message("$/cancelRequest", {"id": 1}),
        message("initialize", {}),
        message("shutdown"),
        message("stream/open", {"streamId": 5}),
        message("stream/open", []),
    ],
)
def test_messages_without_an_answer(host, ignored):
    """Responses, notifications that mean nothing, and those that are wrong."""
    assert host.push(frame(ignored)) == []
    assert host.request("stream/list") == {"streams": []}


def test_chunks_that_quote_messages(stream):
    """A nested ``jsonrpc`` is nothing special (pygls reads it as a message)."""
    quoted = {"jsonrpc": "2.0", "id": 1, "method": "exit", "type_name": "x"}

    result = stream.request("stream/push", {"streamId": "s", "chunk": quoted})

    assert result["pushes"] == 1


@pytest.mark.parametrize("raised", [ValueError("/home/x"), MemoryError(), KeyError(1)])
def test_bug(stream, monkeypatch, raised):
    def push(*_):
        raise raised

    monkeypatch.setattr(sessions.Stream, "push", push)

    error = error_of(stream, "stream/push", {"streamId": "s", "chunk": "x"})

    assert error.code == -32603
    assert error.data == {"kind": "internal-error", "retryable": False}
    assert "/home" not in error.message
    assert stream.request("stream/list")["streams"][0]["pushes"] == 0


def test_result_that_is_no_json(stream, monkeypatch):
    monkeypatch.setattr(sessions.Stream, "wire", {1})

    assert error_of(stream, "stream/list").code == -32603


# The LSP side


def test_everything_else_goes_to_the_lsp_side(host):
    initialized = message("initialized", {})
    hover = message("textDocument/hover", {}, id=5)
    assert host.push(frame(initialized), frame(message("$/setTrace"))) == []
    assert host.lsp is None

    host.push(frame(hover), frame(message("$/setTrace")))
    host.push(
        frame({"id": "x", "result": 1}), frame(message("$/cancelRequest", {"id": 5}))
    )

    submitted = [initialized, hover, message("$/setTrace"), {"id": "x", "result": 1}]
    assert host.lsp.submitted == submitted
    assert host.lsp.cancelled == [5]
    assert host.lsp.params == {"initializationOptions": {"streamSidecar": {}}}


def test_lsp_answers_once(host):
    host.push(frame(message("a/b", id=1)), frame(message("a/b", id=2)))
    host.connection.answer(1, {"x": None})
    host.connection.refuse(2, RefusedError("no"))
    host.connection.answer(1, 1)
    host.connection.refuse(3, RefusedError("never asked"))
    host.connection.send(message("window/logMessage", {}))

    assert [each.get("id") for each in host.sent] == [1, 2, None]
    assert host.sent[0]["result"] == {"x": None}


class RefusedError(UsageError):
    code = -1
    kind = "test"


def test_lsp_requests_at_the_end(host):
    host.push(frame(message("a/b", id=1)))

    assert host.close() == []

    (answer,) = host.sent
    assert (answer["id"], answer["error"]["code"]) == (1, -32800)


def test_shutdown_is_answered_by_the_lsp_side(host):
    host.push(frame(message("a/b")))

    assert host.push(frame(message("shutdown", id=9))) == []
    host.connection.answer(9, None)

    assert host.sent == [{"jsonrpc": "2.0", "id": 9, "result": None}]


@pytest.mark.parametrize(
    "capabilities",
    [
        {},
        {"general": {"positionEncodings": ["utf-32", "utf-8"]}},
        {"general": {"positionEncodings": ["utf-7"]}},
        {"general": {"positionEncodings": []}},
        {"textDocument": {"hover": {}}, "notebookDocument": None, "workspace": {}},
    ],
)
def test_capabilities_are_those_of_pygls(capabilities):
    """pygls is the authority; the answer is only given before it is imported."""
    converter = get_converter()
    client = converter.structure(capabilities, types.ClientCapabilities)
    manager = LanguageServer("x", "1").protocol.fm
    expected = ServerCapabilitiesBuilder(
        client,
        {*manager.features, *manager.builtin_features},
        manager.feature_options,
        list(manager.commands),
        types.TextDocumentSyncKind.Incremental,
        None,
        ServerCapabilitiesBuilder.choose_position_encoding(client),
    ).build()

    result = handshake.shake_hands({"capabilities": capabilities}).result

    announced = dict(result["capabilities"])
    del announced["experimental"]
    assert announced == json.loads(json.dumps(converter.unstructure(expected)))


# initialize


def test_our_capabilities():
    host = MemoryHost(started=False)
    limits = {"maxStreams": 5, "idleTimeoutMs": None}
    options = {"streamSidecar": {"protocolVersion": 1, "limits": limits, "later": 1}}

    result = host.request("initialize", {"initializationOptions": options})

    ours = result["capabilities"]["experimental"]["streamSidecar"]
    assert ours["limits"] == {**unstructure(Limits()), "maxStreams": 5}
    assert ours["wires"] == list(WIRE_NAMES)
    assert ours["framings"] == list(FRAMINGS)
    assert ours["events"] == [event.type for event in EVENTS]
    assert "hermes" in ours["dialects"]


@pytest.mark.parametrize("options", [None, "x", [], {}, {"other": 1}])
def test_options_of_other_servers(options):
    host = MemoryHost(started=False)

    assert host.request("initialize", {"initializationOptions": options})


def test_unsupported_version():
    host = MemoryHost(started=False)
    options = {"streamSidecar": {"protocolVersion": 2}}

    error = error_of(host, "initialize", {"initializationOptions": options})

    assert (error.code, error.data["kind"]) == (-31005, "unsupported-version")
    assert error.data["supported"] == [1]
    assert "1" in error.message


@pytest.mark.parametrize(
    ("ours", "path"),
    [
        (5, ""),
        ({"protocolVersion": "1"}, ".protocolVersion"),
        ({"limits": {"maxStreams": 0}}, ".limits.maxStreams"),
        ({"limits": {"maxStreams": True}}, ".limits.maxStreams"),
        ({"limits": {"idleTimeoutMs": -1}}, ".limits.idleTimeoutMs"),
        ({"policy": {"trace": 1}}, ".policy.trace"),
    ],
)
def test_bad_options(ours, path):
    host = MemoryHost(started=False)

    error = error_of(
        host, "initialize", {"initializationOptions": {"streamSidecar": ours}}
    )

    where = f"params.initializationOptions.streamSidecar{path}"
    assert error.message.startswith(f"{where}: ")


def test_bad_initialize_params():
    assert error_of(MemoryHost(started=False), "initialize", []).code == -32602


def test_process_id_is_watched():
    host = MemoryHost(started=False)
    host.request("initialize", {"processId": 77})

    assert host.watched == [77]


# stream/open


def test_open_with_defaults(host):
    result = host.request("stream/open", {})

    assert result == {
        "streamId": "stream-1",
        "wire": "auto",
        "framing": "auto",
        "profile": {"name": "default", "dialects": [], "startsOpen": False},
        "policy": unstructure(Policy()),
        "limits": unstructure(Limits()),
    }


def test_open_names_streams(host):
    host.request("stream/open", {"streamId": "stream-2"})

    names = [host.request("stream/open")["streamId"] for _ in range(2)]

    assert names == ["stream-1", "stream-3"]


@pytest.mark.parametrize(
    ("params", "path"),
    [
        ([], ""),
        ({"streamId": ""}, ".streamId"),
        ({"streamId": 5}, ".streamId"),
        ({"wire": "telegraph"}, ".wire"),
        ({"wire": 5}, ".wire"),
        ({"framing": "picture"}, ".framing"),
        ({"wire": "text", "framing": "sse"}, ".framing"),
        ({"wire": "openai-chat", "framing": "text"}, ".framing"),
        ({"encoding": "rot13"}, ".encoding"),
        ({"model": 5}, ".model"),
        ({"tools": {}}, ".tools"),
        ({"tools": ["x"]}, ".tools[0]"),
        ({"tools": [{"name": "a"}, {}]}, ".tools[1].name"),
        ({"tools": [{"name": ""}]}, ".tools[0].name"),
        ({"tools": [{"name": "a", "kind": "dance"}]}, ".tools[0].kind"),
        ({"tools": [{"name": "a", "executor": "me"}]}, ".tools[0].executor"),
        ({"tools": [{"type": "function", "function": {}}]}, ".tools[0].name"),
        ({"policy": []}, ".policy"),
        ({"policy": {"trace": "yes"}}, ".policy.trace"),
        ({"policy": {"reasoning": {"scope": "x"}}}, ".policy.reasoning.scope"),
        ({"policy": {"reasoning": {"tags": "think"}}}, ".policy.reasoning.tags"),
        ({"policy": {"reasoning": {"tags": [5]}}}, ".policy.reasoning.tags[0]"),
        ({"policy": {"reasoning": {"tags": ["a", ""]}}}, ".policy.reasoning.tags[1]"),
        ({"policy": {"reasoning": {"tags": ["a b"]}}}, ".policy.reasoning.tags[0]"),
        ({"policy": {"reasoning": {"tags": ["`a`"]}}}, ".policy.reasoning.tags[0]"),
    ],
)
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

    assert opened["policy"] == unstructure(Policy())


def test_policy_overrides_singly():
    reasoning = {"scope": "everywhere", "tags": ["a", "b"]}
    host = MemoryHost(policy={"reasoning": reasoning, "trace": True})

    override = {"reasoning": {"tags": ["c"], "unclosed": "text"}}
    result = host.request("stream/open", {"policy": override})

    assert result["policy"] == {
        **unstructure(Policy()),
        "trace": True,
        "reasoning": {
            **unstructure(Policy())["reasoning"],
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
    assert push(stream, chunks=[])["events"] == []


@pytest.mark.parametrize(
    "params", [{"chunk": None}, {"chunk": None, "chunks": None}, {"chunks": [None]}]
)
def test_null_is_a_chunk(stream, params):
    """What no document can be is a diagnostic, not a failed push."""
    (event,) = push(stream, **params)["events"]

    assert event["type"] == "diagnostic"


@pytest.mark.parametrize(
    ("params", "path"),
    [
        ({}, "chunk"),
        ({"chunks": None}, "chunk"),
        ({"chunks": "x"}, "chunks"),
        ({"chunk": "x", "chunks": ["y"]}, "chunks"),
        ({"chunk": "x", "pushSeq": "1"}, "pushSeq"),
        ({"chunk": "x", "pushSeq": 1.0}, "pushSeq"),
        ({"chunk": "x", "streamId": None}, "streamId"),
    ],
)
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
    assert noted["params"]["streamId"] == stream_id
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


@pytest.mark.parametrize(
    ("params", "path"),
    [({"reason": "bored"}, "reason"), ({"error": "x"}, "error")],
)
def test_bad_close(stream, params, path):
    error = error_of(stream, "stream/close", {"streamId": "s", **params})

    assert error.message.startswith(f"params.{path}: ")


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


def test_memory_of_closed_streams_is_bounded(host):
    for number in range(5000):
        host.notify("stream/open", {"streamId": str(number)})
        host.notify("stream/close", {"streamId": str(number)})

    for stream_id, reason in (("0", "never"), ("4999", "closed")):
        error = error_of(host, "stream/close", {"streamId": stream_id})
        assert error.data["reason"] == reason


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


# The converter, on classes that it has never seen


@frozen
class Inner:
    some_name: str = "x"


@frozen
class Sample:
    """One field for each kind of type that the methods use or may come to use."""

    required_field: str
    number: int = 0
    dialects: Literal["auto"] | tuple[str, ...] = "auto"
    known: tuple[Any, ...] = ()
    inner: Inner | None = None
    mixed: str | tuple[Inner, ...] = ""
    free: dict[str, Any] = Factory(dict)
    span: Span | None = None


@pytest.mark.parametrize(
    "value",
    [
        {"requiredField": "r"},
        {
            "requiredField": "r",
            "number": 5,
            "dialects": ["a"],
            "known": [1, {"b_c": 2}],
        },
        {"requiredField": "r", "inner": {"someName": "y"}, "free": {"any_key": None}},
        {"requiredField": "r", "mixed": [{"someName": "z"}]},
        {"requiredField": "r", "mixed": "text"},
    ],
)
def test_new_fields_are_read_and_written_by_themselves(value):
    written = unstructure(structure(value, Sample, "params"))

    defaults = unstructure(Sample("r"))
    assert json.loads(encode(written)) == {**defaults, **value}


def test_span():
    assert unstructure(Sample("r", span=(1, 2)))["span"] == {"start": 1, "end": 2}


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ({}, "params.requiredField"),
        ({"requiredField": "r", "number": True}, "params.number"),
        ({"requiredField": "r", "dialects": "none"}, "params.dialects"),
        ({"requiredField": "r", "dialects": [5]}, "params.dialects[0]"),
        ({"requiredField": "r", "inner": {"someName": 5}}, "params.inner.someName"),
        ({"requiredField": "r", "mixed": 5}, "params.mixed"),
        ({"requiredField": "r", "free": 5}, "params.free"),
    ],
)
def test_paths_of_bad_values(value, path):
    with pytest.raises(InvalidParamsError, match=r".") as caught:
        structure(value, Sample, "params")

    assert str(caught.value).startswith(f"{path}: ")


def test_every_method_has_params_of_its_own_class():
    for name, method in METHODS.items():
        assert method.name == name
        assert structure is not None
        with pytest.raises(InvalidParamsError):
            structure([], method.params, "params")
