"""The base protocol and the pipes: never deaf, never blocked, nothing but frames."""

from __future__ import annotations

import json
import os
import sys

import pytest
from memory_host import MemoryHost, two_way_cuts
from process_memory import IS_KNOWN, peak_memory
from rpc_client import COMMAND, PROMPTLY, RpcClient, frame, message
from systems import not_on_windows

from stream_sidecar.rpc.base_protocol import BaseProtocolReader, UnreadableFrame
from stream_sidecar.rpc.text_digest import TextDigest

A = json.dumps(message("stream/list", id="a")).encode()
B = json.dumps(message("stream/list", id=2)).encode()
LATE = b'{"jsonrpc":"2.0","method":"x","params":"%b","id":3}'
SIZE = b"%d" % len(A)
NEXT = frame(B)

PARSE_ERROR = -32700
LIMIT = -31004

# name, what comes before a well-formed request 2, expected (id, error code or None)
FRAMINGS = [
    ("plain", frame(A), [("a", None)]),
    ("nothing", b"", []),
    ("lower case", b"content-length: " + SIZE + b"\r\n\r\n" + A, [("a", None)]),
    ("upper case", b"CONTENT-LENGTH: " + SIZE + b"\r\n\r\n" + A, [("a", None)]),
    ("LF", b"Content-Length: " + SIZE + b"\n\n" + A, [("a", None)]),
    ("LF and CRLF", b"Content-Length: " + SIZE + b"\n\r\n" + A, [("a", None)]),
    ("no blank", b"Content-Length:" + SIZE + b"\r\n\r\n" + A, [("a", None)]),
    (
        "many blanks",
        b"Content-Length \t:  " + SIZE + b" \t\r\n\r\n" + A,
        [("a", None)],
    ),
    (
        "type before",
        b"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\n"
        b"Content-Length: " + SIZE + b"\r\n\r\n" + A,
        [("a", None)],
    ),
    (
        "type after",
        b"Content-Length: " + SIZE + b"\r\nContent-Type: x\r\n\r\n" + A,
        [("a", None)],
    ),
    ("unknown header", b"X-Trace: 1\r\n" + frame(A), [("a", None)]),
    (
        "repeated, first counts",
        b"Content-Length: " + SIZE + b"\r\nContent-Length: 7\r\n\r\n" + A,
        [("a", None)],
    ),
    ("noise line before", b"npm WARN deprecated\r\n" + frame(A), [("a", None)]),
    ("noise without line break", b"npm WARN " + frame(A), [("a", None)]),
    ("blank lines before", b"\r\n\n \r\n" + frame(A), [("a", None)]),
    ("length 0", b"Content-Length: 0\r\n\r\n", [(None, PARSE_ERROR)]),
    ("negative length", b"Content-Length: -5\r\n\r\n", [(None, PARSE_ERROR)]),
    ("length no number", b"Content-Length: ten\r\n\r\n", [(None, PARSE_ERROR)]),
    ("no length", b"Content-Length:\r\n\r\n", [(None, PARSE_ERROR)]),
    (
        "length no number, body follows",
        b"Content-Length: 0x20\r\n\r\n" + A,
        [(None, PARSE_ERROR)],
    ),
    (
        "length of 5000 digits",
        b"Content-Length: " + b"9" * 5000 + b"\r\n\r\n",
        [(None, PARSE_ERROR)],
    ),
    (
        "length too short",
        b"Content-Length: %d\r\n\r\n" % (len(A) - 1) + A,
        [("a", PARSE_ERROR)],
    ),
    (
        "length too long by one",
        b"Content-Length: %d\r\n\r\n" % (len(A) + 1) + A,
        [("a", None)],
    ),
    (
        "length too long by half a header",
        b"Content-Length: %d\r\n\r\n" % (len(A) + 15) + A,
        [("a", None)],
    ),
    (
        "length too long by a header",
        b"Content-Length: %d\r\n\r\n" % (len(A) + 25) + A,
        [("a", None)],
    ),
    (
        "lengths too long, one after the other",
        (b"Content-Length: %d\r\n\r\n" % (len(A) + 40) + A) * 3,
        [("a", None)] * 3,
    ),
    (
        "length too long over messages that are right",
        b"Content-Length: %d\r\n\r\n" % (3 * len(A)) + A + frame(A) * 3,
        [("a", None)] * 4,
    ),
    (
        "lengths too long, and nothing but headers",
        b"Content-Length: 725\r\n\r\n" * 30,
        [(None, PARSE_ERROR)] * 30,
    ),
    (
        "length too long for a broken message",
        b"Content-Length: %d\r\n\r\n" % (len(A) + 10) + A[:-1] + b"?",
        [("a", PARSE_ERROR)],
    ),
    (
        "a message on a line of its own",
        b'{"jsonrpc":"2.0","id":7,"method":"x"}\n',
        [(7, PARSE_ERROR)],
    ),
    (
        "far too long, id in front",
        b"Content-Length: 10000000000000\r\n\r\n" + A,
        [("a", LIMIT)],
    ),
    (
        "far too long, nothing else",
        b"Content-Length: 4294967296\r\n\r\n",
        [(None, LIMIT)],
    ),
    (
        "over the limit, id at the end",
        frame(LATE % (b"x" * 9000)),
        [(3, LIMIT)],
    ),
    (
        "over the limit, foreign id only",
        frame(b'{"jsonrpc":"2.0","params":{"id":4,"text":"' + b"x" * 9000 + b'"}}'),
        [(None, LIMIT)],
    ),
    (
        "over the limit, quoting a header",
        frame(
            json.dumps(
                message("x", ["Content-Length: 5\r\n\r\n" * 400], id="q")
            ).encode()
        ),
        [("q", LIMIT)],
    ),
]


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("data", "expected"),
    [pytest.param(data, expected, id=name) for name, data, expected in FRAMINGS],
)
def test_reader_is_never_deaf(data, expected):
    """Whatever comes before it, the next request is answered, however it is cut."""
    for pieces in two_way_cuts(data + NEXT) if len(data) < 1000 else [(data, NEXT)]:
        host = MemoryHost(limits={"maxMessageBytes": 4096})

        answers = host.push(*pieces)

        said = [(each["id"], each.get("error", {}).get("code")) for each in answers]
        assert said == [*expected, (2, None)], pieces


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        pytest.param(b"", [], id="nothing"),
        pytest.param(NEXT[:-1], [(2, PARSE_ERROR)], id="cut in the body"),
        pytest.param(
            b"Content-Length: 99\r\n\r\n" + B, [(2, None)], id="a length too long"
        ),
        pytest.param(b"Content-Length: 9\r\n", [], id="cut in the header"),
        pytest.param(b"Content-Length: 9\r\n\r\n", [], id="cut before the body"),
        pytest.param(b"noise", [], id="noise"),
        pytest.param(B, [(2, PARSE_ERROR)], id="no header"),
        pytest.param(
            b"Content-Length: 9999\r\n\r\n" + b" " * 99,
            [(None, LIMIT)],
            id="over the limit",
        ),
    ],
)
def test_end_in_the_middle(data, expected):
    """What was read up to the end of input is answered."""
    host = MemoryHost(limits={"maxMessageBytes": 4096})

    answers = host.push(data) + host.close()

    said = [(each["id"], each.get("error", {}).get("code")) for each in answers]
    assert said == expected


