"""Envelope, lifecycle and handshake: one answer, and the right one."""

from __future__ import annotations

import json
import threading

import memory_host
import pytest
from bad_envelopes import ANSWERED, ENVELOPES
from hypothesis import given
from hypothesis import strategies as st
from lsprotocol import types
from lsprotocol.converters import get_converter
from memory_host import FakeLsp, MemoryHost, error_of
from pygls.capabilities import ServerCapabilitiesBuilder
from rpc_client import RpcError, frame, message

from stream_sidecar.dialects import DIALECTS
from stream_sidecar.editor.handlers import register
from stream_sidecar.editor.server import SidecarServer
from stream_sidecar.errors import UsageError
from stream_sidecar.events import EVENTS
from stream_sidecar.framing.framer import FRAMINGS
from stream_sidecar.options import Limits, StreamOptions
from stream_sidecar.protocol import handshake, sessions
from stream_sidecar.protocol.converter import unstructure
from stream_sidecar.rpc.envelope import answer, answer_text
from stream_sidecar.values.jsontext import encode
from stream_sidecar.wires import WIRES

# The envelope


@given(
    st.integers(-(2**53), 2**53) | st.text(st.characters(exclude_categories=())),
)
def test_an_answer_around_a_text_is_spelled_as_any_other(message_id):
    expected = encode(answer(message_id, {"a": None}))
    assert answer_text(message_id, b'{"a":null}') == expected


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


# Lifecycle; tests/rpc/test_lifecycle.py has the same over a real process


def test_before_initialize():
    host = MemoryHost(started=False)

    for method in ("stream/list", "shutdown", "textDocument/hover", "$/x"):
        assert error_of(host, method).code == -32002
    assert host.notify("stream/push", {"streamId": "s", "chunk": "x"}) == []
    assert host.request("initialize")
    assert error_of(host, "initialize").code == -32600


@pytest.mark.parametrize("shutdown", [False, True])
def test_exit(host, shutdown):
    if shutdown:
        assert host.request("shutdown") is None
        for method in ("stream/list", "shutdown", "initialize", "textDocument/hover"):
            assert error_of(host, method).code == -32600

    assert host.push(frame(message("exit")), NEXT) == []
    assert host.close() == []
    assert host.connection.exit_code == (0 if shutdown else 1)


NEXT = frame(message("stream/list", id=1))


# The LSP side


def test_methods_of_lsp_go_to_the_lsp_side(host):
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


def test_names_that_nobody_knows_start_no_lsp_side(host):
    (answer,) = host.push(
        frame(message("textDocument/noSuch", id=1)), frame(message("no/such"))
    )

    assert answer["error"]["code"] == -32601
    assert host.lsp is None


@pytest.mark.parametrize(
    ("params", "begins"),
    [
        ({"capabilities": {"textDocument": {}}}, True),
        ({"capabilities": {"workspace": {}}}, False),
        ({"capabilities": None}, False),
        (None, False),
    ],
)
def test_an_editor_has_its_lsp_side_at_initialized(params, begins):
    host = MemoryHost(started=False)
    host.request("initialize", params)
    assert host.lsp is None

    host.notify("initialized", {})

    assert (host.lsp is not None) == begins
    if begins:
        assert host.lsp.submitted == [message("initialized", {})]


def test_lsp_answers_once(host):
    host.push(*(frame(message("textDocument/hover", id=number)) for number in (1, 2)))
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


def test_id_that_is_in_flight(host):
    twice = frame(message("textDocument/hover", id=1))

    (answer,) = host.push(twice, twice)

    assert (answer["id"], answer["error"]["code"]) == (1, -32600)
    assert len(host.lsp.submitted) == 1


def test_lsp_requests_at_the_end(host):
    host.push(frame(message("textDocument/hover", id=1)))

    assert host.close() == []

    (answer,) = host.sent
    assert (answer["id"], answer["error"]["code"]) == (1, -32800)


class SlowLsp(FakeLsp):
    """Comes to what it was given late, as one that is still being imported, or in a
    process that gets no processor time."""

    def turn(self, callback):
        threading.Thread(target=self._late, args=[callback]).start()

    def _late(self, callback):
        self.connection.answer(self.submitted[-1]["id"], "late")
        callback()


def test_patience_begins_when_the_lsp_side_is_ready(host, monkeypatch):
    monkeypatch.setattr(memory_host, "FakeLsp", SlowLsp)
    host.push(frame(message("textDocument/hover", id=1)))

    assert host.close() == []

    assert host.sent == [{"jsonrpc": "2.0", "id": 1, "result": "late"}]


def test_shutdown_is_answered_by_the_lsp_side(host):
    host.push(frame(message("textDocument/hover")))

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
    server = SidecarServer(MemoryHost().connection, set())
    register(server, StreamOptions)
    manager = server.protocol.fm
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


def test_requests_right_behind_initialize():
    """They may come with it, before what reads streams is loaded."""
    host = MemoryHost(started=False)
    names = ("initialize", "stream/open", "stream/list")
    requests = [frame(message(name, {}, id=name)) for name in names]

    _, opened, listed = host.push(b"".join(requests))

    (stream,) = listed["result"]["streams"]
    assert stream["streamId"] == opened["result"]["streamId"]


def test_our_capabilities():
    host = MemoryHost(started=False)
    limits = {"maxStreams": 5, "idleTimeoutMs": None}
    options = {"streamSidecar": {"protocolVersion": 1, "limits": limits, "later": 1}}

    result = host.request("initialize", {"initializationOptions": options})

    ours = result["capabilities"]["experimental"]["streamSidecar"]
    assert ours["limits"] == {**unstructure(Limits()), "maxStreams": 5}
    assert ours["wires"] == ["auto", *WIRES]
    assert ours["framings"] == list(FRAMINGS)
    assert ours["events"] == [event.type for event in EVENTS]
    assert ours["dialects"] == list(DIALECTS)
    assert ours["ignored"] == ["later"]


def test_unknown_options_are_listed():
    """Those of other servers are none; nothing is listed where all are known."""
    host = MemoryHost(started=False)
    ours = {"policy": {"toolResult": {}}, "limits": {"maxStream": 5, "maxHeldChars": 9}}
    options = {"streamSidecar": ours, "other": {"policcy": 1}}

    result = host.request("initialize", {"initializationOptions": options})

    listed = result["capabilities"]["experimental"]["streamSidecar"]["ignored"]
    assert listed == ["policy.toolResult", "limits.maxStream"]
    plain = MemoryHost(started=False).request("initialize", {})
    assert "ignored" not in plain["capabilities"]["experimental"]["streamSidecar"]


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