def test_limit_error_says_limit_and_value():
    host = MemoryHost(limits={"maxMessageBytes": 4096})

    (answer,) = host.push(frame(LATE % (b"x" * 9000)))

    assert answer["error"] == {
        "code": LIMIT,
        "message": "message of 9049 bytes, maxMessageBytes is 4096",
        "data": {
            "kind": "limit-exceeded",
            "retryable": False,
            "limit": 4096,
            "value": 9049,
        },
    }


TEXT = '{"uri":"file:///other","text":"\U0001f33f \\u00e9"}\n' * 400


def of_document(method, uri, text=TEXT, *, uri_last=False, ensure_ascii=False):
    """A notification over the limit, as editors write it, whatever order they take."""
    item = {"uri": uri, "languageId": "jsonl", "version": 7, "text": text}
    item = dict(reversed(item.items())) if uri_last else item
    params = {"textDocument": item}
    if method == "didChange":
        params["contentChanges"] = [{"text": item.pop("text")}]
    body = message(f"textDocument/{method}", params)
    body = dict(reversed(body.items())) if uri_last else body
    encoded = json.dumps(body, ensure_ascii=ensure_ascii).encode()
    return b"Content-Length: %d\r\n\r\n%b" % (len(encoded), encoded)


def editor():
    host = MemoryHost(started=False)
    ours = {"streamSidecar": {"limits": {"maxMessageBytes": 4096}}}
    capabilities = {"textDocument": {}}
    params = {"capabilities": capabilities, "initializationOptions": ours}
    host.request("initialize", params)
    host.notify("initialized", {})
    return host


@pytest.mark.parametrize("uri_last", [False, True])
def test_a_document_over_the_limit_is_reported_to_an_editors_user_once(uri_last):
    host = editor()
    document = of_document("didOpen", "file:///a%20b/s.jsonl", uri_last=uri_last)
    (warning,) = host.push(document)
    assert host.push(document, of_document("didChange", "file:///a%20b/s.jsonl")) == []
    assert (warning["method"], warning["params"]["type"]) == ("window/showMessage", 2)
    said = warning["params"]["message"]
    assert said.startswith("Nothing is underlined in s.jsonl: it is larger than ")
    assert said.endswith('stream-sidecar repair --diff "/a b/s.jsonl"')
    (other,) = host.push(of_document("didOpen", "untitled:Untitled-1"))
    assert other["params"]["message"].endswith("stream-sidecar repair --diff FILE")


@pytest.mark.parametrize("ascii_only", [False, True])
@pytest.mark.parametrize("uri_last", [False, True])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("method", ["didOpen", "didChange"])
def test_a_document_over_the_limit_is_read_from_its_file(
    tmp_path, method, mark, uri_last, ascii_only
):
    """Wherever the parts in which it comes end."""
    file = tmp_path / "a b.jsonl"
    file.write_bytes(f"{mark}{TEXT}".encode())
    ways = {"uri_last": uri_last, "ensure_ascii": ascii_only}
    sent = of_document(method, file.as_uri(), **ways)
    for size in (31, 4096, len(sent)):
        host = editor()
        parts = [sent[at : at + size] for at in range(0, len(sent), size)]
        assert host.push(*parts) == []
        (given,) = [m for m in host.lsp.submitted if m["method"] != "initialized"]
        assert given["method"] == f"textDocument/{method}"
        document = given["params"]["textDocument"]
        changes = given["params"].get("contentChanges", [document])
        assert (document["uri"], document["version"]) == (file.as_uri(), 7)
        assert document.get("languageId", "jsonl") == "jsonl"
        assert [change["text"] for change in changes] == [TEXT]


def test_a_document_that_is_not_saved_as_it_is_has_nothing_underlined(tmp_path):
    """Not even what was found before it became too long."""
    file = tmp_path / "s.jsonl"
    file.write_text(TEXT.replace("other", "saved"), encoding="utf-8")
    host = editor()
    (warning,) = host.push(of_document("didChange", file.as_uri()))
    assert "differs from its file. Save it" in warning["params"]["message"]
    assert host.lsp.submitted[-1]["method"] == "textDocument/didClose"


def test_a_digest_of_no_json_is_that_of_no_text():
    digest = TextDigest()
    for part in (b'{"text": "a', b"\\x", b'b"}' * 9):
        digest.feed(part)
    assert not any(map(digest.is_of, ("", "a", "ab")))


def test_other_messages_over_the_limit_are_errors():
    long = frame(message("stream/push", {"uri": "file:///a", "chunk": "x" * 9000}))
    document = of_document("didOpen", "file:///a")
    no_editor = MemoryHost(limits={"maxMessageBytes": 4096})
    for host, data in ((editor(), long), (no_editor, document)):
        (answer,) = host.push(data)
        assert answer["error"]["code"] == LIMIT


def test_request_with_a_far_too_long_length_is_answered_at_once():
    """Its client waits for the answer before it writes anything else."""
    host = MemoryHost()

    (answer,) = host.push(b"Content-Length: 10000000000000\r\n\r\n" + A)

    assert (answer["id"], answer["error"]["code"]) == ("a", LIMIT)
    assert [each["id"] for each in host.push(NEXT)] == [2]


def test_noise_is_not_held():
    reader = BaseProtocolReader(100)

    for _ in range(100):
        reader.feed(b"x" * 65_536)
        assert reader.next() is None

    assert len(reader._buffer) < 200_000
    reader.feed(frame(b"{}"))
    assert reader.next() == b"{}"


def test_oversize_body_is_not_held():
    reader = BaseProtocolReader(100)
    reader.feed(b"Content-Length: 9999999999\r\n\r\n")
    for _ in range(100):
        assert reader.next() is None
        reader.feed(b"x" * 65_536)

    assert len(reader._buffer) < 200_000
    reader.feed(frame(b"{}"))
    assert isinstance(reader.next(), UnreadableFrame)
    assert reader.next() == b"{}"


@pytest.fixture
def client():
    with RpcClient() as started:
        started.initialize()
        yield started


def test_written_is_one_header_and_utf8(client):
    """Characters, not escapes; the length counts bytes (the client checks it)."""
    opened = client.request("stream/open", {"streamId": "流", "wire": "text"})

    assert opened["streamId"] == "流"


def test_ten_thousand_pushes_before_reading(client):
    """A client that writes everything before it reads a reply is served."""
    client.request("stream/open", {"streamId": "s", "wire": "text"})
    pushes = range(10_000)
    params = {"streamId": "s", "chunk": "0123456789" * 10}

    client.send(*(message("stream/push", params, id=number) for number in pushes))

    assert [client.read()["id"] for _ in pushes] == list(pushes)
    client.assert_silent()


def test_long_messages_both_ways(client):
    """Frames far beyond any pipe's size."""
    text = "a wonderful life " * 300_000

    result = client.request("message/normalize", {"wire": "text", "body": text})

    assert result["message"]["text"] == text


def test_notifications_and_answers_keep_their_order(client):
    client.request("stream/open", {"streamId": "s", "wire": "text"})
    params = {"streamId": "s", "chunk": "x"}

    for number in range(0, 100, 2):
        client.notify("stream/push", params)
        client.send(message("stream/push", params, id=number))

    for number in range(0, 100, 2):
        noted = client.read()
        assert noted["method"] == "stream/events"
        assert noted["params"]["pushes"] == number + 1
        assert client.read()["result"]["pushes"] == number + 2


@pytest.mark.skipif(not IS_KNOWN, reason="reads /proc")
def test_oversize_frame_is_skipped_without_being_held():
    with RpcClient() as client:
        client.initialize(limits={"maxMessageBytes": 100_000})
        client.request("stream/list")  # what reads streams is loaded
        before = peak_memory(client.process.pid)
        client.send_bytes(b"Content-Length: 100000000\r\n\r\n")
        client.send_bytes(b'{"jsonrpc":"2.0","id":77,"method":"stream/push","params":"')
        for _ in range(100):
            client.send_bytes(b"x" * 1_000_000)

        assert client.read()["id"] == 77
        client.send_bytes(b" " * 1000 + frame(message("stream/list", id=78)))
        assert client.read()["id"] == 78
        assert peak_memory(client.process.pid) - before < 10_000_000


PRINTS = """
import os, sys
from stream_sidecar.protocol.sessions import Sessions
listed = Sessions.list
def noisy(self, params):
    print("printed")
    sys.stdout.write("written\\n")
    os.write(1, b"from below\\n")
    os.system("echo from a child")
    return listed(self, params)
Sessions.list = noisy
import stream_sidecar.protocol.methods
from stream_sidecar.__main__ import main
main()
"""


def test_print_cannot_reach_the_protocol():
    """Noise on stdout breaks language servers (openlawlibrary/pygls#133)."""
    with RpcClient(command=(sys.executable, "-c", PRINTS)) as client:
        client.initialize()

        assert client.request("stream/list") == {"streams": []}

        client.end_input()
        assert client.read_all() == []
        assert client.wait() == 0
        said = client.stderr()
    for noise in ("printed", "written", "from below", "from a child"):
        assert noise in said


def test_stderr_that_nobody_reads():
    """Log lines are lost, answers are not.

    modelcontextprotocol/typescript-sdk#2776.
    """
    with RpcClient("--log-level", "debug") as client:
        client.initialize()
        client.send(*(message("no/" + "x" * 1000) for _ in range(1000)))
        client.send(*(message("$/" + "x" * 1000) for _ in range(1000)))

        client.assert_silent()


of_posix = not_on_windows("descriptors of POSIX")


@of_posix
def test_closed_stderr():
    closed = ("sh", "-c", 'exec "$@" 2>&-', "sh", *COMMAND, "--log-level", "debug")
    with RpcClient(command=closed) as client:
        client.initialize()
        client.notify("$/unknown")

        client.assert_silent()


def test_client_that_closes_stdout(client):
    """EPIPE ends the process without a word."""
    client.process.stdout.close()
    client.send(message("stream/list", id=1))

    assert client.wait(PROMPTLY) == 0
    assert client.stderr() == ""


@of_posix
def test_input_that_does_not_block():
    """A host may have made its end of a shared pipe non-blocking."""
    ours, theirs = os.pipe()
    os.set_blocking(ours, False)
    with RpcClient(stdin=ours) as client:
        os.close(ours)
        client.process.stdin = os.fdopen(theirs, "wb", buffering=0)

        client.initialize()


@of_posix
def test_output_that_does_not_block():
    theirs, ours = os.pipe()
    os.set_blocking(ours, False)
    with RpcClient(stdout=ours) as client:
        os.close(ours)
        client.process.stdout = os.fdopen(theirs, "rb", buffering=0)
        client.initialize()
        body = "x" * 1_000_000

        result = client.request("message/normalize", {"wire": "text", "body": body})

        assert result["message"]["text"] == body
